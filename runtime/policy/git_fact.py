"""What git would take for its repository, as a fact of a command.

Promises: a repository outside the workspace, a checked-in one, and settings that start a program are told, because a
command that only reads would run what they name. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.path import PathFact, path_fact
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_ELSEWHERE = ("--git-dir", "--work-tree", "--namespace", "--super-prefix")


def git_facts(
    simple: SimpleCommand, reads: bool, call: Call, world: World
) -> tuple[tuple[PathFact, ...], tuple[str, ...]]:
    """The git directories that a command works on, as paths, and what speaks against them."""
    if program_name(simple.program).rpartition("/")[2] != "git":
        return (), ()
    folder = _folder(simple, call)
    if folder is None:
        return (), ("which repository git would work on is known only at run time",)
    place = world.git_place(folder)
    if place is None:
        return (), ()
    facts = tuple(path_fact(path, "read" if reads else "write", call, world) for path in place.folders)
    told = [fact for fact in facts if not fact.inside]
    against: list[str] = []
    if place.bare:
        against.append("the folder itself is a repository whose settings may have been checked in")
    against += [f"git's settings name a program: {setting}" for setting in place.programs[:3]]
    return tuple(told), tuple(against)


def _folder(simple: SimpleCommand, call: Call) -> str | None:
    """Where git would look, after every `-C`; None: only run time tells."""
    if simple.cwd is None:
        return None
    folder = posixpath.join(call.cwd, simple.cwd)
    args: Sequence[str] = simple.argv[1:]
    at = 0
    while at < len(args) and args[at].startswith("-"):
        if args[at].partition("=")[0] in _ELSEWHERE:
            return None
        if args[at] in ("-C", "-c"):
            if args[at] == "-C":
                folder = posixpath.join(folder, args[at + 1] if at + 1 < len(args) else "")
            at += 1
        at += 1
    return posixpath.normpath(folder)
