"""What a writer must know of a journal before it goes on: its end, its chain, the ids in use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from interlock.runtime.journal.chain import GENESIS, digest
from interlock.runtime.journal.envelope import brief

_ID = re.compile(rb'"(?:\w*[iI]d)":"(int|inv|obs|art|req|msg|grant)_(\d{1,9})"')


@dataclass(slots=True)
class JournalScan:
    """The end of a journal. An empty or missing one looks like this."""

    next_seq: int = 0
    last_digest: str = GENESIS
    size: int = 0
    torn: bytes = b""
    """An unfinished last line, b"" if there is none."""
    highest_ids: dict[str, int] = field(default_factory=dict)


def scan(path: Path) -> JournalScan:
    """Read a journal once from the start. A missing file is an empty journal. Raises OSError where it cannot be read."""
    state = JournalScan()
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return state
    last = b""
    with file:
        for line in file:
            state.size += len(line)
            if not line.endswith(b"\n"):
                state.torn = line
                break
            last = line
            for kind, number in _ID.findall(line):
                state.highest_ids[kind.decode()] = max(int(number), state.highest_ids.get(kind.decode(), 0))
            seen = brief(line)
            if seen is not None and seen.seq >= state.next_seq:
                state.next_seq = seen.seq + 1
    if last:
        state.last_digest = digest(last)
    # cut in front of its line end alone, a line is whole: closing it off makes it an event, so its seq is taken
    seen = brief(state.torn) if state.torn else None
    if seen is not None and seen.seq >= state.next_seq:
        state.next_seq = seen.seq + 1
    return state
