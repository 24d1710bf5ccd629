"""One session as it is followed for the screen: read and folded in a thread, looked at from the loop.

Promises: the loop never waits for a file to be read through; rows are shown up to a published count, so a half taken
step is never seen; the end of a large journal can be shown before the rest was read; whatever is wrong with the file is
said in words, and the feed lives on. No widget library.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.tail import Line, read_line_at
from interlock.runtime.sources.follower import SessionFollower
from interlock.runtime.state.grants import GrantFold
from interlock.runtime.state.session import SessionState
from interlock.runtime.state.timeline import Row, Timeline
from interlock.tui.model.board import SessionRow, row_of_state

if TYPE_CHECKING:
    from interlock.tui.model.call import CallRecord

STEP_BYTES = 1024 * 1024
"""Read in one go; between two the loop draws."""
SEARCHED_LINES = 20_000
"""Lines behind the first of a call in which the others of it are looked for."""
_ENDS_GRANTS = (b'"message.user"', b'"answer.final"', b'"session.ended"')
"""Marks of lines that may end a standing permission."""
LARGE_LINE = 256 * 1024
"""Bytes of a line that is too long to be decoded while a list is drawn."""


@dataclass(slots=True)
class Tally:
    """How a person has answered in this session: tool -> count."""

    allowed: Counter[str] = field(default_factory=Counter)
    denied: Counter[str] = field(default_factory=Counter)


class Feed:
    """Follows one session. Everything but `advance` is for the loop."""

    def __init__(self, follower: SessionFollower) -> None:
        self.id = follower.id
        self.follower = follower
        self.is_foreign = follower.log != follower.path
        """Whether it is the log of another agent, translated."""
        self.count = 0
        """Rows of `timeline` that may be shown."""
        self.complete = False
        """Whether the journal was read to its end at least once."""
        self.fault = ""
        """Ours: why the journal cannot be read now."""
        self.alive = False
        self.read_bytes = 0
        self.size = 0
        self.version = 0
        """Grows with every change."""
        self.grants = GrantFold()
        self.tally = Tally()
        self.users = 0
        """Screens that show it."""
        self._tail: Timeline | None = None
        self._end_shown = False
        self._tools: dict[str, str] = {}
        self._busy = asyncio.Lock()
        self._texts: dict[tuple[int, int], str] = {}

    @property
    def timeline(self) -> Timeline:
        """What can be shown now: the end alone until the whole was read."""
        return self._tail if self._tail is not None else self.follower.timeline

    @property
    def is_partial(self) -> bool:
        """Whether only the end of the journal is shown yet."""
        return self._tail is not None

    @property
    def state(self) -> SessionState:
        """The fold so far."""
        return self.follower.state

    def row(self, now: int) -> SessionRow:
        """The session as a row of a list."""
        return row_of_state(
            self.state,
            self.alive,
            self.follower.status(now if self.is_foreign else 0),
            size=self.size,
            fault=self.fault,
        )

    async def advance(self) -> bool:
        """Read what has come; True: something changed. Steps that are too long for one go yield to the loop."""
        async with self._busy:
            changed = False
            while True:
                try:
                    more, news = await asyncio.to_thread(self._step)
                except OSError as error:
                    news, more = self._fault(f"{self.follower.log} cannot be read: {error.strerror or error}"), False
                changed |= news
                if news:
                    self.version += 1
                if not more:
                    return changed

    def _step(self) -> tuple[bool, bool]:
        alive = self.follower.is_alive()
        moved = alive != self.alive
        self.alive = alive
        stat = self.follower.log_bytes
        if not self.complete and not self._end_shown and stat > 4 * STEP_BYTES:
            self._end_shown = True
            self._show_end()
            return True, True
        batch = self.follower.poll(STEP_BYTES)
        self.size = stat
        for line in batch.lines:
            self._glance(line)
        self.read_bytes = self.follower.read_bytes
        fault = "" if stat or self.follower.log.exists() else f"{self.follower.log} is missing"
        moved |= fault != self.fault
        self.fault = fault
        if not batch.more:
            if not alive and not self.follower.state.ended:
                self.follower.timeline.close_open()
            moved |= self._tail is not None or not self.complete
            self._tail, self.complete = None, True
        if self._tail is None:
            self.count = len(self.follower.timeline)
        return batch.more, bool(batch.lines or batch.notes or moved)

    def _show_end(self) -> None:
        end = Timeline()
        for event, offset in self.follower.end():
            if event is not None and event.session == self.id:
                end.add(event, offset)
            else:
                end.add_damaged(offset)
        if len(end):
            self._tail, self.count = end, len(end)

    def _fault(self, words: str) -> bool:
        changed = words != self.fault
        self.fault, self.complete = words, True
        return changed

    def _glance(self, line: Line) -> None:
        """Answers and grants, which few lines carry: for `before` and for the list of grants."""
        if self.grants.made and any(sign in line.raw for sign in _ENDS_GRANTS):
            self.grants.add(decode_line(line.raw))
        if b'"grant.' not in line.raw and b'"tool.permission' not in line.raw:
            return
        event = brief(line.raw)
        if event is None or event.session != self.id:
            return
        if event.type == "tool.permission" and event.ask_id:
            self._tools[event.ask_id] = event.tool or "?"
        elif event.type == "tool.permission.answered" and event.ask_id:
            tool = self._tools.pop(event.ask_id, "?")
            (self.tally.allowed if event.answer == "allow" else self.tally.denied)[tool] += 1
        elif event.type in ("grant.made", "grant.revoked"):
            self.grants.add(decode_line(line.raw))

    def raw(self, offset: int, generation: int) -> bytes | None:
        """A line as it stands in the file; None where it is no longer there."""
        found = self.follower.raw(offset, generation)
        if found is None and generation == self.follower.generation:
            try:
                found = read_line_at(self.follower.path, offset)
            except OSError:
                return None
        return found

    def target(self, row: Row) -> str:
        """What a row is about, foreign, for one line: the command, the path, the message. Quick; remembered."""
        key = (row.generation, row.offset)
        known = self._texts.get(key)
        if known is None:
            if len(self._texts) > 4096:
                self._texts.clear()
            known = self._texts[key] = self._target(row)
        return known

    def _target(self, row: Row) -> str:
        from interlock.tui.model.call import target_of

        if row.kind in ("damaged", "conflict"):
            return next((d.reason for d in self.follower.damage if d.offset == row.offset), "a line that is no event")
        if row.kind == "divider":
            return "the file was cut or replaced here; what follows is another record"
        place = self.follower.columns.find_offset(row.offset)
        if place is not None and self.follower.columns.row(place).length > LARGE_LINE:
            return f"(a line of {self.follower.columns.row(place).length:,} bytes; Enter reads it)"
        raw = self.raw(row.offset, row.generation)
        return target_of(decode_line(raw)) if raw is not None else "(no longer in the file)"

    @property
    def folder(self) -> Path:
        """The session's folder."""
        return self.follower.artifacts_home

    def record(self, row: Row) -> CallRecord:
        """Every line of one row, decoded. For a thread: lines can be long."""
        from interlock.tui.model.call import CallRecord, RecordLine

        found = []
        for offset in self._offsets(row):
            raw = self.raw(offset, row.generation)
            if raw is not None:
                found.append(RecordLine(*self.follower.record_of(raw, offset), decode_line(raw)))
        return CallRecord(tuple(found), row.index + 1)

    def _offsets(self, row: Row) -> list[int]:
        """Byte offsets of a row's lines, in order; those between the known ones are found by their numbers."""
        known = {o for o in (row.offset, row.permission_offset, row.answer_offset, row.observation_offset) if o >= 0}
        columns = self.follower.columns
        first = columns.find_offset(row.offset)
        if row.kind != "call" or first is None or row.generation != self.follower.generation:
            return sorted(known)
        start = columns.row(first)
        for place in range(first + 1, min(first + SEARCHED_LINES, len(columns))):
            line = columns.row(place)
            mine = start.intent is not None and line.intent == start.intent
            mine |= row.invocation >= 0 and line.invocation == row.invocation
            if mine and line.type != "tool.invocation.progress":
                known.add(line.offset)
            if line.offset == row.observation_offset:
                break
        return sorted(known)

    def read_text(self, relative: str) -> str:
        """An artifact that is text, in full; nothing where it cannot be read. For a thread."""
        from interlock.runtime.journal.artifacts import ArtifactError, inside

        try:
            return inside(self.folder, relative).read_bytes().decode("utf-8", "surrogateescape")
        except (OSError, ArtifactError):
            return ""

    def attach(self, gate: Path) -> None:
        """Of a foreign session: tell what this gate's journal records too."""
        from interlock.runtime.sources.foreign.follower import ForeignFollower

        if isinstance(self.follower, ForeignFollower):
            self.follower.attach(gate)

    def close(self) -> None:
        """Give the files back."""
        self.follower.close()
