"""What git would take for its repository, and where the paths of a git command lie in it, as facts of a command.

Promises: a repository outside the workspace, a checked-in one, settings, hooks and aliases that start a program are told,
because a command that only reads would run what they name. The repository that holds the workspace, and the one that a
linked work tree belongs to, are the workspace's own, but what a command names in them is told as a path. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache

from interlock.runtime.policy.call import Call, GitPlace, World
from interlock.runtime.policy.facts.guard import is_secret
from interlock.runtime.policy.facts.guard_table import credentials
from interlock.runtime.policy.facts.path import PathFact, is_below, path_fact
from interlock.runtime.policy.programs.address import UNKNOWN_HOST, address_of, is_remote
from interlock.runtime.policy.programs.git_touch import (
    MAYBE,
    NEW,
    PATTERN,
    REPOSITORY,
    TOP,
    UNLESS,
    WHOLE,
    reaches_out,
    repositories,
)
from interlock.runtime.policy.programs.touch import Touch
from interlock.runtime.policy.programs.usage import Usage, read_usage
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_ELSEWHERE = ("--git-dir", "--work-tree", "--namespace", "--super-prefix")
_NO_PLACE = GitPlace(())
_MOST_TOLD = 3


def is_git(simple: SimpleCommand) -> bool:
    """Whether the program is git."""
    return program_name(simple.program).rpartition("/")[2] == "git"


def git_facts(
    simple: SimpleCommand, reads: bool, call: Call, world: World
) -> tuple[tuple[PathFact, ...], tuple[str, ...]]:
    """The git directories that a command works on, as paths, and what speaks against them."""
    if not is_git(simple):
        return (), ()
    folder = _folder(simple, call)
    if folder is None:
        return (), ("which repository git would work on is known only at run time",)
    place = world.git_place(folder)
    if place is None:
        return (), ()
    told = [path_fact(path, "read" if reads else "write", call, world) for path in place.folders]
    told = [fact for fact in told if not fact.inside]
    if told and (_is_worktree_of_its_own(place, call, world) or (reads and _holds_the_workspace(place, call, world))):
        told = []
    return tuple(told), tuple(_against(simple, place))


def _against(simple: SimpleCommand, place: GitPlace) -> Iterator[str]:
    if place.bare:
        yield "the folder itself is a repository whose settings may have been checked in"
    yield from (f"git's settings name a program: {setting}" for setting in place.programs[:_MOST_TOLD])
    usage = read_usage("git", simple.argv[1:])
    if usage is None:
        return
    known = usage.program.hooks
    fired = [hook for hook in place.hooks if "*" in known or posixpath.basename(hook) in known]
    yield from (f"git would run {_shown_hook(hook)}" for hook in fired[:_MOST_TOLD])
    if not usage.verb:
        words = simple.argv[1:]
        yield from (
            f"git's settings make this: {alias}" for alias in place.aliases if alias.partition(" = ")[0] in words
        )


def _shown_hook(path: str) -> str:
    at = path.rfind("/.git/")
    return path[at + 1 :] if at >= 0 else path


def _holds_the_workspace(place: GitPlace, call: Call, world: World) -> bool:
    """Whether the repository is that of a folder above the workspace, as for a session in a part of a project.

    Not one of the home folder or above it: that would be the person's own files, which the workspace was to keep out.
    """
    git = place.folders[0] if place.folders else ""
    top = posixpath.dirname(git)
    if len(place.folders) != 1 or place.bare or posixpath.basename(git) != ".git" or is_below(call.home or "/", top):
        return False
    return any(is_below(world.resolve(root).path, top) for root in call.workspace)


def _is_worktree_of_its_own(place: GitPlace, call: Call, world: World) -> bool:
    """Whether the workspace lies in a linked worktree or a submodule, whose repository is in that of the whole project."""
    if not place.worktree or place.bare:
        return False
    git, common = place.folders[0], place.folders[-1]
    top, dot, inner = git.partition("/.git/")
    kind = inner.partition("/")[0]
    if not dot or kind not in ("worktrees", "modules") or (kind == "worktrees") != (common == f"{top}/.git"):
        return False
    if is_below(call.home or "/", top):
        return False  # a repository of the home folder holds the person's own files
    return any(is_below(world.resolve(root).path, place.worktree) for root in call.workspace)


# -- paths


def placed(simple: SimpleCommand, touches: Sequence[Touch], call: Call, world: World) -> Iterator[PathFact | Touch]:
    """The paths of a git command where they lie in the repository; a touch that needs no look stays as it is."""
    folder = _folder(simple, call)
    place = world.git_place(folder) if folder is not None else None
    top = _top(place, folder) if folder is not None else None
    taken: list[bool] = []
    whole: list[Touch] = []
    for touch in touches:
        if touch.cause == UNLESS:
            whole.append(touch)
        elif touch.cause == MAYBE:
            fact = path_fact(touch.text, touch.use, call, world, cwd=simple.cwd, shell=True)
            taken.append(fact.kind != "missing")
            if fact.kind != "missing" or touch.use != "read":
                # a file that is gone is no less one that is written
                yield replace(
                    fact, below=touch.below, tracked=touch.tracked, use="write" if fact.kind == "missing" else fact.use
                )
        elif touch.cause == NEW:
            fact = path_fact(posixpath.join(folder or "", ".git"), touch.use, call, world, cwd=simple.cwd)
            yield replace(fact, guard="", below=True)
        elif touch.cause == REPOSITORY:
            yield _of_repository(touch, place, folder, call, world)
        elif touch.cause == WHOLE or touch.text.startswith(TOP):
            yield _from_top(touch, top, folder, place, call, world)
        else:
            yield touch
        if touch.cause.startswith(PATTERN):
            yield from _secrets(touch, top, simple, call, world)
    if not any(taken):
        yield from (_from_top(touch, top, folder, place, call, world) for touch in whole)
    if place is not None and place.remotes and top is not None:
        yield from _folders_of_remotes(simple, place, top, call, world)


def _top(place: GitPlace | None, folder: str) -> str:
    if place is None or place.bare or not place.folders:
        return folder
    return place.top or posixpath.dirname(place.folders[0])


def _from_top(
    touch: Touch, top: str | None, folder: str | None, place: GitPlace | None, call: Call, world: World
) -> PathFact:
    if top is None or folder is None:
        return PathFact(touch.text, "", False, touch.use, "unknown", certain=touch.certain, below=touch.below)
    rest = "" if touch.cause in (WHOLE, UNLESS) else touch.text.removeprefix(TOP).lstrip("/")
    fact = path_fact(posixpath.join(top, rest) if rest else top, touch.use, call, world)
    shown = fact.resolved[len(folder) + 1 :] if fact.resolved.startswith(folder + "/") else touch.text
    inside = fact.inside
    if touch.cause in (WHOLE, UNLESS) and touch.use == "read" and place is not None and not inside:
        # nothing is named: what it takes of the repository that holds the workspace is the workspace's own
        inside = _is_worktree_of_its_own(place, call, world) or _holds_the_workspace(place, call, world)
    return replace(fact, written=shown, inside=inside, certain=touch.certain, below=touch.below, tracked=touch.tracked)


def _of_repository(touch: Touch, place: GitPlace | None, folder: str | None, call: Call, world: World) -> PathFact:
    """What lies in the git directory: git's own to write, but for the settings, which may name programs."""
    if folder is None:
        return PathFact(touch.text, "", False, touch.use, "unknown")
    rest = touch.text.removeprefix(".git").lstrip("/")
    common = place.folders[-1] if place is not None and place.folders else posixpath.join(folder, ".git")
    fact = path_fact(posixpath.join(common, rest) if rest else common, touch.use, call, world)
    inside = fact.inside or (place is not None and _is_worktree_of_its_own(place, call, world))
    guard = fact.guard if rest == "config" else ""
    return replace(fact, written=touch.text, guard=guard, inside=inside, below=touch.below)


def _secrets(touch: Touch, top: str | None, simple: SimpleCommand, call: Call, world: World) -> Iterator[PathFact]:
    """The file of secrets that a pattern is aimed at: `*.env`, and not `*`, which is aimed at nothing."""
    last = touch.cause.removeprefix(PATTERN).rpartition("/")[2].replace("\\", "").lower()
    if not last.strip("*") or fnmatchcase("interlock.name-of-no-secret", last):
        return
    found = next((name for name in (last, *_aims()) if fnmatchcase(name, last) and is_secret(f"/{name}")), "")
    if not found:
        return
    if not touch.text.startswith(TOP):
        yield path_fact(f"{touch.text.rstrip('/')}/{found}", touch.use, call, world, cwd=simple.cwd, shell=True)
    elif top is not None:
        yield path_fact(posixpath.join(top, touch.text.removeprefix(TOP), found), touch.use, call, world)


@cache
def _aims() -> tuple[str, ...]:
    """Names of credentials that a pattern may be aimed at: those that say nothing else, and one of each kind."""
    hidden = sorted(name for name in credentials().names if name.startswith("."))
    return (*hidden, "x.env", "x.pem", "x.key", "x.p12", "x.pfx", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")


# -- other repositories


def _folders_of_remotes(
    simple: SimpleCommand, place: GitPlace, top: str, call: Call, world: World
) -> Iterator[PathFact]:
    """The folders that the remotes named, or all of them where none is, have as their address."""
    usage = read_usage("git", simple.argv[1:])
    if usage is None or not reaches_out(usage):
        return
    named = set(repositories(usage)) & {name for name, _ in place.remotes}
    for name, addresses in place.remotes:
        for address in addresses if name and name in (named or (name,)) else ():
            if not is_remote(address) or address.startswith("file://"):
                path = posixpath.join(top, address.removeprefix("file://"))
                use = "write" if usage.verb == "push" else "read"
                yield replace(path_fact(path, use, call, world), written=f"{name}: {address}", below=True)


def git_hosts(simple: SimpleCommand, hosts: tuple[str, ...], call: Call, world: World) -> tuple[str, ...]:
    """The hosts of a git command: the name of a remote stands for the addresses that the configuration gives it."""
    if UNKNOWN_HOST not in hosts or not is_git(simple):
        return hosts
    folder = _folder(simple, call)
    place = world.git_place(folder) if folder is not None else None
    usage = read_usage("git", simple.argv[1:])
    if place is None or usage is None or not all(simple.known):
        return hosts
    found = _remote_hosts(usage, place)
    if not found:
        return hosts
    return tuple(dict.fromkeys((*(host for host in hosts if host != UNKNOWN_HOST), *found)))


def _remote_hosts(usage: Usage, place: GitPlace) -> list[str]:
    """The hosts of the remotes named; empty where one of them cannot be told for certain."""
    remotes = dict(place.remotes)
    if "" in remotes or place.submodules or place.programs or usage.unlisted:
        return []
    named = repositories(usage)
    if usage.reading.has("--all", "--multiple", "--recurse-submodules") or usage.verb not in _BY_NAME:
        return []
    if not named and len(remotes) != 1:
        return []
    found: list[str] = []
    for name in named or remotes:
        for address in remotes.get(name, (name,) if is_remote(name) else ()):
            found.append(address_of(address) if is_remote(address) else "")
    return found if found and all(found) and len(named) <= 1 else []


_BY_NAME = ("fetch", "pull", "push", "ls-remote")


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
