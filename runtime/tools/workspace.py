"""Where file tools may go: real paths below the workspace roots, opened without following a link.

Promises: a written path is resolved component by component (links and `..` as the kernel would take them, deepest
existing ancestor first) and refused when the result is outside every root; an open walks the resolved components again
with no link followed, so a link that is swapped in between ends in a refusal and not outside. Nothing is expanded: `~`
and `$HOME` are names like any other. A root that is itself a link works.
Does not promise: that the file stays as it was; see `baseline`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from interlock.runtime.tools.refusal import precondition

MAX_LINKS = 40
"""Links followed before a path counts as a loop; the figure of Linux (path_resolution(7))."""

Kind = Literal["file", "folder", "other", "missing"]
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside the workspace, resolved."""

    written: str
    """As the call had it."""
    real: str
    """Absolute, no links in it."""
    root: str
    """The workspace root that holds it."""
    parts: tuple[str, ...]
    """Components below the root."""
    kind: Kind
    shown: str
    """Short form for people and model: relative to the root."""


class Workspace:
    """The roots of one session. They come from the session, never from a call."""

    def __init__(self, roots: Sequence[str | os.PathLike[str]]) -> None:
        if not roots:
            raise ValueError("a workspace needs at least one root")
        self.roots: tuple[str, ...] = tuple(os.path.realpath(root) for root in roots)

    @property
    def home(self) -> str:
        """The first root: what relative paths are relative to."""
        return self.roots[0]

    def locate(self, written: str, *, field: str = "path") -> Place:
        """Where a written path really is. Raises Refusal when that is outside, a loop or not a path at all."""
        if "\0" in written:
            raise precondition("the path holds a NUL character, which no file name can hold", field=field)
        if not written:
            raise precondition("the path is empty", field=field, next_step="Give a path relative to the workspace.")
        real, kind = _resolve(os.path.join(self.home, written), written, field)
        root = self._root_of(real)
        if root is None:
            raise precondition(
                f"{written!r} is outside the workspace: it resolves to {real}",
                field=field,
                next_step=f"File tools reach only what lies below {', '.join(self.roots)}.",
            )
        relative = os.path.relpath(real, root)
        parts = () if relative == "." else tuple(relative.split(os.sep))
        return Place(written, real, root, parts, kind, self.show(real))

    def show(self, real: str) -> str:
        """A real path as it is shown: relative to the first root when it is below it."""
        if real == self.home:
            return "."
        prefix = self.home.rstrip(os.sep) + os.sep
        return real[len(prefix) :] if real.startswith(prefix) else real

    def _root_of(self, real: str) -> str | None:
        for root in self.roots:
            if real == root or real.startswith(root.rstrip(os.sep) + os.sep):
                return root
        return None


def _resolve(path: str, written: str, field: str) -> tuple[str, Kind]:
    pending = [part for part in reversed(path.split(os.sep)) if part]
    current, links = os.sep, 0
    while pending:
        part = pending.pop()
        if part == ".":
            continue
        if part == "..":
            current = os.path.dirname(current)
            continue
        step = os.path.join(current, part)
        try:
            mode = os.lstat(step).st_mode
        except FileNotFoundError:
            return _missing(step, pending, written, field), "missing"
        except OSError as error:
            raise _unusable(error, written, field) from None
        if stat.S_ISLNK(mode):
            links += 1
            if links > MAX_LINKS:
                raise precondition(f"{written!r} is a loop of links (ELOOP)", field=field)
            target = os.readlink(step)
            current = os.sep if target.startswith(os.sep) else current
            pending.extend(part for part in reversed(target.split(os.sep)) if part)
            continue
        current = step
    return current, _kind(current, written, field)


def _missing(step: str, pending: list[str], written: str, field: str) -> str:
    rest = [part for part in reversed(pending) if part != "."]
    if ".." in rest:
        raise precondition(f"{written!r} goes through {step}, which does not exist", field=field)
    return os.path.join(step, *rest)


def _kind(real: str, written: str, field: str) -> Kind:
    try:
        mode = os.lstat(real).st_mode
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        raise _unusable(error, written, field) from None
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"


def _unusable(error: OSError, written: str, field: str) -> Exception:
    reason = os.strerror(error.errno) if error.errno else str(error)
    return precondition(f"{written!r} cannot be used as a path: {reason}", field=field)


@contextmanager
def open_parent(place: Place, *, create: bool = False) -> Iterator[int]:
    """A descriptor of the folder that holds the place, walked from the root with no link followed.

    Raises Refusal when a component is missing (unless `create`), is a link now, or is no folder.
    """
    folder = os.open(place.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in place.parts[:-1]:
            if create:
                _make_folder(part, folder)
            try:
                inner = os.open(part, _FOLDER, dir_fd=folder)
            except OSError as error:
                raise _swapped(error, place) from None
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


FolderNumber = tuple[int, int]
"""What tells a folder from every other: device and number."""
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_folder(real: str) -> int:
    """A descriptor of a folder given by its real path, walked from the root of the system with no link followed.

    Raises OSError when a component is missing, is a link now, or is no folder.
    """
    handle = os.open("/", _STEP)
    try:
        for part in [part for part in real.split("/") if part]:
            inner = os.open(part, _STEP, dir_fd=handle)
            os.close(handle)
            handle = inner
    except OSError:
        os.close(handle)
        raise
    return handle


def folder_number(folder: str | int) -> FolderNumber:
    """The number of a folder, by its path or its descriptor. Raises OSError."""
    seen = os.stat(folder)
    return seen.st_dev, seen.st_ino


def path_of(handle: int, real: str) -> str:
    """A path by which a new process enters the very folder that is open, whatever its name leads to by then."""
    through = f"/proc/self/fd/{handle}"
    return through if os.path.isdir(through) else real


def _make_folder(name: str, folder: int) -> None:
    try:
        os.mkdir(name, dir_fd=folder)
    except FileExistsError:
        pass


def open_file(place: Place) -> int:
    """A descriptor to read a regular file, never blocking and never through a link. Raises Refusal."""
    if not place.parts:
        raise precondition(f"{place.written!r} is the workspace itself, not a file", field="path")
    with open_parent(place) as folder:
        try:
            # O_NONBLOCK: opening a FIFO must not wait for a writer; it has no effect on a regular file
            handle = os.open(place.parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError as error:
            raise _swapped(error, place) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        mode = os.fstat(handle).st_mode
        os.close(handle)
        raise precondition(f"{place.written!r} is not a regular file, it is {_noun(mode)}", field="path")
    return handle


def _noun(mode: int) -> str:
    for test, noun in (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a FIFO"),
        (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a character device"),
        (stat.S_ISBLK, "a block device"),
    ):
        if test(mode):
            return noun
    return "of an unknown kind"


def _swapped(error: OSError, place: Place) -> Exception:
    if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOTDIR):
        text = f"{place.written!r} is reached through a link or file that was not there a moment ago ({place.real})"
    elif error.errno == errno.ENOENT:
        text = f"{place.written!r} does not exist"
    elif error.errno == errno.ENXIO:
        text = f"{place.written!r} is not a regular file"
    else:
        text = f"{place.written!r} cannot be opened: {os.strerror(error.errno or 0)}"
    return precondition(text, field="path")
