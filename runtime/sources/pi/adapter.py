"""Records of pi -> events: entries of a session file of any version, and the events of a run of pi or its kin.

Promises: an entry is told once; an entry that does not go on from the last one opens a branch; a request that was
aborted is an interrupt of the person; a result is matched by call id whichever record tells it first. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import UNRECORDED, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, number, objects, some_text, text
from interlock.runtime.sources.pi.outcome import result_of

_QUIET = frozenset(
    [
        "thinking_level_change",
        "label",
        "custom",
        "agent_start",
        "agent_end",
        "agent_settled",
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "tool_execution_update",
        "queue_update",
        "auto_retry_start",
        "auto_retry_end",
        "session_info_changed",
        "thinking_level_changed",
    ]
)
_INJECTED = ("custom", "hookMessage")


class PiAdapter(RecordAdapter):
    """One session of pi."""

    kind = "pi"
    agent = "pi"

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self._last = ""
        """Id of the last entry."""
        self._count = 0

    def name(self, record: ForeignRecord) -> str:
        value = mapping(record.value)
        kind = text(value.get("type")) or "record"
        role = text(at(value, "message", "role"))
        return f"{kind} {role}".strip()

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        kind = text(value.get("type"))
        self._count += 1
        self.say.at(record, value.get("timestamp"))
        if kind == "session":
            yield from self._session(value)
            return
        yield from self.head.ensured()
        yield from self._branched(value)
        match kind:
            case "message" | "message_end":
                yield from self._message(record, value)
            case "model_change" | "model_changed":
                yield from self._model_changed(value)
            case "compaction" | "compaction_end" | "auto_compaction_end":
                yield self.say.boundary("compacted", text(value.get("summary")) or text(at(value, "result", "summary")))
            case "branch_summary":
                yield self.say.boundary("branch", text(value.get("summary")))
            case "session_info":
                yield from self.head.said(title=some_text(value.get("name")))
            case "custom_message":
                yield self.say.user(text_of(value.get("content")), self._id(value), injected=True)
            case "tool_execution_start":
                call = name_of(value.get("toolCallId"))
                yield from self.say.intent(call, text(value.get("toolName")), value.get("args"))
            case "tool_execution_end":
                yield from self._ended(value)
            case _ if kind in _QUIET or kind.startswith(("compaction_", "auto_compaction_", "extension_")):
                return
            case _:
                yield self.say.unknown(kind or "record")

    def _session(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        origin = some_text(value.get("branchedFrom")) or some_text(value.get("parentSession"))
        self._model = text(value.get("modelId"))
        if self.head.known.get("session") and self.head.known["session"] != name_of(value.get("id")):
            yield self.say.boundary("resumed")
        yield from self.head.said(
            session=name_of(value.get("id")),
            cwd=text(value.get("cwd")),
            model=some_text(value.get("modelId")),
            parent=_session_in(origin) if origin else None,
        )
        if origin:
            yield self.say.boundary("forked", origin)

    def _branched(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        own, parent = name_of(value.get("id")), value.get("parentId")
        if not own or "parentId" not in value:
            return
        before, self._last = self._last, own
        if before and name_of(parent) != before:
            yield self.say.boundary("branch", f"goes on from {name_of(parent) or 'the beginning'}, not from {before}")

    def _id(self, value: dict[str, Any]) -> str:
        return name_of(value.get("id")) or f"message {self._count}"

    def _model_changed(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        before, self._model = self._model, text(value.get("modelId"))
        if not before:
            yield from self.head.said(model=some_text(self._model))
        elif self._model and before != self._model:
            yield self.say.boundary("model_changed", f"{before} -> {self._model} ({text(value.get('provider'))})")

    def _message(self, record: ForeignRecord, value: dict[str, Any]) -> Iterator[AnyEvent]:
        message = mapping(value.get("message"))
        if not self.say.ts:
            self.say.at(record, message.get("timestamp"))
        known = self._id(value)
        match text(message.get("role")):
            case "user":
                yield self.say.user(text_of(message.get("content")), known)
            case "assistant":
                yield from self._answer(known, message)
            case "toolResult":
                call = name_of(message.get("toolCallId"))
                yield from self._result(call, text(message.get("toolName")), message)
            case "bashExecution":
                yield self.say.user(
                    f"! {text(message.get('command'))}\n{text(message.get('output'))}", known, injected=True
                )
            case "compactionSummary":
                yield self.say.boundary("compacted", text(message.get("summary")))
            case "branchSummary":
                yield self.say.boundary("branch", text(message.get("summary")))
            case role if role in _INJECTED:
                yield self.say.user(text_of(message.get("content")), known, injected=True)
            case role:
                yield self.say.unknown(f"message {role}")

    def _answer(self, known: str, message: dict[str, Any]) -> Iterator[AnyEvent]:
        for n, block in enumerate(_blocks(message.get("content"))):
            match text(block.get("type")):
                case "text" if text(block.get("text")):
                    yield self.say.assistant(text(block["text"]), known, known)
                case "thinking":
                    hidden = block.get("redacted") is True and not text(block.get("thinking"))
                    yield self.say.reasoning(text(block.get("thinking")), known, known, encrypted=hidden)
                case "toolCall":
                    call = name_of(block.get("id")) or f"{known}#{n}"
                    yield from self.say.intent(call, text(block.get("name")), block.get("arguments"), request_id=known)
                case _:
                    pass
        yield from self._used(known, message)
        stop, said = text(message.get("stopReason")), text(message.get("errorMessage"))
        if stop == "aborted":
            yield self.say.boundary("interrupted", said)
        elif stop == "error":
            yield self.say.boundary("error", said)

    def _used(self, known: str, message: dict[str, Any]) -> Iterator[AnyEvent]:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        used = Usage(
            input=count(usage.get("input")) or 0,
            output=count(usage.get("output")) or 0,
            cache_read=count(usage.get("cacheRead")) or 0,
            cache_write=count(usage.get("cacheWrite")) or 0,
            reasoning=count(usage.get("reasoning")) or 0,
        )
        stop = text(message.get("stopReason"))
        if used == Usage() and stop in ("aborted", "error"):
            return  # nothing was counted: the request did not come to a response
        cost = number(at(usage, "cost", "total"))
        yield from self.say.usage(known, used, model=some_text(message.get("model")), stop_reason=stop, cost_usd=cost)

    def _result(self, call: str, tool: str, message: dict[str, Any]) -> Iterator[AnyEvent]:
        if self.say.intent_of(call) is None:
            yield from self.say.intent(call, tool, None, reason=UNRECORDED)
        made = self.say.calls.get(call)
        yield from self.say.result(call, result_of(message, made.input if made else None))

    def _ended(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        result = mapping(value.get("result"))
        message = {**result, "isError": value.get("isError")}
        if not result:
            message["content"] = value.get("result")
        yield from self._result(name_of(value.get("toolCallId")), text(value.get("toolName")), message)


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


def _session_in(path: str) -> str:
    """The id in a path `<time>_<id>.jsonl`; anything else as it is."""
    stem = PurePosixPath(path).name.removesuffix(".jsonl")
    return stem.partition("_")[2] or path


def _claims(sample: Sample) -> int:
    best = 0
    for n, value in enumerate(sample.records[:20]):
        if not isinstance(value, dict):
            continue
        kind = value.get("type")
        if kind == "session" and "id" in value and "timestamp" in value and ("cwd" in value or "version" in value):
            return 95 if n == 0 else 80
        if kind in ("tool_execution_start", "tool_execution_end", "tool_execution_update") and "toolCallId" in value:
            best = max(best, 80)
        role = at(value, "message", "role")
        if kind in ("message", "message_end") and role in ("user", "assistant", "toolResult") and "uuid" not in value:
            best = max(best, 50)
        if kind in ("agent_start", "turn_start", "message_start"):
            best = max(best, 30)
    return best


FORMAT = Format(kind="pi", agent="pi", framing=("lines", "document"), claims=_claims, adapter=PiAdapter)
