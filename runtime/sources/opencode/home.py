"""opencode as an agent whose sessions can be watched with nothing to configure.

Promises: as `interlock.runtime.sources.foreign.home`. Its databases are never written to, nor is anything beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlock.runtime.sources.foreign.home import Judged, LogRef, LogSummary
from interlock.runtime.sources.opencode.adapter import OpencodeAdapter
from interlock.runtime.sources.opencode.places import (
    Stored,
    data_home,
    databases,
    sessions,
    signature,
    summary,
    turn_ended,
)
from interlock.runtime.sources.opencode.process import holders
from interlock.runtime.sources.opencode.status import judge
from interlock.runtime.state.session import SessionState

LONG_AGO = 24 * 3600 * 1_000_000
"""Microseconds; the end of a turn that is older is not looked for, since a list can hold thousands."""


class OpencodeHome:
    """The sessions of all databases in one folder."""

    kind = OpencodeAdapter.kind
    agent = OpencodeAdapter.agent
    limits = (
        "opencode keeps its permission questions in memory: without a server port they are not seen from outside.",
        "Its sessions share a database: which of them a running opencode works on is guessed from the last changes.",
    )

    def __init__(self, folder: Path | None = None) -> None:
        """`folder`: that of its databases; None: where this user's environment has it."""
        self.folder = folder or data_home()
        self._stored: dict[Path, tuple[tuple[int, ...], list[Stored]]] = {}
        self._holders: dict[Path, list[int]] | None = None

    def roots(self) -> Sequence[Path]:
        """The folder of the databases."""
        return (self.folder,)

    def state_roots(self) -> Sequence[Path]:
        """Folders that say only which sessions run."""
        return ()

    def logs(self) -> list[LogRef]:
        """All sessions of all databases, sub-agents too."""
        found = []
        for path in databases(self.folder):
            now = signature(path)
            if path not in self._stored or self._stored[path][0] != now:
                self._stored[path] = (now, sessions(path))
            found += [self._ref(path, stored) for stored in self._stored[path][1]]
        return found

    def _ref(self, path: Path, stored: Stored) -> LogRef:
        # the number of its last event stands for its size: both only grow
        return LogRef(
            self.kind,
            stored.id,
            path,
            stored.updated_ms * 1_000_000,
            stored.events,
            part=stored.id,
            parent=stored.parent,
        )

    def refresh(self) -> None:
        """Look which databases are open in a process."""
        self._holders = holders(databases(self.folder))

    def summary(self, ref: LogRef) -> LogSummary:
        """What the database tells of it."""
        return summary(ref.path, ref.part or ref.session)

    def judge(self, ref: LogRef, summary: LogSummary | None, state: SessionState | None, now: int) -> Judged:
        """What it is doing."""
        last_at = max(ref.mtime_ns // 1000, summary.last_at if summary else 0)
        try:
            rest = now - last_at > LONG_AGO or turn_ended(ref.path, ref.part or ref.session)
        except OSError as error:
            return Judged("gone", f"its database cannot be read: {error}", guessed=True)
        open_call = next(reversed(state.open_calls.values()), "") if state and state.open_calls else ""
        known = None if self._holders is None else self._holders.get(ref.path, [])
        return judge(open_call or (summary.open_call if summary else ""), rest, last_at, now, known)
