"""Sessions of other agents, for the store: found, listed, and handed out to be followed.

Promises: the loop never waits for a folder to be looked through; rows come newest first; a session that runs now is
told as `live` so that it can be followed; what an agent's folder withholds is said in words.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.tui.model.board import SessionRow, row_of_log

if TYPE_CHECKING:
    from interlock.runtime.sources.follower import SessionFollower
    from interlock.runtime.sources.foreign.source import ForeignSource

_AT_ONCE = 400
_PAUSE = 0.25
"""Seconds between two batches behind the first `_AT_ONCE` sessions."""
_BATCH = 40
"""Logs whose ends are read in one go, between two the screen draws."""


class ForeignSessions:
    """What the store knows of other agents."""

    def __init__(self, changed: Callable[[], None], moved: Callable[[str], None], now: Callable[[], int]) -> None:
        """`moved`: a session has changed, or runs; `changed`: rows may differ."""
        self.rows: dict[str, SessionRow] = {}
        self.problems: tuple[str, ...] = ()
        self._changed = changed
        self._moved = moved
        self._now = now
        self._source: ForeignSource | None = None
        self.looked = asyncio.Event()
        """Set once all folders were looked through."""

    async def run(self) -> None:
        """Look and listen until cancelled."""
        try:
            self._source = await asyncio.to_thread(_source)
            await asyncio.to_thread(self._source.discover)
        finally:
            self.looked.set()
        async with contextlib.aclosing(self._source.watch()) as changes:
            async for ids in changes:
                await self._take(self._source, ids)

    async def _take(self, source: ForeignSource, ids: set[str]) -> None:
        newest_first = sorted(ids, key=lambda i: (source.mtime(i), i), reverse=True)
        for start in range(0, len(newest_first), _BATCH):
            batch = newest_first[start : start + _BATCH]
            seen = await asyncio.to_thread(self._see, source, batch)
            for session_id, row in seen.items():
                if row is None:
                    self.rows.pop(session_id, None)
                else:
                    self.rows[session_id] = row
                self._moved(session_id)
            self.problems = tuple(source.faults.values())
            self._changed()
            if start >= _AT_ONCE:
                # thousands of old sessions are nobody's hurry
                await asyncio.sleep(_PAUSE)

    def _see(self, source: ForeignSource, ids: list[str]) -> dict[str, SessionRow | None]:
        now = self._now()
        found: dict[str, SessionRow | None] = {}
        for session_id in ids:
            seen = source.seen(session_id, now)
            found[session_id] = row_of_log(seen) if seen is not None else None
        return found

    def follower(self, session_id: str, gates: Sequence[Path]) -> SessionFollower | None:
        """A follower of one session, None where it is not there or cannot be read."""
        if self._source is None:
            return None
        try:
            return self._source.session(session_id, gates)
        except (KeyError, OSError) as error:
            self.problems = (*self.problems, f"{session_id} cannot be followed: {error}")
            return None

    def knows(self, session_id: str) -> bool:
        """Whether it is a session of another agent."""
        return self._source is not None and self._source.home_of(session_id) is not None

    def unfollow(self, session_id: str) -> None:
        """Look at this session as rarely as at the others again."""
        if self._source is not None:
            self._source.unfollow(session_id)

    def limits(self, session_id: str) -> tuple[str, ...]:
        """What the agent of this session does not let us see or do."""
        home = self._source.home_of(session_id) if self._source is not None else None
        return home.limits if home is not None else ()

    def find(self, name: str) -> list[str]:
        """Ids that are called so, or begin so."""
        return [ref.id for ref in self._source.find(name)] if self._source is not None else []


def _source() -> ForeignSource:
    from interlock.runtime.sources.homes import foreign_source

    return foreign_source()
