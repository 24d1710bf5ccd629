"""The one cap (RT-12): how much of a content goes into history.

Promises: content plus note fit the limit; the cut never splits a character; `N` in the note is exact: bytes kept plus
bytes dropped are the bytes there were; nothing is cut and no note is added when the content fits. Where not even the
note fits, nothing is kept. With `keep="ends"` the note stands where the gap is, between exact pieces of the original.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from interlock.runtime.tools.output import Excerpt, Keep

HEAD_SHARE = 3
"""With `ends`, one part in so many is the beginning; errors stand mostly at the end."""

_SURROGATE = re.compile("[\ud800-\udfff]")


class Cut(NamedTuple):
    """What is kept, and how many bytes were not."""

    text: str
    dropped: int
    kept: str
    """The first piece of the original that was kept, without the note."""


def note(dropped: int) -> str:
    """What the model is told of a cut."""
    return f"[truncated: {dropped} bytes dropped, refine your query]"


def fit(data: bytes, limit: int) -> bytes:
    """The longest beginning of UTF-8 `data` that has at most `limit` bytes and ends with a whole character."""
    if len(data) <= limit:
        return data
    end = max(limit, 0)
    while end > 0 and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[:end]


def cap(content: str | Excerpt, limit: int, *, keep: Keep = "head") -> Cut:
    """Cut `content` to `limit` bytes of UTF-8, note included."""
    head, tail, total = _measured(content)
    if isinstance(content, str) and total <= limit:
        text = head.decode()
        return Cut(text, 0, text)
    if len(note(total)) > limit:
        return Cut("", total, "")
    if keep == "ends":
        return _ends(head, tail, total, limit)
    return _head(head, total, limit)


def _measured(content: str | Excerpt) -> tuple[bytes, bytes, int]:
    if isinstance(content, str):
        data = _bytes(content)
        return data, data, len(data)
    head, tail = _bytes(content.head), _bytes(content.tail)
    return head, tail, len(head) + content.omitted + len(tail)


def _bytes(text: str) -> bytes:
    return _SURROGATE.sub("\ufffd", text).encode()


def _head(head: bytes, total: int, limit: int) -> Cut:
    room = limit - len(note(1))
    kept = fit(head, room)
    # the longer N is, the less room is left for the content: a few steps at most
    while len(kept) + len(note(total - len(kept))) > limit:
        room -= 1
        kept = fit(head, room)
    dropped = total - len(kept)
    return Cut(kept.decode() + note(dropped), dropped, kept.decode())


def _ends(head: bytes, tail: bytes, total: int, limit: int) -> Cut:
    room = limit - len(note(total))
    first = _to_line_end(fit(head, room // HEAD_SHARE))
    last = _from_line_end(_last(tail, min(room - len(first), total - len(first))))
    dropped = total - len(first) - len(last)
    return Cut(first.decode() + note(dropped) + last.decode(), dropped, first.decode())


def _last(data: bytes, size: int) -> bytes:
    start = max(len(data) - max(size, 0), 0)
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _to_line_end(data: bytes) -> bytes:
    end = data.rfind(b"\n") + 1
    return data[:end] if end > len(data) // 2 else data


def _from_line_end(data: bytes) -> bytes:
    # begins with the line end itself, so that the note stands on a line of its own
    start = data.find(b"\n")
    return data[start:] if 0 <= start < len(data) // 2 else data
