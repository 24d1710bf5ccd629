"""What each `response_item` of a rollout tells. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.events import Voice
from interlock.runtime.sources.codex.searches import search_key
from interlock.runtime.sources.foreign.shape import mapping, name_of, objects, text

CALL_ITEMS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "image_generation_call",
        "tool_search_call",
        "function_call_output",
        "custom_tool_call_output",
        "tool_search_output",
    }
)
"""Items of a call."""


def _message(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    role = text(payload.get("role"))
    if role == "assistant":
        yield from voice.said.released()
        yield from voice.said.reply_item(payload)
    elif role == "user":
        yield from voice.said.user_item(payload)
    elif role in ("developer", "system"):
        yield from voice.said.injected(payload)
    else:
        yield voice.say.unknown("response_item/message", f"unknown role {role[:80]!r}")


def _agent_message(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.between_agents(payload)


def _reasoning(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield from voice.said.thought_item(payload)


def _function_call(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from _call(voice, payload, text(payload.get("name")), payload.get("arguments"))


def _custom_call(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from _call(voice, payload, text(payload.get("name")), payload.get("input"))


def _shell_call(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from _call(voice, payload, "local_shell", payload.get("action"))


def _tool_search(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from _call(voice, payload, "tool_search", payload.get("arguments"))


def _call(voice: Voice, payload: dict[str, Any], tool: str, raw: Any) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    call_id = name_of(payload.get("call_id")) or name_of(payload.get("id"))
    yield from voice.calls.asked(call_id, tool, text(payload.get("namespace")), raw)


def _output(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.calls.given_back(name_of(payload.get("call_id")), payload.get("output"))


def _tools_found(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    names = [text(tool.get("name")) for tool in objects(payload.get("tools"))]
    yield from voice.calls.given_back(name_of(payload.get("call_id")), "\n".join(name for name in names if name))


def _web_search(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    action, call_id = mapping(payload.get("action")), name_of(payload.get("id"))
    yield from voice.calls.single(
        "item", "web_search", call_id, search_key(action), action, text(payload.get("status"))
    )


def _picture(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    raw, call_id = {"prompt": payload.get("revised_prompt")}, name_of(payload.get("id"))
    yield from voice.calls.single("item", "image_generation", call_id, call_id, raw, text(payload.get("status")))


def _compaction(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.compacted("item", "")


RESPONSES: dict[str, Callable[[Voice, dict[str, Any]], Iterator[AnyEvent]]] = {
    "message": _message,
    "agent_message": _agent_message,
    "reasoning": _reasoning,
    "function_call": _function_call,
    "function_call_output": _output,
    "custom_tool_call": _custom_call,
    "custom_tool_call_output": _output,
    "local_shell_call": _shell_call,
    "tool_search_call": _tool_search,
    "tool_search_output": _tools_found,
    "web_search_call": _web_search,
    "image_generation_call": _picture,
    "context_compaction": _compaction,
}
"""Type of a `response_item` -> what it tells."""
