"""Which rollouts a process has open for writing right now.

Promises: looks at the user's own processes alone, at most `MOST` descriptors of them, those of Codex first; on a system
without /proc it says that it cannot know.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MOST = 20_000
"""Descriptors that are looked at."""


def open_rollouts(folders: tuple[Path, ...], proc: Path = Path("/proc")) -> frozenset[str] | None:
    """Real paths of the rollouts below these folders that a process has open for writing; None: cannot be known."""
    if not (proc / "self" / "fd").is_dir():
        return None
    roots = tuple(os.path.realpath(folder) + os.sep for folder in folders)
    found: set[str] = set()
    left = MOST
    for pid in _own_processes(proc):
        with contextlib.suppress(OSError):
            for descriptor in os.scandir(proc / pid / "fd"):
                left -= 1
                target = _target(descriptor.path)
                if target.startswith(roots) and target.endswith(".jsonl") and _writes(proc, pid, descriptor.name):
                    found.add(target)
        if left <= 0:
            break
    return frozenset(found)


def _own_processes(proc: Path) -> list[str]:
    codex, others = [], []
    own = str(os.getpid())
    with contextlib.suppress(OSError):
        for entry in os.scandir(proc):
            if not entry.name.isdigit() or entry.name == own:
                continue
            with contextlib.suppress(OSError):
                if entry.stat().st_uid == os.getuid():
                    (codex if "codex" in _name(entry.path) else others).append(entry.name)
    return codex + others


def _name(folder: str) -> str:
    try:
        with open(f"{folder}/comm", encoding="utf-8", errors="replace") as file:
            return file.read(64)
    except OSError:
        return ""


def _target(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _writes(proc: Path, pid: str, descriptor: str) -> bool:
    """Whether the descriptor was opened for writing: a reader proves nothing."""
    try:
        with open(proc / pid / "fdinfo" / descriptor, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("flags:"):
                    return int(line.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY
    except (OSError, ValueError, IndexError):
        return False
    return False
