"""The timeline of a session as lines: when, what, and how long it waited, queued and ran (UI-6).

Promises: the scale is that of the rows in view, in round steps, so that it moves seldom; a wait for a person is never
counted as running; what has no result says so; denials and errors are marked by sign and word, not by colour alone. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.runtime.state.timeline import Row
from interlock.tui.model.inked import Inked, columns, ink
from interlock.tui.model.moment import SECOND, clock, duration
from interlock.tui.safe_text import one_line
from interlock.tui.signs import SIGNS

_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400)
"""Seconds that a bar can stand for; above the last one, whole days."""
OUTCOME_SIGN = {
    "waiting": "ask",
    "queued": "running",
    "running": "running",
    "ok": "ok",
    "failed": "failed",
    "timeout": "failed",
    "refused": "failed",
    "denied": "denied",
    "cancelled": "denied",
    "missing": "gone",
    "open": "running",
}
"""Outcome -> name of its sign."""
OUTCOME_WORDS = {
    "waiting": "waits for you",
    "failed": "failed",
    "timeout": "timed out",
    "refused": "refused",
    "denied": "denied",
    "cancelled": "withdrawn",
    "missing": "no result recorded",
}
KIND_WORDS = {
    "user": "you said",
    "assistant": "agent says",
    "final": "answer",
    "started": "began",
    "ended": "ended",
    "repaired": "repaired",
    "damaged": "damaged",
    "unknown": "unknown",
    "verification": "checked",
    "conflict": "conflict",
    "divider": "new file",
    "boundary": "session",
}
LOUD = frozenset({"damaged", "conflict", "divider", "repaired"})


@dataclass(frozen=True, slots=True)
class Scale:
    """What the bars stand for."""

    start: int
    """Microseconds since 1970 at the left end."""
    span: int
    """Microseconds of the whole width."""

    def cell(self, at: int, width: int) -> int:
        """The cell of a time, kept inside the width."""
        return min(max((at - self.start) * width // max(self.span, 1), 0), width - 1)


def scale_of(rows: Iterable[Row], now: int) -> Scale:
    """The scale for the rows in view: from the first that began to the last that ended, in a round step."""
    starts, ends = [], []
    for row in rows:
        if row.kind == "call" and row.at:
            starts.append(row.at)
            ends.append(row.ended_at or (now if row.outcome in ("waiting", "queued", "running", "open") else row.at))
    if not starts:
        return Scale(0, SECOND)
    start = min(starts) // SECOND * SECOND
    return Scale(start, _round_up(max(ends) - start))


def _round_up(span: int) -> int:
    for step in _STEPS:
        if span <= step * SECOND:
            return step * SECOND
    day = _STEPS[-1] * SECOND
    return (span + day - 1) // day * day


def bar(row: Row, width: int, scale: Scale, now: int, *, ascii_only: bool = False) -> list[tuple[str, str]]:
    """The bar as pieces: blanks, then `░` waited, `▒` queued, `▓` running, then words where there is something to say."""
    cells = [""] * width
    for start, end, name in _spans(row, now):
        for cell in range(scale.cell(start, width), scale.cell(max(end, start), width) + 1):
            cells[cell] = name
    if not any(cells):
        cells[scale.cell(row.at, width)] = "point"
    last = max(n for n, name in enumerate(cells) if name)
    pieces = [_cell(name, ascii_only) for name in cells[: last + 1]]
    words = f" {_words(row)}" if _words(row) else ""
    if words and last + 1 + len(words) <= width:
        pieces.append((words, SIGNS[OUTCOME_SIGN[row.outcome]].variable))
    elif words and len(words) <= (first := next(n for n, name in enumerate(cells) if name)):
        # no room behind the bar: the words stand before it
        pieces = [(f"{words.strip():>{first - 1}} ", SIGNS[OUTCOME_SIGN[row.outcome]].variable), *pieces[first:]]
    return pieces


def _spans(row: Row, now: int) -> Iterable[tuple[int, int, str]]:
    over = row.ended_at
    if row.asked_at:
        yield row.asked_at, row.answered_at or over or now, "bar-wait"
    queued = row.scheduled_at or row.answered_at
    if queued and (row.started_at or row.outcome == "queued"):
        yield queued, row.started_at or over or now, "bar-queued"
    if row.started_at:
        still = now if row.outcome == "running" else row.started_at
        yield row.started_at, row.completed_at or over or still, "bar-running"
    elif row.at and row.outcome != "denied" and (over or row.outcome == "open"):
        # logs of other agents rarely say when a call began to run, and how long it waited before
        yield row.answered_at or row.at, over or now, "bar-span"


def _cell(name: str, ascii_only: bool) -> tuple[str, str]:
    if not name:
        return " ", ""
    if name == "point":
        return ("|" if ascii_only else "▏"), "quiet"
    sign = SIGNS[name]
    return sign.shown(ascii_only=ascii_only), sign.variable


def _words(row: Row) -> str:
    if row.outcome == "failed" and row.exit_code not in (None, 0):
        return f"exit {row.exit_code}"
    return OUTCOME_WORDS.get(row.outcome, "")


def lanes(before: Row | None, row: Row, after: Row | None, *, ascii_only: bool = False) -> str:
    """The sign of parallel calls: `┌ ├ └`, or a blank."""
    up, down = _overlap(before, row), _overlap(row, after)
    return {
        (False, True): "/" if ascii_only else "┌",
        (True, True): "|" if ascii_only else "├",
        (True, False): "\\" if ascii_only else "└",
    }.get((up, down), " ")


def _overlap(first: Row | None, second: Row | None) -> bool:
    if first is None or second is None or first.kind != "call" or second.kind != "call":
        return False
    if not first.started_at or not second.started_at:
        return False
    return second.started_at < (first.completed_at or first.ended_at or second.started_at + 1)


def line(row: Row, target: str, lane: str, width: int, scale: Scale, now: int, *, ascii_only: bool = False) -> Inked:
    """One row of the timeline."""
    time = ink((clock(row.at), "quiet"))
    if row.kind != "call":
        style = "bold failed" if row.kind in LOUD else "accent" if row.kind in ("final", "user") else "quiet"
        room = max(width - 9 - 4 - 11, 4)
        text_style = style if row.kind in LOUD else ""
        words = ink((KIND_WORDS.get(row.kind, row.kind), style))
        return columns([(time, 9), (ink(""), 4), (words, 11), (ink((one_line(target, room), text_style)), room)])
    sign = SIGNS[OUTCOME_SIGN[row.outcome]]
    style = sign.variable
    chart = max(width * 2 // 5, 10) if width >= 50 else 0
    room = max(width - 9 - 2 - 2 - 11 - chart - (1 if chart else 0), 4)
    loud = row.outcome in ("failed", "denied", "timeout", "refused", "missing", "waiting")
    cells = [
        (time, 9),
        (ink((sign.shown(ascii_only=ascii_only), f"bold {style}")), 2),
        (ink((lane, "quiet")), 2),
        (ink((one_line(row.tool, 10), f"bold {style}" if loud else "bold")), 11),
        (ink((one_line(target, room), "")), room + (1 if chart else 0)),
    ]
    if chart:
        cells.append((ink(*bar(row, chart, scale, now, ascii_only=ascii_only)), chart))
    return columns(cells)


def legend(scale: Scale, *, foreign: bool = False, ascii_only: bool = False) -> Inked:
    """What the signs of the bars mean, and what the width stands for."""
    pieces: list[tuple[str, str]] = []
    known = [("bar-wait", "waited for you"), ("bar-queued", "queued"), ("bar-running", "running")]
    for name, words in [known[0], ("bar-span", "call to result")] if foreign else known:
        pieces += [(SIGNS[name].shown(ascii_only=ascii_only), SIGNS[name].variable), (f" {words}   ", "quiet")]
    return ink(*pieces, (f"bars: {duration(scale.span)} wide", "quiet"))
