"""Follow a growing journal: catching up and live tail are the same code.

Promises: every complete line is given exactly once with its byte offset; an unfinished last line stays pending and is
joined before it is looked at; truncation, replacement and rotation are noticed and named, and what is still written to
a renamed file is read to its end; a line of any length needs bounded memory; lines are split at byte 0x0A alone.
Does not promise: to see bytes that were written and cut away between two reads; that a cursor kept from an earlier run
notices a file that was cut and written again with a line end at the very same place (the chain does).
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from interlock.runtime.journal.codec import LINE_LIMIT, RAW_KEPT

CHUNK = 256 * 1024
_FINGERPRINT = 64
_KEPT_OLD_FILES = 4
_BOM = b"\xef\xbb\xbf"
_BRACE, _CR = 0x7B, 0x0D


class Cursor(NamedTuple):
    """Where a reader stands: which file, how far, and how many files or truncations came before."""

    dev: int = 0
    ino: int = 0
    offset: int = 0
    generation: int = 0


class Line(NamedTuple):
    """One complete line without its line end."""

    offset: int
    raw: bytes
    """The line; of one over the limit only the first 4,096 bytes."""
    size: int
    generation: int = 0
    sha256: str | None = None
    """Of the whole line, where it was over the limit."""


# half the cost of calling Line(…), which counts where millions of lines are split
_LINE = tuple.__new__


@dataclass(slots=True)
class Batch:
    """What one read brought."""

    lines: list[Line] = field(default_factory=list)
    cursor: Cursor = field(default_factory=Cursor)
    pending_bytes: int = 0
    """Length of the unfinished last line."""
    blank: int = 0
    """Empty lines that were skipped."""
    notes: list[str] = field(default_factory=list)
    """`truncated`, `replaced`, `missing`, `bom`: in the order in which they were noticed."""
    more: bool = False
    """Whether the limit stopped the read before the end of the file."""


class TailReader:
    """Reads one path. Not safe for use by two threads at once."""

    def __init__(self, path: Path, cursor: Cursor | None = None) -> None:
        self.path = path
        self._start = cursor
        self._file: _OpenFile | None = None
        self._old: list[_OpenFile] = []
        self._generation = cursor.generation if cursor else 0
        self._missing = False

    def read(self, cursor: Cursor | None = None, limit_bytes: int = 64 * 1024 * 1024) -> Batch:
        """Everything that has come since the last read, or since `cursor`, up to about `limit_bytes`.

        Raises OSError when the file is there and cannot be read. A missing file is an empty batch with a note.
        """
        batch = Batch()
        if cursor is not None and (self._file is None or cursor != self._file.cursor()):
            self.close()
            self._start, self._generation = cursor, cursor.generation
        self._follow(batch)
        for old in self._old:
            old.drain(batch, limit_bytes)
        if self._file is not None:
            self._file.drain(batch, limit_bytes)
            batch.pending_bytes = self._file.pending
            batch.cursor = self._file.cursor()
        return batch

    def _follow(self, batch: Batch) -> None:
        try:
            seen = os.stat(self.path)
        except FileNotFoundError:
            if not self._missing:
                batch.notes.append("missing")
            self._missing = True
            if self._file is not None:
                self._retire()
            return
        self._missing = False
        if self._file is not None and (self._file.dev, self._file.ino) != (seen.st_dev, seen.st_ino):
            batch.notes.append("replaced")
            self._retire()
        if self._file is None:
            self._open(batch)
        elif self._file.was_rewritten():
            batch.notes.append("truncated")
            self._generation += 1
            self._file.restart(self._generation)

    def _retire(self) -> None:
        # its writer may still hold it open under another name: what is written there belongs to the record too
        assert self._file is not None
        self._old.append(self._file)
        self._file = None
        self._generation += 1
        while len(self._old) > _KEPT_OLD_FILES:
            self._old.pop(0).close()

    def _open(self, batch: Batch) -> None:
        self._file = _OpenFile(self.path, self._generation)
        start, self._start = self._start, None
        if start is None or start.ino == 0:
            return
        if (start.dev, start.ino) != (self._file.dev, self._file.ino):
            batch.notes.append("replaced")
        elif not self._file.go_to(start.offset):
            batch.notes.append("truncated")
        else:
            return
        self._generation += 1
        self._file.restart(self._generation)

    def line_at(self, offset: int, generation: int) -> bytes | None:
        """A line of this or an earlier generation, None where its file is no longer there."""
        for file in (self._file, *self._old):
            if file is not None and file.generation == generation:
                return _line_at(file.fd, offset)
        return None

    def last(self, nbytes: int = CHUNK) -> list[Line]:
        """The complete lines in the last `nbytes`, without moving. Raises OSError when it cannot be read."""
        return last_lines(self.path, nbytes)

    def close(self) -> None:
        """Give all files back."""
        for file in (*self._old, *([self._file] if self._file else [])):
            file.close()
        self._old, self._file = [], None


class _OpenFile:
    """One open file, read by position, with the unfinished line that was met last."""

    def __init__(self, path: Path, generation: int) -> None:
        self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        seen = os.fstat(self.fd)
        self.dev, self.ino, self.generation = seen.st_dev, seen.st_ino, generation
        self.restart(generation)

    def restart(self, generation: int) -> None:
        self.generation = generation
        self.offset = 0
        self.line_start = 0
        self._parts: list[bytes] = []
        self._hasher: hashlib._Hash | None = None
        self.pending = 0
        self._fingerprint = b""

    def go_to(self, offset: int) -> bool:
        """Stand at the beginning of a line. False: no line of this file begins there."""
        start = max(0, offset - _FINGERPRINT)
        before = os.pread(self.fd, offset - start, start)
        if len(before) != offset - start or (before and not before.endswith(b"\n")):
            return False
        self.offset = self.line_start = offset
        self._fingerprint = before
        return True

    def size(self) -> int:
        return os.fstat(self.fd).st_size

    def cursor(self) -> Cursor:
        """Behind the last complete line, so that a reader which starts there gets the pending one whole."""
        return Cursor(self.dev, self.ino, self.line_start, self.generation)

    def was_rewritten(self) -> bool:
        """Whether the bytes before the position are no longer those that were read."""
        if self.size() < self.offset:
            return True
        start = self.offset - len(self._fingerprint)
        return bool(self._fingerprint) and os.pread(self.fd, len(self._fingerprint), start) != self._fingerprint

    def drain(self, batch: Batch, limit: int) -> None:
        taken = 0
        while taken < limit:
            data = os.pread(self.fd, CHUNK, self.offset)
            if not data:
                return
            taken += len(data)
            self.offset += len(data)
            self._fingerprint = (self._fingerprint + data)[-_FINGERPRINT:]
            self._split(data, batch)
        batch.more = True

    def _split(self, data: bytes, batch: Batch) -> None:
        start, lines, generation = 0, batch.lines, self.generation
        while (end := data.find(b"\n", start)) >= 0:
            # nearly every line lies whole in a chunk and begins with a brace: the short road is for those
            if self.pending == 0 and self.line_start and data[start] == _BRACE and data[end - 1] != _CR:
                size = end - start
                lines.append(_LINE(Line, (self.line_start, data[start:end], size, generation, None)))
                self.line_start += size + 1
            else:
                self._keep(data[start:end])
                self._finish(batch)
            start = end + 1
        self._keep(data[start:])

    def _keep(self, part: bytes) -> None:
        if not part:
            return
        self.pending += len(part)
        if self._hasher is None and self.pending > LINE_LIMIT:
            whole = b"".join((*self._parts, part))
            self._hasher = hashlib.sha256(whole)
            self._parts = [whole[:RAW_KEPT]]
        elif self._hasher is not None:
            self._hasher.update(part)
        else:
            self._parts.append(part)

    def _finish(self, batch: Batch) -> None:
        raw = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        size, offset = self.pending, self.line_start
        digest = self._hasher.hexdigest() if self._hasher is not None else None
        self.line_start += size + 1
        self._parts, self._hasher, self.pending = [], None, 0
        if offset == 0 and raw.startswith(_BOM):
            batch.notes.append("bom")
            raw = raw[len(_BOM) :]
        raw = raw.removesuffix(b"\r") if digest is None else raw
        if not raw.strip():
            batch.blank += 1
            return
        batch.lines.append(Line(offset, raw, size, self.generation, digest))

    def close(self) -> None:
        os.close(self.fd)


def read_line_at(path: Path, offset: int) -> bytes:
    """The line that begins at a byte offset, without its line end; at most the limit and one byte.

    Raises OSError when the file cannot be read.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return _line_at(fd, offset)
    finally:
        os.close(fd)


def _line_at(fd: int, offset: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= LINE_LIMIT:
        data = os.pread(fd, 16 * 1024 if size < 64 * 1024 else CHUNK, offset + size)
        end = data.find(b"\n")
        if end >= 0 or not data:
            parts.append(data[:end] if end >= 0 else data)
            break
        parts.append(data)
        size += len(data)
    return b"".join(parts).removesuffix(b"\r")[: LINE_LIMIT + 1]


def last_lines(path: Path, nbytes: int = CHUNK) -> list[Line]:
    """The complete lines in the last `nbytes` of a file: what is painted before the rest is read.

    Raises OSError when the file cannot be read.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        size = os.fstat(fd).st_size
        start = max(0, size - nbytes)
        data = os.pread(fd, size - start, start)
    finally:
        os.close(fd)
    if start:
        first = data.find(b"\n") + 1
        if first == 0:
            return []
        data, start = data[first:], start + first
    lines, at = [], 0
    while (end := data.find(b"\n", at)) >= 0:
        raw = data[at:end].removesuffix(b"\r")
        if raw.strip():
            lines.append(Line(start + at, raw, end - at))
        at = end + 1
    return lines
