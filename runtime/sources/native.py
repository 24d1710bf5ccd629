"""Sessions in our own format: the folders under `sessions/`.

Promises: a change of a journal is told within some milliseconds while it is busy and within a quarter of a second when
it was quiet, also where the system's file notices fail; a reader never takes a writer's lock for longer than a look.
Does not promise: one notice a write (several writes may come as one).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from interlock.runtime.journal.writer import writer_alive
from interlock.runtime.sources.base import SessionRef
from interlock.runtime.sources.follower import SessionFollower

HOT_SECONDS = 0.016
"""How often the size of a followed journal is looked at while it grows: one frame."""
QUIET_SECONDS = 0.25
"""The same when it has been quiet for `HOT_FOR` seconds."""
HOT_FOR = 2.0
RESCAN_SECONDS = 2.0
"""How often all folders are looked at, for what the notices missed."""

_Seen = tuple[int, int, int]
"""(inode, size, mtime in nanoseconds)."""


class NativeSource:
    """The sessions below one folder, usually `place.sessions_home()`."""

    def __init__(self, sessions_home: Path) -> None:
        self.home = sessions_home
        self._followed: set[str] = set()

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
        self._followed.add(session_id)
        return SessionFollower(folder)

    def unfollow(self, session_id: str) -> None:
        """Look at this session as rarely as at the others again."""
        self._followed.discard(session_id)

    async def watch(self) -> AsyncIterator[set[str]]:
        """Ids of sessions whose journal or lock may have changed, in sets, as it happens; all there are at first.

        Close it to end it.
        """
        changed: set[str] = set()
        wake = asyncio.Event()

        def tell(ids: set[str]) -> None:
            if ids:
                changed.update(ids)
                wake.set()

        tasks = [asyncio.create_task(run) for run in (self._notices(tell), self._sizes(tell), self._rescans(tell))]
        try:
            while True:
                await wake.wait()
                wake.clear()
                ids = set(changed)
                changed.clear()
                yield ids
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _notices(self, tell: Callable[[set[str]], None]) -> None:
        from watchfiles import awatch

        while not self.home.is_dir():  # noqa: ASYNC110 - a folder sends no notice before it exists
            await asyncio.sleep(QUIET_SECONDS)
        with contextlib.suppress(OSError, RuntimeError):
            # without notices (no inotify watches left, a network disk) the rescans carry on alone
            async for changes in awatch(self.home, step=10, debounce=50, rust_timeout=1000, recursive=True):
                tell({ids for _, path in changes if (ids := self._id_of(path))})

    def _id_of(self, path: str) -> str | None:
        with contextlib.suppress(ValueError):
            parts = Path(path).relative_to(self.home).parts
            # what a tool writes into an artifact is no event
            return parts[0] if parts and (len(parts) == 1 or parts[1] in ("events.jsonl", "writer.lock")) else None
        with contextlib.suppress(ValueError):
            parts = Path(path).relative_to(self.home.resolve()).parts
            return parts[0] if parts and (len(parts) == 1 or parts[1] in ("events.jsonl", "writer.lock")) else None
        return None

    async def _sizes(self, tell: Callable[[set[str]], None]) -> None:
        seen: dict[str, _Seen | None] = {}
        hot_until = 0.0
        while True:
            grown = {i for i in tuple(self._followed) if self._moved(i, seen)}
            now = time.monotonic()
            if grown:
                hot_until = now + HOT_FOR
                tell(grown)
            await asyncio.sleep(HOT_SECONDS if now < hot_until else QUIET_SECONDS)

    def _moved(self, session_id: str, seen: dict[str, _Seen | None]) -> bool:
        try:
            stat = os.stat(self.home / session_id / "events.jsonl")
            now: _Seen | None = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        except OSError:
            now = None
        known = session_id in seen
        before = seen.get(session_id)
        seen[session_id] = now
        return not known or before != now

    async def _rescans(self, tell: Callable[[set[str]], None]) -> None:
        # the first look tells of all there are, so that none that was made just before can be missed
        seen: dict[str, tuple[_Seen, bool]] = {}
        while True:
            found = await asyncio.to_thread(self._look)
            gone = seen.keys() - found.keys()
            tell({i for i, now in found.items() if seen.get(i) != now} | set(gone))
            seen = found
            await asyncio.sleep(RESCAN_SECONDS)

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
