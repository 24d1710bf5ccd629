"""A foreign log read as a journal of ours: the same lines that a writer of ours would have written.

Promises: `seq` without gaps, every record accounted for in `tally`; reading in steps of any size gives the same lines;
a log that was cut or replaced begins a new session of events after saying so. `prev` is empty: these lines are
projections and prove nothing; the log is the record.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from interlock.runtime.events.base import Origin
from interlock.runtime.events.foreign import ForeignDamaged
from interlock.runtime.events.message import ModelResponse
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.journal.codec import LINE_LIMIT, encode, loads
from interlock.runtime.journal.tail import Cursor, Line, TailReader, last_lines
from interlock.runtime.sources.foreign.adapter import Adapter, Format, Framing
from interlock.runtime.sources.foreign.compressed import CannotUnpack, member
from interlock.runtime.sources.foreign.framing import frame_document, frame_line
from interlock.runtime.sources.foreign.prices import Prices
from interlock.runtime.sources.foreign.record import DamagedRecord, ForeignRecord, Framed
from interlock.runtime.sources.foreign.registry import DOCUMENT_LIMIT


@dataclass(slots=True)
class RecordTally:
    """What the log was made of. `records == eventful + kept + unknown`, with `damaged` beside them."""

    records: int = 0
    eventful: int = 0
    """Records that gave an event for a timeline."""
    kept: int = 0
    """Records that are known and gave none."""
    unknown: int = 0
    damaged: int = 0
    glued: int = 0
    """Records that were recovered from a line with more than one on it."""
    glued_lines: int = 0
    """Lines with more than one record, or with a whole one behind a torn one."""
    longest: int = 0
    """Bytes of the longest line, its end not counted; of an archive or a database, of the longest record."""
    notes: list[str] = field(default_factory=list)
    """`truncated`, `replaced`, `missing`, `bom`."""


class Translation:
    """One log and the adapter that reads it. Not safe for use by two threads at once."""

    def __init__(
        self,
        path: Path,
        log_format: Format,
        framing: Framing,
        *,
        session: str,
        part: str | None = None,
        prices: Prices | None = None,
        beside: ExitStack | None = None,
    ) -> None:
        """`part`: the session of a database that holds several. `prices`: for costs that the log does not tell.
        `beside`: what the log stands on, to be left when it is closed."""
        self.path = path
        self.format = log_format
        self.framing = framing
        self.session = session
        """Id that the lines carry."""
        self.tally = RecordTally()
        self.seq = 0
        self.restarts = 0
        """How often the log was cut or replaced; the adapter began anew each time."""
        self.pending_bytes = 0
        self.more = False
        """Whether the last read stopped at its limit."""
        self.read_bytes = 0
        """How far the log was read."""
        self._prices = prices
        self._adapter: Adapter = log_format.adapter()
        self._reader = TailReader(path) if framing == "lines" else None
        self._rows = log_format.rows(path, part) if framing == "rows" and log_format.rows else None
        self._cursor = Cursor()
        """Behind the last whole line."""
        self._seen: tuple[int, int, int] | None = None
        self._generation = 0
        self._taken = (0, 0)
        """Of a log of documents: where the last one that was read ends, and a checksum of all up to there."""
        self._beside = beside

    def read(self, limit_bytes: int = 4 * 1024 * 1024) -> list[bytes]:
        """The lines of what has come since the last read. Raises OSError when the log is there and cannot be read."""
        return [line for event in self.events(limit_bytes) for line in self.encode(event)]

    def events(self, limit_bytes: int = 4 * 1024 * 1024) -> Iterator[AnyEvent]:
        """The events of what has come since the last read."""
        for framed in self._framed(limit_bytes):
            yield from self._take(framed)

    def end_events(self, nbytes: int) -> Iterator[AnyEvent]:
        """The events of the whole records in the last `nbytes` of a log of lines, without moving; else none."""
        if self.framing == "lines":
            for line in last_lines(self.path, nbytes):
                for framed in frame_line(line):
                    yield from self._take(framed)

    def end(self) -> Iterator[AnyEvent]:
        """What the adapter held back, and an unfinished last line: for a log that is read once, whole."""
        if self._reader is not None and self.pending_bytes:
            for framed in self._unfinished():
                yield from self._take(framed)
        yield from self._adapter.end()

    def close(self) -> None:
        """Give the files back."""
        if self._reader is not None:
            self._reader.close()
        if self._rows is not None:
            self._rows.close()
        if self._beside is not None:
            self._beside.close()

    def _framed(self, limit_bytes: int) -> Iterable[Framed]:
        if self._reader is not None:
            return self._lines(self._reader, limit_bytes)
        if self._rows is not None:
            rows = self._rows.read(limit_bytes)
            self.more = self._rows.more
            return rows
        return self._whole()

    def _lines(self, reader: TailReader, limit_bytes: int) -> Iterator[Framed]:
        batch = reader.read(limit_bytes=limit_bytes)
        self.tally.notes += batch.notes
        self.pending_bytes, self.more, self._cursor = batch.pending_bytes, batch.more, batch.cursor
        for line in batch.lines:
            if line.generation != self._generation:
                self._generation = line.generation
                self.restart()
            self.read_bytes = line.offset + line.size
            yield from self._line(line)

    def _line(self, line: Line) -> Iterator[Framed]:
        size = len(line.raw) if line.sha256 is None else line.size
        self.tally.longest = max(self.tally.longest, size)
        if line.sha256 is None:
            # nearly every line is one record: the short road
            value, reason = loads(line.raw)
            if not reason:
                yield ForeignRecord(value, line.offset, line.size)
                return
        several = False
        for framed in frame_line(line):
            several = several or (isinstance(framed, ForeignRecord) and framed.glued)
            yield framed
        self.tally.glued_lines += several

    def _unfinished(self) -> Iterator[Framed]:
        # from the file that was read, which may have been moved or have grown since
        start, reader = self._cursor.offset, self._reader
        raw = reader.line_at(start, self._cursor.generation) if reader is not None else None
        if raw is None:
            yield DamagedRecord(start, self.pending_bytes, "an unfinished line, whose file is not there any more", "")
        elif len(raw) > LINE_LIMIT:
            reason = f"an unfinished line of {self.pending_bytes:,} bytes is over the limit of {LINE_LIMIT:,}"
            self.tally.longest = max(self.tally.longest, self.pending_bytes)
            yield DamagedRecord(start, self.pending_bytes, reason, raw[:200].decode("utf-8", "replace"))
        elif raw.strip():
            yield from self._line(Line(start, raw, len(raw)))

    def _whole(self) -> Iterator[Framed]:
        seen = self.path.stat()
        now = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        if now == self._seen:
            return
        self._seen, self.read_bytes = now, seen.st_size
        if seen.st_size > DOCUMENT_LIMIT:
            reason = f"a document of {seen.st_size:,} bytes is over the limit of {DOCUMENT_LIMIT:,}"
            yield DamagedRecord(0, seen.st_size, reason, "")
        elif self.framing == "archive":
            yield from self._members()
        else:
            data = self.path.read_bytes()
            self.tally.longest = max(self.tally.longest, max(map(len, data.split(b"\n"))))
            yield from self._documents(data)

    def _documents(self, data: bytes) -> Iterator[Framed]:
        """Its values; where they were only added to, those that are new."""
        end, before = self._taken
        start = end if end and zlib.crc32(data[:end]) == before else 0
        whole = start
        for framed in frame_document(data[start:]):
            framed = replace(framed, offset=framed.offset + start)
            whole = framed.offset + framed.size if isinstance(framed, ForeignRecord) else whole
            yield framed
        self._taken = (whole, zlib.crc32(data[:whole]))

    def _members(self) -> Iterator[Framed]:
        """The members of an archive that are JSON, in its order, each with its name beside its value."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                for info in archive.infolist():
                    yield from self._member(archive, info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            yield DamagedRecord(0, self.path.stat().st_size, f"not an archive that can be read: {error}", "")

    def _member(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[Framed]:
        if info.is_dir():
            return
        if info.file_size > DOCUMENT_LIMIT:
            yield DamagedRecord(info.header_offset, info.file_size, f"{info.filename} is over the limit", "")
            return
        try:
            data = member(self.path, archive, info, DOCUMENT_LIMIT)
        except CannotUnpack as error:
            yield DamagedRecord(info.header_offset, info.compress_size, f"{info.filename}: {error}", "")
            return
        for framed in frame_document(data):
            if isinstance(framed, ForeignRecord):
                value = {"member": info.filename, "value": framed.value}
                yield ForeignRecord(value, info.header_offset, framed.size)
            else:
                yield DamagedRecord(info.header_offset, framed.size, f"{info.filename}: {framed.reason}", framed.head)

    def restart(self) -> None:
        """The log is another one now: read it with a fresh adapter."""
        self.restarts += 1
        self._adapter = self.format.adapter()

    def _take(self, framed: Framed) -> Iterator[AnyEvent]:
        if self._reader is None and self.framing != "document":
            self.tally.longest = max(self.tally.longest, framed.size)
        if isinstance(framed, DamagedRecord):
            self.tally.damaged += 1
            origin = Origin(offset=framed.offset, size=framed.size)
            yield ForeignDamaged(reason=framed.reason, head=framed.head, origin=origin)
            return
        self.tally.records += 1
        self.tally.glued += framed.glued
        types = set()
        for event in self._adapter.take(framed):
            types.add(event.type)
            yield self._priced(event) if isinstance(event, ModelResponse) else event
        if types - {"foreign.record", "foreign.unknown"}:
            self.tally.eventful += 1
        elif "foreign.unknown" in types:
            self.tally.unknown += 1
        else:
            self.tally.kept += 1

    def _priced(self, event: ModelResponse) -> ModelResponse:
        if event.cost_usd is not None or self._prices is None:
            return event
        cost = self._prices.cost(event.model, event.usage, self.format.kind)
        return event if cost is None else event.model_copy(update={"cost_usd": cost, "cost_estimated": True})

    def encode(self, event: AnyEvent) -> Iterator[bytes]:
        """The line of one event, `seq` counted on; an event that no line can carry becomes a damaged record."""
        try:
            line = encode(event, session=self.session, seq=self.seq, ts=event.ts, prev="")
        except ValueError as error:
            origin = event.origin or Origin(offset=0)
            damaged = ForeignDamaged(reason=f"{event.type} cannot be written: {error}"[:500], head="", origin=origin)
            line = encode(damaged, session=self.session, seq=self.seq, ts=event.ts, prev="")
        self.seq += 1
        yield line
