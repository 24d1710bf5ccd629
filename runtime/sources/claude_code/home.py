"""Claude Code as an agent whose sessions can be watched with nothing to configure.

Promises: as `interlock.runtime.sources.foreign.home`. Sub-agents are sessions of their own below the one that started
them; what they are doing is told by their parent's state and the growth of their own log.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from interlock.runtime.sources.claude_code.adapter import ClaudeAdapter
from interlock.runtime.sources.claude_code.live import LiveSession, live_sessions
from interlock.runtime.sources.claude_code.places import (
    Transcript,
    all_transcripts,
    config_home,
    main_of,
    sub_agents,
)
from interlock.runtime.sources.claude_code.status import SILENT_SECONDS, judge
from interlock.runtime.sources.claude_code.summary import Summary, summary
from interlock.runtime.sources.foreign.home import Judged, LogRef, LogSummary
from interlock.runtime.state.session import SessionState


class ClaudeHome:
    """The sessions below one configuration folder."""

    kind = ClaudeAdapter.kind
    agent = ClaudeAdapter.agent
    limits = (
        "Claude Code writes no record that it is asking: without the gate only its registry tells that it waits.",
        "Sessions without a terminal (-p, SDK) are not in its registry: whether they run is guessed from their log.",
        "The exit code of a command that succeeded and the time that most tools took are not recorded.",
    )

    def __init__(self, config: Path | None = None) -> None:
        """`config`: its folder; None: where this user's environment has it."""
        self.config = config or config_home()
        self._live: dict[str, LiveSession] = {}
        self._left: dict[str, tuple[tuple[int, int, int], bool]] = {}
        """Session that was listed last -> what its log looked like, and whether it said that the session was left."""

    def roots(self) -> Sequence[Path]:
        """The folders of transcripts and of the registry."""
        return (self.config / "projects", self.config / "sessions")

    def state_roots(self) -> Sequence[Path]:
        """Folders that say only which sessions run."""
        return (self.config / "sessions",)

    def logs(self) -> list[LogRef]:
        """All sessions and their sub-agents."""
        found = [self._ref(*log) for log in all_transcripts(self.config)]
        # looked up by the sessions there are: another thread may be adding to it
        self._left = {ref.id: kept for ref in found if (kept := self._left.get(ref.id)) is not None}
        return found

    def _ref(self, log: Transcript, agent: bool, parent: str | None) -> LogRef:
        session = log.path.stem.removeprefix("agent-") if agent else log.path.stem
        return LogRef(self.kind, session, log.path, log.mtime_ns, log.size, parent=parent)

    def refresh(self) -> None:
        """Read the registry again."""
        entries = live_sessions(self.config)
        # an entry of a process that is gone says less than one of a process that is there
        self._live = {entry.session: entry for entry in sorted(entries, key=lambda e: (e.alive, e.updated_at))}

    def summary(self, ref: LogRef) -> LogSummary:
        """What the ends of its log tell."""
        try:
            told = self._ends(ref)
        except OSError as error:
            return LogSummary(fault=f"{ref.path} cannot be read: {error.strerror or error}")
        described = self._described(ref) if told.agent_id else ""
        open_calls = list(told.open_calls.values())
        return LogSummary(
            version=told.version,
            title=described or told.title,
            cwd=told.cwd,
            branch=told.branch,
            parent=ref.parent or told.parent,
            started_at=told.first_at,
            last_at=told.last_at,
            last_action=told.last_tool,
            open_call=open_calls[-1] if open_calls else "",
        )

    def _described(self, ref: LogRef) -> str:
        main = main_of(ref.path)
        known = [agent for agent in sub_agents(main) if agent.path == ref.path] if main is not None else []
        parts = [known[0].agent_type, known[0].description] if known else []
        return ": ".join(part for part in parts if part)

    def judge(self, ref: LogRef, summary: LogSummary | None, state: SessionState | None, now: int) -> Judged:
        """What it is doing."""
        grown = ref.mtime_ns // 1000
        if state is not None:
            open_calls, last = list(state.open_calls.values()), max(state.last_at, grown)
        else:
            open_calls = [summary.open_call] if summary is not None and summary.open_call else []
            last = max(summary.last_at if summary is not None else 0, grown)
        live = self._live.get(ref.session)
        if live is None and ref.parent is not None:
            above = self._live.get(ref.parent)
            live = above if above is not None and not above.alive else None
        # a log that has not grown for long tells of no process anyway, and need not be read again
        fresh = live is None and 0 <= now - last < SILENT_SECONDS * 1_000_000
        return judge(live, open_calls, last, now, exited=fresh and self._exited(ref))

    def _exited(self, ref: LogRef) -> bool:
        """Whether its log says that it was left; read again only when it has changed."""
        with contextlib.suppress(OSError):
            kept = self._left.get(ref.id)
            if kept is not None and kept[0] == _look_of(ref.path):
                return kept[1]
            return self._ends(ref).exited
        return False

    def _ends(self, ref: LogRef) -> Summary:
        """Read the ends of its log. Raises OSError."""
        # looked at before it is read: what is written in between is seen as a change the next time
        look = _look_of(ref.path)
        told = summary(ref.path)
        self._left[ref.id] = (look, told.exited)
        return told


def _look_of(log: Path) -> tuple[int, int, int]:
    stat = log.stat()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
