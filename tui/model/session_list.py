"""Sessions as lines: the board and the history (UI-5).

Promises: the same columns on every row, so that numbers align; a total that comes from a part of a journal has `≥` in
front; what does not fit gives way from the least needed on. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from interlock.tui.model.board import SIGN_OF, TITLES, SessionRow, fits, grouped
from interlock.tui.model.inbox import folder_name
from interlock.tui.model.inked import Inked, beside, columns, ink
from interlock.tui.model.moment import amount, day, money, rough_age
from interlock.tui.safe_text import one_line
from interlock.tui.signs import SIGNS

WIDE = 110
"""Columns from which the sums have room."""


@dataclass(frozen=True, slots=True)
class ListItem:
    """A heading or a session."""

    key: str
    title: str = ""
    number: int = 0
    row: SessionRow | None = None


def board_items(rows: Iterable[SessionRow], words: str = "") -> list[ListItem]:
    """All sessions by group, what needs a person first."""
    found: list[ListItem] = []
    for name, members in grouped(row for row in rows if not words or fits(row, words)):
        if found:
            found.append(ListItem(f"blank:{name}"))
        found.append(ListItem(f"group:{name}", TITLES[name], len(members)))
        found += [ListItem(row.id, row=row) for row in members]
    return found


def history_items(rows: Iterable[SessionRow], words: str = "") -> list[ListItem]:
    """Sessions that are over, by day, the newest first."""
    over = [r for r in rows if r.status in ("done", "failed", "gone") and (not words or fits(r, words))]
    over.sort(key=lambda r: (-r.last_at, r.id))
    found: list[ListItem] = []
    last = ""
    for row in over:
        date = day(row.last_at)[:10]
        if date != last:
            if found:
                found.append(ListItem(f"blank:{date}"))
            number = sum(day(r.last_at)[:10] == date for r in over) if len(over) < 2000 else 0
            found.append(ListItem(f"day:{date}", date, number))
            last = date
        found.append(ListItem(row.id, row=row))
    return found


def item_line(item: ListItem, width: int, now: int, *, ascii_only: bool = False) -> Inked:
    """One line of a list."""
    if item.row is None:
        number = str(item.number) if item.number else ""
        return beside(ink((item.title, "bold quiet")), ink((number, "quiet")), width) if item.title else ink("")
    return _session_line(item.row, width, now, ascii_only)


def _session_line(row: SessionRow, width: int, now: int, ascii_only: bool) -> Inked:
    sign = SIGNS[SIGN_OF[row.status]]
    old = rough_age(now - row.last_at) if row.last_at else ""
    ends: list[tuple[Inked, int]] = [(ink((old, "quiet")), -6)]
    if width >= WIDE:
        ends = [*_sums(row), *ends]
    rest = width - 2 - sum(abs(size) for _, size in ends)
    name, agent, folder = (28, 14, 22) if width >= WIDE else (max(rest * 2 // 5, 12), 11, 0)
    last = max(rest - name - agent - folder, 4)
    cells: list[tuple[Inked, int]] = [
        (ink((sign.shown(ascii_only=ascii_only), f"bold {sign.variable}")), 2),
        (ink((one_line(row.name, name - 1), "bold")), name),
        (ink((one_line(row.agent, agent - 1), "quiet")), agent),
    ]
    if folder:
        where = folder_name(row.cwd) + (f" {row.branch}" if row.branch else "")
        cells.append((ink((one_line(where, folder - 1), "")), folder))
    return columns([*cells, (ink((one_line(_what(row), last - 1), _what_style(row))), last), *ends])


def _sums(row: SessionRow) -> list[tuple[Inked, int]]:
    more = "≥" if row.partial else ""
    denied = f"{row.denied} denied" if row.denied else ""
    failed = f"{row.failed} failed" if row.failed else ""
    return [
        (ink((f"{more}{row.calls} calls", "")), -11),
        (ink((denied, "denied")), -10),
        (ink((failed, "failed")), -10),
        (ink((f"{amount(row.tokens)} tok" if row.tokens else "", "quiet")), -10),
        (ink((money(row.cost), "quiet")), -8),
    ]


def _what(row: SessionRow) -> str:
    if row.fault:
        return row.fault
    if row.status in ("waiting", "running"):
        return row.action or row.evidence
    return row.checked or row.evidence


def _what_style(row: SessionRow) -> str:
    if row.fault or row.checked == "checks fail":
        return "failed"
    return "ok" if row.checked == "checks passed" else "quiet" if row.status in ("gone", "done") else ""


def session_head(row: SessionRow, width: int, now: int, *, ascii_only: bool = False) -> list[Inked]:
    """The two lines above an open session."""
    sign = SIGNS[SIGN_OF[row.status]]
    left = ink(
        (f"{sign.shown(ascii_only=ascii_only)} ", f"bold {sign.variable}"),
        (row.name, "bold"),
        (f"   {row.agent}", ""),
        (f"   {row.branch}" if row.branch else "", "quiet"),
    )
    sums = [f"{row.calls} calls"]
    sums += [f"{number} {word}" for number, word in ((row.denied, "denied"), (row.failed, "failed")) if number]
    sums += [text for text in (f"{amount(row.tokens)} tokens" if row.tokens else "", money(row.cost)) if text]
    style = {"checks passed": "ok", "checks fail": "bold failed"}.get(row.checked, "ask")
    right = ink(("   ".join(sums), "quiet"), (f"   {row.checked}" if row.checked else "", style))
    old = f"   last event {rough_age(now - row.last_at)} ago" if row.last_at else ""
    second = beside(ink((row.cwd, "quiet")), ink((f"{row.status}: {row.evidence}{old}", "quiet")), width)
    lines = [beside(left, right, width), second]
    if row.fault:
        lines.append(ink((row.fault, "bold failed")))
    return lines
