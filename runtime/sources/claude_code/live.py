"""The registry of the sessions that run now, as Claude Code itself keeps it (interactive ones only).

Promises: only `sessions/<pid>.json` is opened, never the key beside it and never a socket; an entry whose process is
gone, or is another one by now, says so. Seen in version 2.1.332; what a version does not write reads as not told.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from interlock.runtime.sources.claude_code.places import read_json
from interlock.runtime.sources.foreign import shape

_ENTRY = re.compile(r"\d{1,10}\.json")
_LIMIT = 64 * 1024


@dataclass(frozen=True, slots=True)
class LiveSession:
    """One entry."""

    pid: int
    session: str
    cwd: str = ""
    status: str = ""
    """In Claude Code's words: `idle`, `busy`, `waiting`."""
    waiting_for: str = ""
    version: str = ""
    name: str = ""
    updated_at: int = 0
    """Microseconds since 1970; 0: not told."""
    alive: bool = True
    """Whether the process that wrote it is still there."""
    proven: bool = True
    """Whether that could be told for sure: the start of the process was compared."""


def live_sessions(config: Path, *, started: Callable[[int], str | None] | None = None) -> list[LiveSession]:
    """All entries that name a process and a session, by process id. `started`: when a process began, in the system's
    words, None if there is none with this id.
    """
    started = started or process_start
    found = []
    with contextlib.suppress(OSError), os.scandir(config / "sessions") as entries:
        names = [entry.path for entry in entries if _ENTRY.fullmatch(entry.name)]
        found = [live for path in names if (live := _read(Path(path), started)) is not None]
    return sorted(found, key=lambda live: live.pid)


def _read(path: Path, started: Callable[[int], str | None]) -> LiveSession | None:
    told = shape.mapping(read_json(path, _LIMIT))
    pid, session = shape.count(told.get("pid")), shape.text(told.get("sessionId"))
    if not pid or not session or pid >= 2**31:
        return None
    now, then = started(pid), shape.name_of(told.get("procStart"))
    comparable = now is not None and bool(now and then) and now.isdigit() == then.isdigit()
    updated = shape.number(told.get("statusUpdatedAt")) or shape.number(told.get("updatedAt")) or 0.0
    return LiveSession(
        pid,
        session,
        cwd=shape.text(told.get("cwd")),
        status=shape.text(told.get("status")),
        waiting_for=shape.text(told.get("waitingFor")),
        version=shape.text(told.get("version")),
        name=shape.text(told.get("name")),
        updated_at=int(updated * 1000) if 0 < updated < 1e14 else 0,
        alive=now is not None and (not comparable or _same(now, then)),
        proven=now is None or comparable,
    )


def _same(now: str, then: str) -> bool:
    return " ".join(now.split()) == " ".join(then.split())


def process_start(pid: int) -> str | None:
    """When a process began, in the words that Claude Code writes down: on Linux the kernel's ticks since boot, on
    macOS what `ps` says. Empty where it cannot be told; None if there is no such process.
    """
    if sys.platform == "linux":
        try:
            fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rsplit(")", 1)[-1].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        except OSError:
            return ""
        # a zombie has ended, whatever its parent does about it
        return None if fields[:1] == ["Z"] else fields[19] if len(fields) > 19 else ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        return ""
    return _asked(pid)


def _asked(pid: int) -> str:
    command = ["ps", "-o", "lstart=", "-p", str(pid)]
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        told = subprocess.run(command, capture_output=True, text=True, timeout=2, check=False, env={"LC_ALL": "C"})
        return told.stdout.strip()
    return ""
