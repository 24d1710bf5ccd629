"""The Anthropic Messages format, streamed and whole."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from typing import Any


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if part.get("type") == "text")


class Messages:
    """`POST /v1/messages` and its token count."""

    def claims(self, path: str) -> bool:
        """Whether the path is one of this format."""
        return path.endswith(("/messages", "/messages/count_tokens"))

    def turns(self, body: dict[str, Any]) -> Sequence[tuple[str, str]]:
        """The conversation; results of tools come as user messages without text."""
        return [(message.get("role", ""), _texts(message.get("content"))) for message in body.get("messages", [])]

    def offers_tools(self, body: dict[str, Any]) -> bool:
        """Whether tools may be called."""
        return bool(body.get("tools"))

    def answer(self, exchange: Any, body: dict[str, Any], step: dict[str, Any]) -> None:
        """Send one message."""
        if exchange.path.split("?")[0].endswith("/count_tokens"):
            exchange.send({"input_tokens": 100})
            return
        blocks = list(_blocks(step))
        message = {
            "id": f"msg_{secrets.token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "model"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 1},
        }
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        if not body.get("stream"):
            exchange.send(message | {"content": blocks, "stop_reason": stop})
            return
        exchange.begin_stream()
        exchange.event({"type": "message_start", "message": message}, "message_start")
        for index, block in enumerate(blocks):
            for kind, event in _streamed(index, block):
                exchange.event({"type": kind, "index": index, **event}, kind)
        delta = {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 20}}
        exchange.event({"type": "message_delta", **delta}, "message_delta")
        exchange.event({"type": "message_stop"}, "message_stop")


def _blocks(step: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if step.get("text"):
        yield {"type": "text", "text": step["text"]}
    for tool in step.get("tools", ()):
        used = f"toolu_{secrets.token_hex(12)}"
        yield {"type": "tool_use", "id": used, "name": tool["name"], "input": tool["args"]}


def _streamed(index: int, block: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if block["type"] == "text":
        yield "content_block_start", {"content_block": {"type": "text", "text": ""}}
        yield "content_block_delta", {"delta": {"type": "text_delta", "text": block["text"]}}
    else:
        yield "content_block_start", {"content_block": block | {"input": {}}}
        whole = json.dumps(block["input"])
        yield "content_block_delta", {"delta": {"type": "input_json_delta", "partial_json": whole}}
    yield "content_block_stop", {}


PROVIDER = Messages()
