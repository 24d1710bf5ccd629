"""Where Copilot CLI keeps its sessions."""

from __future__ import annotations

import os
from pathlib import Path


def places(home: Path | None = None) -> tuple[tuple[Path, str], ...]:
    """(folder, pattern of its logs). `COPILOT_HOME` stands for `~/.copilot` where it is set."""
    own = os.environ.get("COPILOT_HOME") if home is None else None
    folder = (Path(own) if own else (home or Path.home()) / ".copilot") / "session-state"
    return (folder, "*/events.jsonl"), (folder, "*.jsonl")
