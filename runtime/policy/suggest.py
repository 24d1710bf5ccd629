"""Which standing permissions an ask may offer, the narrowest first. Pure.

Promises: nothing is offered for what destroys, for shells, for interpreters with code, for what is not understood, for
substitutions, loops, here-documents and files written by a redirect. The first offer is exactly the command; the second
is a pattern for a rule, at most 80 characters on one line, and it never begins with a shell, a wrapper or a variable.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from interlock.runtime.policy.decision import Part
from interlock.runtime.policy.grant import Suggestion
from interlock.runtime.policy.shell.classify import FORMS, is_wrapper
from interlock.runtime.policy.shell.model import ShellFacts, SimpleCommand
from interlock.runtime.policy.shell.option import names
from interlock.runtime.policy.wording import exactly

DESTRUCTIVE = names(
    "rm rmdir dd shred mkfs fdisk parted truncate kill pkill killall unlink wipefs mkswap shutdown reboot halt poweroff"
)
CODE_RUNNERS = names(
    "sh bash zsh dash ksh fish python python2 python3 perl ruby node deno bun php lua eval source . ssh sudo doas env xargs"
)
_NEVER = names(
    "sh bash zsh dash ksh fish eval source . exec trap sudo doas su pkexec ssh env xargs nohup setsid time nice timeout"
)
_CODE_OPTIONS = frozenset(("-c", "-e", "-lc", "--eval", "-", "-p", "--print", "-r", "-E"))
_BY_VERB = names(
    "git gh glab docker podman kubectl helm cargo go npm pnpm yarn bun pip pip3 uv poetry brew apt systemctl terraform aws "
    "gcloud az dotnet bundle composer conda gem rustup deno"
)
"""Programs whose first operand says what they do."""
_RUNNERS = names("npm pnpm yarn bun make just task npx tox nox")
"""Programs that run what the project names: only the very words are offered."""
_DESTRUCTIVE_VERBS: dict[str, frozenset[str]] = {
    "git": names("reset clean push rm gc filter-branch filter-repo update-ref reflog"),
    "docker": names("rm rmi prune system volume run exec"),
    "podman": names("rm rmi prune system volume run exec"),
    "kubectl": names("delete exec drain apply"),
    "terraform": names("destroy apply"),
    "npm": names("publish unpublish exec x"),
    "cargo": names("publish yank"),
    "gh": names("release secret auth"),
    "systemctl": names("stop disable mask kill"),
}
_LOADERS = ("LD_", "DYLD_", "GIT_", "PYTHON", "NODE_", "RUBY", "PERL", "BASH_", "NPM_", "npm_", "JAVA_", "GO")
_LOADER_NAMES = names("PATH ENV IFS PS4 SHELL PAGER EDITOR VISUAL PROMPT_COMMAND BROWSER CDPATH HOME")
_LONGEST = 80


def is_destructive(simple: SimpleCommand) -> bool:
    """Whether a standing permission should never be offered for it."""
    program = posixpath.basename(simple.program)
    if program in CODE_RUNNERS:
        return (program in _NEVER and not is_wrapper(simple)) or any(word in _CODE_OPTIONS for word in simple.argv[1:])
    verb = next((word for word in simple.argv[1:] if not word.startswith("-")), "")
    if verb in _DESTRUCTIVE_VERBS.get(program, ()) or any(word in ("--force", "--hard") for word in simple.argv[1:]):
        return True
    return program in DESTRUCTIVE or program.startswith("mkfs")


def suggestions_for(
    tool: str, command: str, cwd: str, seen: ShellFacts, parts: Sequence[Part]
) -> tuple[Suggestion, ...]:
    """What may be offered for a command that asks, the narrowest first."""
    if not seen.understood or not seen.commands or any(map(_is_out, seen.commands)) or _has_frame(command, seen):
        return ()
    first = seen.commands[0]
    found: list[Suggestion] = []
    if not first.assignments and posixpath.basename(first.program) not in _NEVER:
        found.append(Suggestion(tool, "command", command, cwd, "exactly this command, in this folder"))
    if pattern := _pattern(seen.commands, parts):
        variables = [name for c in seen.commands for name, _ in c.assignments]
        label = f"every command like: {pattern}" + (f", without {', '.join(variables)}" if variables else "")
        found.append(Suggestion(tool, "pattern", pattern, cwd, label))
    return tuple(found)


def _is_out(simple: SimpleCommand) -> bool:
    if not simple.program or simple.via in ("$(…)", "`…`", "<(…)", ">(…)", "function", "trap", "eval", "source"):
        return True
    if any(r.operator in ("<<", "<<-", "<<<") or (r.writes and r.target != "/dev/null") for r in simple.redirects):
        return True
    if any(name in _LOADER_NAMES or name.startswith(_LOADERS) for name, _ in simple.assignments):
        return True
    return not is_wrapper(simple) and is_destructive(simple)


def _has_frame(command: str, seen: ShellFacts) -> bool:
    """Whether there is more to it than simple commands in a row: loops, conditions, groups, functions."""
    rest = list(command)
    for simple in seen.commands:
        rest[simple.start : simple.end] = " " * (min(simple.end, len(rest)) - simple.start)
    left = "".join(rest)
    return any(sign.isalnum() or sign in "{}()[]" for sign in left.partition("#")[0])


def _pattern(commands: Sequence[SimpleCommand], parts: Sequence[Part]) -> str | None:
    """The pattern of the one part that asks; None where there are several, or none may be offered."""
    asking = [c for c, part in zip(commands, parts, strict=True) if part.verdict == "ask" and not is_wrapper(c)]
    if len({simple.argv for simple in asking}) != 1:
        return None
    simple = asking[0]
    program = posixpath.basename(simple.program)
    if program in _NEVER or not all(simple.known):
        return _open(simple.argv[:1]) if program in FORMS and program not in _NEVER else None
    return _widened(program, simple.argv)


def _widened(program: str, argv: tuple[str, ...]) -> str | None:
    if program in _RUNNERS or (program in CODE_RUNNERS and program not in _BY_VERB):
        return _fit(exactly(argv))
    if program in _BY_VERB:
        plain = len(argv) > 1 and not argv[1].startswith("-")
        return _open(argv[:2]) if plain else _fit(exactly(argv))
    return _open(argv[:1]) if program in FORMS else _fit(exactly(argv))


def _open(words: Sequence[str]) -> str | None:
    return _fit(exactly(words, further=True))


def _fit(pattern: str | None) -> str | None:
    return pattern if pattern and len(pattern) <= _LONGEST and pattern.isprintable() else None
