"""Sessions of other agents in the list of all sessions.

Promises: only the sessions that are asked for are looked into; what their logs' ends do not tell is marked `partial`.
"""

from __future__ import annotations

import time

from interlock.runtime.library.catalog import SessionSummary
from interlock.runtime.sources.foreign.home import LogRef
from interlock.runtime.sources.foreign.source import ForeignSession, ForeignSource


def list_others(source: ForeignSource, limit: int = 0) -> list[SessionSummary]:
    """The sessions of other agents, the one that was written last first; at most `limit` of them (0: all)."""
    refs = source.discover()
    now = time.time_ns() // 1000
    seen = [source.seen(ref.id, now) for ref in (refs[:limit] if limit else refs)]
    return [summary_of(one) for one in seen if one is not None]


def summary_of(seen: ForeignSession) -> SessionSummary:
    """One of them as a row of the list."""
    ref, told, judged = seen.ref, seen.summary, seen.judged
    summary = SessionSummary(
        id=ref.id,
        path=ref.path,
        size=ref.size,
        mtime=ref.mtime_ns / 1e9,
        status=judged.status,
        evidence=judged.evidence + (" (guessed)" if judged.guessed else ""),
        writer_alive=judged.live,
        agent=seen.agent,
        agent_kind=ref.kind,
        partial=True,
    )
    if told is None:
        return summary
    from dataclasses import replace

    return replace(
        summary,
        agent_version=told.version,
        title=told.title,
        cwd=told.cwd,
        branch=told.branch,
        started_at=told.started_at,
        last_at=told.last_at,
        last_action=told.last_action,
        fault=told.fault,
    )


class AmbiguousSession(Exception):
    """Several sessions fit a name; the message lists some."""


def find_other(name: str, source: ForeignSource) -> LogRef | None:
    """The session of another agent with this id, or whose id begins so. Raises AmbiguousSession."""
    source.discover()
    fitting = source.find(name)
    if len(fitting) > 1:
        more = f" and {len(fitting) - 5} more" if len(fitting) > 5 else ""
        ids = ", ".join(ref.id for ref in fitting[:5])
        raise AmbiguousSession(f"{name!r} fits {len(fitting)} sessions: {ids}{more}. Type more of it.")
    return fitting[0] if fitting else None
