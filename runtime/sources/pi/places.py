"""Where pi keeps its sessions."""

from __future__ import annotations

import os
from pathlib import Path


def places(home: Path | None = None) -> tuple[tuple[Path, str], ...]:
    """(folder, pattern of its logs). `PI_CODING_AGENT_DIR` stands for `~/.pi/agent` where it is set."""
    own = os.environ.get("PI_CODING_AGENT_DIR") if home is None else None
    folder = Path(own) if own else (home or Path.home()) / ".pi" / "agent"
    return ((folder / "sessions", "*/*.jsonl"),)
