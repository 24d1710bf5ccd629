"""Sessions as rows: the board, the history and the lower half of the inbox.

Promises: the state comes from evidence and the evidence stands beside it; order is stable, so that rows do not dance;
totals that come from a part of a journal are marked. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from interlock.runtime.state.session import SessionState, Status
from interlock.tui.model.moment import same_day

if TYPE_CHECKING:
    from interlock.runtime.library.catalog import SessionSummary
    from interlock.runtime.sources.foreign.source import ForeignSession

SIGN_OF: dict[str, str] = {
    "waiting": "ask",
    "running": "running",
    "idle": "idle",
    "done": "ok",
    "failed": "failed",
    "gone": "gone",
}
"""Status -> name of its sign."""
Group = Literal["waiting", "running", "idle", "done", "failed", "gone"]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session. Texts are foreign but for `status`, `evidence` and `fault`."""

    id: str
    status: Status
    evidence: str
    agent: str = ""
    kind: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    action: str = ""
    started_at: int = 0
    last_at: int = 0
    """Microseconds since 1970."""
    calls: int = 0
    denied: int = 0
    failed: int = 0
    tokens: int = 0
    cost: float = 0.0
    waiting: int = 0
    checked: str = ""
    """`tests verified`, `changed since`, `checks fail`, or nothing."""
    partial: bool = False
    size: int = 0
    fault: str = ""
    live: bool = False
    """Whether a process holds its journal."""
    version: str = ""
    """Of the agent."""
    estimated: bool = False
    """Some of the cost was worked out from list prices."""
    depth: int = 0
    """How many sessions stand above it as those that started it."""
    guessed: bool = False
    """The evidence for the status allows other readings."""
    parent: str = ""
    """Id of the session that started this one."""
    foreign: str = ""
    """Of a gate's journal: our id of the foreign session that it is about."""

    @property
    def agent_name(self) -> str:
        """The agent, with its version where it is not one of our runtime's."""
        return f"{self.agent} {self.version}".rstrip() if self.foreign or ":" in self.id else self.agent

    @property
    def name(self) -> str:
        """What a person calls it."""
        return self.title or self.id


def row_of_state(
    state: SessionState, alive: bool, judged: tuple[Status, str], *, size: int = 0, fault: str = ""
) -> SessionRow:
    """The row of a session that is followed; `judged`: its status and the evidence for it."""
    status, evidence = judged
    return SessionRow(
        id=state.id,
        status=status,
        evidence=evidence,
        agent=state.agent,
        kind=state.agent_kind,
        title=state.title,
        cwd=state.cwd,
        branch=state.branch,
        action=state.last_action,
        started_at=state.started_at,
        last_at=state.last_at,
        calls=state.calls,
        denied=state.denied,
        failed=state.failed,
        tokens=state.input_tokens + state.output_tokens,
        cost=state.cost_usd,
        waiting=len(state.asks),
        checked=_checked(state.verification, state.changed_since_verification),
        size=size,
        fault=fault,
        live=alive,
        version=state.agent_version,
        estimated=state.cost_estimated,
        guessed=evidence.endswith("(guessed)"),
        parent=f"{state.agent_kind}:{state.parent}" if state.parent and state.foreign_session else state.parent,
        foreign=f"{state.agent_kind}:{state.foreign_session}" if state.foreign_session else "",
    )


def row_of_summary(summary: SessionSummary) -> SessionRow:
    """The row of a session on disk."""
    return SessionRow(
        id=summary.id,
        status=summary.status,
        evidence=summary.evidence or summary.fault,
        agent=summary.agent,
        kind=summary.agent_kind,
        title=summary.title,
        cwd=summary.cwd,
        branch=summary.branch,
        action=summary.last_action,
        started_at=summary.started_at,
        last_at=summary.last_at or int(summary.mtime * 1_000_000),
        calls=summary.calls,
        denied=summary.denied,
        failed=summary.failed,
        tokens=summary.input_tokens + summary.output_tokens,
        cost=summary.cost_usd,
        waiting=summary.waiting,
        checked=_checked(summary.verification, False),
        partial=summary.partial,
        size=summary.size,
        fault=summary.fault,
        live=summary.writer_alive,
        version=summary.agent_version,
        foreign=f"{summary.agent_kind}:{summary.foreign_session}" if summary.foreign_session else "",
    )


def row_of_log(seen: ForeignSession) -> SessionRow:
    """The row of another agent's session on disk."""
    ref, judged, told = seen.ref, seen.judged, seen.summary
    return SessionRow(
        id=ref.id,
        status=judged.status,
        evidence=judged.evidence,
        agent=seen.agent,
        kind=ref.kind,
        title=told.title if told else "",
        cwd=told.cwd if told else "",
        branch=told.branch if told else "",
        action=told.last_action if told else "",
        started_at=told.started_at if told else 0,
        last_at=(told.last_at if told else 0) or ref.mtime_ns // 1000,
        partial=True,
        size=ref.size,
        fault=told.fault if told else "",
        live=judged.live,
        version=told.version if told else "",
        guessed=judged.guessed,
        parent=f"{ref.kind}:{parent}" if (parent := ref.parent or (told.parent if told else None)) else "",
    )


def _checked(passed: bool | None, changed: bool) -> str:
    if passed is None:
        return ""
    if not passed:
        return "checks fail"
    return "changed since check" if changed else "checks passed"


ORDER: tuple[Group, ...] = ("waiting", "running", "idle", "failed", "done", "gone")
TITLES: dict[str, str] = {
    "waiting": "WAITING FOR YOU",
    "running": "RUNNING",
    "idle": "IDLE, YOUR TURN",
    "failed": "FAILED",
    "done": "DONE",
    "gone": "WRITER GONE",
}


def grouped(rows: Iterable[SessionRow]) -> list[tuple[Group, list[SessionRow]]]:
    """Groups that have rows, what needs a person first; within a live group by start, else the newest first.

    A session that another one started stands below that one, in the group of the more urgent of them.
    """
    found: dict[str, list[tuple[SessionRow, list[SessionRow]]]] = {name: [] for name in ORDER}
    for root, below in families(rows):
        group = min((root, *below), key=lambda r: ORDER.index(r.status)).status
        found[group].append((root, below))
    for name, members in found.items():
        # live rows keep their place while they work; finished ones are read from the newest on
        live = name in ("waiting", "running", "idle")
        members.sort(key=lambda m: (m[0].started_at, m[0].id) if live else (-m[0].last_at, m[0].id))
    return [(name, [row for root, below in found[name] for row in (root, *below)]) for name in ORDER if found[name]]


def families(rows: Iterable[SessionRow]) -> list[tuple[SessionRow, list[SessionRow]]]:
    """Each session that no other one in the list started, with all that came of it below, by start."""
    known = {row.id: row for row in rows}
    children: dict[str, list[SessionRow]] = {}
    for row in known.values():
        if row.parent in known and row.parent != row.id:
            children.setdefault(row.parent, []).append(row)
    roots = [row for row in known.values() if row.parent not in known or row.parent == row.id]
    found = [(root, _below(root.id, children, 1, {root.id})) for root in roots]
    placed = {row.id for root, below in found for row in (root, *below)}
    # sessions that name each other as parent would be lost otherwise
    return [*found, *((row, []) for row in known.values() if row.id not in placed)]


def _below(parent: str, children: dict[str, list[SessionRow]], depth: int, seen: set[str]) -> list[SessionRow]:
    found: list[SessionRow] = []
    for row in sorted(children.get(parent, []), key=lambda r: (r.started_at, r.id)):
        if row.id not in seen:
            seen.add(row.id)
            found += [replace(row, depth=depth), *_below(row.id, children, depth + 1, seen)]
    return found


def of_today(rows: Iterable[SessionRow], now: int) -> list[SessionRow]:
    """Finished sessions whose last event is of the person's today, the newest first."""
    over = [r for r in rows if r.status in ("done", "failed", "gone") and r.last_at and same_day(r.last_at, now)]
    return sorted(over, key=lambda r: (-r.last_at, r.id))


def fits(row: SessionRow, words: str) -> bool:
    """Whether every word stands somewhere in the row; case does not matter."""
    text = " ".join((row.id, row.agent, row.title, row.cwd, row.branch, row.status, row.action)).casefold()
    return all(word in text for word in words.casefold().split())
