"""The Gemini format, as Gemini CLI speaks it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model import Exchange


class Gemini:
    """`POST …:streamGenerateContent` and its kin."""

    def claims(self, path: str) -> bool:
        """Whether a path is of this format."""
        return path.rpartition(":")[2] in ("generateContent", "streamGenerateContent", "countTokens")

    def turns(self, body: dict[str, Any]) -> Sequence[tuple[str, str]]:
        """Roles and texts in order."""
        return [self._turn(content) for content in body.get("contents", [])]

    def _turn(self, content: dict[str, Any]) -> tuple[str, str]:
        parts = [part for part in content.get("parts", []) if isinstance(part, dict)]
        if content.get("role") == "model":
            return "assistant", ""
        if any("functionResponse" in part for part in parts):
            return "result", ""
        return "user", "\n".join(part.get("text", "") for part in parts if not part.get("thought"))

    def offers_tools(self, body: dict[str, Any]) -> bool:
        """Whether tools may be called."""
        return any(tool.get("functionDeclarations") for tool in body.get("tools", []))

    def answer(self, exchange: Exchange, body: dict[str, Any], step: dict[str, Any]) -> None:
        """Send a step, as a stream where the path asks for one."""
        if exchange.path.partition("?")[0].endswith(":countTokens"):
            exchange.send({"totalTokens": 10})
            return
        parts: list[dict[str, Any]] = [{"text": step["text"]}] if step.get("text") else []
        for tool in step.get("tools", []):
            parts.append(
                {"functionCall": {"id": secrets.token_hex(6), "name": tool["name"], "args": tool.get("args", {})}}
            )
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, "finishReason": "STOP"}
        whole = {"candidates": [candidate], "usageMetadata": usage, "responseId": secrets.token_hex(6)}
        if ":generateContent" in exchange.path:
            exchange.send(whole)
            return
        exchange.begin_stream()
        exchange.event(whole)


PROVIDER = Gemini()
