"""Claude Code's own list of its live sessions: `sessions/<pid>.json` in its folder. Headless runs are in it, too.

Promises: only these files are read; the keys that lie beside them are not. Never raises.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

_MOST_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class LiveSession:
    """One entry."""

    pid: int
    session: str
    status: str
    """`idle`, `busy` or `waiting`."""
    version: str
    entrypoint: str
    """`cli` in a terminal, `sdk-cli` for a headless run, others for editors and programs."""
    changed_at: float
    """When the status changed last, in seconds since 1970; 0: not told."""

    @property
    def has_dialog(self) -> bool:
        """Whether a person can answer in the agent's own prompt."""
        return bool(self.entrypoint) and not self.entrypoint.startswith("sdk")

    @property
    def is_waiting(self) -> bool:
        """A dialog is open."""
        return self.status == "waiting"


def folder_of(transcript: str) -> Path | None:
    """The list that belongs to a transcript: `<folder>/projects/<slug>/<session>.jsonl` -> `<folder>/sessions`."""
    path = Path(transcript)
    if len(path.parts) < 4 or path.parts[-3] != "projects":
        return None
    return path.parents[2] / "sessions"


def live_session(folder: Path | None, session: str, pid: int | None = None) -> LiveSession | None:
    """The entry of a session; None: it is not there (any more). With `pid` one file is looked at, else all."""
    if folder is None:
        return None
    files = [folder / f"{pid}.json"] if pid else _files(folder)
    return next((entry for file in files if (entry := _entry(file)) and entry.session == session), None)


def _files(folder: Path) -> list[Path]:
    try:
        return [Path(found.path) for found in os.scandir(folder) if found.name.removesuffix(".json").isdigit()]
    except OSError:
        return []


def _entry(file: Path) -> LiveSession | None:
    try:
        with file.open("rb") as opened:
            told = json.loads(opened.read(_MOST_BYTES))
        texts = [told.get(name) for name in ("sessionId", "status", "version", "entrypoint")]
        session, status, version, entrypoint = (text if isinstance(text, str) else "" for text in texts)
        changed = told.get("statusUpdatedAt")
        changed_at = changed / 1000 if isinstance(changed, int | float) else 0.0
        return LiveSession(int(told["pid"]), session, status, version, entrypoint, changed_at)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
