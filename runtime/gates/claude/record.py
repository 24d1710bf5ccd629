"""What Claude Code's own transcript says became of a call.

Promises: only what was appended since the last look is read, in whole lines; a line that is no record is passed over; a
transcript that is not there yet, or was replaced by a shorter one, is no fault. Nothing is ever written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MOST_BYTES = 64 << 20
"""Read at one look; what is beyond is passed over, for nothing of ours waits that long."""

_MARKS = (b'"tool_result"', b'"hook_permission_decision"')


@dataclass(frozen=True, slots=True)
class Told:
    """What became of one call, as the transcript has it."""

    call_id: str
    is_error: bool
    text: str
    """The beginning of what the model was told."""
    denied_natively: bool = False
    """The person said no in the agent's own prompt."""
    is_decision: bool = False
    """No end yet: the answer of a permission hook was taken."""


class Transcript:
    """The tail of one transcript file."""

    def __init__(self, path: str, *, from_end: bool) -> None:
        self._path = path
        self._at = _size(path) if from_end else 0

    def look(self) -> list[Told]:
        """Ends of calls that were written since the last look."""
        size = _size(self._path)
        if size < self._at:
            self._at = 0
        if size == self._at:
            return []
        try:
            with open(self._path, "rb") as file:
                file.seek(max(self._at, size - _MOST_BYTES))
                data = file.read(size - file.tell())
        except OSError:
            return []
        whole = data.rfind(b"\n") + 1
        self._at = size - len(data) + whole
        lines = [line for line in data[:whole].split(b"\n") if any(mark in line for mark in _MARKS)]
        return [told for line in lines for told in _told(line)]


def sub_agent_transcript(transcript: str, agent_id: str) -> str:
    """Where a sub-agent's calls are written."""
    return os.path.join(transcript.removesuffix(".jsonl"), "subagents", f"agent-{agent_id}.jsonl")


def version_in(transcript: str) -> str:
    """The version of Claude Code that writes this transcript, "" when it cannot be told."""
    try:
        with open(transcript, "rb") as file:
            lines = file.read(1 << 20).split(b"\n")
    except OSError:
        return ""
    for line in lines:
        if b'"version"' in line:
            found = _record(line).get("version")
            if isinstance(found, str):
                return found[:50]
    return ""


def _told(line: bytes) -> Iterator[Told]:
    record = _record(line)
    attached = record.get("attachment")
    if isinstance(attached, dict) and attached.get("type") == "hook_permission_decision":
        call_id = attached.get("toolUseID")
        if isinstance(call_id, str) and attached.get("hookEvent") == "PermissionRequest":
            yield Told(call_id, attached.get("decision") == "deny", "", is_decision=True)
        return
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result" and isinstance(block.get("tool_use_id"), str):
            yield Told(
                block["tool_use_id"],
                bool(block.get("is_error")),
                _text(block.get("content"))[:500],
                record.get("toolDenialKind") == "user-rejected",
            )


def _record(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0
