"""Gemini CLI as an agent whose sessions can be watched with nothing to configure.

Promises: as `interlock.runtime.sources.foreign.home`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlock.runtime.sources.foreign.growth import SILENT_SECONDS, judge_growth
from interlock.runtime.sources.foreign.home import Judged, LogRef, LogSummary
from interlock.runtime.sources.gemini.adapter import GeminiAdapter
from interlock.runtime.sources.gemini.places import at_rest, chats, config_home, session_of, summary
from interlock.runtime.state.session import SessionState


class GeminiHome:
    """The sessions below one configuration folder."""

    kind = GeminiAdapter.kind
    agent = GeminiAdapter.agent
    limits = (
        "Gemini CLI writes a call into its log when it has ended: a call that runs or that waits for you is not seen there.",
        "Whether one of its sessions still runs is not recorded and is guessed from the growth of its log.",
        "A turn that you refuse in its own dialog disappears from its log; what was seen of it stays here.",
    )

    def __init__(self, config: Path | None = None) -> None:
        """`config`: its folder; None: where this user's environment has it."""
        self.config = config or config_home()
        self._sessions: dict[Path, str] = {}

    def roots(self) -> Sequence[Path]:
        """The folder of all projects' logs."""
        return (self.config / "tmp",)

    def state_roots(self) -> Sequence[Path]:
        """Folders that say only which sessions run."""
        return ()

    def logs(self) -> list[LogRef]:
        """All sessions and their sub-agents."""
        found = []
        for chat in chats(self.config):
            session = self._sessions.get(chat.path) or self._session(chat.path)
            found.append(LogRef(self.kind, session, chat.path, chat.mtime_ns, chat.size, parent=chat.parent))
        return found

    def _session(self, path: Path) -> str:
        try:
            session = session_of(path)
        except OSError:
            return path.stem
        if session != path.stem:
            self._sessions[path] = session
        return session

    def refresh(self) -> None:
        """It keeps no registry of what runs."""

    def summary(self, ref: LogRef) -> LogSummary:
        """What the ends of its log tell."""
        return summary(ref.path)

    def judge(self, ref: LogRef, summary: LogSummary | None, state: SessionState | None, now: int) -> Judged:
        """What it is doing."""
        last_at = max(ref.mtime_ns // 1000, summary.last_at if summary else 0)
        open_call = next(reversed(state.open_calls.values()), "") if state and state.open_calls else ""
        try:
            # of a log that has been quiet for long the last record would change no answer
            rest = now - last_at < SILENT_SECONDS * 1_000_000 and at_rest(ref.path)
        except OSError as error:
            return Judged("gone", f"its log cannot be read: {error}", guessed=True)
        return judge_growth(open_call or (summary.open_call if summary else ""), rest, last_at, now)
