"""Reads what strace wrote: which file, program and address each command touched.

Promises: only what succeeded counts, a connection also when it was refused; a folder is read when its names are read; paths
are those that the kernel found, links followed; a process belongs to the command that its ancestors belong to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

Kind = Literal["read", "list", "write", "delete", "exec", "connect"]
"""`list`: the names in a folder were read."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One thing that a command touched."""

    kind: Kind
    path: str
    """Real path; `address:port` of a connection."""
    call: str
    program: str
    """The program that did it."""
    other: str = ""
    """Where it was renamed to or from."""


@dataclass(slots=True)
class _Process:
    command: int | None
    folder: str
    program: str = ""


@dataclass(slots=True)
class _Reader:
    root: str
    found: list[list[Touch]]
    processes: dict[str, _Process] = field(default_factory=dict)
    halves: dict[str, str] = field(default_factory=dict)
    early: dict[str, list[str]] = field(default_factory=dict)
    """What a process did before it was told whose child it is."""

    def take(self, line: str) -> None:
        """One line of the trace."""
        pid, _, rest = line.partition(" ")
        if not self.processes:
            self.processes[pid] = _Process(None, "")
        if pid in self.processes:
            self._take(pid, rest.lstrip().rstrip("\n"))
        else:
            self.early.setdefault(pid, []).append(rest.lstrip().rstrip("\n"))

    def _take(self, pid: str, rest: str) -> None:
        if rest.endswith("<unfinished ...>"):
            self.halves[pid] = rest[: -len("<unfinished ...>")]
            return
        if rest.startswith("<... "):
            rest = self.halves.pop(pid, "") + rest.partition(" resumed>")[2]
        match = _LINE.match(rest)
        if match is None:
            return
        name, args, result = match[1], match[2], match[3]
        process = self.processes[pid]
        if name == "chdir" and args.startswith('"/oracle-'):
            self._mark(process, args)
        elif not result.startswith("-1") or name in ("connect", "sendto"):
            self._succeeded(pid, process, name, args, result)

    def _mark(self, process: _Process, args: str) -> None:
        kind, _, number = args.strip('"').removeprefix("/oracle-").partition("/")
        process.command = int(number) if kind == "begin" else None

    def _succeeded(self, pid: str, process: _Process, name: str, args: str, result: str) -> None:
        if name in _FORKS:
            child = result.split()[0]
            self.processes[child] = _Process(process.command, process.folder, process.program)
            for rest in self.early.pop(child, ()):
                self._take(child, rest)
            return
        places = [_plain(text) for text in _STRING.findall(args)]
        folders = [(number, _plain(path)) for number, path in _PLACE.findall(args)]
        process.folder = next((path for number, path in folders if number == "AT_FDCWD"), process.folder)
        if not places and not folders:
            return  # of a process that is gone strace cannot tell the paths
        if name == "chdir":
            process.folder = os.path.join(process.folder, places[0])
        elif name == "fchdir":
            process.folder = folders[0][1]
        elif name in ("execve", "execveat"):
            process.program = self._real(process, folders, places[0])
        if process.command is not None and name not in ("chdir", "fchdir"):
            for touch in self._touches(process, name, args, result, places, folders):
                self.found[process.command].append(touch)

    def _touches(
        self, process: _Process, name: str, args: str, result: str, places: list[str], folders: list[tuple[str, str]]
    ) -> Iterable[Touch]:
        by = process.program
        if name in ("open", "openat", "openat2", "creat"):
            yield from _opened(name, args, result, by)
        elif name == "getdents64":
            yield Touch("list", folders[0][1], name, by)
        elif name in ("connect", "sendto", "bind"):
            yield from _addressed(process, name, args, by)
        elif name in ("execve", "execveat"):
            # the name counts, not what it is a link to: many programs are one file
            yield Touch("exec", self._parent_real(process, folders, places[0]), name, by)
        elif name.startswith("rename"):
            old, new = self._parents(process, args, places)
            yield Touch("delete", old, name, by, other=new)
            yield Touch("write", new, name, by, other=old)
        elif name.startswith("link"):
            old, new = self._parents(process, args, places)
            yield Touch("read", old, name, by)
            yield Touch("write", new, name, by)
        elif not places or name in ("fchmod", "fchown", "fsetxattr"):
            # by a descriptor alone; a path that the kernel could not read comes to nothing
            yield from (Touch("write", _kept(path), name, by) for _, path in folders[:1] if path.startswith("/"))
        else:
            # of a symbolic link the second text is where it lies; everything else has one path
            text = places[-1] if name.startswith("symlink") else places[0]
            kind: Kind = "delete" if name in ("unlink", "unlinkat", "rmdir") else "write"
            follows = name in _FOLLOWING and "AT_SYMLINK_NOFOLLOW" not in args
            path = self._real(process, folders, text) if follows else self._parent_real(process, folders, text)
            yield Touch(kind, path, name, by)

    def _parents(self, process: _Process, args: str, places: list[str]) -> tuple[str, str]:
        """Both paths of a call that has two, each with its own folder."""
        # the folders stand in front of their texts; the calls without `at` have none
        found = [_plain(path) for _, path in _PLACE.findall(args)] or [process.folder, process.folder]
        old, new = (_deep(os.path.join(folder, text)) for folder, text in zip(found[:2], places[:2], strict=True))
        return old, new

    def _real(self, process: _Process, folders: list[tuple[str, str]], text: str) -> str:
        return _real_path(os.path.join(folders[0][1] if folders else process.folder, text))

    def _parent_real(self, process: _Process, folders: list[tuple[str, str]], text: str) -> str:
        return _deep(os.path.join(folders[0][1] if folders else process.folder, text))


_LINE = re.compile(r"(\w+)\((.*)\)\s+= (-?\d.*|\?.*)$", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_PLACE = re.compile(r"(AT_FDCWD|\b\d+)<((?:[^>\\]|\\.)*)>")
_RESULT = re.compile(r"\d+<((?:[^>\\]|\\.)*)>")
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_INET = re.compile(r'sin_port=htons\((\d+)\), sin_addr=inet_addr\("([^"]*)"\)')
_INET6 = re.compile(r'sin6_port=htons\((\d+)\).*?inet_pton\(AF_INET6, "([^"]*)"')
_UNIX = re.compile(r'sun_path="((?:[^"\\]|\\.)*)"')
_FORKS = frozenset(("clone", "clone3", "fork", "vfork"))
_FOLLOWING = frozenset(
    ("chmod", "fchmodat", "chown", "fchownat", "utime", "utimes", "utimensat", "futimesat", "truncate", "setxattr")
)
_WRITING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND")
_NAMED = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}


def read_trace(lines: Iterable[str], commands: int, root: str) -> list[tuple[Touch, ...]]:
    """What each of so many commands touched, in order."""
    _real_path.cache_clear()
    reader = _Reader(root, [[] for _ in range(commands)])
    for line in lines:
        try:
            reader.take(line)
        except (IndexError, ValueError) as error:
            raise ValueError(f"a line of the trace that cannot be read: {line}") from error
    return [tuple(found) for found in reader.found]


def _opened(name: str, args: str, result: str, by: str) -> Iterable[Touch]:
    match = _RESULT.match(result)
    if match is None or "O_PATH" in args:
        return
    path = _kept(_plain(match[1]))
    if not path.startswith("/"):
        return  # a pipe or a socket
    flags = _STRING.sub("", args)
    if "O_TMPFILE" in flags:
        return  # it has no name
    if name == "creat" or any(flag in flags for flag in _WRITING):
        yield Touch("write", path, name, by)
    # reading a folder shows in the reading of its names
    elif "O_DIRECTORY" not in flags and not _is_folder(path):
        yield Touch("read", path, name, by)


def _addressed(process: _Process, name: str, args: str, by: str) -> Iterable[Touch]:
    if match := _UNIX.search(args):
        yield Touch("write", _real_path(os.path.join(process.folder, _plain(match[1]))), name, by)
    elif name != "bind" and (match := _INET.search(args) or _INET6.search(args)):
        yield Touch("connect", f"{match[2]}:{match[1]}", name, by)


def _plain(text: str) -> str:
    """Without the escapes that strace puts in."""
    if "\\" not in text:
        return text
    raw = text.encode(errors="surrogateescape")
    return _ESCAPE.sub(lambda m: bytes([int(m[1], 8)]) if m[1].isdigit() else _NAMED.get(m[1], m[1]), raw).decode(
        errors="surrogateescape"
    )


def _kept(path: str) -> str:
    return path.removesuffix(" (deleted)").removesuffix("(deleted)")


@cache
def _real_path(path: str) -> str:
    # what stands there is of the process that asks
    return path if path.startswith(("/proc/", "/dev/")) else os.path.realpath(path)


@cache
def _is_folder(path: str) -> bool:
    return os.path.isdir(path)


def _deep(path: str) -> str:
    """The real path of the folder, with the name as it is."""
    head, tail = os.path.split(path.rstrip("/"))
    return os.path.join(_real_path(head), tail) if tail not in ("", ".", "..") else _real_path(path)
