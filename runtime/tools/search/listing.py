"""The files that a search goes through, and those of them that rules and guards keep out of it.

Promises: the same files with ripgrep and without; how many are left out never depends on what is searched for, so that
nothing can be learned of them by asking.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from interlock.runtime.tools.definition import RunContext
from interlock.runtime.tools.environment import environment_for
from interlock.runtime.tools.output import plural
from interlock.runtime.tools.process import run_process
from interlock.runtime.tools.search import ignore, ripgrep
from interlock.runtime.tools.workspace import Place

TIMEOUT_S = 30.0
MAX_TAKEN = 64 * 1024 * 1024
"""Bytes of names that are looked at."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds."""

    paths: tuple[str, ...]
    """Real paths of what may be shown."""
    left_out: frozenset[str]
    """Those that are denied or guarded."""
    whole: bool
    """Whether all files were looked at."""

    @property
    def note(self) -> str:
        """What a summary says of it, "" where there is nothing to say."""
        left = len(self.left_out)
        count = f"; {plural(left, 'file')} left out by rules and guards" if left else ""
        return count + ("" if self.whole else "; not all files were looked at")


async def list_files(place: Place, rg: str | None, running: RunContext) -> Listing:
    """The files below a folder that are not ignored. Raises CannotStart."""
    whole = True
    if rg is None:
        paths = await asyncio.to_thread(lambda: list(ignore.walk(place.real)))
    else:
        paths, whole = await _listed(rg, place, running)
    left_out = await asyncio.to_thread(lambda: frozenset(path for path in paths if running.is_left_out(path)))
    return Listing(tuple(path for path in paths if path not in left_out), left_out, whole)


async def _listed(rg: str, place: Place, running: RunContext) -> tuple[list[str], bool]:
    taken = bytearray()

    def sink(stream: str, data: bytes) -> None:
        if stream == "stdout" and len(taken) < MAX_TAKEN:
            taken.extend(data)

    finished = await run_process(
        ripgrep.list_command(rg, place.real),
        cwd=place.root,
        environment=environment_for(running.host, mark=running.mark),
        mark=running.mark,
        timeout_s=TIMEOUT_S,
        sink=sink,
        cancelled=running.cancelled,
        strays=running.strays,
        grace_s=0.2,
    )
    # names are bytes; what is no UTF-8 is shown with U+FFFD, like everywhere
    names = [name.decode("utf-8", "replace") for name in bytes(taken).split(b"\0") if name]
    return names, finished.ended_by == "itself" and len(taken) < MAX_TAKEN
