"""One journal of ours, followed: read, indexed and folded in one pass over its lines.

Promises: the folds after any sequence of polls are equal to those of one read of the whole; a line that is no event is
counted, has a row and is skipped; a repeated event is counted and not applied again; an event that contradicts an
earlier one of the same seq is shown as a conflict and not applied; a journal that was cut or replaced begins anew
behind a divider, and what was read before stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from interlock.runtime.events.moment import micros
from interlock.runtime.events.union import DamagedLine
from interlock.runtime.journal.codec import decode_line, split_glued
from interlock.runtime.journal.columns import EventColumns
from interlock.runtime.journal.envelope import EnvelopeBrief, brief, briefs
from interlock.runtime.journal.tail import CHUNK, Batch, Line, TailReader
from interlock.runtime.journal.writer import writer_alive
from interlock.runtime.state.session import SessionState, Status, status_of
from interlock.runtime.state.timeline import Timeline

_KEPT_DAMAGE = 1000


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that could not be taken as an event."""

    offset: int
    size: int
    """Bytes of the line."""
    reason: str
    generation: int = 0


@dataclass(slots=True)
class Tally:
    """What was met that is not a plain event."""

    lines: int = 0
    blank: int = 0
    damaged: int = 0
    unknown: int = 0
    duplicates: int = 0
    conflicts: int = 0
    foreign: int = 0
    """Events that name another session."""
    notes: list[str] = field(default_factory=list)
    """`truncated`, `replaced`, `missing`, `bom`, in order."""


class SessionFollower:
    """Follows `<folder>/events.jsonl`. Not safe for use by two threads at once; `poll` may run in any one thread."""

    def __init__(self, folder: Path) -> None:
        self.id = folder.name
        self.folder = folder
        self.path = folder / "events.jsonl"
        self.log = self.path
        """What a person would call its log; of a foreign session the agent's own."""
        self.artifacts_home = folder
        """The folder below which the artifacts of its events stand."""
        self.read_bytes = 0
        """How far the log was read."""
        self.columns = EventColumns()
        self.timeline = Timeline()
        self.state = SessionState(id=folder.name)
        self.tally = Tally()
        self.damage: list[Damage] = []
        """The first thousand damaged lines; the tally counts all."""
        self.pending_bytes = 0
        """Length of the unfinished last line."""
        self.generation = 0
        self._reader = TailReader(self.path)

    def tail(self, nbytes: int = CHUNK) -> list[Line]:
        """The complete lines in the last `nbytes`. Raises OSError when the journal cannot be read."""
        return self._reader.last(nbytes)

    def end(self) -> list[tuple[EnvelopeBrief | None, int]]:
        """(event, byte offset) of the complete lines at the end, for a first picture; None: a line that is no event.

        Raises OSError when the journal cannot be read.
        """
        return [(brief(line.raw), line.offset) for line in self.tail()]

    def poll(self, limit_bytes: int = 4 * 1024 * 1024) -> Batch:
        """Read on, up to about `limit_bytes`, and fold it. `more` in the batch says that there is more already.

        Raises OSError when the journal is there and cannot be read.
        """
        batch = self._reader.read(limit_bytes=limit_bytes)
        self.tally.notes += batch.notes
        self.tally.blank += batch.blank
        if batch.lines:
            self.read_bytes = batch.lines[-1].offset + batch.lines[-1].size
        self.pending_bytes = batch.pending_bytes
        # one decode a line, for columns, state and timeline alike
        events = briefs([line.raw if line.sha256 is None else b"" for line in batch.lines])
        at = 0
        while at < len(batch.lines):
            at += self._take_run(batch.lines, events, at)
            if at < len(batch.lines):
                self._take(batch.lines[at], events[at])
                at += 1
        return batch

    def catch_up(self) -> None:
        """Poll until nothing more is there."""
        while self.poll().more:
            pass

    def raw(self, offset: int, generation: int | None = None) -> bytes | None:
        """The line at a byte offset; None where an earlier file is no longer there."""
        return self._reader.line_at(offset, self.generation if generation is None else generation)

    @property
    def log_bytes(self) -> int:
        """Size of the log; 0 where it is missing."""
        try:
            return self.log.stat().st_size
        except FileNotFoundError:
            return 0

    def record_of(self, line: bytes, offset: int) -> tuple[int, bytes]:
        """(byte offset, bytes) of the record in the log that a line tells of; of a journal of ours the line itself."""
        return offset, line

    def is_alive(self) -> bool:
        """Whether a process holds the journal's lock now."""
        return writer_alive(self.folder)

    def status(self, now: int = 0) -> tuple[Status, str]:
        """What the session is doing, and the evidence for it. `now`: microseconds since 1970."""
        return status_of(self.state, self.is_alive(), now)

    def close(self) -> None:
        """Give the files back."""
        self._reader.close()

    def _take_run(self, lines: list[Line], events: list[EnvelopeBrief | None], start: int) -> int:
        """Take plain events from `start` on, up to the first line that needs a closer look; returns how many."""
        state, timeline, session, generation = self.state, self.timeline, self.id, self.generation
        end, times = start, []
        while end < len(lines):
            line, event = lines[end], events[end]
            if event is None or event.seq <= state.seq or event.session != session or line.generation != generation:
                break
            times.append(at := micros(event.ts))
            state.add(event, at)
            timeline.add(event, line.offset, at)
            end += 1
        self.columns.add_all(lines[start:end], events[start:end], times)
        self.tally.lines += end - start
        return end - start

    def _take(self, line: Line, event: EnvelopeBrief | None) -> None:
        if line.generation != self.generation:
            if line.generation < self.generation:
                self._late(line)
                return
            self._divide(line.generation)
        self.tally.lines += 1
        if event is None:
            self.columns.add(line, None)
            self._no_event(line)
        elif event.session != self.id:
            self.columns.add(line, event)
            self.tally.foreign += 1
            self._damaged(line, f"names the session {event.session!r}, and this is the journal of {self.id!r}")
        elif event.seq <= self.state.seq:
            self._again(line, event)
        else:
            self.columns.add(line, event)
            self.state.add(event)
            self.timeline.add(event, line.offset)

    def _divide(self, generation: int) -> None:
        self.generation = generation
        if len(self.columns):
            self.timeline.divide()
        self.columns.clear()
        self.state = SessionState(id=self.id)

    def _late(self, line: Line) -> None:
        # written to the file that was moved away, after the new one was begun: part of the record, not of the new chain
        self.tally.lines += 1
        self._damaged(line, "was written to the file that had been moved away")

    def _again(self, line: Line, event: EnvelopeBrief) -> None:
        index = self.columns.find_seq(event.seq)
        first = self.raw(self.columns.row(index).offset) if index is not None else None
        if first == line.raw:
            self.tally.duplicates += 1
            return
        self.columns.add(line, event)
        self.tally.conflicts += 1
        self.timeline.add_conflict(line.offset)
        self._keep_damage(line, f"has the seq {event.seq} of another, different event")

    def _no_event(self, line: Line) -> None:
        if line.sha256 is not None:
            self._damaged(line, f"line of {line.size:,} bytes is over the limit; sha256 {line.sha256}")
            return
        seen = decode_line(line.raw)
        if not isinstance(seen, DamagedLine):
            self.tally.unknown += 1
            self.timeline.add_unknown(line.offset)
            return
        parts = split_glued(line.raw)
        glued = f"; {len(parts)} records stand on it, none is applied" if len(parts) > 1 else ""
        self._damaged(line, seen.reason + glued)

    def _damaged(self, line: Line, reason: str) -> None:
        self.tally.damaged += 1
        self.timeline.add_damaged(line.offset)
        self._keep_damage(line, reason)

    def _keep_damage(self, line: Line, reason: str) -> None:
        if len(self.damage) < _KEPT_DAMAGE:
            self.damage.append(Damage(line.offset, line.size, reason, line.generation))
