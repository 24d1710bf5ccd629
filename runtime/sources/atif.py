"""ATIF, the Agent Trajectory Interchange Format, versions 1.0 to 1.7: one document.

Promises: a step is told once, by its id; steps that were copied from an earlier trajectory are marked as inherited and
not counted; the sum at the end counts only where no step tells its tokens. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import (
    at,
    count,
    mapping,
    name_of,
    number,
    objects,
    parsed,
    some_text,
    text,
    whole,
)

_OUTCOMES: dict[str, Outcome] = {
    "ok": "ok",
    "success": "ok",
    "completed": "ok",
    "error": "failed",
    "failed": "failed",
    "denied": "denied",
    "rejected": "denied",
    "cancelled": "interrupted",
    "interrupted": "interrupted",
    "timeout": "timeout",
}


class AtifAdapter(RecordAdapter):
    """One trajectory."""

    kind = "atif"
    agent = "ATIF"

    def __init__(self) -> None:
        super().__init__()
        self._told: set[str] = set()
        self._measured = False
        self._model: str | None = None

    def name(self, record: ForeignRecord) -> str:
        return "trajectory"

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        steps = objects(value.get("steps"))
        if "steps" not in value and "agent" not in value:
            yield self.say.unknown("document", "no trajectory")
            return
        maker = mapping(value.get("agent"))
        self._model = some_text(maker.get("model_name"))
        self.head.agent = text(maker.get("name")) or self.agent
        self.say.at(record, next((s.get("timestamp") for s in steps if s.get("timestamp")), None))
        yield from self.head.said(
            session=name_of(value.get("session_id")) or name_of(value.get("trajectory_id")),
            version=some_text(maker.get("version")),
            model=self._model,
            cwd=some_text(at(value, "extra", "cwd")) or some_text(at(maker, "extra", "cwd")),
            title=some_text(at(value, "extra", "title")),
            parent=some_text(at(value, "extra", "parent_session_id")),
        )
        for n, step in enumerate(steps):
            known = f"step {name_of(step.get('step_id')) or n + 1}"
            if known not in self._told:
                self._told.add(known)
                self.say.at(record, step.get("timestamp"))
                yield from self._step(known, step)
        self.say.at(record)
        yield from self._sum(mapping(value.get("final_metrics")))

    def _step(self, known: str, step: dict[str, Any]) -> Iterator[AnyEvent]:
        copied = step.get("is_copied_context") is True
        said = text_of(step.get("message"))
        match text(step.get("source")):
            case "user":
                yield self.say.user(said, known, inherited=copied)
            case "agent":
                yield from self._answer(known, step, said, copied)
            case "system":
                yield self.say.record("system step")
            case source:
                yield self.say.unknown(f"step of {source or 'nobody'}")
        yield from self._results(known, step)

    def _answer(self, known: str, step: dict[str, Any], said: str, copied: bool) -> Iterator[AnyEvent]:
        thought = text_of(step.get("reasoning_content"))
        if thought:
            yield self.say.reasoning(thought, known, known)
        calls = objects(step.get("tool_calls"))
        if said:
            yield self.say.assistant(said, known, known, inherited=copied)
        for n, call in enumerate(calls):
            own = name_of(call.get("tool_call_id")) or f"{known}#{n}"
            given = parsed(call.get("arguments"))
            yield from self.say.intent(
                own, text(call.get("function_name")), given, request_id=None if copied else known
            )
        yield from self._used(known, step, copied)

    def _used(self, known: str, step: dict[str, Any], copied: bool) -> Iterator[AnyEvent]:
        metrics = step.get("metrics")
        if not isinstance(metrics, dict):
            return
        self._measured = True
        extra = mapping(metrics.get("extra"))
        used = Usage(
            input=count(metrics.get("prompt_tokens")) or 0,
            output=count(metrics.get("completion_tokens")) or 0,
            cache_read=count(metrics.get("cached_tokens")) or 0,
            cache_write=count(extra.get("cache_creation_input_tokens")) or count(extra.get("cache_write_tokens")) or 0,
            reasoning=count(extra.get("reasoning_tokens")) or 0,
        )
        model = some_text(step.get("model_name")) or self._model
        cost = number(metrics.get("cost_usd"))
        yield from self.say.usage(known, used, model=model, cost_usd=cost, inherited=copied)

    def _results(self, known: str, step: dict[str, Any]) -> Iterator[AnyEvent]:
        calls = objects(step.get("tool_calls"))
        for row in objects(at(step, "observation", "results")):
            own = name_of(row.get("source_call_id"))
            if not own and len(calls) == 1:
                own = name_of(calls[0].get("tool_call_id")) or f"{known}#0"
            for child in objects(row.get("subagent_trajectory_ref")):
                name = name_of(child.get("session_id")) or name_of(child.get("trajectory_id"))
                yield self.say.spawned(own, name, log=some_text(child.get("trajectory_path")))
            if own:
                yield from self.say.result(own, _result(row))
            else:
                yield self.say.record("observation without a call")

    def _sum(self, final: dict[str, Any]) -> Iterator[AnyEvent]:
        if self._measured or not final:
            return
        used = Usage(
            input=count(final.get("total_prompt_tokens")) or 0,
            output=count(final.get("total_completion_tokens")) or 0,
            cache_read=count(final.get("total_cached_tokens")) or 0,
        )
        cost = number(final.get("total_cost_usd"))
        if used != Usage() or cost:
            yield from self.say.usage("all", used, model=self._model, cost_usd=cost)


def _result(row: dict[str, Any]) -> Result:
    """ATIF itself records no outcome; writers that do put it among the extras."""
    extra = mapping(row.get("extra"))
    code = whole(extra.get("exit_code"))
    outcome = _OUTCOMES.get(text(extra.get("status")).lower(), "unknown")
    error = extra.get("is_error", row.get("is_error"))
    if outcome == "unknown" and isinstance(error, bool):
        outcome = "failed" if error else "ok"
    if code is not None and outcome in ("unknown", "ok"):
        outcome = "failed" if code else "ok"
    return Result(
        outcome,
        text=text_of(row.get("content")),
        exit_code=code,
        code="exit_nonzero" if outcome == "failed" and code else some_text(extra.get("code")),
        duration_ms=count(extra.get("duration_ms")),
    )


def _claims(sample: Sample) -> int:
    for value in sample.records[:5]:
        if text(at(value, "schema_version")).startswith("ATIF"):
            return 99
        steps = objects(at(value, "steps"))
        if steps and "source" in steps[0] and "step_id" in steps[0]:
            return 60
    return 0


FORMAT = Format(kind="atif", agent="ATIF", framing=("document", "lines"), claims=_claims, adapter=AtifAdapter)
