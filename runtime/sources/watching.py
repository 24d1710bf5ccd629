"""Notices changes of many logs: by the system's notices, by looking at sizes, and by looking through all from time to time.

Promises: a change of a followed log is told within some milliseconds while it is busy and within a quarter of a second
when it was quiet, also where the system's notices fail; what is not followed is told at the next look at the latest.
Does not promise: one notice a write (several writes may come as one).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from pathlib import Path

HOT_SECONDS = 0.016
"""How often the size of a followed log is looked at while it grows: one frame."""
QUIET_SECONDS = 0.25
"""The same when it has been quiet for `HOT_FOR` seconds."""
HOT_FOR = 2.0
SHARE = 0.1
"""Most of the time that may be spent on looking through all, however often something calls for it."""

_Seen = tuple[int, int, int]
"""(inode, size, mtime in nanoseconds)."""
Tell = Callable[[set[str]], None]


class Watcher:
    """Watches what one source knows of. `follow` and `unfollow` may be called at any time."""

    def __init__(
        self,
        roots: Callable[[], Sequence[Path]],
        look: Callable[[], Mapping[str, Hashable]],
        id_of: Callable[[str], str | None],
        rescan_seconds: float,
    ) -> None:
        """`roots`: folders whose notices count. `look`: id -> what it looks like now, in a thread. `id_of`: the id
        that a changed path belongs to, `""` for "look through all now", None for none of ours.
        """
        self._roots = roots
        self._look = look
        self._id_of = id_of
        self._rescan_seconds = rescan_seconds
        self._followed: dict[str, Path] = {}
        self._look_now = asyncio.Event()
        self._watched: list[Path] = []
        self._roots_moved = asyncio.Event()
        """A root has come or gone: the notices have to begin again."""

    def follow(self, session_id: str, log: Path) -> None:
        """Look at the size of this log often from now on."""
        self._followed[session_id] = log

    def unfollow(self, session_id: str) -> None:
        """Look at it as rarely as at the others again."""
        self._followed.pop(session_id, None)

    async def changes(self) -> AsyncGenerator[set[str], None]:
        """Ids that may have changed, in sets, as it happens; all there are at first. Close it to end it."""
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

    async def _notices(self, tell: Tell) -> None:
        from watchfiles import awatch

        while True:
            self._watched = self._present()
            self._roots_moved.clear()
            if self._watched:
                with contextlib.suppress(OSError, RuntimeError):
                    # without notices (no inotify watches left, a network disk) the rescans carry on alone
                    changing = awatch(
                        *self._watched, step=50, debounce=100, rust_timeout=1000, stop_event=self._roots_moved
                    )
                    async for changes in changing:
                        self._heard(tell, {path for _, path in changes})
            # a folder sends no notice before it exists: the rescans see that one has come
            await self._roots_moved.wait()

    def _heard(self, tell: Tell, paths: set[str]) -> None:
        ids = {found for path in paths if (found := self._id_of(path)) is not None}
        if "" in ids:
            self._look_now.set()
        tell(ids - {""})

    def _present(self) -> list[Path]:
        return [root for root in self._roots() if root.is_dir()]

    async def _sizes(self, tell: Tell) -> None:
        seen: dict[str, _Seen | None] = {}
        hot_until = 0.0
        while True:
            grown = {i for i, log in tuple(self._followed.items()) if _moved(i, log, seen)}
            now = time.monotonic()
            if grown:
                hot_until = now + HOT_FOR
                tell(grown)
            await asyncio.sleep(HOT_SECONDS if now < hot_until else QUIET_SECONDS)

    async def _rescans(self, tell: Tell) -> None:
        # the first look tells of all there are, so that none that was made just before can be missed
        seen: Mapping[str, Hashable] = {}
        while True:
            began = time.monotonic()
            found = await asyncio.to_thread(self._look)
            took = time.monotonic() - began
            gone = seen.keys() - found.keys()
            tell({i for i, now in found.items() if seen.get(i) != now} | set(gone))
            seen = found
            await asyncio.sleep(min(took / SHARE, self._rescan_seconds))
            await self._next_look()
            self._look_now.clear()

    async def _next_look(self) -> None:
        """Wait until something calls for a look, or until it is time for one."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._look_now.wait(), self._rescan_seconds)
        if self._present() != self._watched:
            self._roots_moved.set()


def _moved(session_id: str, log: Path, seen: dict[str, _Seen | None]) -> bool:
    try:
        stat = os.stat(log)
        now: _Seen | None = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
    except OSError:
        now = None
    known = session_id in seen
    before = seen.get(session_id)
    seen[session_id] = now
    return not known or before != now
