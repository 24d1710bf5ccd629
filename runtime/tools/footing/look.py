"""What stands at a path: where it leads, what it is, and whether it is still the same one.

Promises: a folder is told by its real path and its number, a file also by its content (SHA-256 up to `MAX_DIGESTED`, else
size and times); what is absent by the folder that would hold it; nothing but a regular file is opened, and no look waits.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Literal

from interlock.runtime.tools.footing.item import Budget, Item, quick

MAX_DIGESTED = 4 * 1024 * 1024
"""Bytes of a file that is read to be compared."""
MAX_FOLLOWED = 512 * 1024
"""Bytes of a file that is read for the names that stand in it."""
_LIVE = b"SQLite format 3\0"
"""Files that begin so are written to by running programs all the time; they are told by their number alone."""
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY

Depth = Literal["place", "identity", "content"]
"""How closely a file is held: where it is; also that it is this one; also what it holds."""


def look_at(path: str, *, what: str, name: str, depth: Depth, budget: Budget) -> Item:
    """One path as an item. Never raises."""
    if not budget.look():
        return Item(what, name, {"kind": "not looked at"})
    stamp = quick(path)
    try:
        return Item(what, name, _fields(path, depth, budget), path, stamp)
    except (OSError, ValueError) as error:
        return Item(
            what, name, {"kind": "unreadable", "why": getattr(error, "strerror", None) or str(error)}, path, stamp
        )


def _fields(path: str, depth: Depth, budget: Budget) -> dict[str, str]:
    fields: dict[str, str] = {}
    try:
        seen = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _absent(path)
    if stat.S_ISLNK(seen.st_mode):
        fields["link"] = os.readlink(path)
    fields["real"] = os.path.realpath(path)
    try:
        seen = os.stat(path)
    except FileNotFoundError:
        return fields | _absent(fields["real"])
    fields["kind"] = kind_of(seen.st_mode)
    if depth == "place" and fields["kind"] != "folder":
        return fields
    fields["identity"] = f"{seen.st_dev}:{seen.st_ino}"
    if depth == "content" and stat.S_ISREG(seen.st_mode):
        fields["content"] = _content(fields["real"], seen, budget)
    return fields


def _absent(path: str) -> dict[str, str]:
    """What is not there, by the nearest folder above that is: another folder of that name would be another place."""
    above = os.path.dirname(os.path.abspath(path))
    while above != "/" and not os.path.isdir(above):
        above = os.path.dirname(above)
    seen = os.stat(above)
    real = os.path.realpath(above)
    return {"kind": "missing", "real": real + path[len(above) :], "above": f"{seen.st_dev}:{seen.st_ino}"}


def kind_of(mode: int) -> str:
    """file, folder or other."""
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def _content(path: str, seen: os.stat_result, budget: Budget) -> str:
    # the change time cannot be set by a program: it tells of every write to a file too large to be read
    stated = f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns}"
    if seen.st_size > MAX_DIGESTED or not budget.read(seen.st_size):
        return stated
    data = read_small(path, MAX_DIGESTED)
    if data is None:
        return stated
    return "live" if data.startswith(_LIVE) else hashlib.sha256(data).hexdigest()


def read_small(path: str, limit: int = MAX_FOLLOWED) -> bytes | None:
    """All bytes of a regular file of at most `limit`; None where there is none, or it is larger. Never waits."""
    try:
        handle = os.open(path, _OPEN)
    except (OSError, ValueError):
        return None
    try:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > limit:
            return None
        data = b""
        while len(data) <= limit and (chunk := os.read(handle, 1 << 20)):
            data += chunk
        return data if len(data) <= limit else None
    except OSError:
        return None
    finally:
        os.close(handle)
