"""What a check of a journal found."""

from __future__ import annotations

from dataclasses import dataclass, field


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
