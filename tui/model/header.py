"""The one line at the top of every view, and the title of the terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.tui.model.ask import Ask
from interlock.tui.model.board import SessionRow
from interlock.tui.model.inked import EMPTY, Inked, beside, ink
from interlock.tui.model.moment import minute

VIEWS: tuple[tuple[str, str], ...] = (("1", "Inbox"), ("2", "Sessions"), ("3", "History"), ("4", "Rules"))


@dataclass(frozen=True, slots=True)
class Counts:
    """What the header counts."""

    waiting: int = 0
    running: int = 0
    failed: int = 0
    scanned: bool = True
    faults: int = 0


def counts_of(asks: Sequence[Ask], rows: Sequence[SessionRow], *, scanned: bool, faults: int) -> Counts:
    """Count asks that wait, sessions that run, and live or finished sessions that failed."""
    return Counts(
        sum(ask.is_open for ask in asks),
        sum(row.status == "running" for row in rows),
        sum(row.status == "failed" for row in rows),
        scanned,
        faults,
    )


def header_line(counts: Counts, view: str, width: int, now: int) -> Inked:
    """`Interlock   2 waiting   4 running   1 failed      1 Inbox  2 Sessions …   14:02`."""
    left = ink(("Interlock", "bold accent"))
    for number, word, style in (
        (counts.waiting, "waiting", "bold ask"),
        (counts.running, "running", "running"),
        (counts.failed, "failed", "failed"),
    ):
        left = left.joined(ink("   ", (f"{number} {word}", style if number else "quiet")))
    if not counts.scanned:
        left = left.joined(ink(("   reading sessions…", "mark")))
    if counts.faults:
        left = left.joined(ink((f"   {counts.faults} fault{'s' if counts.faults > 1 else ''}", "bold failed")))
    right = EMPTY
    short = width < 100
    for key, name in VIEWS:
        here = name == view
        shown = name if not short or here else ""
        text = f"{key} {shown}".rstrip()
        right = right.joined(ink((f"[{text}]" if here else f" {text} ", "bold" if here else "quiet")))
    if width >= 76:
        right = right.joined(ink((f"  {minute(now)}", "quiet")))
    return beside(left, right, width)


def title(waiting: int) -> str:
    """Title of the terminal."""
    return f"({waiting}) Interlock" if waiting else "Interlock"
