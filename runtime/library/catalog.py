"""The list of all sessions, made cheaply: of each journal the first line and the end are read, not the whole.

Promises: a thousand sessions in about a second, again in a few milliseconds; a session that can not be read is in the
list with the reason; totals that come from a part of the journal are marked `partial`.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from interlock.runtime.journal.envelope import EnvelopeBrief, brief
from interlock.runtime.journal.tail import CHUNK, last_lines, read_line_at
from interlock.runtime.journal.writer import writer_alive
from interlock.runtime.state.session import SessionState, Status, evolve, status_of

_SHORT = 16 * 1024
"""Bytes: enough for the last event of a session that was closed in order, which carries the totals."""


class SessionNotFound(Exception):
    """No session, or more than one, fits; the message says what was looked for and what there is."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One session, as a list shows it. Texts are as the agent wrote them."""

    id: str
    path: Path
    size: int
    """Bytes of the journal."""
    mtime: float
    """Seconds since 1970."""
    status: Status = "gone"
    evidence: str = ""
    writer_alive: bool = False
    agent: str = ""
    agent_kind: str = ""
    agent_version: str = ""
    foreign_session: str = ""
    """Of a gate's journal: the agent's own id of the session that it is about."""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    started_at: int = 0
    last_at: int = 0
    """Microseconds since 1970."""
    calls: int = 0
    denied: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    waiting: int = 0
    """Open asks."""
    last_action: str = ""
    ended: str | None = None
    verification: bool | None = None
    partial: bool = False
    """The totals are those of the end of the journal alone."""
    fault: str = ""
    """Why the journal could not be read."""


Cache = MutableMapping[Path, tuple[tuple[int, int], SessionSummary]]
"""Journal -> ((mtime in nanoseconds, size), its summary)."""
_CACHE: Cache = {}


def list_sessions(home: Path, cache: Cache | None = None) -> list[SessionSummary]:
    """All sessions below `home`, the one that was written last first. A folder without a journal is none."""
    known = _CACHE if cache is None else cache
    try:
        paths = [Path(entry.path) / "events.jsonl" for entry in os.scandir(home)]
    except FileNotFoundError:
        return []
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = [s for s in pool.map(lambda path: _summary(path, known), paths) if s is not None]
    return sorted(found, key=lambda s: (s.mtime, s.id), reverse=True)


def find(name: str, home: Path) -> Path:
    """The journal of the session with this id, or whose id begins so.

    Raises SessionNotFound when none does, or several do.
    """
    if name and "/" not in name and name not in (".", "..") and (home / name / "events.jsonl").is_file():
        return home / name / "events.jsonl"
    try:
        ids = sorted(entry.name for entry in os.scandir(home) if os.path.isfile(f"{entry.path}/events.jsonl"))
    except FileNotFoundError:
        ids = []
    fitting = [i for i in ids if name and (i.startswith(name) or name in i)]
    begun = [i for i in fitting if i.startswith(name)]
    fitting = begun or fitting
    if len(fitting) == 1:
        return home / fitting[0] / "events.jsonl"
    if fitting:
        more = f" and {len(fitting) - 5} more" if len(fitting) > 5 else ""
        raise SessionNotFound(
            f"{name!r} fits {len(fitting)} sessions: {', '.join(fitting[:5])}{more}. Type more of it."
        )
    raise SessionNotFound(f"there is no session {name!r} in {home}. 'interlock sessions' lists them.")


def summarise(path: Path) -> SessionSummary:
    """The summary of one journal. Raises OSError when it cannot be read."""
    seen = os.stat(path)
    first = brief(read_line_at(path, 0)) if seen.st_size else None
    end = last_lines(path, _SHORT)
    last = brief(end[-1].raw) if end else None
    whole = SessionState(id=path.parent.name)
    if last is None or last.type != "session.ended" or last.totals is None:
        end = last_lines(path, CHUNK)
    if first is not None:
        evolve(whole, first)
    for line in end:
        event = brief(line.raw)
        if event is not None:
            evolve(whole, event)
    unread = end[0].offset > 0 if end else seen.st_size > CHUNK
    summary = _filled(path, seen, whole, partial=unread)
    return _with_totals(summary, last) if whole.ended is not None else summary


def _filled(path: Path, seen: os.stat_result, state: SessionState, *, partial: bool) -> SessionSummary:
    alive = writer_alive(path.parent)
    status, evidence = status_of(state, alive)
    names = (
        "agent",
        "agent_kind",
        "agent_version",
        "foreign_session",
        "title",
        "cwd",
        "branch",
        "started_at",
        "last_at",
        "calls",
        "denied",
        "failed",
    )
    names += ("input_tokens", "output_tokens", "cost_usd", "last_action", "ended", "verification")
    return SessionSummary(
        id=path.parent.name,
        path=path,
        size=seen.st_size,
        mtime=seen.st_mtime,
        status=status,
        evidence=evidence,
        writer_alive=alive,
        waiting=len(state.asks),
        partial=partial,
        **{name: getattr(state, name) for name in names},
    )


def _with_totals(summary: SessionSummary, last: EnvelopeBrief | None) -> SessionSummary:
    if last is None or last.type != "session.ended" or last.totals is None:
        return summary
    names = ("calls", "denied", "failed", "input_tokens", "output_tokens", "cost_usd")
    return replace(summary, partial=False, **{name: getattr(last.totals, name) for name in names})


def _summary(path: Path, cache: Cache) -> SessionSummary | None:
    try:
        seen = os.stat(path)
    except OSError:
        return None
    key = (seen.st_mtime_ns, seen.st_size)
    known = cache.get(path)
    # whether a writer lives is not in the file, so only what is finished for good is taken from the cache as it is
    if known and known[0] == key and known[1].writer_alive == writer_alive(path.parent):
        return known[1]
    try:
        summary = summarise(path)
    except OSError as error:
        return SessionSummary(path.parent.name, path, seen.st_size, seen.st_mtime, fault=error.strerror or str(error))
    cache[path] = (key, summary)
    return summary
