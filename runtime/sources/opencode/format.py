"""Whether a log is opencode's, from its content."""

from __future__ import annotations

from typing import Any

from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.shape import at, mapping, objects, text
from interlock.runtime.sources.opencode.adapter import OpencodeAdapter
from interlock.runtime.sources.opencode.rows import OpencodeRows

_STREAM = ("step_start", "step_finish", "tool_use", "text", "reasoning", "error")
_BUS = ("session.", "message.", "permission.", "server.")


def _claims(sample: Sample) -> int:
    if sample.framing == "rows":
        return _claims_database(sample.head)
    return max((_claims_record(mapping(value)) for value in sample.records[:20]), default=0)


def _claims_database(head: bytes) -> int:
    # its schema can stand behind the first pages or in the write-ahead log still; its reader looks at the tables
    marks = sum(mark in head for mark in (b"`worktree`", b"`session_id`", b"`message_id`", b"`directory`"))
    return (25, 60, 80, 90, 95)[marks]


def _claims_record(value: dict[str, Any]) -> int:
    info = mapping(value.get("info"))
    if info and isinstance(value.get("messages"), list):
        rows = objects(value["messages"])
        if any("parts" in row and "info" in row for row in rows):
            return 97
        return 60 if text(info.get("id")).startswith("ses_") else 0
    kind = text(value.get("type"))
    if kind in _STREAM and text(value.get("sessionID")).startswith("ses_"):
        return 95
    inner = value.get("properties", value.get("data"))
    if (
        kind.startswith(_BUS)
        and isinstance(inner, dict)
        and ("sessionID" in inner or "info" in inner or "part" in inner)
    ):
        return 80 if text(at(inner, "sessionID")).startswith("ses_") or "properties" in value else 40
    return 0


FORMAT = Format(
    kind="opencode",
    agent="opencode",
    framing=("document", "lines", "rows"),
    claims=_claims,
    adapter=OpencodeAdapter,
    rows=OpencodeRows,
)
