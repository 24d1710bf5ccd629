"""The submodules that git's index names: folders that a command of the repository around them enters.

Promises: reads the index as it stands on disk, up to a size; what it cannot read is a ValueError, so that nobody takes
an unread index for one without submodules.
"""

from __future__ import annotations

import os
from functools import lru_cache

_MOST_BYTES = 64 * 1024 * 1024
_GITLINK = 0o160000
_FIXED = 40
"""Bytes of an entry in front of the object's name: times, device, inode, mode, owner, size."""


def gitlinks(folder: str, width: int = 20) -> tuple[str, ...]:
    """The paths of the submodules in the index of the git directory `folder`, whose object names have `width` bytes.

    A part of a split index may lie beside it; what stands in an old one counts too. None where there is no index.
    """
    found = list(_of_file(f"{folder}/index", width))
    if found or os.path.lexists(f"{folder}/index"):
        with os.scandir(folder) as entries:
            shared = [entry.path for entry in entries if entry.name.startswith("sharedindex.")]
        found += [link for path in shared for link in _of_file(path, width)]
    return tuple(dict.fromkeys(found))


def _of_file(path: str, width: int) -> tuple[str, ...]:
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return ()
    if seen.st_size > _MOST_BYTES:
        raise ValueError(f"{path} is larger than is looked at")
    return _kept(path, width, seen.st_mtime_ns, seen.st_size, seen.st_ino)


@lru_cache(maxsize=64)
def _kept(path: str, width: int, changed: int, size: int, inode: int) -> tuple[str, ...]:
    """An index is large and read for every git command; it is read anew when its file is another one."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    # the mode of a submodule, as it stands in its entry: without one there is nothing to take apart
    if _GITLINK.to_bytes(4, "big") not in data:
        return ()
    try:
        return tuple(_links(data, width))
    except IndexError as error:
        raise ValueError(f"{path} is cut short") from error


def _links(data: bytes, width: int) -> list[str]:
    if data[:4] != b"DIRC":
        raise ValueError("it is no index")
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if version not in (2, 3, 4):
        raise ValueError(f"its version {version} is not known")
    found: list[str] = []
    at, name = 12, b""
    for _ in range(count):
        begin = at
        mode = int.from_bytes(data[at + 24 : at + 28], "big")
        flags = int.from_bytes(data[at + _FIXED + width : at + _FIXED + width + 2], "big")
        at += _FIXED + width + 2 + (2 if flags & 0x4000 else 0)
        if version == 4:
            strip, at = _varint(data, at)
            end = data.index(b"\0", at)
            name = name[: len(name) - strip] + data[at:end]
            at = end + 1
        else:
            end = data.index(b"\0", at)
            name = data[at:end]
            at = begin + ((end - begin + 8) & ~7)
        if mode == _GITLINK:
            found.append(os.fsdecode(name))
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value, at = byte & 0x7F, at + 1
    while byte & 0x80:
        byte = data[at]
        value, at = ((value + 1) << 7) | (byte & 0x7F), at + 1
    return value, at
