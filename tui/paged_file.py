"""A file of any size, read in windows.

Promises: never reads more than a few windows at a time, whatever the size; a place (byte offset) is a start or not
whoever asks and from wherever, so that walking forwards and backwards meets the same lines; a line longer than
`PART` bytes goes on in parts; search works in slices, can be stopped, and tells how far it came.
A file may grow while it is read; one that shrinks reads as shorter.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import NamedTuple

PART = 16_384
"""Bytes after which a line without an end is shown in parts."""
WINDOW = 1 << 20
"""Bytes searched at a time."""
REGEX_SECONDS = 8.0
"""Time that a regular expression may take before its process is stopped (no pattern may hold up the screen)."""
HEX_ROW = 16


class Found(NamedTuple):
    """Where a search came to."""

    start: int
    """Byte offset of the hit, -1 for none."""
    end: int
    note: str = ""
    """Why there is none, in our own words."""


class PagedFile:
    """An open file. Close it with `close()`; reads after that fail."""

    def __init__(self, path: Path) -> None:
        """Open for reading. Raises OSError."""
        self.path = path
        self._handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))

    def close(self) -> None:
        """Give the file back; a second time does nothing."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    @property
    def size(self) -> int:
        """Bytes now."""
        return os.fstat(self._handle).st_size

    def read(self, start: int, count: int) -> bytes:
        """Bytes from a place; fewer at the end, none before the beginning."""
        if start < 0:
            count, start = count + start, 0
        return os.pread(self._handle, count, start) if count > 0 else b""

    @property
    def is_binary(self) -> bool:
        """Whether the first window holds a NUL, which no text does."""
        return b"\x00" in self.read(0, PART)

    # --- lines and parts

    def _forced(self, multiple: int) -> int | None:
        """The start at a multiple of PART, when the part before it has no line end; moved to a whole character."""
        if multiple <= 0 or b"\n" in self.read(multiple - PART, PART):
            return None
        for ahead, byte in enumerate(self.read(multiple, 4)):
            if byte & 0xC0 != 0x80:
                return multiple + ahead
        return multiple

    def next_start(self, start: int) -> int:
        """The start of the next line or part; the size when there is none."""
        data = self.read(start, 2 * PART + 4)
        end = data.find(b"\n")
        newline = start + end + 1 if end >= 0 else start + len(data)
        for multiple in range((start // PART) * PART, min(newline, start + 2 * PART) + 1, PART):
            forced = self._forced(multiple)
            if forced is not None and start < forced < newline:
                return forced
        return newline

    def previous_start(self, start: int) -> int:
        """The start of the line or part before; 0 at the beginning."""
        if start <= 0:
            return 0
        begin = max(start - 2 * PART - 4, 0)
        data = self.read(begin, start - begin - 1)
        newline = begin + data.rfind(b"\n") + 1 if b"\n" in data else begin
        for multiple in range((start // PART) * PART, newline - 1, -PART):
            forced = self._forced(multiple)
            if forced is not None and newline < forced < start:
                return forced
        return newline

    def start_of(self, place: int) -> int:
        """The start of the line or part that a place is in."""
        place = min(max(place, 0), self.size)
        before = self.previous_start(place + 1)
        return place if before < place and self.next_start(before) == place else before

    # --- search

    def find(
        self,
        wanted: bytes,
        start: int,
        *,
        backwards: bool = False,
        stopped: Callable[[], bool] = bool,
        seconds: float = 10.0,
    ) -> Found:
        """The next place of these bytes at or after `start`, or the last before it. To be called off the loop."""
        if not wanted:
            return Found(-1, -1)
        until = monotonic() + seconds
        at, size = start, self.size
        while (at > 0) if backwards else (at < size):
            low = max(at - WINDOW, 0) if backwards else at
            # A hit may begin in this window and end in the next one.
            data = self.read(low, min(WINDOW, at - low if backwards else WINDOW) + len(wanted) - 1)
            hit = data.rfind(wanted) if backwards else data.find(wanted)
            if hit >= 0:
                return Found(low + hit, low + hit + len(wanted))
            at = low if backwards else low + WINDOW
            if stopped() or monotonic() > until:
                done = start - at if backwards else at - start
                return Found(-1, -1, f"not in the next {done:,} bytes; stopped there")
        return Found(-1, -1, "not found before here" if backwards else "not found from here to the end")

    def find_regex(self, pattern: str, start: int, *, backwards: bool = False, seconds: float = REGEX_SECONDS) -> Found:
        """As `find` with a regular expression, in a process of its own that is stopped when its time is over."""
        direction = "backwards" if backwards else "forwards"
        command = [sys.executable, "-m", "interlock.tui.regex_scan", str(self.path), str(start), direction, pattern]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return Found(-1, -1, f"the pattern took more than {seconds:g} s and was stopped; try a plain word")
        except (OSError, ValueError) as error:
            return Found(-1, -1, f"cannot search: {type(error).__name__}")
        if done.returncode == 2:
            return Found(-1, -1, f"not a regular expression: {done.stderr.strip()[:100]}")
        parts = done.stdout.split()
        if done.returncode or len(parts) != 2:
            return Found(-1, -1, "not found before here" if backwards else "not found from here to the end")
        return Found(int(parts[0]), int(parts[1]))
