"""The sessions of all other agents on this machine, found without configuration.

Promises: a new session is told within a quarter of a second where the system's notices work and within
`LISTED_SECONDS` where they fail; nothing is read of a session that is not shown but the ends of its log, and that once
for each size; a fault of one agent's folder hides no other agent's sessions.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncGenerator, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from interlock.runtime.sources.foreign.follower import ForeignFollower
from interlock.runtime.sources.foreign.home import AgentHome, Judged, LogRef, LogSummary
from interlock.runtime.sources.foreign.prices import Prices
from interlock.runtime.sources.watching import Watcher

RESCAN_SECONDS = 5.0
"""How often it is looked at which sessions run."""
LISTED_SECONDS = 30.0
"""How often all folders are listed, for what the system's notices missed."""
_LOGS = (".jsonl", ".json", ".db", ".db-wal")
"""How names of files end in which agents keep sessions or tell which run: a change of another file is not looked at."""


_LATELY = 900_000_000
"""Microseconds since its last write for which a log is looked at like one that runs."""


class _Seen(NamedTuple):
    """What one session looked like."""

    mtime_ns: int = 0
    size: int = 0
    status: str = ""
    evidence: str = ""
    live: bool = False


_NOTHING = _Seen()


@dataclass(frozen=True, slots=True)
class ForeignSession:
    """One session of another agent's, as a list shows it."""

    ref: LogRef
    agent: str
    judged: Judged
    summary: LogSummary | None
    """None: not looked at yet."""


class ForeignSource:
    """Sessions of the agents whose homes are given."""

    def __init__(self, homes: Sequence[AgentHome], prices: Prices | None = None) -> None:
        self.homes = tuple(homes)
        self.faults: dict[str, str] = {}
        """Kind -> why its sessions cannot be listed."""
        self._prices = prices
        self._refs: dict[str, tuple[AgentHome, LogRef]] = {}
        self._summaries: dict[str, tuple[tuple[int, int], LogSummary]] = {}
        self._by_path: dict[str, str] = {}
        """Path of a log -> id."""
        self._seen: dict[str, _Seen] = {}
        self._called: set[str] = set()
        """What called for the next look: `states`, `logs`; nothing: its time has come."""
        self._listed = float("-inf")
        """When all folders were listed last, in steady seconds."""
        self._watcher = Watcher(self._roots, self._look, self._id_of, RESCAN_SECONDS)

    def discover(self) -> list[LogRef]:
        """All sessions, the one that was written last first."""
        found: dict[str, tuple[AgentHome, LogRef]] = {}
        self._listed = time.monotonic()
        for home in self.homes:
            try:
                home.refresh()
                found |= {ref.id: (home, ref) for ref in home.logs()}
                self.faults.pop(home.kind, None)
            except OSError as error:
                self.faults[home.kind] = f"the sessions of {home.agent} cannot be listed: {error}"
        self._refs = found
        self._by_path = {str(ref.path): ref.id for _, ref in found.values()}
        return sorted((ref for _, ref in found.values()), key=lambda r: (r.mtime_ns, r.id), reverse=True)

    def seen(self, session_id: str, now: int, *, summarise: bool = True) -> ForeignSession | None:
        """One session as a list shows it; its ends are read if they were not read at this size. None: not there."""
        known = self._refs.get(session_id)
        if known is None:
            return None
        home, ref = known
        try:
            # the last look through the folders may be seconds old
            stat = ref.path.stat()
        except FileNotFoundError:
            self._refs.pop(session_id, None)
            return None
        except OSError:
            pass  # the summary says what is wrong
        else:
            if ref.part is None:
                ref = replace(ref, mtime_ns=stat.st_mtime_ns, size=stat.st_size)
        summary = self._summary(home, ref) if summarise else self._kept(ref)
        return ForeignSession(ref, home.agent, home.judge(ref, summary, None, now), summary)

    def _kept(self, ref: LogRef) -> LogSummary | None:
        kept = self._summaries.get(ref.id)
        return kept[1] if kept is not None else None

    def _summary(self, home: AgentHome, ref: LogRef) -> LogSummary:
        key, kept = (ref.mtime_ns, ref.size), self._summaries.get(ref.id)
        if kept is not None and kept[0] == key:
            return kept[1]
        summary = home.summary(ref)
        self._summaries[ref.id] = (key, summary)
        return summary

    def mtime(self, session_id: str) -> int:
        """When its log was written last, in nanoseconds since 1970; 0 where it is not there."""
        known = self._refs.get(session_id)
        return known[1].mtime_ns if known else 0

    def find(self, name: str) -> list[LogRef]:
        """Sessions with this id, or whose id (ours or the agent's) begins so."""
        refs = [ref for _, ref in self._refs.values()]
        exact = [r for r in refs if name in (r.id, r.session)]
        return exact or [r for r in refs if name and (r.id.startswith(name) or r.session.startswith(name))]

    def home_of(self, session_id: str) -> AgentHome | None:
        """The agent whose session it is."""
        known = self._refs.get(session_id)
        return known[0] if known else None

    def session(self, session_id: str, gates: Sequence[Path] = ()) -> ForeignFollower:
        """Follow one; its size is looked at often from now on. Raises KeyError for an unknown id, OSError."""
        if session_id not in self._refs:
            raise KeyError(f"there is no session {session_id}")
        home, ref = self._refs[session_id]
        follower = ForeignFollower(ref, home, gates=gates, prices=self._prices)
        self._watcher.follow(session_id, ref.path)
        return follower

    def unfollow(self, session_id: str) -> None:
        """Look at this session as rarely as at the others again."""
        self._watcher.unfollow(session_id)

    async def watch(self) -> AsyncGenerator[set[str], None]:
        """Ids of sessions that may have changed, as it happens; all there are at first. Close it to end it."""
        async with contextlib.aclosing(self._watcher.changes()) as changes:
            async for ids in changes:
                yield ids

    def _roots(self) -> list[Path]:
        return [root for home in self.homes for root in home.roots()]

    def _look(self) -> dict[str, Hashable]:
        now = time.time_ns() // 1000
        called, self._called = self._called, set()
        if "logs" not in called and time.monotonic() - self._listed < LISTED_SECONDS:
            return self._look_at_states(now)
        self.discover()
        self._seen = {i: self._state_of(i, now) for i in list(self._refs)}
        return dict(self._seen)

    def _look_at_states(self, now: int) -> dict[str, Hashable]:
        """Of what runs or was written lately, whether it still does: old sessions by the thousand are left alone."""
        for home in self.homes:
            with contextlib.suppress(OSError):
                home.refresh()
        lately = (now - _LATELY) * 1000
        for session_id, (_, ref) in list(self._refs.items()):
            if ref.mtime_ns > lately or self._seen.get(session_id, _NOTHING).live:
                self._seen[session_id] = self._state_of(session_id, now)
        return dict(self._seen)

    def _state_of(self, session_id: str, now: int) -> _Seen:
        home, ref = self._refs[session_id]
        judged = home.judge(ref, self._kept(ref), None, now)
        return _Seen(ref.mtime_ns, ref.size, judged.status, judged.evidence if judged.live else "", judged.live)

    def _id_of(self, path: str) -> str | None:
        known = self._by_path.get(path)
        if known is not None:
            return known
        if not path.endswith(_LOGS):
            return None
        place = Path(path)
        states = any(place.is_relative_to(root) for home in self.homes for root in home.state_roots())
        self._called.add("states" if states else "logs")
        return ""
