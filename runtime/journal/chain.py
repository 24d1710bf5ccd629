"""The chain of digests over a journal, and the check of it.

Promises: an edited, removed, added or swapped line is named, the first of them; a cut tail is found by the sealed head,
which is kept apart from the journal; the report says which anchor was looked at. Does not promise: to see a change by
someone who can rewrite the journal and the head alike.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

GENESIS = "0" * 64
"""`prev` of the first line."""


def digest(line: bytes) -> str:
    """SHA-256 in hex of a line's bytes, its line end included."""
    return hashlib.sha256(line).hexdigest()


def head_line(count: int, last: str, size: int) -> bytes:
    """The sealed head: how many lines, the digest of the last one, the size in bytes. Always the same width."""
    return f"{count:020d} {last} {size:020d}\n".encode()


@dataclass(frozen=True, slots=True)
class Head:
    """What the sealed head says."""

    count: int
    last: str
    size: int


def read_head(path: Path) -> Head | None:
    """The head, or None where there is none that can be read."""
    try:
        count, last, size = path.read_bytes().decode("ascii").split()
        return Head(int(count), last, int(size))
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class FirstBad:
    """The first line that is not as it was written."""

    line: int
    """From 1."""
    offset: int
    """In bytes."""
    why: str


@dataclass(slots=True)
class VerifyReport:
    """The outcome of a check."""

    ok: bool
    lines: int
    first_bad: FirstBad | None = None
    notes: list[str] = field(default_factory=list)
    anchor: str = ""
    """What vouched for the end of the journal, or that nothing did."""
    artifacts: int = 0
    """Artifacts whose digest was checked."""
