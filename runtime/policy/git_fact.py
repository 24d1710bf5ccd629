"""What git would take for its repository, as a fact of a command.

Promises: a repository outside the workspace, a checked-in one, and settings that start a program are told, because a
command that only reads would run what they name. The repository that holds the workspace is the workspace's own, but what
a command names in it is told as a path. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from interlock.runtime.policy.call import Call, GitPlace, World
from interlock.runtime.policy.path import PathFact, is_below, path_fact
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_STAGED = re.compile(r":[0-3]:(.+)", re.DOTALL)
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
        return tuple(_named(simple.argv[1:], folder, folder, call, world) if reads else ()), ()
    facts = tuple(path_fact(path, "read" if reads else "write", call, world) for path in place.folders)
    told = [fact for fact in facts if not fact.inside]
    if told and (_is_worktree_of_its_own(place, call, world) or (reads and _holds_the_workspace(place, call, world))):
        told = []
    if reads and not place.bare and (place.worktree or len(place.folders) == 1):
        top = place.worktree or posixpath.dirname(place.folders[0])
        told += _named(simple.argv[1:], folder, top, call, world)
    against: list[str] = []
    if place.bare:
        against.append("the folder itself is a repository whose settings may have been checked in")
    against += [f"git's settings name a program: {setting}" for setting in place.programs[:3]]
    return tuple(told), tuple(against)


def _holds_the_workspace(place: GitPlace, call: Call, world: World) -> bool:
    """Whether the repository is that of a folder above the workspace, as for a session in a part of a project.

    Not one of the home folder or above it: that would be the person's own files, which the workspace was to keep out.
    """
    git = place.folders[0]
    top = posixpath.dirname(git)
    if len(place.folders) != 1 or place.bare or posixpath.basename(git) != ".git" or is_below(call.home or "/", top):
        return False
    return any(is_below(world.resolve(root).path, top) for root in call.workspace)


def _is_worktree_of_its_own(place: GitPlace, call: Call, world: World) -> bool:
    """Whether the workspace lies in a linked worktree, whose repository is where the project's main folder has it."""
    if not place.worktree or len(place.folders) != 2:
        return False
    git, common = place.folders
    top = posixpath.dirname(common)
    if posixpath.basename(common) != ".git" or not is_below(git, f"{common}/worktrees"):
        return False
    if is_below(call.home or "/", top):
        return False  # a repository of the home folder holds the person's own files
    return any(is_below(world.resolve(root).path, place.worktree) for root in call.workspace)


def _named(args: Sequence[str], folder: str, top: str, call: Call, world: World) -> list[PathFact]:
    """The files that operands name: `HEAD:path`, what stands behind `--`, and words that are files here."""
    found: list[PathFact] = []
    behind = False
    for word in args:
        if word == "--":
            behind = True
            continue
        if not behind and word.startswith("-"):
            continue
        if not behind and (staged := _STAGED.fullmatch(word)):
            place = folder if staged[1].startswith(("./", "../")) else top
            found.append(path_fact(posixpath.join(place, staged[1]), "read", call, world))
            continue
        revision, colon, path = word.partition(":")
        if colon and revision and path and not behind:
            place = folder if path.startswith(("./", "../")) else top
            found.append(path_fact(posixpath.join(place, path), "read", call, world))
        elif place := _pathspec(word, folder, top):
            fact = path_fact(place, "read", call, world)
            if behind or word.startswith(":") or fact.kind != "missing":
                found.append(fact)
    return [replace(fact, written=_shown(fact.written, folder)) for fact in found]


def _pathspec(word: str, folder: str, top: str) -> str:
    """The path in a pathspec, "" where it only leaves something out."""
    if word.startswith(":("):
        magic, _, rest = word[2:].partition(")")
        return "" if "exclude" in magic else posixpath.join(top if "top" in magic else folder, rest)
    if word.startswith(":"):
        rest = word[1:].lstrip("/!^:")
        marks = word[1 : len(word) - len(rest)]
        return "" if set(marks) & set("!^") else posixpath.join(top if "/" in marks else folder, rest)
    return posixpath.join(folder, word)


def _shown(path: str, folder: str) -> str:
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else path


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
