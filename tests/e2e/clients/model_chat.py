"""The OpenAI Chat Completions format, as opencode speaks it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model import Exchange


class Chat:
    """`POST …/chat/completions`."""

    def claims(self, path: str) -> bool:
        """Whether a path is of this format."""
        return path.endswith("/chat/completions")

    def turns(self, body: dict[str, Any]) -> Sequence[tuple[str, str]]:
        """Roles and texts in order."""
        return [(message.get("role", ""), _text(message.get("content"))) for message in body.get("messages", [])]

    def offers_tools(self, body: dict[str, Any]) -> bool:
        """Whether tools may be called."""
        return bool(body.get("tools"))

    def answer(self, exchange: Exchange, body: dict[str, Any], step: dict[str, Any]) -> None:
        """Send a step, as a stream where the request wants one."""
        calls = [
            {
                "index": at,
                "id": f"call_{secrets.token_hex(8)}",
                "type": "function",
                "function": {"name": tool["name"], "arguments": json.dumps(tool.get("args", {}))},
            }
            for at, tool in enumerate(step.get("tools", []))
        ]
        message = {"role": "assistant", "content": step.get("text", ""), **({"tool_calls": calls} if calls else {})}
        whole = {"id": f"chat-{secrets.token_hex(6)}", "created": 1, "model": body.get("model", "")}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        end = "tool_calls" if calls else "stop"
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": end}
            exchange.send({**whole, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        exchange.begin_stream()
        for delta, reason in ((message, None), ({}, end)):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            exchange.event({**whole, "object": "chat.completion.chunk", "choices": [choice]})
        exchange.event({**whole, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        exchange.event("[DONE]")


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


PROVIDER = Chat()
