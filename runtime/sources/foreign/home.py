"""Where one agent keeps its sessions, and what can be said of each without reading it whole.

Promises: listing thousands costs a look at folders and sizes; a summary reads the ends of a log; nothing of the agent's
is ever written, and its secrets (peer keys, credentials) and sockets are never opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from interlock.runtime.state.session import SessionState, Status


@dataclass(frozen=True, slots=True)
class LogRef:
    """One session of an agent's, as its folders name it."""

    kind: str
    """Name of the format."""
    session: str
    """The agent's own id of it."""
    path: Path
    """Its log."""
    mtime_ns: int
    size: int
    part: str | None = None
    """Of a database with several sessions: which one."""
    parent: str | None = None
    """The agent's id of the session that started this one, where the place tells."""

    @property
    def id(self) -> str:
        """What we call it, unique over all agents: `claude_code:<session>`."""
        return f"{self.kind}:{self.session}"


@dataclass(frozen=True, slots=True)
class LogSummary:
    """What the ends of a log tell. Texts are as the agent wrote them; empty and 0: not told."""

    version: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    parent: str | None = None
    started_at: int = 0
    last_at: int = 0
    """Microseconds since 1970."""
    last_action: str = ""
    """The tool of the last call in it."""
    open_call: str = ""
    """The tool of the last call, if it has no result yet."""
    fault: str = ""
    """Why it could not be read."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a session is doing, and how we know."""

    status: Status
    evidence: str
    guessed: bool = False
    """The evidence allows other readings."""
    live: bool = False
    """A process of the agent's has it open."""


class AgentHome(Protocol):
    """One agent's sessions on this machine. Every method may be called from any one thread."""

    @property
    def kind(self) -> str: ...

    @property
    def agent(self) -> str:
        """For a person: `Claude Code`."""
        ...

    @property
    def limits(self) -> tuple[str, ...]:
        """What this agent does not let us see or do, in a sentence each, for the person."""
        ...

    def roots(self) -> Sequence[Path]:
        """Folders in which something changes when a session does."""
        ...

    def state_roots(self) -> Sequence[Path]:
        """Those of the roots that hold no log: a change in them says only that another session runs."""
        ...

    def logs(self) -> list[LogRef]:
        """All sessions, in no order. A folder that is missing holds none."""
        ...

    def refresh(self) -> None:
        """Look again which sessions run now; called before `judge` is asked about many."""
        ...

    def summary(self, ref: LogRef) -> LogSummary:
        """What the ends of its log tell. Never raises: a fault stands in the summary."""
        ...

    def judge(self, ref: LogRef, summary: LogSummary | None, state: SessionState | None, now: int) -> Judged:
        """What it is doing. `state`: the fold of its events where it is followed; `now`: microseconds since 1970."""
        ...
