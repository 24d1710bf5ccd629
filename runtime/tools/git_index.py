"""The submodules that git's index names: folders that a command of the repository around them enters.

Promises: reads the index as it stands on disk, in each of its forms, up to a size; what it cannot read is a ValueError, so
that nobody takes an unread index for one without submodules.
"""

from __future__ import annotations

import os
from functools import lru_cache

_MOST_BYTES = 64 * 1024 * 1024
_GITLINK = 0o160000
_FIXED = 40
"""Bytes of an entry in front of the object's name: times, device, inode, mode, owner, size."""
_MODE_AT = 24
_SPLIT = b"link\0\0"
"""Begins the part of an index that says that the rest of it lies in another file."""


def gitlinks(folder: str, width: int = 20) -> tuple[str, ...]:
    """The paths of the submodules in the index of the git directory `folder`, whose object names have `width` bytes."""
    found, is_split = _of_file(f"{folder}/index", width)
    if not is_split:
        return found
    with os.scandir(folder) as entries:
        shared = sorted(entry.path for entry in entries if entry.name.startswith("sharedindex."))
    # which of them is meant, and what of it was taken back, does not matter: a folder that is no repository is passed over
    return tuple(dict.fromkeys((*found, *(link for path in shared for link in _of_file(path, width)[0]))))


def _of_file(path: str, width: int) -> tuple[tuple[str, ...], bool]:
    try:
        seen = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return (), False
    if seen.st_size > _MOST_BYTES:
        raise ValueError(f"{path} is larger than is looked at")
    return _kept(path, width, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino)


@lru_cache(maxsize=64)
def _kept(
    path: str, width: int, _written: int, _changed: int, _size: int, _number: int
) -> tuple[tuple[str, ...], bool]:
    """An index is large and read for every git command; it is read anew when its file is another one."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    # without the mode of a submodule there is nothing to take apart
    if _GITLINK.to_bytes(4, "big") not in data:
        return (), _SPLIT in data
    try:
        return tuple(_links(data, width)), _SPLIT in data
    except IndexError as error:
        raise ValueError(f"{path} is cut short") from error


def _links(data: bytes, width: int) -> list[str]:
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("its form is not known")
    found: list[str] = []
    at, name = 12, b""
    for _ in range(count):
        begin = at
        mode = int.from_bytes(data[at + _MODE_AT : at + _MODE_AT + 4], "big")
        flags = int.from_bytes(data[at + _FIXED + width : at + _FIXED + width + 2], "big")
        at += _FIXED + width + 2 + (2 if flags & 0x4000 else 0)
        strip = 0
        if version == 4:
            strip, at = _count(data, at)
        end = data.index(b"\0", at)
        name = name[: len(name) - strip] + data[at:end] if version == 4 else data[at:end]
        at = end + 1 if version == 4 else begin + ((end - begin + 8) & ~7)
        if mode == _GITLINK and name:
            found.append(os.fsdecode(name))
    return found


def _count(data: bytes, at: int) -> tuple[int, int]:
    """A number of several bytes, seven bits in each, and where it ends."""
    value, more = data[at] & 0x7F, data[at] & 0x80
    while more:
        at += 1
        value, more = ((value + 1) << 7) | (data[at] & 0x7F), data[at] & 0x80
    return value, at + 1
