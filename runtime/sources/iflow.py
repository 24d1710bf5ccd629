"""iFlow CLI: Claude Code's envelope with other models, tools and results.

Promises: as `claude_code`; a call that a later record of the stream repeats is one call. Known from one recorded
session of version 1.0.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.adapter import ClaudeAdapter
from interlock.runtime.sources.claude_code.prompt import flat, spoken
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.adapter import Format, Sample

_MESSAGE_ID = re.compile(r"response-\d{10,}")
_SESSION_ID = re.compile(r"session-[0-9a-f]{8}-[0-9a-f]{4}-")


class IflowAdapter(ClaudeAdapter):
    """One session of iFlow CLI."""

    kind = "iflow"
    agent = "iFlow CLI"

    def words(self, block: dict[str, Any]) -> str:
        """What the model was given back of a call: it stands where Gemini's function responses have it."""
        response = shape.at(block, "content", "responseParts", "functionResponse", "response")
        if response is None:
            return flat(block.get("content"))
        return flat(shape.at(response, "output")) or flat(shape.at(response, "error"))

    def _user(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        content = shape.at(value, "message", "content")
        for block in shape.objects(content):
            if block.get("type") == "tool_result":
                yield from self._ended(value, block)
        yield from self._said(value, list(spoken(content)))

    def _ended(self, value: dict[str, Any], block: dict[str, Any]) -> Iterator[AnyEvent]:
        status = shape.text(shape.at(value, "toolUseResult", "status"))
        error = shape.at(block, "content", "responseParts", "functionResponse", "response", "error")
        failed = block.get("is_error") is True or status in ("error", "failed") or error is not None
        kept = dict(_change(block)) if not failed else {}
        if status in ("cancelled", "canceled", "rejected"):
            value = {**value, "toolDenialKind": "interrupted" if status != "rejected" else "user-rejected"}
        yield from self.calls.result(value, block, self.words(block), kept, failed=failed)


def _change(block: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The change that the record shows, in the fields that Claude Code has for it."""
    shown = shape.mapping(shape.at(block, "content", "resultDisplay"))
    diff, name = shape.text(shown.get("fileDiff")), shape.some_text(shown.get("fileName"))
    if diff and name:
        yield from {"filePath": name, "unifiedDiff": diff}.items()


def claims(sample: Sample) -> int:
    """How sure it is that iFlow wrote this: 0, 93 or 95."""
    if not any(_is_iflow(record) for record in sample.records if isinstance(record, dict)):
        return 0
    return 95 if sample.framing == "lines" else 93


def _is_iflow(record: dict[str, Any]) -> bool:
    if record.get("type") not in ("user", "assistant") or not isinstance(record.get("message"), dict):
        return False
    if _MESSAGE_ID.match(shape.text(shape.at(record, "message", "id"))):
        return True
    return bool(_SESSION_ID.match(shape.text(record.get("sessionId")))) and "isSidechain" in record


FORMAT = Format(
    kind=IflowAdapter.kind, agent=IflowAdapter.agent, framing=("lines", "document"), claims=claims, adapter=IflowAdapter
)
"""Sessions of iFlow CLI."""
