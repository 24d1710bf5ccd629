"""What an edit of Claude Code would change, computed from the file as it lies there now.

Promises: None where it cannot be computed (the text to replace is not there, the file is no small regular file); nothing is
written. The diff is of this moment: Claude Code itself refuses an edit of a file that changed since it was read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from interlock.runtime.tools.diff import unified

_MOST_BYTES = 4 << 20


def diff_of(tool: str, given: Mapping[str, Any], cwd: str) -> str | None:
    """The unified diff of an Edit, MultiEdit or Write."""
    path = given.get("file_path")
    if tool not in ("Edit", "MultiEdit", "Write") or not isinstance(path, str) or not path:
        return None
    place = os.path.join(cwd, path)
    before = _bytes(place)
    if before is None and os.path.lexists(place):
        return None  # something is there that cannot be read: it must not look like a new file
    after = _after(tool, given, before)
    if after is None or after == before:
        return None
    name = os.path.relpath(place, cwd) if place.startswith(cwd.rstrip("/") + "/") else place.lstrip("/")
    return unified(before, after, name).text


def _after(tool: str, given: Mapping[str, Any], before: bytes | None) -> bytes | None:
    if tool == "Write":
        content = given.get("content")
        return content.encode(errors="replace") if isinstance(content, str) else None
    edits = given.get("edits") if tool == "MultiEdit" else [given]
    text = (before or b"").decode("utf-8", "surrogateescape")
    for edit in edits if isinstance(edits, list) else ():
        replaced = _replaced(text, edit)
        if replaced is None:
            return None
        text = replaced
    return text.encode("utf-8", "surrogateescape")


def _replaced(text: str, edit: Any) -> str | None:
    if not isinstance(edit, Mapping):
        return None
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if not text else None
    count = text.count(old)
    if not count or (count > 1 and not edit.get("replace_all")):
        return None
    return text.replace(old, new) if edit.get("replace_all") else text.replace(old, new, 1)


def _bytes(path: str) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as file:
        seen = os.fstat(handle)
        return file.read() if stat.S_ISREG(seen.st_mode) and seen.st_size <= _MOST_BYTES else None
