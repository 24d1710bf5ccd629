"""The first event of a journal: whose session it is, without reading the rest.

Promises: reads at most 256 KiB; None for what is no journal, or whose first line is damaged or not there yet.
"""

from __future__ import annotations

from pathlib import Path

from interlock.runtime.events.session import SessionStarted
from interlock.runtime.journal.codec import decode_line

_MOST = 256 * 1024


def opening_of(folder: Path) -> SessionStarted | None:
    """The first event of the session in this folder."""
    try:
        with (folder / "events.jsonl").open("rb") as lines:
            line = lines.readline(_MOST)
    except OSError:
        return None
    first = decode_line(line[:-1]) if line.endswith(b"\n") else None
    return first if isinstance(first, SessionStarted) else None


def is_foreign(folder: Path) -> bool:
    """Whether the session is that of an agent which is not ours, told by the gate in front of it."""
    first = opening_of(folder)
    return first is not None and first.foreign is not None
