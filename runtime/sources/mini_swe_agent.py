"""mini-swe-agent: trajectories of all its forms, one document.

Promises: an observation that stands in the user's place is the result of the command before it, not a turn; what the
harness says to the model is no turn either; the exit code is read where the agent writes it. Pure.
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
    whole,
)

_COMMAND = re.compile(r"```(?:mswea_bash_command|bash|sh)[ \t]*\n(.*?)\n?```", re.S)
_CODE = re.compile(r"<returncode>\s*(-?\d{1,9})\s*</returncode>")
_REFUSED = re.compile(r"user rejected|rejected by the user|not executed\. The user", re.I)
_TIMEOUT = re.compile(r"timed out|<timeout>", re.I)
_STOPPED = re.compile(r"interrupted by (?:the )?user", re.I)
_HARNESS = re.compile(r"EXACTLY ONE (?:action|bash)|Format error|format error|No tool calls found", re.I)
_DONE = ("submitted", "")


class MiniSweAdapter(RecordAdapter):
    """One trajectory."""

    kind = "mini_swe_agent"
    agent = "mini-swe-agent"

    def __init__(self) -> None:
        super().__init__()
        self._known = 0
        """Messages that were told."""
        self._open = ""
        """The call whose observation comes next."""
        self._turns = 0
        self._priced = False
        self._status = ""

    def name(self, record: ForeignRecord) -> str:
        return "trajectory"

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = record.value
        messages = objects(value) if isinstance(value, list) else objects(mapping(value).get("messages"))
        info = mapping(at(value, "info"))
        if not messages and not info:
            yield self.say.unknown("document", "no trajectory")
            return
        yield from self._head(value, info)
        if len(messages) < self._known:
            yield self.say.boundary("rolled_back", "the trajectory has fewer messages than it had")
            self._known = len(messages)
        for n in range(self._known, len(messages)):
            yield from self._message(n, messages[n])
        self._known = len(messages)
        self.say.at(record)
        yield from self._ended(info)

    def _head(self, value: Any, info: dict[str, Any]) -> Iterator[AnyEvent]:
        config = mapping(info.get("config"))
        yield from self.head.said(
            session=name_of(at(value, "instance_id")),
            version=some_text(info.get("mini_version")),
            cwd=some_text(at(config, "environment", "cwd")),
            model=some_text(at(config, "model", "model_name")),
        )

    def _message(self, n: int, message: dict[str, Any]) -> Iterator[AnyEvent]:
        self.dated(message.get("timestamp", at(message, "extra", "timestamp")))
        known, said = f"message {n + 1}", text_of(message.get("content"))
        role = text(message.get("role")) or text(message.get("type"))
        if not role and message.get("object") == "response":
            # as the provider's other interface answers: one object with all that was said and asked
            message, role = _as_message(message), "assistant"
            said = text_of(message.get("content"))
        match role:
            case "system":
                yield self.say.record("system")
            case "user":
                yield from self._user(known, message, said)
            case "assistant":
                yield from self._answer(known, message, said)
            case "tool" | "function_call_output":
                call = name_of(message.get("tool_call_id")) or name_of(message.get("call_id")) or self._open
                output = said or text_of(message.get("output"))
                yield from self._observed(call, message, output)
            case "exit":
                self._status = text(at(message, "extra", "exit_status")) or said
            case _:
                yield self.say.unknown(role or "message")

    def _user(self, known: str, message: dict[str, Any], said: str) -> Iterator[AnyEvent]:
        if self._open and not _harness(message, said):
            call, self._open = self._open, ""
            yield from self._observed(call, message, said)
            return
        self._open = ""
        self._turns += 1
        by_agent = self._turns > 1 and _harness(message, said)
        yield self.say.user(said, known, injected=by_agent)

    def _answer(self, known: str, message: dict[str, Any], said: str) -> Iterator[AnyEvent]:
        extra = mapping(message.get("extra"))
        thought = text(message.get("reasoning_content"))
        if thought:
            yield self.say.reasoning(thought, known, known)
        if said:
            yield self.say.assistant(said, known, known)
        for call_id, tool, given in _calls(known, message, extra, said):
            self._open = call_id
            yield from self.say.intent(call_id, tool, given, request_id=known)
        yield from self._used(known, extra, message.get("usage"))

    def _used(self, known: str, extra: dict[str, Any], told: Any) -> Iterator[AnyEvent]:
        response, cost = mapping(extra.get("response")), number(extra.get("cost"))
        usage = mapping(response.get("usage")) or mapping(told)
        if not usage and cost is None:
            return
        self._priced = self._priced or cost is not None
        used = Usage(
            input=count(usage.get("prompt_tokens")) or count(usage.get("input_tokens")) or 0,
            output=count(usage.get("completion_tokens")) or count(usage.get("output_tokens")) or 0,
            cache_read=_detail(usage, "prompt_tokens_details", "input_tokens_details", "cached_tokens"),
            reasoning=_detail(usage, "completion_tokens_details", "output_tokens_details", "reasoning_tokens"),
        )
        model = some_text(response.get("model")) or self.head.known.get("model")
        yield from self.say.usage(known, used, model=model, cost_usd=cost)

    def _observed(self, call: str, message: dict[str, Any], said: str) -> Iterator[AnyEvent]:
        extra = mapping(message.get("extra"))
        found = _CODE.search(said[:2000])
        code = whole(extra.get("returncode"))
        code = code if code is not None else int(found[1]) if found else None
        outcome: Outcome = "unknown" if code is None else "failed" if code else "ok"
        head = said[:2000]
        if code is None and _REFUSED.search(head):
            outcome = "denied"
        elif code in (None, -1) and _TIMEOUT.search(f"{head} {text(extra.get('exception_info'))}"):
            outcome = "timeout"
        elif code is None and _STOPPED.search(head):
            outcome = "interrupted"
        result = Result(outcome, text=said, exit_code=code, code="exit_nonzero" if outcome == "failed" else None)
        result.truncated = "<output_head>" in said and "<output_tail>" in said
        if call:
            yield from self.say.result(call, result)

    def _ended(self, info: dict[str, Any]) -> Iterator[AnyEvent]:
        cost = number(at(info, "model_stats", "instance_cost"))
        if cost and not self._priced:
            self._priced = True
            yield from self.say.usage("all", Usage(), model=self.head.known.get("model"), cost_usd=cost)
        status = self._status or text(info.get("exit_status"))
        if status.lower() not in _DONE and self.head.known.get("ended") != status:
            self.head.known["ended"] = status
            yield self.say.boundary("error", status)


def _detail(usage: dict[str, Any], one: str, other: str, name: str) -> int:
    return count(at(usage, one, name)) or count(at(usage, other, name)) or 0


def _as_message(response: dict[str, Any]) -> dict[str, Any]:
    rows = objects(response.get("output"))
    calls = [
        {"id": row.get("call_id"), "function": {"name": row.get("name"), "arguments": row.get("arguments")}}
        for row in rows
        if row.get("type") == "function_call"
    ]
    thoughts = [text_of(part) for row in rows if row.get("type") == "reasoning" for part in items(row.get("summary"))]
    said = [text_of(row.get("content")) for row in rows if row.get("type") == "message"]
    return {
        **response,
        "content": "\n".join(part for part in said if part),
        "reasoning_content": "\n".join(part for part in thoughts if part),
        "tool_calls": calls,
    }


def _harness(message: dict[str, Any], said: str) -> bool:
    kind = at(message, "extra", "interrupt_type")
    return bool(kind) or (_HARNESS.search(said[:3000]) is not None and not _CODE.search(said[:200]))


def _calls(known: str, message: dict[str, Any], extra: dict[str, Any], said: str) -> Iterator[tuple[str, str, Any]]:
    """(id, tool, input) of the calls of a message, from the first place that tells them."""
    asked = objects(message.get("tool_calls"))
    if asked:
        for n, call in enumerate(asked):
            function = mapping(call.get("function"))
            name = text(function.get("name")) or "bash"
            yield name_of(call.get("id")) or f"{known}#{n}", name, parsed(function.get("arguments"))
        return
    actions = objects(extra.get("actions"))
    if actions:
        for n, action in enumerate(actions):
            yield name_of(action.get("tool_call_id")) or f"{known}#{n}", "bash", {"command": action.get("command")}
        return
    found = _COMMAND.findall(said[:1_000_000])
    if len(found) == 1:
        yield f"{known}#0", "bash", {"command": found[0]}


def _claims(sample: Sample) -> int:
    best = 0
    for value in sample.records[:5]:
        if text(at(value, "trajectory_format")).startswith("mini-swe-agent"):
            return 98
        rows = objects(value) if isinstance(value, list) else objects(at(value, "messages"))
        if not rows or not all("role" in row or "type" in row for row in rows[:5]):
            continue
        marks = any(
            "mswea_bash_command" in text(row.get("content")) or _CODE.search(text(row.get("content"))[:2000])
            for row in rows[:20]
        )
        best = max(best, 70 if marks else 60 if "mini_version" in mapping(at(value, "info")) else 0)
    return best


FORMAT = Format(
    kind="mini_swe_agent",
    agent="mini-swe-agent",
    framing=("document",),
    claims=_claims,
    adapter=MiniSweAdapter,
)
