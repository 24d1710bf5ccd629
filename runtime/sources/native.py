"""Sessions in our own format: the folders under `sessions/`.

Promises: a change of a journal is told within some milliseconds while it is busy and within a quarter of a second when
it was quiet, also where the system's file notices fail; a reader never takes a writer's lock for longer than a look.
Does not promise: one notice a write (several writes may come as one).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from interlock.runtime.journal.writer import writer_alive
from interlock.runtime.sources.base import SessionRef
from interlock.runtime.sources.follower import SessionFollower
from interlock.runtime.sources.watching import Watcher

RESCAN_SECONDS = 2.0
"""How often all folders are looked at, for what the notices missed."""

_Seen = tuple[int, int, int]
"""(inode, size, mtime in nanoseconds)."""


class NativeSource:
    """The sessions below one folder, usually `place.sessions_home()`."""

    def __init__(self, sessions_home: Path) -> None:
        self.home = sessions_home
        self._watcher = Watcher(lambda: [self.home], self._look, self._id_of, RESCAN_SECONDS)

    def discover(self) -> list[SessionRef]:
        """All sessions, the one that was written last first. A folder without a journal is none."""
        refs = []
        for session_id, path, seen in self._journals():
            alive = writer_alive(path.parent)
            refs.append(SessionRef(session_id, path, seen.st_mtime, seen.st_size, alive))
        return sorted(refs, key=lambda ref: (ref.mtime, ref.id), reverse=True)

    def session(self, session_id: str) -> SessionFollower:
        """Follow one session; its size is looked at often from now on. Raises KeyError for an unknown id."""
        folder = self.home / session_id
        if "/" in session_id or session_id in ("", ".", "..") or not (folder / "events.jsonl").is_file():
            raise KeyError(f"there is no session {session_id} in {self.home}")
        self._watcher.follow(session_id, folder / "events.jsonl")
        return SessionFollower(folder)

    def unfollow(self, session_id: str) -> None:
        """Look at this session as rarely as at the others again."""
        self._watcher.unfollow(session_id)

    async def watch(self) -> AsyncIterator[set[str]]:
        """Ids of sessions whose journal or lock may have changed, in sets, as it happens; all there are at first.

        Close it to end it.
        """
        async with contextlib.aclosing(self._watcher.changes()) as changes:
            async for ids in changes:
                yield ids

    def _id_of(self, path: str) -> str | None:
        with contextlib.suppress(ValueError):
            parts = Path(path).relative_to(self.home).parts
            # what a tool writes into an artifact is no event
            return parts[0] if parts and (len(parts) == 1 or parts[1] in ("events.jsonl", "writer.lock")) else None
        with contextlib.suppress(ValueError):
            parts = Path(path).relative_to(self.home.resolve()).parts
            return parts[0] if parts and (len(parts) == 1 or parts[1] in ("events.jsonl", "writer.lock")) else None
        return None

    def _look(self) -> dict[str, tuple[_Seen, bool]]:
        return {
            session_id: ((seen.st_ino, seen.st_size, seen.st_mtime_ns), writer_alive(path.parent))
            for session_id, path, seen in self._journals()
        }

    def _journals(self) -> list[tuple[str, Path, os.stat_result]]:
        found = []
        try:
            entries = list(os.scandir(self.home))
        except OSError:
            return []
        for entry in entries:
            path = Path(entry.path) / "events.jsonl"
            with contextlib.suppress(OSError):
                found.append((entry.name, path, os.stat(path)))
        return found
