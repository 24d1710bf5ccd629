"""Where opencode keeps its sessions, and what its database tells of one without reading it whole.

Promises: listing thousands is one question to each database, and none while it has not changed; nothing is written.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interlock.runtime.journal.codec import loads
from interlock.runtime.sources.foreign.home import LogSummary
from interlock.runtime.sources.foreign.shape import at, count, mapping, text
from interlock.runtime.sources.opencode.database import opened, tables

_PARTS = 40
"""Last parts of a session that are looked at for its last call."""


def data_home() -> Path:
    """The folder of opencode's databases for this user."""
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "opencode"


def databases(folder: Path) -> list[Path]:
    """Its databases; one a release channel."""
    return sorted(folder.glob("*.db")) if folder.is_dir() else []


def signature(path: Path) -> tuple[int, ...]:
    """Changes when the database does. Raises OSError."""
    found: list[int] = []
    for name in (path, path.with_name(path.name + "-wal")):
        if name.exists():
            seen = name.stat()
            found += [seen.st_mtime_ns, seen.st_size]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Stored:
    """One session of a database."""

    id: str
    parent: str | None
    updated_ms: int
    events: int
    """Number of its last event; 0 where the database keeps none."""


def sessions(path: Path) -> list[Stored]:
    """All sessions of a database. Raises OSError."""
    with opened(path) as connection:
        known = tables(connection)
        if "session" not in known:
            return []
        counted = {"aggregate_id", "seq"} <= known.get("event_sequence", set())
        seq = "(select seq from event_sequence where aggregate_id = session.id)" if counted else "0"
        rows = connection.execute(f"select id, parent_id, time_updated, {seq} from session").fetchall()
    return [
        Stored(str(own), str(parent) if parent else None, count(updated) or 0, count(last) or 0)
        for own, parent, updated, last in rows
    ]


def summary(path: Path, part: str) -> LogSummary:
    """What the database tells of one session. Never raises: a fault stands in the summary."""
    try:
        with opened(path) as connection:
            row = connection.execute(
                "select version, title, directory, parent_id, time_created, time_updated from session where id = ?",
                (part,),
            ).fetchone()
            parts = connection.execute(
                "select data, time_updated from part where session_id = ? order by id desc limit ?", (part, _PARTS)
            ).fetchall()
    except OSError as error:
        return LogSummary(fault=str(error))
    if row is None:
        return LogSummary(fault=f"{path} has no session {part}")
    calls = [value for value in (_value(data) for data, _ in parts) if text(value.get("type")) == "tool"]
    last = calls[0] if calls else {}
    running = text(at(last, "state", "status")) in ("running", "pending")
    changed = [count(when) or 0 for _, when in parts[:5]]
    return LogSummary(
        version=str(row[0] or ""),
        title=str(row[1] or ""),
        cwd=str(row[2] or ""),
        parent=str(row[3]) if row[3] else None,
        started_at=(count(row[4]) or 0) * 1000,
        last_at=max([count(row[5]) or 0, *changed]) * 1000,
        last_action=text(last.get("tool")),
        open_call=text(last.get("tool")) if running else "",
    )


def turn_ended(path: Path, part: str) -> bool:
    """Whether the last message of the session is an answer that is whole and asks for no more. Raises OSError."""
    with opened(path) as connection:
        row = connection.execute(
            "select data from message where session_id = ? order by id desc limit 1", (part,)
        ).fetchone()
    message = _value(row[0]) if row else {}
    if text(message.get("role")) != "assistant":
        return not message
    ended = at(message, "time", "completed") is not None and text(message.get("finish")) != "tool-calls"
    return ended or bool(mapping(message.get("error")))


def _value(data: Any) -> dict[str, Any]:
    raw = data if isinstance(data, bytes) else str(data).encode("utf-8", "replace")
    return mapping(loads(raw)[0])
