"""What a rollout looks like, found from its records."""

from __future__ import annotations

from typing import Any

from interlock.runtime.sources.codex.adapter import CodexAdapter
from interlock.runtime.sources.codex.names import AGENT, ENVELOPES, ITEMS, KIND
from interlock.runtime.sources.codex.stream import marks
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.shape import text


def _claims(sample: Sample) -> int:
    """How sure it is that these records are Codex's."""
    records = [record for record in sample.records if isinstance(record, dict)]
    if any(_is_envelope(record) for record in records[:20]):
        # a file of one record a line can be read as documents too; as lines it can be followed
        return 95 if sample.framing == "lines" else 90
    if any(marks(record) for record in records[:20]):
        return 92 if sample.framing == "lines" else 85
    if records and isinstance(records[0].get("session"), dict) and isinstance(records[0].get("items"), list):
        return 75 if sample.framing == "document" else 0
    if records and records[0].get("type") == "session_meta" and "id" in records[0]:
        return 60
    if records and _is_bare_head(records[0]) and all(_is_bare(record) for record in records[1:20]):
        return 70 if len(records) > 1 else 30
    return 0


def _is_envelope(record: dict[str, Any]) -> bool:
    kind, payload = record.get("type"), record.get("payload")
    if not isinstance(kind, str) or kind not in ENVELOPES or not isinstance(payload, dict):
        return False
    return "timestamp" in record or (kind == "session_meta" and "id" in payload) or text(payload.get("type")) in ITEMS


def _is_bare_head(record: dict[str, Any]) -> bool:
    return (
        "type" not in record
        and "id" in record
        and "timestamp" in record
        and bool({"instructions", "git"} & set(record))
    )


def _is_bare(record: dict[str, Any]) -> bool:
    return "record_type" in record or record.get("type") in ITEMS


FORMAT = Format(
    kind=KIND,
    agent=AGENT,
    framing=("lines", "document"),
    claims=_claims,
    adapter=CodexAdapter,
    spawning=frozenset({"spawn_agent"}),
)
