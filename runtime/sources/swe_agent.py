"""SWE-agent: trajectories, one document.

Promises: a step is a response, its call and its result; the name and the input of a call are those of the function
call where the history has one, else the command line that was run; whether a command succeeded is not recorded unless
the agent's own words say so. Pure.
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
from interlock.runtime.sources.foreign.shape import (
    at,
    count,
    items,
    mapping,
    name_of,
    number,
    objects,
    parsed,
    some_text,
    text,
)

_TIMEOUT = re.compile(r"EXECUTION TIMED OUT|COMMAND TIMED OUT|was cancelled because it took more than", re.I)
_REFUSED = re.compile(r"is not supported (?:by|in) this environment|operation '.*' is not supported", re.I)
_BROKEN = re.compile(r"contained syntax errors and was NOT executed|introduced new syntax error", re.I)
_GOOD = ("submitted", "")


class SweAgentAdapter(RecordAdapter):
    """One trajectory."""

    kind = "swe_agent"
    agent = "SWE-agent"

    def __init__(self) -> None:
        super().__init__()
        self._steps = 0
        """Steps that were told."""
        self._spoken = 0
        """Entries of the history before the first step that were told."""
        self._status = ""

    def name(self, record: ForeignRecord) -> str:
        return "trajectory"

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        if not isinstance(value.get("trajectory"), list) and not isinstance(value.get("history"), list):
            yield self.say.unknown("document", "no trajectory")
            return
        info, replay = mapping(value.get("info")), mapping(parsed(value.get("replay_config")))
        yield from self.head.said(
            version=some_text(info.get("swe_agent_version")),
            model=some_text(at(replay, "agent", "model", "name")),
            session=name_of(at(replay, "problem_statement", "id")),
        )
        history = objects(value.get("history"))
        answers = [row for row in history if text(row.get("role")) == "assistant" and row.get("is_demo") is not True]
        yield from self._opening(history)
        steps = objects(value.get("trajectory"))
        if len(steps) < self._steps:
            yield self.say.boundary("rolled_back", "the trajectory has fewer steps than it had")
            self._steps = len(steps)
        # a history that was cut does not line up with the steps, and then tells nothing of them
        aligned = len(answers) == len(steps)
        for n in range(self._steps, len(steps)):
            yield from self._step(n, steps[n], answers[n] if aligned else {})
        self._steps = len(steps)
        yield from self._ended(info)

    def _opening(self, history: list[dict[str, Any]]) -> Iterator[AnyEvent]:
        """What stands before the first step: the system's words, demonstrations, the task."""
        rows = []
        for row in history:
            if text(row.get("role")) == "assistant" and row.get("is_demo") is not True:
                break
            rows.append(row)
        for n in range(self._spoken, len(rows)):
            row = rows[n]
            if text(row.get("role")) == "user":
                made = row.get("is_demo") is True or text(row.get("message_type")) == "demonstration"
                yield self.say.user(text_of(row.get("content")), f"history {n + 1}", injected=made)
        self._spoken = max(self._spoken, len(rows))

    def _step(self, n: int, step: dict[str, Any], answer: dict[str, Any]) -> Iterator[AnyEvent]:
        known = f"step {n + 1}"
        said = text_of(step.get("response")) or text_of(step.get("thought"))
        if said:
            yield self.say.assistant(said, known, known)
        action = text(step.get("action"))
        calls = list(_calls(known, step, answer))
        if not calls and action.strip():
            calls = [(f"{known} action", "bash", {"command": action})]
        for call_id, tool, given in calls:
            yield from self.say.intent(call_id, tool, given, request_id=known)
        for call_id, _, _ in calls[-1:]:
            yield from self.say.result(call_id, _result(step))

    def _ended(self, info: dict[str, Any]) -> Iterator[AnyEvent]:
        stats = mapping(info.get("model_stats"))
        used = Usage(input=count(stats.get("tokens_sent")) or 0, output=count(stats.get("tokens_received")) or 0)
        cost = number(stats.get("instance_cost"))
        if used != Usage() or cost:
            yield from self.say.usage("all", used, model=self.head.known.get("model"), cost_usd=cost)
        status = text(info.get("exit_status"))
        if status.lower() not in _GOOD and status != self._status:
            yield self.say.boundary("error", status)
        self._status = status


def _calls(known: str, step: dict[str, Any], answer: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    asked = objects(step.get("tool_calls")) or objects(answer.get("tool_calls"))
    for n, call in enumerate(asked):
        function = mapping(call.get("function"))
        # a replayed trajectory gives one id to several calls
        own = f"{name_of(call.get('id')) or n} ({known})"
        yield own, text(function.get("name")), parsed(function.get("arguments"))


def _result(step: dict[str, Any]) -> Result:
    said = text_of(step.get("observation"))
    head = said[:3000]
    outcome: Outcome = "unknown"
    if _TIMEOUT.search(head):
        outcome = "timeout"
    elif _BROKEN.search(head):
        outcome = "failed"
    elif _REFUSED.search(head):
        outcome = "denied"
    result = Result(outcome, text=said, code="policy_denied" if outcome == "denied" else None)
    seconds = number(step.get("execution_time"))
    if seconds is not None and 0 <= seconds < 1e9:
        result.duration_ms = int(seconds * 1000)
    return result


def _claims(sample: Sample) -> int:
    for value in sample.records[:5]:
        row = mapping(value)
        steps = items(row.get("trajectory"))
        if steps and isinstance(steps[0], dict) and "action" in steps[0] and "observation" in steps[0]:
            return 97
        if "trajectory" in row and "history" in row and "info" in row:
            return 80
    return 0


FORMAT = Format(kind="swe_agent", agent="SWE-agent", framing=("document",), claims=_claims, adapter=SweAgentAdapter)
