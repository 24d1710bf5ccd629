"""Lines of a byte stream, kept as they came.

Promises: the pieces joined are exactly the bytes that were fed, in any chunking; a piece is one whole line with its end, or,
for a line longer than `limit`, a part of it that is marked as such and must not be looked into.
"""

from __future__ import annotations

from typing import NamedTuple

MOST_HELD = 256 << 20
"""Bytes of one line that are held together; a longer one passes in parts, unread."""


class Piece(NamedTuple):
    """Bytes to hand on. `is_line`: a whole line, or the last one of a stream without its end."""

    data: bytes
    is_line: bool


class Lines:
    """Cuts a stream into lines."""

    def __init__(self, limit: int = MOST_HELD) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._overlong = False

    def feed(self, chunk: bytes) -> list[Piece]:
        """What is complete with these bytes."""
        found: list[Piece] = []
        start = 0
        while (at := chunk.find(b"\n", start)) >= 0:
            self._hold(chunk[start : at + 1])
            found.append(Piece(self._take(), not self._overlong))
            self._overlong = False
            start = at + 1
        if start < len(chunk):
            self._hold(chunk[start:])
            if self._size > self._limit or self._overlong:
                self._overlong = True
                found.append(Piece(self._take(), False))
        return found

    def rest(self) -> list[Piece]:
        """What is left at the end of the stream."""
        return [Piece(self._take(), not self._overlong)] if self._held else []

    def _hold(self, data: bytes) -> None:
        self._held.append(data)
        self._size += len(data)

    def _take(self) -> bytes:
        data = b"".join(self._held)
        self._held.clear()
        self._size = 0
        return data
