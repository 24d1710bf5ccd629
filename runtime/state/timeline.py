"""The calls and messages of a session as columns: what the waterfall is drawn from.

Promises: a row a call, wherever its events are; rows in the order in which they began; about 120 bytes a row and
nothing else kept, so a million events cost a few tens of megabytes; the lines themselves stay in the file and are found
by their offsets. Takes the events of one journal, in order, each once. Pure.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from interlock.runtime.events.brief import Brief
from interlock.runtime.events.moment import micros

KINDS = (
    "call",
    "user",
    "assistant",
    "final",
    "started",
    "ended",
    "repaired",
    "damaged",
    "unknown",
    "verification",
    "conflict",
    "divider",
    "boundary",
)
"""`conflict`: a second, different event with a seq that was taken. `divider`: the file was cut or replaced here."""
OUTCOMES = (
    "waiting",
    "queued",
    "running",
    "ok",
    "failed",
    "denied",
    "timeout",
    "cancelled",
    "refused",
    "missing",
    "open",
)
"""`refused`: by lookup, validation or schedule. `missing`: the writer is gone and no result was recorded."""
_KIND = {name: number for number, name in enumerate(KINDS)}
_OUTCOME = {name: number for number, name in enumerate(OUTCOMES)}
_MESSAGES = {
    "message.user": "user",
    "message.assistant": "assistant",
    "answer.final": "final",
    "session.started": "started",
    "session.ended": "ended",
    "journal.repaired": "repaired",
    "session.boundary": "boundary",
    "foreign.unknown": "unknown",
    "foreign.damaged": "damaged",
}
_SILENT = frozenset(
    (
        "model.request",
        "model.response",
        "context.pruned",
        "verification",
        "grant.made",
        "grant.revoked",
        "message.reasoning",
        "agent.spawned",
        "foreign.record",
    )
)
NO_EXIT = -(2**31)


@dataclass(frozen=True, slots=True)
class Row:
    """One row, as it stands now. Times are microseconds since 1970, 0 where the step was not reached."""

    index: int
    kind: str
    offset: int
    """Byte offset of its first line."""
    at: int
    tool: str
    outcome: str
    asked_at: int
    answered_at: int
    scheduled_at: int
    started_at: int
    completed_at: int
    observed_at: int
    exit_code: int | None
    omitted_bytes: int
    lane: int
    """How many other calls ran when it began."""
    permission_offset: int
    answer_offset: int
    observation_offset: int
    """-1 where there is no such line yet."""
    invocation: int
    """The number in its invocation id (`inv_42`), -1 where there is none."""
    generation: int
    """How often the file had been cut or replaced before."""

    @property
    def invocation_id(self) -> str | None:
        """For example `inv_42`."""
        return f"inv_{self.invocation}" if self.invocation >= 0 else None

    @property
    def truncated(self) -> bool:
        """Whether the model was given less than the whole result."""
        return self.omitted_bytes > 0

    @property
    def ended_at(self) -> int:
        """When it was over, 0 while it is not."""
        return self.observed_at or self.completed_at

    @property
    def ran(self) -> int:
        """Microseconds that it ran."""
        return self.completed_at - self.started_at if self.completed_at and self.started_at else 0


CallRow = Row


class Timeline:
    """Columns over one journal. `add` takes the events in order."""

    def __init__(self) -> None:
        self._kind = bytearray()
        self._outcome = bytearray()
        self._lane = bytearray()
        self._tool = array("H")
        self._exit = array("i")
        self._invocation = array("i")
        self._offset = array("q")
        self._permission = array("q")
        self._answer = array("q")
        self._observation = array("q")
        self._omitted = array("q")
        self._at = array("q")
        self._asked = array("q")
        self._answered = array("q")
        self._scheduled = array("q")
        self._started = array("q")
        self._completed = array("q")
        self._observed = array("q")
        self._tools: dict[str, int] = {"": 0}
        self._tool_names = [""]
        self._by_intent: dict[str, int] = {}
        self._by_invocation: dict[str, int] = {}
        self._by_ask: dict[str, int] = {}
        self._running = 0
        self._generations = [0]
        self.seq = -1
        self.first_at = 0
        self.last_at = 0
        self.version = 0
        """Grows with every change, so that a view knows when to draw."""
        self.duplicates = 0
        """Events with a seq that was known already and were left out."""

    def __len__(self) -> int:
        return len(self._kind)

    def add(self, event: Brief, offset: int, at: int | None = None) -> None:
        """Take the event whose line begins at byte `offset`; `at`: its time, if that is known."""
        if event.seq <= self.seq:
            self.duplicates += 1
            return
        self.seq = event.seq
        at = micros(event.ts) if at is None else at
        self.first_at = self.first_at or at
        if at > self.last_at:
            self.last_at = at
        self.version += 1
        handler = _CALL_STEPS.get(event.type)
        if handler is not None:
            handler(self, event, offset, at)
        elif event.type in _MESSAGES:
            self._append(_MESSAGES[event.type], offset, at)
        elif event.type not in _SILENT:
            self._append("unknown", offset, at)

    def add_damaged(self, offset: int) -> None:
        """A line that is no event."""
        self._mark("damaged", offset)

    def add_unknown(self, offset: int) -> None:
        """A record that is no event of ours."""
        self._mark("unknown", offset)

    def add_conflict(self, offset: int) -> None:
        """An event with a seq that another, different event has. Shown, never applied."""
        self._mark("conflict", offset)

    def divide(self) -> None:
        """The file was cut or replaced: what follows is another record, whose seq and ids begin anew."""
        self.close_open()
        for known in (self._by_intent, self._by_invocation, self._by_ask):
            known.clear()
        self._running = 0
        self.seq = -1
        self._generations.append(len(self))
        self._mark("divider", 0)

    def generation(self, index: int) -> int:
        """How often the file had been cut or replaced before this row."""
        return bisect_right(self._generations, index) - 1

    def _mark(self, kind: str, offset: int) -> None:
        self.version += 1
        self._append(kind, offset, self.last_at)

    def close_open(self) -> int:
        """Mark calls without a result as missing: their writer is gone. Returns how many."""
        for index in self._by_intent.values():
            self._outcome[index] = _OUTCOME["missing"]
        self.version += 1
        return len(self._by_intent)

    def row(self, index: int) -> Row:
        """One row. Raises IndexError."""
        exit_code = self._exit[index]
        return Row(
            index,
            KINDS[self._kind[index]],
            self._offset[index],
            self._at[index],
            self._tool_names[self._tool[index]],
            OUTCOMES[self._outcome[index]],
            self._asked[index],
            self._answered[index],
            self._scheduled[index],
            self._started[index],
            self._completed[index],
            self._observed[index],
            None if exit_code == NO_EXIT else exit_code,
            self._omitted[index],
            self._lane[index],
            self._permission[index],
            self._answer[index],
            self._observation[index],
            self._invocation[index],
            self.generation(index),
        )

    call = row
    """The same: a row of kind `call`."""

    def find_offset(self, offset: int) -> int | None:
        """The row of the present file that begins at this byte."""
        start = self._generations[-1] + (len(self._generations) > 1)
        index = bisect_left(self._offset, offset, min(start, len(self)))
        return index if index < len(self) and self._offset[index] == offset else None

    def _append(self, kind: str, offset: int, at: int, tool: str = "") -> int:
        self._kind.append(_KIND[kind])
        self._outcome.append(_OUTCOME["open"])
        self._lane.append(0)
        self._tool.append(self._tool_number(tool))
        self._exit.append(NO_EXIT)
        self._invocation.append(-1)
        self._offset.append(offset)
        self._at.append(at)
        for column in (self._permission, self._answer, self._observation):
            column.append(-1)
        for column in (
            self._omitted,
            self._asked,
            self._answered,
            self._scheduled,
            self._started,
            self._completed,
            self._observed,
        ):
            column.append(0)
        return len(self._kind) - 1

    def _tool_number(self, tool: str) -> int:
        number = self._tools.get(tool)
        if number is None:
            # 65,535 names fill the column; a log with more is not one of tools, so the rest share the last
            number = min(len(self._tool_names), 65_534)
            self._tools[tool] = number
            if number == len(self._tool_names):
                self._tool_names.append(tool)
        return number

    def _row_of(self, event: Brief) -> int | None:
        if event.intent_id is not None and event.intent_id in self._by_intent:
            return self._by_intent[event.intent_id]
        if event.invocation_id is not None and event.invocation_id in self._by_invocation:
            return self._by_invocation[event.invocation_id]
        return self._by_ask.get(event.ask_id or "")

    def _intent(self, event: Brief, offset: int, at: int) -> None:
        index = self._append("call", offset, at, event.tool or "?")
        self._by_intent[event.intent_id or f"at {offset}"] = index

    def _permission_step(self, event: Brief, offset: int, at: int) -> None:
        index = self._row_of(event)
        if index is None:
            return
        self._permission[index] = offset
        if event.decision == "ask":
            self._asked[index] = self._asked[index] or at
            self._outcome[index] = _OUTCOME["waiting"]
            self._by_ask[event.ask_id or ""] = index

    def _answered_step(self, event: Brief, offset: int, at: int) -> None:
        index = self._row_of(event)
        if index is None:
            return
        self._answered[index] = at
        self._answer[index] = offset
        self._outcome[index] = _OUTCOME["queued" if event.answer == "allow" else "denied"]
        self._by_ask.pop(event.ask_id or "", None)

    def _scheduled_step(self, event: Brief, offset: int, at: int) -> None:
        index = self._row_of(event)
        if index is not None:
            self._scheduled[index] = at
            self._outcome[index] = _OUTCOME["queued"]
            self._link(event, index)

    def _started_step(self, event: Brief, offset: int, at: int) -> None:
        index = self._row_of(event)
        if index is not None:
            self._started[index] = at
            self._outcome[index] = _OUTCOME["running"]
            self._lane[index] = min(self._running, 255)
            self._running += 1
            self._link(event, index)

    def _link(self, event: Brief, index: int) -> None:
        invocation_id = event.invocation_id or ""
        self._by_invocation[invocation_id] = index
        number = invocation_id.removeprefix("inv_")
        if number.isascii() and number.isdigit() and len(number) < 10:
            self._invocation[index] = int(number)

    def _completed_step(self, event: Brief, offset: int, at: int) -> None:
        index = self._row_of(event)
        if index is None:
            return
        self._completed[index] = at
        self._running = max(0, self._running - 1)
        if event.exit_code is not None:
            self._exit[index] = max(min(event.exit_code, 2**31 - 1), NO_EXIT + 1)
        outcome = {"ok": "ok", "error": "failed", "timeout": "timeout", "cancelled": "cancelled"}
        self._outcome[index] = _OUTCOME[outcome.get(event.exit or "", "failed")]

    def _observation_step(self, event: Brief, offset: int, at: int) -> None:
        index = self._row_of(event)
        if index is None:
            index = self._append("call", offset, at, event.tool or "?")
        self._observed[index] = at
        self._observation[index] = offset
        self._omitted[index] = event.omitted_bytes or 0
        self._outcome[index] = _OUTCOME[self._final_outcome(event, OUTCOMES[self._outcome[index]])]
        self._by_intent.pop(event.intent_id or "", None)
        if event.invocation_id:
            self._by_invocation.pop(event.invocation_id, None)

    @staticmethod
    def _final_outcome(event: Brief, before: str) -> str:
        if event.ok:
            return "ok"
        if event.phase == "permission":
            return "denied" if event.code in ("user_denied", "policy_denied") else "cancelled"
        if event.phase in ("lookup", "validate", "schedule"):
            return "refused"
        return before if before in ("timeout", "cancelled") else "failed"


_CALL_STEPS = {
    "tool.intent": Timeline._intent,
    "tool.validation": lambda timeline, event, offset, at: None,
    "tool.permission": Timeline._permission_step,
    "tool.permission.shown": lambda timeline, event, offset, at: None,
    "tool.permission.answered": Timeline._answered_step,
    "tool.permission.delivered": lambda timeline, event, offset, at: None,
    "tool.permission.closed": lambda timeline, event, offset, at: timeline._by_ask.pop(event.ask_id or "", None),
    "tool.scheduled": Timeline._scheduled_step,
    "tool.invocation.started": Timeline._started_step,
    "tool.invocation.progress": lambda timeline, event, offset, at: None,
    "tool.invocation.completed": Timeline._completed_step,
    "tool.observation": Timeline._observation_step,
}
