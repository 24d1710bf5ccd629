"""Where Kimi keeps its sessions."""

from __future__ import annotations

from pathlib import Path


def places(home: Path | None = None) -> tuple[tuple[Path, str], ...]:
    """(folder, pattern of its logs); a log below `agents/main` is the session's own, the others are sub-agents."""
    base = home or Path.home()
    return (base / ".kimi-code" / "sessions", "*/*/agents/*/wire.jsonl"), (
        base / ".kimi" / "sessions",
        "*/*/wire.jsonl",
    )
