"""The wire log of the older Kimi command line: `{"timestamp": …, "message": {"type": …, "payload": …}}`.

Promises: parts of one step are one response; an approval is told with its call; what a sub-agent did stands under the
call that started it and is not counted as the session's own. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.narrator import Narrator, text_of
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, parsed, some_text, text
from interlock.runtime.sources.kimi.outcome import result_of

_QUIET = (
    "TurnEnd",
    "StatusUpdate",
    "CompactionBegin",
    "ToolCallPart",
    "ApprovalRequest",
    "QuestionRequest",
    "ToolCallRequest",
    "MCPLoadingBegin",
    "MCPLoadingEnd",
    "HookTriggered",
    "HookResolved",
    "Notification",
    "PlanDisplay",
)


class OlderKimi:
    """What the messages of one such log tell."""

    def __init__(self, say: Narrator) -> None:
        self._say = say
        self._steps = 0
        self._asked: dict[str, str] = {}
        """Approval request -> call."""
        self._decided: dict[str, str] = {}
        self._spawned: set[str] = set()

    def events(self, message: dict[str, Any]) -> Iterator[AnyEvent]:
        """The events of one message."""
        kind, told = text(message.get("type")), mapping(message.get("payload"))
        step = f"step {self._steps}"
        match kind:
            case "TurnBegin" | "SteerInput":
                yield self._say.user(text_of(told.get("user_input")))
            case "StepBegin":
                self._steps += 1
            case "StepInterrupted":
                yield self._say.boundary("interrupted")
            case "ContentPart" | "TextPart" | "ThinkPart":
                yield from self._part(step, told)
            case "ToolCall":
                name, given = text(at(told, "function", "name")), parsed(at(told, "function", "arguments"))
                yield from self._say.intent(name_of(told.get("id")), name, given, request_id=step)
            case "ToolResult":
                call = name_of(told.get("tool_call_id"))
                yield from self._say.result(call, result_of(told.get("return_value"), self._decided.get(call, "")))
            case "ApprovalResponse" | "ApprovalRequestResolved":
                yield from self._answered(told)
            case "SubagentEvent":
                yield from self._sub_agent(told)
            case "CompactionEnd":
                yield self._say.boundary("compacted")
            case _ if kind not in _QUIET:
                yield self._say.unknown(kind or "message")
        if kind == "ApprovalRequest":
            self._asked[name_of(told.get("id"))] = name_of(told.get("tool_call_id"))
        elif kind == "StatusUpdate":
            yield from self._used(step, told)

    def _part(self, step: str, told: dict[str, Any]) -> Iterator[AnyEvent]:
        if text(told.get("think")):
            yield self._say.reasoning(text(told["think"]), step, step)
        elif text(told.get("text")):
            yield self._say.assistant(text(told["text"]), step, step)

    def _used(self, step: str, told: dict[str, Any]) -> Iterator[AnyEvent]:
        usage = told.get("token_usage")
        if not isinstance(usage, dict):
            return
        used = Usage(
            input=count(usage.get("input_other")) or 0,
            output=count(usage.get("output")) or 0,
            cache_read=count(usage.get("input_cache_read")) or 0,
            cache_write=count(usage.get("input_cache_creation")) or 0,
        )
        yield from self._say.usage(name_of(told.get("message_id")) or step, used)

    def _answered(self, told: dict[str, Any]) -> Iterator[AnyEvent]:
        call, response = self._asked.get(name_of(told.get("request_id")), ""), text(told.get("response"))
        by = Approver(kind="native_prompt")
        if response.startswith("approve"):
            yield from self._say.answered(call, "allow", by, scope="session" if "session" in response else "once")
        elif response.startswith("reject"):
            self._decided[call] = "rejected"
            yield from self._say.answered(call, "deny", by, some_text(told.get("feedback")))

    def _sub_agent(self, told: dict[str, Any]) -> Iterator[AnyEvent]:
        call = name_of(told.get("task_tool_call_id")) or name_of(told.get("parent_tool_call_id"))
        if call not in self._spawned:
            self._spawned.add(call)
            child = name_of(told.get("agent_id")) or call
            yield self._say.spawned(call, child, agent_type=some_text(told.get("subagent_type")))
