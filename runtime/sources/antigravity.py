"""Antigravity: steps of a conversation, one a line.

Promises: results, which carry no id of their call, go to the calls in the order in which they were made; a step that ran
without a call in the log is a call of its own, named by the step. Pure.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import items, mapping, name_of, objects, some_text, text

_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.S)
_EXIT = re.compile(r"^The command (?:failed|completed|exited) with exit code:? (-?\d{1,9})", re.MULTILINE)
_REFUSED = re.compile(r"(?:denied|rejected|declined) by (?:the )?user|user (?:denied|rejected|declined)", re.I)
_QUIET = ("CONVERSATION_HISTORY", "KNOWLEDGE_ARTIFACTS", "EPHEMERAL_MESSAGE", "TASK_BOUNDARY", "NOTIFY_USER")
_OUTCOMES: dict[str, Outcome] = {
    "DONE": "ok",
    "ERROR": "failed",
    "FAILED": "failed",
    "CANCELED": "interrupted",
    "CANCELLED": "interrupted",
    "INTERRUPTED": "interrupted",
}
_OPEN = ("RUNNING", "PENDING", "WAITING", "GENERATING", "QUEUED")


class AntigravityAdapter(RecordAdapter):
    """One conversation."""

    kind = "antigravity"
    agent = "Antigravity"

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[str] = deque()
        """Calls without a result, in the order in which they were made."""
        self._count = 0

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        kind, source, said = text(value.get("type")), text(value.get("source")), text_of(value.get("content"))
        self._count += 1
        self.say.at(record, value.get("created_at"))
        yield from self.head.ensured()
        known = f"step {name_of(value.get('step_index'))} ({self._count})"
        match kind:
            case "USER_INPUT":
                found = _REQUEST.search(said)
                yield self.say.user(found[1] if found else said, known, injected=source == "SYSTEM")
            case "PLANNER_RESPONSE":
                yield from self._answer(known, value, said)
            case "SYSTEM_MESSAGE":
                yield self.say.user(said, known, injected=True)
            case "CHECKPOINT":
                yield self.say.boundary("compacted", said)
            case "ERROR_MESSAGE":
                yield self.say.boundary("error", said or text_of(value.get("error")))
            case _ if kind in _QUIET:
                return
            case _ if kind and "step_index" in value:
                yield from self._ran(known, value, kind, said)
            case _:
                yield self.say.unknown(kind or "record")

    def _answer(self, known: str, value: dict[str, Any], said: str) -> Iterator[AnyEvent]:
        if text(value.get("thinking")):
            yield self.say.reasoning(text(value["thinking"]), known, known)
        if said:
            yield self.say.assistant(said, known, known)
        for n, call in enumerate(objects(value.get("tool_calls"))):
            call_id = name_of(call.get("id")) or f"{known}#{n}"
            self._waiting.append(call_id)
            reason = some_text(mapping(call.get("args")).get("toolSummary"))
            yield from self.say.intent(
                call_id, text(call.get("name")), call.get("args"), request_id=known, reason=reason
            )
        if text(value.get("status")) in ("CANCELED", "CANCELLED", "INTERRUPTED"):
            yield self.say.boundary("interrupted")

    def _ran(self, known: str, value: dict[str, Any], kind: str, said: str) -> Iterator[AnyEvent]:
        status = text(value.get("status"))
        if status in _OPEN:
            return
        if not self._waiting:
            yield from self.say.intent(
                known, kind, None, reason="the log has the step and not the call that asked for it"
            )
            self._waiting.append(known)
        outcome = _OUTCOMES.get(status, "unknown")
        result = Result(outcome, text=said, truncated="content" in items(value.get("truncated_fields")))
        if outcome == "failed" and _REFUSED.search(said[:500]):
            result.outcome = "denied"
        found = _EXIT.search(said) if kind == "RUN_COMMAND" else None
        if found:
            result.exit_code = int(found[1])
            if result.exit_code and outcome == "ok":
                result.outcome, result.code = "failed", "exit_nonzero"
        yield from self.say.result(self._waiting.popleft(), result)


def _claims(sample: Sample) -> int:
    best = 0
    for value in sample.records[:20]:
        row = mapping(value)
        if "step_index" in row and "source" in row and isinstance(row.get("type"), str):
            best = max(best, 95 if row["type"] == row["type"].upper() else 50)
    return best


FORMAT = Format(
    kind="antigravity", agent="Antigravity", framing=("lines", "document"), claims=_claims, adapter=AntigravityAdapter
)
