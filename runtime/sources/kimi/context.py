"""The context of the older Kimi command line, `context.jsonl`: what the model was given, one message a line.

Promises: a call and its result are matched by the call's id; a message that Kimi itself put in is no turn of a person's.
Such a file carries no times, and its `_usage` lines say how full the context is, not what a response took. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.narrator import Narrator, text_of
from interlock.runtime.sources.foreign.shape import at, items, mapping, name_of, objects, parsed, text
from interlock.runtime.sources.kimi.outcome import result_of

_MARKS = ("_system_prompt", "_checkpoint", "_usage")
_SYSTEM = "<system>"
_ERROR = "<system>ERROR"


def is_mark(value: Any) -> bool:
    """Whether nothing but such a context has this line."""
    return mapping(value).get("role") in _MARKS


def is_message(value: dict[str, Any]) -> bool:
    """Whether this is a line of such a context."""
    return "type" not in value and isinstance(value.get("role"), str)


class Context:
    """What its lines tell."""

    def __init__(self, say: Narrator) -> None:
        self._say = say
        self._lines = 0

    def events(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        """What one line tells."""
        self._lines += 1
        known, role, content = f"line {self._lines}", text(value.get("role")), value.get("content")
        match role:
            case "user":
                said = text_of(content)
                yield self._say.user(said, known, injected=said.startswith(_SYSTEM))
            case "assistant":
                yield from self._answer(known, value)
            case "tool":
                said = text_of(content)
                result = {"output": said, "is_error": said.startswith(_ERROR)}
                yield from self._say.result(name_of(value.get("tool_call_id")), result_of(result, ""))
            case _ if role not in _MARKS:
                yield self._say.unknown(role or "message")

    def _answer(self, known: str, value: dict[str, Any]) -> Iterator[AnyEvent]:
        content = value.get("content")
        for part in items(content) if isinstance(content, list) else [{"text": content}]:
            if text(at(part, "think")):
                yield self._say.reasoning(text(part["think"]), known, known)
            elif text(at(part, "text")):
                yield self._say.assistant(text(part["text"]), known, known)
        for n, call in enumerate(objects(value.get("tool_calls"))):
            own, given = name_of(call.get("id")) or f"{known}#{n}", parsed(at(call, "function", "arguments"))
            yield from self._say.intent(own, text(at(call, "function", "name")), given, request_id=known)
