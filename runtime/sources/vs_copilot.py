"""GitHub Copilot in Visual Studio: batches of OpenTelemetry spans, one a line.

Promises: a call and its result are one span; tokens are counted from the requests to the model, and from the agent's
sum only where a trace has no such requests; several conversations in one file are several sessions. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import count, mapping, name_of, objects, parsed, some_text, text

_REFUSED = re.compile(
    r"(?:denied|rejected|declined|cancell?ed) by (?:the )?user|user (?:denied|rejected|declined)", re.I
)
_STOPPED = re.compile(r"\baborted\b|cancell?ed|interrupted", re.I)
_ERROR = (2, "2", "STATUS_CODE_ERROR", "ERROR")


class VisualStudioAdapter(RecordAdapter):
    """The traces of one log file."""

    kind = "vs_copilot"
    agent = "GitHub Copilot in Visual Studio"

    def __init__(self) -> None:
        super().__init__()
        self._sums: dict[str, tuple[str, Usage, str | None]] = {}
        """Trace -> (span, tokens, model) of the agent's sum."""
        self._counted: set[str] = set()
        """Traces whose requests were counted."""
        self._requests: dict[str, str] = {}
        """Trace -> the last request to the model in it."""

    def name(self, record: ForeignRecord) -> str:
        return "resourceSpans"

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        if not isinstance(value.get("resourceSpans"), list):
            yield self.say.unknown("record", "no batch of spans")
            return
        for batch in objects(value["resourceSpans"]):
            resource = attributes(mapping(batch.get("resource")).get("attributes"))
            for scope in objects(batch.get("scopeSpans")) or objects(batch.get("instrumentationLibrarySpans")):
                for span in objects(scope.get("spans")):
                    yield from self._span(record, span, resource)

    def end(self) -> Iterator[AnyEvent]:
        for trace, (span, usage, model) in self._sums.items():
            if trace not in self._counted:
                yield from self._used(span, usage, model)

    def _span(self, record: ForeignRecord, span: dict[str, Any], resource: dict[str, Any]) -> Iterator[AnyEvent]:
        told = attributes(span.get("attributes"))
        self.say.at(record, _micros(span.get("startTimeUnixNano")))
        yield from self.head.said(
            session=some_text(told.get("gen_ai.conversation.id")) or name_of(span.get("traceId")),
            version=some_text(resource.get("service.version")),
        )
        operation = text(told.get("gen_ai.operation.name")) or text(span.get("name")).partition(" ")[0]
        match operation:
            case "invoke_agent":
                yield from self._agent(span, told)
            case "execute_tool":
                yield from self._tool(record, span, told)
            case "chat" | "text_completion" | "generate_content":
                yield from self._chat(record, span, told)
            case _:
                yield self.say.unknown(f"span {operation}")

    def _agent(self, span: dict[str, Any], told: dict[str, Any]) -> Iterator[AnyEvent]:
        trace, own = name_of(span.get("traceId")), name_of(span.get("spanId"))
        usage = _usage(told)
        if usage != Usage():
            self._sums[trace] = (own, usage, _model(told))
        by_person = text(told.get("copilot_chat.initiator_type")) in ("user", "")
        yield self.say.user(_last(told.get("gen_ai.input.messages"), "user"), own, injected=not by_person)
        said = _last(told.get("gen_ai.output.messages"), "assistant")
        if said:
            yield self.say.assistant(said, f"{own} answer")
        if _failed(span):
            yield self.say.boundary("error", text(mapping(span.get("status")).get("message")))

    def _chat(self, record: ForeignRecord, span: dict[str, Any], told: dict[str, Any]) -> Iterator[AnyEvent]:
        trace, own = name_of(span.get("traceId")), name_of(span.get("spanId"))
        self._requests[trace] = own
        self.say.at(record, _micros(span.get("endTimeUnixNano")))
        said = _last(told.get("gen_ai.output.messages"), "assistant")
        if said:
            yield self.say.assistant(said, own, own)
        usage = _usage(told)
        if usage != Usage():
            self._counted.add(trace)
            yield from self._used(own, usage, _model(told))
        if _failed(span):
            yield self.say.boundary("error", text(mapping(span.get("status")).get("message")))

    def _used(self, own: str, usage: Usage, model: str | None) -> Iterator[AnyEvent]:
        yield from self.say.usage(own, usage, model=model)

    def _tool(self, record: ForeignRecord, span: dict[str, Any], told: dict[str, Any]) -> Iterator[AnyEvent]:
        own = name_of(told.get("gen_ai.tool.call.id")) or name_of(span.get("spanId"))
        tool = text(told.get("gen_ai.tool.name")) or text(span.get("name")).removeprefix("execute_tool ")
        request = self._requests.get(name_of(span.get("traceId")))
        yield from self.say.intent(own, tool, parsed(told.get("gen_ai.tool.call.arguments")), request_id=request)
        start, end = _micros(span.get("startTimeUnixNano")), _micros(span.get("endTimeUnixNano"))
        if end is None or own not in self.say.calls:
            return
        self.say.at(record, end)
        yield from self.say.result(own, _result(span, told, start, end))


def _result(span: dict[str, Any], told: dict[str, Any], start: int | None, end: int) -> Result:
    said = text_of(told.get("gen_ai.tool.call.result"))
    message = text(mapping(span.get("status")).get("message"))
    outcome: Outcome = "ok"
    if _failed(span) or told.get("error.type"):
        words = f"{text(told.get('error.type'))} {message} {said[:500]}"
        outcome = "denied" if _REFUSED.search(words) else "interrupted" if _STOPPED.search(words) else "failed"
    result = Result(outcome, text=said or message)
    if start is not None and end >= start:
        result.duration_ms = (end - start) // 1000
    return result


def attributes(rows: Any) -> dict[str, Any]:
    """Attributes of OpenTelemetry's JSON form: name -> value."""
    found: dict[str, Any] = {}
    for row in objects(rows):
        value = mapping(row.get("value"))
        key = text(row.get("key"))
        if "intValue" in value:
            number = value["intValue"]
            found[key] = int(number) if isinstance(number, str) and number.isdecimal() and len(number) < 19 else number
        else:
            found[key] = next(iter(value.values()), None)
    return found


def _failed(span: dict[str, Any]) -> bool:
    code = mapping(span.get("status")).get("code")
    return isinstance(code, int | str) and code in _ERROR


def _micros(nanos: Any) -> int | None:
    if isinstance(nanos, str) and nanos.isascii() and nanos.isdecimal() and len(nanos) < 25:
        nanos = int(nanos)
    found = count(nanos)
    return found // 1000 if found else None


def _model(told: dict[str, Any]) -> str | None:
    return some_text(told.get("gen_ai.response.model")) or some_text(told.get("gen_ai.request.model"))


def _usage(told: dict[str, Any]) -> Usage:
    def of(*names: str) -> int:
        return next((found for name in names if (found := _number(told.get(f"gen_ai.usage.{name}")))), 0)

    return Usage(
        input=of("input_tokens", "prompt_tokens"),
        output=of("output_tokens", "completion_tokens"),
        cache_read=of("cache_read.input_tokens", "cache_read_input_tokens", "cached_tokens"),
        cache_write=of("cache_creation.input_tokens", "cache_creation_input_tokens"),
        reasoning=of("reasoning.output_tokens", "reasoning_tokens"),
    )


def _number(value: Any) -> int | None:
    return (
        int(value)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19
        else count(value)
    )


def _last(messages: Any, role: str) -> str:
    """The text of the last message of this role in a list that may be kept as JSON in a string."""
    rows = objects(parsed(messages) if isinstance(messages, str) else messages)
    for row in reversed(rows):
        if text(row.get("role")) == role:
            return text_of(row.get("parts", row.get("content")))
    return "" if rows or not isinstance(messages, str) else messages


def _claims(sample: Sample) -> int:
    best = 0
    for value in sample.records[:10]:
        for batch in objects(mapping(value).get("resourceSpans")):
            name = text(attributes(mapping(batch.get("resource")).get("attributes")).get("service.name"))
            best = max(best, 97 if "copilot" in name else 30 if _speaks_of_models(batch) else 0)
    return best


def _speaks_of_models(batch: dict[str, Any]) -> bool:
    spans = [span for scope in objects(batch.get("scopeSpans")) for span in objects(scope.get("spans"))]
    keys = {text(row.get("key")) for span in spans[:5] for row in objects(span.get("attributes"))}
    return any(key.startswith("gen_ai.") for key in keys)


FORMAT = Format(
    kind="vs_copilot",
    agent="GitHub Copilot in Visual Studio",
    framing=("lines", "document"),
    claims=_claims,
    adapter=VisualStudioAdapter,
)
