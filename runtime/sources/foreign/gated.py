"""What gates recorded of a foreign session, put among the events of its transcript.

Promises: an event of the gate stands behind the call that it is about, which is found by the agent's call id, or by
tool and input where the agent gives its gate none; an event whose call is not in the transcript (yet) waits for it and
is never put at another call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.runtime.events.permission import (
    PermissionAnswered,
    PermissionClosed,
    PermissionDelivered,
    PermissionShown,
    ToolPermission,
)
from interlock.runtime.events.tool import ToolIntent, ToolObservation
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.tail import TailReader

_STEPS = ToolPermission | PermissionShown | PermissionAnswered | PermissionDelivered | PermissionClosed


@dataclass(slots=True)
class _GateCall:
    """One call as the gate saw it."""

    call_id: str | None
    tool: str
    input: Any
    steps: deque[AnyEvent] = field(default_factory=deque)
    """Events that were not told yet."""
    intent: str | None = None
    """The intent of the transcript that it is."""
    is_over: bool = False
    """The gate has nothing more to say of it."""


class GateRecord:
    """Reads the journals of the gates that answered for one session, as they grow."""

    def __init__(self) -> None:
        self._readers: dict[Path, TailReader] = {}
        self._calls: dict[tuple[Path, str], _GateCall] = {}
        """(journal of a gate, intent id in it) -> call that something is left to be told of."""
        self._answered: dict[str, PermissionAnswered] = {}
        """Intent id of the transcript -> its answer, as a gate has told it."""
        self._intents: dict[str, ToolIntent] = {}
        """Intent id of the transcript -> intent, of calls that no call of the gate was found for."""

    def attach(self, journal: Path) -> None:
        """Read this journal too; the second time nothing."""
        if journal not in self._readers:
            self._readers[journal] = TailReader(journal)

    def close(self) -> None:
        """Give the files back."""
        for reader in self._readers.values():
            reader.close()

    def around(self, event: AnyEvent) -> Iterator[AnyEvent]:
        """Events to be told behind one of the transcript's."""
        if isinstance(event, ToolIntent):
            self._read()
            self._intents[event.intent_id] = event
            yield from self._told()
        elif isinstance(event, ToolObservation):
            self._intents.pop(event.intent_id, None)

    def merged(self, event: AnyEvent) -> Iterator[AnyEvent]:
        """One of the transcript's events with what the gates tell of it behind it.

        The transcript's own word on who decided is left out where a gate has told it: of an answer that came over a
        hook it says no more than that.
        """
        if isinstance(event, ToolObservation):
            yield from self.late()  # the answer stands before what came of it
            event = self._coded(event)
        if not isinstance(event, PermissionAnswered) or event.intent_id not in self._answered:
            yield event
        yield from self.around(event)

    def _coded(self, event: ToolObservation) -> ToolObservation:
        """A denied call with the code of who denied it: to the transcript every denial of a hook is a rule's."""
        answer = self._answered.get(event.intent_id)
        if answer is None or answer.answer != "deny" or event.code not in ("policy_denied", "user_denied"):
            return event
        return event.model_copy(update={"code": "policy_denied" if answer.by.kind == "rule" else "user_denied"})

    def late(self) -> Iterator[AnyEvent]:
        """Events that the gate has recorded since, of calls that are known."""
        self._read()
        yield from self._told()

    def _read(self) -> None:
        for journal, reader in self._readers.items():
            more = True
            while more:
                try:
                    batch = reader.read(limit_bytes=4 * 1024 * 1024)
                except OSError:
                    break
                for line in batch.lines:
                    self._take(journal, decode_line(line.raw))
                more = batch.more

    def _take(self, journal: Path, event: object) -> None:
        if isinstance(event, ToolIntent):
            self._calls[journal, event.intent_id] = _GateCall(event.call_id, event.tool, event.raw_input)
        elif isinstance(event, _STEPS) and (call := self._calls.get((journal, event.intent_id))):
            call.steps.append(event)
        elif isinstance(event, ToolObservation) and (call := self._calls.get((journal, event.intent_id))):
            call.is_over = True

    def _told(self) -> Iterator[AnyEvent]:
        for key, call in list(self._calls.items()):
            if call.is_over and not call.steps:
                del self._calls[key]
            if not call.steps:
                continue
            if call.intent is None:
                call.intent = self._found(call)
            while call.intent is not None and call.steps:
                step = call.steps.popleft()
                if isinstance(step, PermissionAnswered):
                    self._answered[call.intent] = step
                yield step.model_copy(update={"intent_id": call.intent, "seq": -1, "prev": ""})

    def _found(self, call: _GateCall) -> str | None:
        for intent_id, intent in self._intents.items():
            same = intent.call_id == call.call_id if call.call_id else False
            if same or (not call.call_id and intent.tool == call.tool and intent.raw_input == call.input):
                del self._intents[intent_id]
                return intent_id
        return None
