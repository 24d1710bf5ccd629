"""What a writer must know of a journal before it goes on: its end, its chain, the ids in use."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from interlock.runtime.journal.chain import GENESIS, digest
from interlock.runtime.journal.envelope import brief

_ID = re.compile(rb'"(?:\w*[iI]d)":"(int|inv|obs|art|req|msg|grant)_(\d+)"')


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
    with file:
        for line in file:
            state.size += len(line)
            if not line.endswith(b"\n"):
                state.torn = line
                break
            state.last_digest = digest(line)
            for kind, number in _ID.findall(line):
                state.highest_ids[kind.decode()] = max(int(number), state.highest_ids.get(kind.decode(), 0))
            seen = brief(line)
            if seen is not None and seen.seq >= state.next_seq:
                state.next_seq = seen.seq + 1
    return state
