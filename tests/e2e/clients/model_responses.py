"""The OpenAI Responses format, as Codex speaks it.

A tool of a step with `input` instead of `args` is a custom tool call (free text).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model import Exchange

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


class Responses:
    """`POST …/responses`."""

    def claims(self, path: str) -> bool:
        """Whether a path is of this format."""
        return path.endswith("/responses")

    def turns(self, body: dict[str, Any]) -> Sequence[tuple[str, str]]:
        """Roles and texts in order."""
        given = body.get("input")
        if isinstance(given, str):
            return [("user", given)]
        return [self._turn(item) for item in given or []]

    def _turn(self, item: dict[str, Any]) -> tuple[str, str]:
        kind = item.get("type", "message")
        if kind in _CALLS:
            return "assistant", ""
        if kind != "message":
            return "result", ""
        content = item.get("content")
        texts = [content] if isinstance(content, str) else [part.get("text", "") for part in content or []]
        return item.get("role", ""), "\n".join(text for text in texts if isinstance(text, str))

    def offers_tools(self, body: dict[str, Any]) -> bool:
        """Whether tools may be called."""
        given = body.get("input")
        more = [item for item in given if item.get("type") == "additional_tools"] if isinstance(given, list) else []
        return bool(body.get("tools") or more)

    def answer(self, exchange: Exchange, body: dict[str, Any], step: dict[str, Any]) -> None:
        """Send a step as a stream of events."""
        items = self._items(step)
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5}
        usage |= {"output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
        whole = {"id": _id("resp"), "object": "response", "status": "completed", "model": body.get("model", "")}
        whole |= {"output": items, "usage": usage, "error": None}
        if not body.get("stream"):
            exchange.send(whole)
            return
        exchange.begin_stream()
        for number, (name, told) in enumerate(self._events(whole, items)):
            exchange.event({"type": name, "sequence_number": number, **told}, name)

    def _items(self, step: dict[str, Any]) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        if step.get("text"):
            part = {"type": "output_text", "text": step["text"], "annotations": []}
            items.append(
                {"type": "message", "id": _id("msg"), "role": "assistant", "status": "completed", "content": [part]}
            )
        for tool in step.get("tools", []):
            said = {"id": _id("item"), "call_id": _id("call"), "name": tool["name"], "status": "completed"}
            if "input" in tool:
                items.append({"type": "custom_tool_call", **said, "input": tool["input"]})
            else:
                items.append({"type": "function_call", **said, "arguments": json.dumps(tool.get("args", {}))})
        return items

    def _events(self, whole: dict[str, Any], items: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
        begun = {**whole, "status": "in_progress", "output": [], "usage": None}
        events: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": begun})]
        for at, item in enumerate(items):
            events.append(
                ("response.output_item.added", {"output_index": at, "item": {**item, "status": "in_progress"}})
            )
            if item["type"] == "message":
                delta = {
                    "item_id": item["id"],
                    "output_index": at,
                    "content_index": 0,
                    "delta": item["content"][0]["text"],
                }
                events.append(("response.output_text.delta", delta))
            events.append(("response.output_item.done", {"output_index": at, "item": item}))
        return [*events, ("response.completed", {"response": whole})]


def _id(kind: str) -> str:
    return f"{kind}_{secrets.token_hex(10)}"


PROVIDER = Responses()
