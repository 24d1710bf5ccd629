"""The short pattern that commands like this one begin with: `git commit *`, `npm run lint`, `ls *`.

Promises: never only the program where its first word decides what it does; "" where no short pattern says enough. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_ONE_WORD = names(
    "git svn hg jj npm pnpm yarn bun cargo go pip pip3 poetry uv hatch rye conda brew apt apt-get dnf gem bundle "
    "rake composer dotnet mvn gradle swift flutter dart mix rustup systemctl launchctl terraform helm vagrant "
    "ansible tox nox just task make ninja cmake pre-commit rails ./gradlew ./mvnw artisan django-admin alembic "
    "flask"
)
"""The first word says what it does."""
_TWO_WORDS = {
    "gh": names("pr issue repo run workflow release gist label project cache search ruleset variable codespace"),
    "glab": names("mr issue repo ci release"),
    "aws": None,
    "gcloud": None,
    "az": None,
    "docker": names("compose image container volume network builder"),
    "uv": names("pip tool python cache"),
    "go": frozenset(["mod", "tool", "work"]),
    "git": names("stash worktree remote submodule notes bisect"),
    "cargo": frozenset(),
    "dotnet": frozenset(["tool", "nuget"]),
}  # fmt: skip
"""The first word is only a group (these; None: any) and the second says it."""
_SCRIPT = {"npm": ("run", "run-script"), "pnpm": ("run",), "yarn": ("run",), "bun": ("run",), "poetry": ("run",), "uv": ("run",),
           "hatch": ("run",), "composer": ("run", "run-script"), "rye": ("run",)}  # fmt: skip
"""Running a script by name: the name is part of what is permitted, and more words are not."""
_NAMED_TARGETS = names("make ninja just task rake tox nox gradle ./gradlew mvn ./mvnw")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")


def prefix_of(simple: SimpleCommand) -> str:
    """The pattern, or "" where none says enough."""
    program = program_name(simple.program)
    name = program.rpartition("/")[2]
    args = simple.argv[1:]
    if not program or not all(simple.known[:1]):
        return ""
    if name in _SCRIPT and args[:1] and args[0] in _SCRIPT[name]:
        return _script(program, args, simple.known[1:])
    if program in _NAMED_TARGETS:
        return _exact(program, args, simple.known[1:])
    if name in _ONE_WORD or name in _TWO_WORDS:
        return _grouped(program, name, args, simple.known[1:])
    return f"{shlex.quote(program)} *"


def _script(program: str, args: Sequence[str], known: Sequence[bool]) -> str:
    if program in ("poetry", "uv", "hatch", "rye"):  # what follows is any program at all
        return _exact(program, args, known)
    if len(args) < 2 or args[1].startswith("-"):
        return ""
    return _exact(program, args, known)


def _exact(program: str, args: Sequence[str], known: Sequence[bool]) -> str:
    if not all(known) or any(word == "*" or not _PLAIN.fullmatch(word) for word in args):
        return ""
    return " ".join((shlex.quote(program), *args))


def _grouped(program: str, name: str, args: Sequence[str], known: Sequence[bool]) -> str:
    if not args or args[0].startswith("-") or not known[0] or not _PLAIN.fullmatch(args[0]):
        return _exact(program, args, known)  # `git -C x status`: options before the word that says what it does
    words = [args[0]]
    groups = _TWO_WORDS.get(name, frozenset())
    if groups is None or args[0] in groups:
        if len(args) > 1 and known[1] and _PLAIN.fullmatch(args[1]) and not args[1].startswith("-"):
            words.append(args[1])
        else:
            return _exact(program, args, known)
    return " ".join((shlex.quote(program), *words, "*"))
