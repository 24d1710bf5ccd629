"""Which databases a process of opencode has open right now.

Promises: looks at the user's own processes of that name alone; on a system without /proc it says that it cannot know.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_NAMES = ("opencode", "bun", "node")


def holders(paths: list[Path], proc: Path = Path("/proc")) -> dict[Path, list[int]] | None:
    """Database -> ids of the processes that have it open; None: cannot be known here."""
    if not (proc / "self" / "fd").is_dir():
        return None
    real = {os.path.realpath(path): path for path in paths}
    found: dict[Path, list[int]] = {path: [] for path in paths}
    for entry in os.scandir(proc):
        if not entry.name.isdigit() or not _may_be(entry.path):
            continue
        with contextlib.suppress(OSError):
            for path in {real[t] for t in _targets(f"{entry.path}/fd") if t in real}:
                found[path].append(int(entry.name))
    return found


def _may_be(folder: str) -> bool:
    try:
        if os.stat(folder).st_uid != os.getuid():
            return False
        with open(f"{folder}/comm", encoding="utf-8", errors="replace") as file:
            return any(name in file.read(64) for name in _NAMES)
    except OSError:
        return False


def _targets(folder: str) -> list[str]:
    found = []
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            found.append(os.readlink(entry.path))
    return found
