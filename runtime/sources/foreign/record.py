"""What a foreign log is made of once its bytes were taken apart: records, and bytes that are none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One record of a foreign log."""

    value: Any
    """As JSON gives it: usually a dict. Half surrogates were replaced by U+FFFD."""
    offset: int
    """Byte offset of the record in its log; of a database, the number of its row."""
    size: int
    """Bytes of the record."""
    glued: bool = False
    """Another record or a torn one stands before it on the same line."""
    log: str | None = None
    """Path of the log, where it is not the session's main one."""


@dataclass(frozen=True, slots=True)
class DamagedRecord:
    """Bytes that are no record."""

    offset: int
    size: int
    reason: str
    head: str
    """The first characters, at most 200."""


Framed = ForeignRecord | DamagedRecord
