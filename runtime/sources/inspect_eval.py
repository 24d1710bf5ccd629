"""Inspect's evaluation logs: an archive of JSON members, or one document.

Promises: each sample is a conversation of its own within the log; what its messages tell is told once, with the time of
the event that tells of the same call or response; tokens are those of the sample's account. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import Outcome, Result, stamp, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, number, objects, some_text, text

_ATTACHED = "attachment://"
_OUTCOMES: dict[str, Outcome] = {"timeout": "timeout", "approval": "denied"}
"""`permission` is the operating system's no to the tool: a failure."""


class InspectAdapter(RecordAdapter):
    """One evaluation."""

    kind = "inspect_eval"
    agent = "Inspect"

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()
        self._sourced = False
        """The sample says which of its messages the person's are; the others are the solver's."""

    def name(self, record: ForeignRecord) -> str:
        return text(at(record.value, "member")) or "document"

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        member, value = self.name(record), at(record.value, "value")
        if "member" not in mapping(record.value):
            yield from self._header(mapping(record.value))
            for sample in objects(at(record.value, "samples")):
                yield from self._sample(sample)
        elif isinstance(at(value, "eval"), dict):
            yield from self._header(mapping(value))
        elif member.startswith("samples/"):
            yield from self._sample(mapping(value))
        elif not member.startswith(("_journal/", "summaries", "reductions", "header", "manifest", "_")):
            yield self.say.unknown(member)

    def _header(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        spec = mapping(value.get("eval"))
        if not spec:
            yield self.say.unknown("document", "no evaluation")
            return
        self.dated(spec.get("created"))
        yield from self.head.said(
            session=name_of(spec.get("run_id")) or name_of(spec.get("eval_id")),
            version=some_text(at(spec, "packages", "inspect_ai")),
            model=some_text(spec.get("model")),
            title=some_text(spec.get("task")),
        )
        error = mapping(value.get("error"))
        if error and "header" not in self._told:
            self._told.add("header")
            yield self.say.boundary("error", text(error.get("message")))
        for name in ("started_at", "completed_at"):
            when = at(value, "stats", name)
            if stamp(when):
                self.dated(when)
                yield self.say.record(name)

    def _sample(self, sample: dict[str, Any]) -> Iterator[AnyEvent]:
        own = f"{name_of(sample.get('id'))}/{name_of(sample.get('epoch'))}"
        if own in self._told:
            return
        self._told.add(own)
        yield from self.head.ensured()
        events = _Events(objects(sample.get("events")))
        attached = mapping(sample.get("attachments"))
        for when in events.ends:
            self.dated(when)
            yield self.say.record("sample")
        messages = objects(sample.get("messages"))
        self._sourced = any(message.get("source") == "input" for message in messages)
        for n, message in enumerate(messages):
            yield from self._message(f"{own} {n + 1}", own, message, events, attached)
        self.dated(events.last)
        yield from self._account(own, sample)
        error, limit = mapping(sample.get("error")), mapping(sample.get("limit"))
        if error:
            yield self.say.boundary("error", f"{own}: {text(error.get('message'))}")
        elif limit:
            yield self.say.boundary("error", f"{own}: stopped by its limit of {text(limit.get('type'))}")

    def _message(
        self, known: str, own: str, message: dict[str, Any], events: _Events, attached: dict[str, Any]
    ) -> Iterator[AnyEvent]:
        said = _resolved(text_of(message.get("content")), attached)
        match text(message.get("role")):
            case "user":
                self.dated(events.first)
                source = text(message.get("source"))
                put_there = source not in ("input", "operator") if self._sourced else source == "generate"
                yield self.say.user(said, known, injected=put_there)
            case "assistant":
                self.dated(events.next_answer(), events.first)
                yield from self._answer(known, own, message, events, said)
            case "tool":
                yield from self._result(own, message, events, said)
            case "system":
                return
            case role:
                yield self.say.unknown(f"message {role}")

    def _answer(self, known: str, own: str, message: dict[str, Any], events: _Events, said: str) -> Iterator[AnyEvent]:
        for part in objects(message.get("content")):
            if text(part.get("type")) == "reasoning":
                yield self.say.reasoning(
                    text(part.get("reasoning")), known, known, encrypted=part.get("redacted") is True
                )
        if said:
            yield self.say.assistant(said, known, known)
        for n, call in enumerate(objects(message.get("tool_calls"))):
            call_id = f"{own} {name_of(call.get('id')) or n}"
            yield from self.say.intent(call_id, text(call.get("function")), call.get("arguments"), request_id=known)
            verdict = events.approvals.get(name_of(call.get("id")))
            if verdict is not None:
                answer = "allow" if text(verdict.get("decision")) in ("approve", "modify") else "deny"
                by = Approver(kind="person" if text(verdict.get("approver")) == "human" else "rule")
                yield from self.say.answered(call_id, answer, by, some_text(verdict.get("explanation")))

    def _result(self, own: str, message: dict[str, Any], events: _Events, said: str) -> Iterator[AnyEvent]:
        call = name_of(message.get("tool_call_id"))
        told = events.tools.get(call, {})
        self.dated(told.get("completed"), told.get("timestamp"), events.last)
        error = mapping(message.get("error")) or mapping(told.get("error"))
        result = Result("ok", text=said or text(error.get("message")))
        if error:
            result.outcome = _OUTCOMES.get(text(error.get("type")), "failed")
        result.started_at = stamp(told.get("timestamp")) or None
        seconds = number(told.get("working_time"))
        if seconds is not None and 0 <= seconds < 1e9:
            result.duration_ms = int(seconds * 1000)
        yield from self.say.result(f"{own} {call}", result)

    def _account(self, own: str, sample: dict[str, Any]) -> Iterator[AnyEvent]:
        for model, usage in mapping(sample.get("model_usage")).items():
            used = Usage(
                input=count(at(usage, "input_tokens")) or 0,
                output=count(at(usage, "output_tokens")) or 0,
                cache_read=count(at(usage, "input_tokens_cache_read")) or 0,
                cache_write=count(at(usage, "input_tokens_cache_write")) or 0,
                reasoning=count(at(usage, "reasoning_tokens")) or 0,
            )
            yield from self.say.usage(
                f"{own} {model}", used, model=str(model), cost_usd=number(at(usage, "total_cost"))
            )


class _Events:
    """What the events of one sample tell beside its messages."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        times = sorted((stamp(e.get("timestamp")), e.get("timestamp")) for e in events if stamp(e.get("timestamp")))
        self.first: Any = times[0][1] if times else None
        self.last: Any = times[-1][1] if times else None
        self.ends = [self.first, self.last] if times else []
        self.tools = {name_of(e.get("id")): e for e in events if text(e.get("event")) == "tool"}
        self.approvals = {
            name_of(at(e, "call", "id")): e for e in events if text(e.get("event")) == "approval" and "call" in e
        }
        self._answers = [e.get("timestamp") for e in events if text(e.get("event")) == "model"]

    def next_answer(self) -> Any:
        """The time of the next response of the model; None where there is none."""
        return self._answers.pop(0) if self._answers else None


def _resolved(said: str, attached: dict[str, Any]) -> str:
    if said.startswith(_ATTACHED) and isinstance(attached.get(said.removeprefix(_ATTACHED)), str):
        return attached[said.removeprefix(_ATTACHED)]
    return said


def _claims(sample: Sample) -> int:
    if sample.framing == "archive":
        marks = (b"header.json", b"_journal/", b"samples/")
        return 90 if any(mark in sample.head for mark in marks) else 30
    for value in sample.records[:2]:
        if isinstance(at(value, "eval"), dict) and ("samples" in value or "plan" in value) and "version" in value:
            return 95
    return 0


FORMAT = Format(
    kind="inspect_eval",
    agent="Inspect",
    framing=("archive", "document"),
    claims=_claims,
    adapter=InspectAdapter,
)
