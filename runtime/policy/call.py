"""What is put before the policy, and its one look at the machine.

Promises: pure data; a `World` answers about paths and nothing else, so that the same decision can be made about a
machine that exists only in a test.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal, Protocol

from interlock.runtime.policy.facts.guard import is_secret
from interlock.runtime.policy.record import record

Kind = Literal["file", "folder", "link", "other", "missing"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it would run."""

    tool: str
    input: Mapping[str, object]
    cwd: str
    workspace: tuple[str, ...]
    """The roots that the session may work in."""
    home: str
    risks: frozenset[str] = frozenset()
    read_only: bool = False
    agent: str = ""
    protected: tuple[str, ...] = ()
    """Folders of our own: state, configuration, sockets. Always denied from the agent's side."""
    named: str = ""
    """What the agent itself calls the tool, where that is another name; rules may use either."""
    unclear: str = ""
    """Why the input is not fully understood, "" when it is. Such a call is never allowed; denies hold for what was seen."""
    leaves_out: bool = False
    """Walks a folder and leaves out what is denied or guarded in it, as our own tools do."""


@record
class Resolved:
    """Where a path really leads."""

    path: str
    """Real path, through the links of the deepest ancestor that exists."""
    exists: bool
    kind: Kind
    links: int = 1
    """Names of the file; over 1: another name of it may lie elsewhere."""
    error: str | None = None
    """Why it could not be looked at."""


@record
class GitPlace:
    """What git would take for its repository in a folder."""

    folders: tuple[str, ...]
    """Real paths of the git directory and of the common directory that it names."""
    bare: bool = False
    """The folder itself looks like a bare repository, so that a checked-in file would be its configuration."""
    programs: tuple[str, ...] = ()
    """Settings of its configuration that name a program which a command that only reads would start."""
    worktree: str = ""
    """The folder that is a linked worktree of the repository, or a submodule, where both say so; "" for the main one."""
    top: str = ""
    """Real path of the top of the work tree; "": the folder of the git directory, or there is none."""
    hooks: tuple[str, ...] = ()
    """Real paths of the programs that stand as hooks, those of submodules too."""
    aliases: tuple[str, ...] = ()
    """Sub-commands that its configuration makes up, as `co = checkout`."""
    remotes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Name of a remote -> its addresses; those of the folder-less name "" rewrite addresses."""
    submodules: tuple[str, ...] = ()
    """Real paths of the repositories in it that git enters."""


class World(Protocol):
    """The machine, as far as a decision needs it. Nothing here ever raises."""

    @property
    def case_insensitive(self) -> bool:
        """Whether the file system takes `.GIT` for `.git`."""
        ...

    def resolve(self, path: str) -> Resolved:
        """Where an absolute path leads."""
        ...

    def resolve_in(self, folder: str, name: str) -> Resolved | None:
        """What `resolve` says of `name` in a folder given by its real path; None where only `resolve` can tell."""
        ...

    def expand(self, pattern: str, limit: int) -> tuple[str, ...] | None:
        """The paths that a shell's pattern stands for, at most `limit`; None: too many, or it cannot be told."""
        ...

    def git_place(self, folder: str) -> GitPlace | None:
        """The repository that git would work on in `folder`, which is given by its real path; None: there is none."""
        ...

    def find_secret(self, folder: str, hidden: bool, limit: int) -> str | None:
        """The first file of credentials below `folder`, "" where there is none, None where more than `limit` names are.

        Not `hidden`: among the names that begin with no dot. What was installed from elsewhere is not looked through.
        """
        ...


def _fits(parts: list[str], wanted: list[str]) -> bool:
    return len(parts) == len(wanted) and all(fnmatchcase(p, w) for p, w in zip(parts, wanted, strict=True))


@dataclass(slots=True)
class MemoryWorld:
    """A machine that is only told of: links and kinds by absolute path."""

    links: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    names: Mapping[str, int] = field(default_factory=dict)
    case_insensitive: bool = False
    git: Mapping[str, GitPlace] = field(default_factory=dict)
    """Folder -> the repository of it and of all folders below."""

    def resolve_in(self, folder: str, name: str) -> Resolved | None:
        """Always from the root: it costs nothing here."""
        return None

    def expand(self, pattern: str, limit: int) -> tuple[str, ...] | None:
        """The known paths that fit, component by component."""
        wanted = pattern.split("/")
        found = [p for p in {**self.links, **self.kinds} if _fits(p.split("/"), wanted)]
        return tuple(sorted(found)) if len(found) <= limit else None

    def git_place(self, folder: str) -> GitPlace | None:
        """That of the nearest folder above."""
        while folder not in self.git:
            if folder in ("/", ""):
                return None
            folder = posixpath.dirname(folder)
        return self.git[folder]

    def find_secret(self, folder: str, hidden: bool, limit: int) -> str | None:
        """Among the files that are told of."""
        inside = folder.rstrip("/") + "/"
        below = sorted(path for path, kind in self.kinds.items() if kind == "file" and path.startswith(inside))
        if len(below) > limit:
            return None
        seen = (path for path in below if hidden or "/." not in path[len(inside) - 1 :])
        return next((path for path in seen if is_secret(path)), "")

    def resolve(self, path: str) -> Resolved:
        """Follow the links of every component, at most 40 of them."""
        todo, real, hops = [p for p in path.split("/") if p], "/", 0
        while todo:
            part = todo.pop(0)
            if part == ".":
                continue
            if part == "..":
                real = posixpath.dirname(real)
                continue
            here = posixpath.join(real, part)
            target = self.links.get(here)
            if target is None:
                real = here
                continue
            hops += 1
            if hops > 40:
                return Resolved(here, False, "link", error="too many links")
            todo = [p for p in target.split("/") if p] + todo
            real = "/" if target.startswith("/") else real
        kind = self.kinds.get(real, "missing")
        return Resolved(real, kind != "missing", kind, self.names.get(real, 1))
