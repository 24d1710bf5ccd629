"""Whether a log is a transcript of Claude Code's, from its first records.

Promises: pure; a log with Claude's envelope that another agent wrote (Qwen Code, iFlow) is left to that agent.
"""

from __future__ import annotations

from typing import Any

from interlock.runtime.sources.claude_code.vocabulary import TITLES
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.adapter import Sample

_SURE = 90
_ENVELOPE = ("parentUuid", "isSidechain", "sessionId", "userType", "toolUseResult", "session_id")
_SPEAKERS = ("user", "assistant")
_OWN = {
    "file-history-snapshot": "snapshot",
    "file-history-delta": "messageId",
    "queue-operation": "operation",
    "last-prompt": "lastPrompt",
    "summary": "leafUuid",
    "permission-mode": "permissionMode",
    "progress": "parentToolUseID",
    "attachment": "attachment",
    "api-request-shape": "shapeHash",
    **TITLES,
}
"""Record type -> a field that Claude Code's records of it have."""


def claims(sample: Sample) -> int:
    """How sure it is that Claude Code wrote this: 0 to 90."""
    records = [record for record in sample.records if isinstance(record, dict)]
    if records and isinstance(records[0].get("loglines"), list):
        # the one document in which the web's sessions come
        records = [record for record in records[0]["loglines"][:50] if isinstance(record, dict)]
    if any(_is_foreign(record) for record in records):
        return 0
    sure = max((_claim(record) for record in records), default=0)
    # a file of one record a line can be read as documents too; as lines it can be followed
    return sure if sample.framing == "lines" else max(0, sure - 5)


def _is_foreign(record: dict[str, Any]) -> bool:
    return isinstance(shape.at(record, "message", "parts"), list) or "systemPayload" in record


def _claim(record: dict[str, Any]) -> int:
    kind = shape.text(record.get("type"))
    marks = sum(name in record for name in _ENVELOPE)
    if kind in _SPEAKERS and isinstance(shape.at(record, "message", "content"), str | list):
        return _SURE if marks >= 2 else 60 if marks or "timestamp" in record else 30
    if not kind and marks and shape.at(record, "message", "role") in _SPEAKERS:
        # written by others for tests, without a type
        return 60 if isinstance(shape.at(record, "message", "usage"), dict) else 40
    if not kind and "timestamp" in record and shape.at(record, "message", "role") in _SPEAKERS and len(record) == 2:
        return 30
    if kind in _OWN and _OWN[kind] in record:
        return 80
    if kind == "system" and marks >= 3 and "subtype" in record:
        return 70
    # the envelope around something that no version here has
    return 40 if kind and marks >= 2 and {"uuid", "parentUuid", "version"} <= record.keys() else 0
