"""What a file was when it was looked at, and which files the session has read.

Promises: a baseline is size, modification time and SHA-256 of the same bytes that were returned; a file that changes
while it is read is read again. Files above `MAX_WHOLE` are never read whole and have no digest.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field

from interlock.runtime.tools.refusal import precondition
from interlock.runtime.tools.workspace import Place, open_file

MAX_WHOLE = 16 * 1024 * 1024
"""Bytes up to which a file is read whole, to be shown, edited or digested."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """One version of a file."""

    size: int
    mtime_ns: int
    sha256: str | None
    """None: too large to be digested; size and time stand for it."""

    def same_content(self, other: Baseline) -> bool:
        """Whether both are the same version; the digest decides where there is one."""
        if self.sha256 is None or other.sha256 is None:
            return (self.size, self.mtime_ns) == (other.size, other.mtime_ns)
        return self.sha256 == other.sha256


def read_whole(place: Place, *, limit: int = MAX_WHOLE) -> tuple[bytes, Baseline]:
    """All bytes of a regular file and their baseline.

    Raises Refusal when it is missing, no regular file, larger than `limit`, or changes faster than it can be read.
    """
    for _ in range(3):
        handle = open_file(place)
        with os.fdopen(handle, "rb", buffering=0) as file:
            before = os.fstat(handle)
            if before.st_size > limit:
                raise precondition(
                    f"{place.written!r} has {before.st_size:,} bytes; at most {limit:,} can be handled whole",
                    field="path",
                )
            data = _read(file.fileno(), limit)
            after = os.fstat(handle)
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and len(data) == after.st_size:
            return data, Baseline(len(data), after.st_mtime_ns, hashlib.sha256(data).hexdigest())
    raise precondition(
        f"{place.written!r} is being written to and did not stay the same while it was read",
        field="path",
        next_step="Try again when the writer is done.",
    )


def _read(handle: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    room = limit + 1
    while room > 0 and (chunk := os.read(handle, min(room, 1 << 20))):
        chunks.append(chunk)
        room -= len(chunk)
    return b"".join(chunks)


def baseline_of(place: Place) -> Baseline | None:
    """The version of a file now; None when there is no such regular file."""
    try:
        handle = open_file(place)
    except Exception:
        return None
    with os.fdopen(handle, "rb", buffering=0):
        state = os.fstat(handle)
    if state.st_size > MAX_WHOLE:
        return Baseline(state.st_size, state.st_mtime_ns, None)
    try:
        return read_whole(place)[1]
    except Exception:
        return None


@dataclass(slots=True)
class _Known:
    baseline: Baseline
    shown: set[tuple[int, int]] = field(default_factory=set)


class ReadLedger:
    """Which versions of which files the model of this session has seen or written."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def version(self, real: str) -> Baseline | None:
        """The version that the model knows; None when it never read the file."""
        known = self._known.get(real)
        return known.baseline if known else None

    def saw(self, real: str, baseline: Baseline, lines: tuple[int, int]) -> None:
        """The model was shown `lines` (first, how many) of this version."""
        known = self._known.get(real)
        if known is None or not known.baseline.same_content(baseline):
            known = self._known[real] = _Known(baseline)
        known.baseline = baseline
        known.shown.add(lines)

    def wrote(self, real: str, baseline: Baseline) -> None:
        """The model itself made this version; nothing of it was shown."""
        self._known[real] = _Known(baseline)

    def has_shown(self, real: str, baseline: Baseline, lines: tuple[int, int]) -> bool:
        """Whether exactly these lines of exactly this version were shown and still stand in the context."""
        known = self._known.get(real)
        return known is not None and known.baseline.same_content(baseline) and lines in known.shown

    def context_pruned(self) -> None:
        """Contents left the model's context: a file is shown again when it is asked for again."""
        for known in self._known.values():
            known.shown.clear()
