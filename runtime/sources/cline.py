"""Cline: the messages of its screen (`ui_messages.json`), one array that is rewritten as a whole.

Promises: an element that is still being written is told when it is whole, or when another stands behind it; an ask and
the say that repeats it are one call; what became of a call is said only where the screen showed it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import Result
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import count, items, mapping, number, objects, parsed, some_text, text

_PERSON = ("task", "user_feedback", "user_feedback_diff")
_SAID = ("text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond")
_CALLS = ("tool", "command", "use_mcp_server", "browser_action_launch", "browser_action")
_OUTPUTS = ("command_output", "mcp_server_response", "browser_action_result")
_FAULTS = ("error", "api_req_failed", "diff_error", "clineignore_error", "mistake_limit_reached", "error_retry")
_RESUMED = ("resume_task", "resume_completed_task")
_COMPACTED = ("condense", "summarize_task", "compaction")


class ClineAdapter(RecordAdapter):
    """One task."""

    kind = "cline"
    agent = "Cline"

    def __init__(self) -> None:
        super().__init__()
        self._told: list[str] = []
        """What each element was that was told, in order."""
        self._held: tuple[int, dict[str, Any]] | None = None
        self._request = ""
        self._open: dict[str, list[str]] = {}
        """Calls of the current response -> their output so far."""
        self._last_call = ("", "")
        """(kind, text) of the last element, where it was an ask for a call."""
        self._model: str | None = None

    def name(self, record: ForeignRecord) -> str:
        return "messages"

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        rows = objects(record.value)
        if not rows:
            if items(record.value) or not isinstance(record.value, list):
                yield self.say.unknown("document", "no list of messages")
            return
        yield from self._cut(rows)
        self._held = None
        for n in range(len(self._told), len(rows)):
            if n == len(rows) - 1 and rows[n].get("partial") is True:
                self._held = (n, rows[n])
                return
            self._told.append(_mark(rows[n]))
            yield from self._element(n, rows[n])

    def end(self) -> Iterator[AnyEvent]:
        if self._held is not None:
            n, row = self._held
            self._held = None
            yield from self._element(n, row)

    def _cut(self, rows: list[dict[str, Any]]) -> Iterator[AnyEvent]:
        """A task that was taken back to a checkpoint has fewer elements, or others."""
        same = 0
        for told, row in zip(self._told, rows, strict=False):
            if told != _mark(row):
                break
            same += 1
        if same < len(self._told):
            self.dated(rows[-1].get("ts"))
            yield self.say.boundary("rolled_back", f"{len(self._told) - same} messages were taken back")
            del self._told[same:]

    def _element(self, n: int, row: dict[str, Any]) -> Iterator[AnyEvent]:
        self.dated(row.get("ts"))
        yield from self.head.ensured()
        kind, said = text(row.get(text(row.get("type")))), text(row.get("text"))
        asked, self._last_call = self._last_call, ("", "")
        known = f"message {n + 1}"
        model = some_text(mapping(row.get("modelInfo")).get("modelId"))
        if model and self._model and model != self._model:
            yield self.say.boundary("model_changed", f"{self._model} -> {model}")
        self._model = model or self._model
        if kind in _CALLS:
            if (kind, said) != asked:
                yield from self._called(known, kind, said)
            if text(row.get("type")) == "ask":
                self._last_call = (kind, said)
        elif kind in _OUTPUTS:
            if self._open:
                next(reversed(self._open.values())).append(said)
        elif kind in ("api_req_started", "deleted_api_reqs"):
            yield from self._requested(known, kind, mapping(parsed(said)))
        else:
            # the first message is the task, and was no `task` in every version
            yield from self._spoken(known, "task" if n == 0 and kind == "text" else kind, said)

    def _spoken(self, known: str, kind: str, said: str) -> Iterator[AnyEvent]:
        request = self._request or known
        if kind in _PERSON:
            yield from self._closed()
            yield self.say.user(said, known)
        elif kind in _SAID:
            told = mapping(parsed(said))
            words = text(told.get("question")) or text(told.get("response")) or said
            if words:
                yield self.say.assistant(words, request, request)
        elif kind == "reasoning":
            yield self.say.reasoning(said, request, request)
        elif kind in _FAULTS:
            yield self.say.boundary("error", said)
        elif kind in _RESUMED:
            yield self.say.boundary("resumed")
        elif kind in _COMPACTED:
            yield self.say.boundary("compacted")
        else:
            yield self.say.record(kind or "message")

    def _called(self, known: str, kind: str, said: str) -> Iterator[AnyEvent]:
        if kind != "tool" and kind != "use_mcp_server":
            yield from self._closed()
        given = parsed(said)
        tool, told = kind, mapping(given)
        if kind == "tool":
            tool = text(told.get("tool")) or kind
        elif kind == "use_mcp_server":
            tool = text(told.get("toolName")) or text(told.get("uri")) or kind
        elif not told:
            given = {kind: said}
        self._open[known] = []
        yield from self.say.intent(known, tool, given, request_id=self._request or None)

    def _requested(self, known: str, kind: str, told: dict[str, Any]) -> Iterator[AnyEvent]:
        """A request to the model: what the calls before it came to is known now, as far as it ever is."""
        yield from self._closed()
        if kind == "api_req_started":
            self._request = f"request {known}"
        used = Usage(
            input=count(told.get("tokensIn")) or 0,
            output=count(told.get("tokensOut")) or 0,
            cache_read=count(told.get("cacheReads")) or 0,
            cache_write=count(told.get("cacheWrites")) or 0,
        )
        cost = number(told.get("cost")) or number(told.get("totalCost"))
        if used != Usage() or cost:
            yield from self.say.usage(f"{kind} {known}", used, model=self._model, cost_usd=cost)
        if text(told.get("cancelReason")) == "user_cancelled":
            yield self.say.boundary("interrupted")
        elif text(told.get("cancelReason")):
            yield self.say.boundary("error", text(told.get("streamingFailedMessage")) or text(told["cancelReason"]))

    def _closed(self) -> Iterator[AnyEvent]:
        waiting, self._open = self._open, {}
        for call, output in waiting.items():
            made = self.say.calls.get(call)
            result = Result("unknown", text="\n".join(line for line in output if line))
            told = mapping(made.input) if made else {}
            diff = text(told.get("diff")) or text(told.get("content"))
            result.diff = diff if "@@" in diff or "<<<<<<<" in diff or "-------" in diff else None
            yield from self.say.result(call, result)


def _mark(row: dict[str, Any]) -> str:
    kind = text(row.get("type"))
    return f"{row.get('ts')} {kind} {text(row.get(kind))}"[:200]


def _claims(sample: Sample) -> int:
    for value in sample.records[:2]:
        rows = objects(value)[:5] if isinstance(value, list) else []
        if rows and all("ts" in row and text(row.get("type")) in ("say", "ask") for row in rows):
            return 95
    return 0


FORMAT = Format(kind="cline", agent="Cline", framing=("document",), claims=_claims, adapter=ClineAdapter)
