"""What the two ends of a rollout tell, without reading it whole.

Promises: reads the first line and at most `END` bytes of each end; never raises; what a version does not record stays
empty.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

from interlock.runtime.events.moment import micros
from interlock.runtime.journal.codec import loads
from interlock.runtime.sources.codex.calls import full_name
from interlock.runtime.sources.codex.lineage import parent_of, sub_agent_of
from interlock.runtime.sources.codex.said import is_context
from interlock.runtime.sources.codex.status import Turn
from interlock.runtime.sources.foreign.home import LogSummary
from interlock.runtime.sources.foreign.narrator import first_line, stamp, text_of
from interlock.runtime.sources.foreign.shape import at, items, mapping, name_of, text

END = 64 * 1024
"""Bytes of each end that are read."""
_FIRST = 4 * 1024 * 1024
"""Most bytes of the first line: it carries the instructions and tools of the session."""
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


@dataclass(slots=True)
class Ends:
    """What was found."""

    summary: LogSummary = field(default_factory=LogSummary)
    originator: str = ""
    """The program that wrote it: `codex-tui`, `codex_exec`, `Codex Desktop`, …"""
    turn: Turn = ""
    session: str = ""


def ends_of(path: str | os.PathLike[str]) -> Ends:
    """The ends of the rollout at this path; where it cannot be read, the fault alone."""
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            first = file.readline(_FIRST)
            head = _records(first) + _records(file.read(END), cut_tail=file.tell() < size)
            tail = head if file.tell() >= size else _tail(file, size)
    except OSError as error:
        return Ends(LogSummary(fault=f"{path} cannot be read: {error.strerror or error}"))
    found = Ends()
    _take_head(found, head)
    _take_tail(found, tail)
    return found


def _tail(file: BinaryIO, size: int) -> list[dict[str, Any]]:
    file.seek(max(0, size - END))
    return _records(file.read(END), cut_head=size > END)


def _records(data: bytes, *, cut_head: bool = False, cut_tail: bool = False) -> list[dict[str, Any]]:
    lines = data.split(b"\n")
    lines = lines[1:] if cut_head else lines
    lines = lines[:-1] if cut_tail else lines
    found = []
    for line in lines:
        if line.strip():
            value, _ = loads(line)
            if isinstance(value, dict):
                found.append(value)
    return found


def _take_head(found: Ends, records: list[dict[str, Any]]) -> None:
    meta = next((mapping(r.get("payload")) for r in records if r.get("type") == "session_meta"), {})
    found.session = name_of(meta.get("id")) or name_of(meta.get("session_id"))
    found.originator = text(meta.get("originator"))
    times = [moment for r in records if (moment := micros(stamp(r.get("timestamp"))))]
    found.summary = LogSummary(
        version=text(meta.get("cli_version")),
        title=_title(meta, records),
        cwd=text(meta.get("cwd")) or next((c for r in records if (c := text(at(r, "payload", "cwd")))), ""),
        branch=text(at(meta, "git", "branch")),
        parent=parent_of(meta) or None,
        started_at=times[0] if times else 0,
    )


def _title(meta: dict[str, Any], records: list[dict[str, Any]]) -> str:
    asked = next((words for r in records if (words := _asked(r))), "")
    name = sub_agent_of(meta)
    copied = sum(r.get("type") == "session_meta" for r in records[:2]) == 2
    # what was asked in a copy was asked of the other session
    return " · ".join(part for part in (name, "" if name and copied else asked) if part)


def _asked(record: dict[str, Any]) -> str:
    """The first line of what a person asked for, if this record is that."""
    payload = mapping(record.get("payload"))
    kind, inner = record.get("type"), payload.get("type")
    if kind == "event_msg" and inner == "user_message":
        return first_line(text_of(payload.get("message")))
    if kind == "event_msg" and inner == "item_completed" and at(payload, "item", "type") == "UserMessage":
        return first_line(text_of(at(payload, "item", "content")))
    if kind == "response_item" and inner == "message" and payload.get("role") == "user":
        parts = [text_of(part) for part in items(payload.get("content"))]
        return next((first_line(part) for part in parts if part.strip() and not is_context(part)), "")
    return ""


def _take_tail(found: Ends, records: list[dict[str, Any]]) -> None:
    open_calls: dict[str, str] = {}
    last_action, last_at, title = "", 0, found.summary.title
    for record in records:
        last_at = max(last_at, micros(stamp(record.get("timestamp"))))
        payload = mapping(record.get("payload"))
        inner = text(payload.get("type"))
        call_id = name_of(payload.get("call_id"))
        if inner in _CALLS:
            last_action = full_name(text(payload.get("name")) or "local_shell", text(payload.get("namespace")))
            open_calls[call_id] = last_action
        elif inner in _OUTPUTS:
            open_calls.pop(call_id, None)
        elif inner in ("task_started", "turn_started"):
            found.turn = "open"
        elif inner in ("task_complete", "turn_complete", "turn_aborted"):
            found.turn = "over"
            open_calls.clear()
        elif inner == "thread_name_updated":
            title = text(payload.get("thread_name")) or title
    still = next(reversed(open_calls.values()), "")
    found.summary = replace(
        found.summary,
        title=title,
        last_at=last_at or found.summary.started_at,
        last_action=last_action,
        open_call=still,
    )
