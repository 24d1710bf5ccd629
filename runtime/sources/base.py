"""What a source of sessions offers, whoever wrote the sessions.

Promises: sessions are named, then followed; a follower reads in batches, so that catching up and live tail are the same
code; nothing here writes, runs or answers anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from interlock.runtime.journal.tail import Batch, Line
from interlock.runtime.state.session import SessionState, Status
from interlock.runtime.state.timeline import Timeline


@dataclass(frozen=True, slots=True)
class SessionRef:
    """A session that a source knows of."""

    id: str
    path: Path
    """Its log."""
    mtime: float
    """Seconds since 1970."""
    size: int
    """Bytes."""
    writer_alive: bool


class Follower(Protocol):
    """One session, read as it grows."""

    @property
    def state(self) -> SessionState: ...
    @property
    def timeline(self) -> Timeline: ...

    def tail(self, nbytes: int = ...) -> list[Line]:
        """The last complete lines, for a first picture before all is read."""
        ...

    def poll(self, limit_bytes: int = ...) -> Batch:
        """Read on and fold what came."""
        ...

    def status(self, now: int = ...) -> tuple[Status, str]:
        """What the session is doing, and the evidence for it."""
        ...

    def close(self) -> None: ...
