"""Which files decide what a command does, so that an answer holds only for what they held when it was asked.

Promises: every regular file inside the workspace that an interpreter, a path used as a program, `make` or a package
runner would take its orders from is digested; files that are merely data are not, since data may change.
Does not promise: to follow what a script reads in its turn.
"""

from __future__ import annotations

import os

from interlock.runtime.policy.shell.model import ShellFacts, SimpleCommand
from interlock.runtime.tools.baseline import baseline_of
from interlock.runtime.tools.definition import Watched
from interlock.runtime.tools.refusal import Refusal
from interlock.runtime.tools.workspace import Workspace

INTERPRETERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "source", ".", "python", "python2", "python3", "pypy", "pypy3", "perl"}
    | {
        "ruby",
        "node",
        "nodejs",
        "deno",
        "bun",
        "tsx",
        "ts-node",
        "php",
        "lua",
        "Rscript",
        "julia",
        "awk",
        "gawk",
        "sed",
    }
    | {
        "make",
        "gmake",
        "just",
        "tclsh",
        "osascript",
        "pwsh",
        "java",
        "go",
        "uv",
        "poetry",
        "npx",
        "env",
        "sudo",
        "xargs",
    }
    | {"nohup", "time", "timeout", "nice", "exec", "command"}
)
"""Programs that take orders from a file named as an operand (or start one that does)."""
IMPLICIT = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("GNUmakefile", "Makefile", "makefile"),
    "just": ("justfile", "Justfile"),
    "npm": ("package.json",),
    "yarn": ("package.json",),
    "pnpm": ("package.json",),
    "bun": ("package.json",),
    "tox": ("tox.ini", "pyproject.toml"),
    "nox": ("noxfile.py",),
}
"""Files that a program takes orders from without being told."""
MAX_OPERANDS = 64
"""Files watched for one command."""


def operands(facts: ShellFacts, cwd: str, workspace: Workspace) -> tuple[Watched, ...]:
    """The files, with their version now."""
    found: dict[str, Watched] = {}
    for command in facts.commands:
        for word in _candidates(command):
            if len(found) >= MAX_OPERANDS:
                return tuple(found.values())
            watched = _watched(word, command, cwd, workspace)
            if watched is not None:
                found.setdefault(watched.place.real, watched)
    return tuple(found.values())


def _candidates(command: SimpleCommand) -> list[str]:
    name = os.path.basename(command.program)
    words = [command.program] if "/" in command.program else []
    words += IMPLICIT.get(name, ())
    if name in INTERPRETERS or name.startswith(("python3.", "python2.", "pypy3.", "ruby", "perl5", "lua5")):
        words += [word for word, known in zip(command.argv[1:], command.known[1:], strict=False) if known]
        words += [r.target for r in command.redirects if r.operator == "<" and r.target]
    return words


def _watched(word: str, command: SimpleCommand, cwd: str, workspace: Workspace) -> Watched | None:
    if not word or word.startswith("-") or len(word) > 4096 or command.cwd is None:
        return None
    try:
        place = workspace.locate(os.path.join(cwd, command.cwd, word))
    except Refusal:
        return None
    baseline = baseline_of(place) if place.kind == "file" else None
    return Watched(place, baseline, "operand") if baseline is not None else None
