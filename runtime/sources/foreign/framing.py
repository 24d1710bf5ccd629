"""Bytes of a foreign log -> records.

Promises: every byte that is not blank belongs to exactly one record or one damaged record; two records on one line are
both recovered, also when the first of them is torn; nothing here raises on bad bytes. Logs of lines are read as they
grow; logs that are documents (one or several JSON values over many lines, an archive) are read whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from interlock.runtime.journal.codec import loads, mended
from interlock.runtime.journal.tail import Line
from interlock.runtime.sources.foreign.record import DamagedRecord, ForeignRecord, Framed

_HEAD = 200
_SPACE = re.compile(r"\s*")
_START = re.compile(r'\{\s*"')
_NO_TEXT = re.compile("[\udc80-\udcff]")
_DECODER = json.JSONDecoder()
_TRIES = 200
"""Places on one torn line at which a whole record is looked for."""


def frame_line(line: Line) -> Iterator[Framed]:
    """The records on one line of a log of lines."""
    if line.sha256 is not None:
        reason = f"line of {line.size:,} bytes is over the limit; sha256 {line.sha256}"
        yield DamagedRecord(line.offset, line.size, reason, _head(line.raw))
        return
    value, reason = loads(line.raw)
    if not reason:
        yield ForeignRecord(value, line.offset, line.size)
        return
    yield from _glued(line, reason)


def _glued(line: Line, reason: str) -> Iterator[Framed]:
    """Whole records behind one another, and behind a torn one, on a line that is not one JSON value."""
    # a record can be torn within a character; what is no UTF-8 is kept apart in the text, one half surrogate a byte
    text = line.raw.decode("utf-8", "surrogateescape")
    at, torn_from, tries = 0, None, 0
    while at < len(text):
        found = _object_at(text, at) if text[at] == "{" else None
        if found is None:
            torn_from = at if torn_from is None else torn_from
            tries += 1
            place = _START.search(text, at + 1) if tries <= _TRIES else None
            at = place.start() if place else len(text)
            continue
        value, end = found
        if _NO_TEXT.search(text, at, end):
            torn_from = at if torn_from is None else torn_from
            at = end
            continue
        if torn_from is not None and not (_looks_whole(value) and _ends_there(text, end)):
            # an object inside the torn record is a part of it, not a record
            at = end
            continue
        if torn_from is not None:
            yield _damage(line, text, torn_from, at, reason)
            torn_from = None
        yield ForeignRecord(mended(value), line.offset + _bytes(text, 0, at), _bytes(text, at, end), glued=True)
        at = end
        while at < len(text) and text[at] in " \t\r":
            at += 1
    if torn_from is not None:
        yield _damage(line, text, torn_from, len(text), reason)


def _looks_whole(value: dict[str, object]) -> bool:
    # a record of every log of lines seen here says its type or its role, and says when or who it is; blocks of content
    # have a type and an id too, and so an id alone says nothing
    return "jsonrpc" in value or (
        ("type" in value or "role" in value)
        and bool(value.keys() & {"uuid", "timestamp", "sessionId", "payload", "time", "created_at", "parentId"})
    )


def _ends_there(text: str, end: int) -> bool:
    """Whether nothing of the object around it follows: the line ends, or another record begins."""
    rest = text[end : end + 200].lstrip()
    return not rest or rest.startswith("{")


def _object_at(text: str, at: int) -> tuple[dict[str, object], int] | None:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (json.JSONDecodeError, RecursionError, ValueError):
        return None
    return (value, end) if isinstance(value, dict) else None


def _damage(line: Line, text: str, start: int, end: int, reason: str) -> DamagedRecord:
    size = _bytes(text, start, end)
    head = _NO_TEXT.sub("\ufffd", text[start : min(end, start + _HEAD)])
    return DamagedRecord(line.offset + _bytes(text, 0, start), size, reason, head)


def _bytes(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8", "surrogateescape"))


def frame_document(data: bytes) -> Iterator[Framed]:
    """The JSON values of a log that is one document, or several behind one another."""
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        yield DamagedRecord(0, len(data), f"not UTF-8 at byte {error.start}", _head(data))
        return
    shift = len(data) - len(data.removeprefix(b"\xef\xbb\xbf"))
    at, place = 0, shift
    while True:
        gap = _SPACE.match(text, at)
        start = gap.end() if gap else at
        place += len(text[at:start].encode())
        if start >= len(text):
            return
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError, ValueError) as error:
            end = _next_document(text, start)
            size = len(text[start:end].encode())
            reason = getattr(error, "msg", None) or "nested too deeply"
            yield DamagedRecord(place, size, f"not JSON: {reason}", text[start : start + _HEAD])
        else:
            size = len(text[start:end].encode())
            yield ForeignRecord(mended(value), place, size)
        at, place = end, place + size


def _next_document(text: str, start: int) -> int:
    found = re.compile(r"^[\[{]", re.MULTILINE).search(text, start + 1)
    return found.start() if found else len(text)


def _head(raw: bytes) -> str:
    return raw[:_HEAD].decode("utf-8", "replace")
