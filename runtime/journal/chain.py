"""The chain of digests over a journal, and the check of it.

Promises: an edited, removed, added or swapped line is named, the first of them; a cut tail is found by the sealed head,
which is kept apart from the journal; the report says which anchor was looked at. Does not promise: to see a change by
someone who can rewrite the journal and the head alike.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from interlock.runtime.journal import place
from interlock.runtime.journal.report import FirstBad, VerifyReport

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


def verify(folder: Path, head_file: Path | None = None) -> VerifyReport:
    """Check the journal of a session's folder; without `head_file` the head is looked for where the writer seals it.

    Raises OSError when the journal cannot be read.
    """
    from interlock.runtime.journal.verify import check_journal

    return check_journal(folder, head_file or place.heads_home() / folder.name)


__all__ = ["GENESIS", "FirstBad", "Head", "VerifyReport", "digest", "head_line", "read_head", "verify"]
