"""An index over a journal: a few numbers a line, in columns, so that a list of millions of lines stays small.

Promises: 34 bytes a line; every line that is not blank has a row, damaged ones too; the text of a line stays in the
file and is read by position when it is wanted.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from interlock.runtime.events.moment import micros
from interlock.runtime.events.union import EVENT_CLASSES
from interlock.runtime.journal.envelope import EnvelopeHeading, headings
from interlock.runtime.journal.tail import CHUNK, Line, TailReader, read_line_at

NO_NUMBER = 0xFFFF_FFFF
"""No such id in the line, or one without a number at its end."""
TYPES = (*EVENT_CLASSES, "unknown", "damaged")
_CODE = {name: code for code, name in enumerate(TYPES)}
_UNKNOWN, _DAMAGED = _CODE.pop("unknown"), _CODE.pop("damaged")
_NOTHING = EnvelopeHeading(type="\n")
_CODE[_NOTHING.type] = _DAMAGED


class Heading(Protocol):
    """What the columns hold of an event; every brief is one."""

    @property
    def type(self) -> str: ...
    @property
    def seq(self) -> int: ...
    @property
    def ts(self) -> str: ...
    @property
    def intent_id(self) -> str | None: ...
    @property
    def invocation_id(self) -> str | None: ...


class EventRow(NamedTuple):
    """One line, as far as the columns tell."""

    offset: int
    length: int
    """In bytes, without the line end."""
    type: str
    """The wire name, `unknown` or `damaged`."""
    seq: int
    """-1 where the line has none."""
    intent: int | None
    invocation: int | None
    """The number in the id: 42 of `inv_42`."""
    at: int
    """Microseconds since 1970, 0 where unknown."""


class EventColumns:
    """The columns of one journal. Lines are added in the order of the file."""

    def __init__(self) -> None:
        self._offset = array("Q")
        self._length = array("I")
        self._type = bytearray()
        self._seq = array("I")
        self._intent = array("I")
        self._invocation = array("I")
        self._at = array("q")

    def __len__(self) -> int:
        return len(self._type)

    def add(self, line: Line, event: Heading | None) -> None:
        """Take one line and its heading, None where it is damaged."""
        self.add_all((line,), (event,))

    def add_all(
        self, lines: Sequence[Line], events: Sequence[Heading | None], times: Sequence[int] | None = None
    ) -> None:
        """Take lines and their headings, as many of the one as of the other; `times` if they are known already."""
        if not lines:
            return
        offsets, _, sizes, _, _ = zip(*lines, strict=True)
        known = [_NOTHING if event is None else event for event in events]
        self._offset.extend(offsets)
        self._length.extend(sizes if max(sizes) < NO_NUMBER else [min(size, NO_NUMBER) for size in sizes])
        self._type.extend([_CODE.get(event.type, _UNKNOWN) for event in known])
        self._seq.extend([seq if 0 <= (seq := event.seq) < NO_NUMBER else NO_NUMBER for event in known])
        self._intent.extend([NO_NUMBER if (i := event.intent_id) is None else _number(i) for event in known])
        self._invocation.extend([NO_NUMBER if (i := event.invocation_id) is None else _number(i) for event in known])
        self._at.extend([micros(event.ts) for event in known] if times is None else times)

    def extend(self, lines: Sequence[Line]) -> None:
        """Take lines, decoding their headings."""
        self.add_all(lines, headings([line.raw if line.sha256 is None else b"" for line in lines]))

    def clear(self) -> None:
        """Forget all rows: the file is another one now."""
        for column in (self._offset, self._length, self._type, self._seq, self._intent, self._invocation, self._at):
            del column[:]

    def row(self, index: int) -> EventRow:
        """What is known of one line. Raises IndexError."""
        seq, intent, invocation = self._seq[index], self._intent[index], self._invocation[index]
        return EventRow(
            self._offset[index],
            self._length[index],
            TYPES[self._type[index]],
            -1 if seq == NO_NUMBER else seq,
            None if intent == NO_NUMBER else intent,
            None if invocation == NO_NUMBER else invocation,
            self._at[index],
        )

    def find_offset(self, offset: int) -> int | None:
        """The row whose line begins at this byte."""
        index = bisect_left(self._offset, offset)
        return index if index < len(self) and self._offset[index] == offset else None

    def find_seq(self, seq: int) -> int | None:
        """The first row with this seq. Quick where rows and seqs run alike, as they do in a whole journal."""
        if 0 <= seq < len(self) and self._seq[seq] == seq:
            return seq
        try:
            return self._seq.index(seq) if 0 <= seq < NO_NUMBER else None
        except ValueError:
            return None

    def raw(self, path: Path, index: int) -> bytes:
        """The line itself, read from the file; at most the line limit and a byte. Raises IndexError, OSError."""
        return read_line_at(path, self._offset[index])

    @property
    def nbytes(self) -> int:
        """Bytes that the columns hold."""
        columns = (self._offset, self._length, self._seq, self._intent, self._invocation, self._at)
        return len(self._type) + sum(column.itemsize * len(column) for column in columns)


def build(path: Path, chunk: int = 4 * 1024 * 1024) -> Iterator[EventColumns]:
    """Index a file chunk by chunk; yields the growing columns after each, so that the caller can let others run.

    Raises OSError where the file cannot be read.
    """
    columns, reader = EventColumns(), TailReader(path)
    try:
        while True:
            batch = reader.read(limit_bytes=max(chunk, CHUNK))
            columns.extend(batch.lines)
            yield columns
            if not batch.more:
                return
    finally:
        reader.close()


_numbers: dict[str, int] = {}


def _number(name: str) -> int:
    number = _numbers.get(name)
    if number is None:
        tail = name.rpartition("_")[2]
        number = int(tail) if tail.isascii() and tail.isdigit() and len(tail) < 10 else NO_NUMBER
        # events of one call stand close together, so a small memory meets nearly all of them
        if len(_numbers) >= 1024:
            _numbers.clear()
        _numbers[name] = number
    return number


def file_size(path: Path) -> int:
    """Bytes of a file, 0 where there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
