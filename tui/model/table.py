"""Sessions as lines of a table, for the board and the history. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from interlock.tui.model.board import SIGN_OF, TITLES, SessionRow, families, fits, grouped
from interlock.tui.model.inked import Inked, beside, columns, fitted, ink
from interlock.tui.model.moment import amount, day, money, rough_age
from interlock.tui.safe_text import one_line, shorten_middle
from interlock.tui.signs import SIGNS


@dataclass(frozen=True, slots=True)
class TableRow:
    """One row: a heading, a session or a blank."""

    key: str
    kind: Literal["group", "session", "blank"]
    title: str = ""
    number: int = 0
    session: SessionRow | None = None


def board_rows(sessions: Iterable[SessionRow], words: str = "") -> list[TableRow]:
    """Sessions by state, what needs a person first."""
    found: list[TableRow] = []
    for name, members in grouped(row for row in sessions if not words or fits(row, words)):
        found.append(TableRow(f"group:{name}", "group", TITLES[name], len(members)))
        found += [TableRow(row.id, "session", session=row) for row in members]
        found.append(TableRow(f"blank:{name}", "blank"))
    return found


def history_rows(sessions: Iterable[SessionRow], words: str = "") -> list[TableRow]:
    """All sessions that are over, the newest first."""
    over = [r for r in sessions if r.status in ("done", "failed", "gone") and (not words or fits(r, words))]
    roots = sorted(families(over), key=lambda f: (-f[0].last_at, f[0].id))
    return [TableRow(r.id, "session", session=r) for root, below in roots for r in (root, *below)]


def row_age(row: TableRow, now: int) -> str:
    """What of a row grows by itself."""
    s = row.session
    return rough_age(now - s.last_at) if s is not None and s.last_at else ""


def table_line(row: TableRow, width: int, now: int, *, ascii_only: bool = False, dated: bool = False) -> Inked:
    """One row as it is drawn; columns that have no room are left out from the right end of importance."""
    if row.kind == "group":
        return beside(ink((row.title, "bold quiet")), ink((str(row.number), "quiet")), width - 1)
    if row.session is None:
        return ink("")
    s = row.session
    sign = SIGNS[SIGN_OF[s.status]]
    when = day(s.last_at) if dated else row_age(row, now)
    some = "≥" if s.partial and not ascii_only else ">" if s.partial else ""
    last = 16 if dated else 6
    guessed = ("?" if s.guessed else " ", "quiet")
    cells = [(ink((sign.shown(ascii_only=ascii_only), f"bold {sign.variable}"), guessed), 2)]
    tail: list[tuple[Inked, int]] = [(ink((when, "quiet")), -last)]
    if width >= 76:
        # the ends of a foreign log do not count its calls
        calls = f"{some}{s.calls} calls" if s.calls or not s.partial else ""
        tail = [(ink((calls, "")), -11), (_marks(s), -9), *tail]
    if width >= 116:
        tail[2:2] = [
            (ink((f"{some}{amount(s.tokens)}" if s.tokens else "", "quiet")), -8),
            (ink((_cost(s, ascii_only=ascii_only), "quiet")), -8),
        ]
    tail.append((ink(""), 1))
    room = width - 2 - sum(abs(size) for _, size in tail) - 1
    parts = _parts(s, room)
    return fitted(columns([*cells, *parts, (ink(" "), 1), *tail]), width)


def _marks(s: SessionRow) -> Inked:
    words = [(f"{s.denied} den", "denied")] if s.denied else []
    words += [(f"{s.failed} err", "failed")] if s.failed else []
    return ink(*[(f" {text}" if n else text, style) for n, (text, style) in enumerate(words[-1:])])


def _cost(s: SessionRow, *, ascii_only: bool) -> str:
    shown = money(s.cost)
    return f"{'~' if ascii_only else '≈'}{shown}" if shown and s.estimated else shown


def _agent(s: SessionRow, room: int) -> str:
    return s.agent_name if len(s.agent_name) <= room else s.agent


def _name(s: SessionRow, room: int) -> Inked:
    step = "  " * (s.depth - 1) + "└ " if s.depth else ""
    return ink((step, "quiet"), (one_line(s.name, max(room - len(step), 1)), "bold"))


def _parts(s: SessionRow, room: int) -> list[tuple[Inked, int]]:
    what = s.fault or (s.action if s.live else s.checked or s.action)
    style = "failed" if s.fault else ""
    if room < 40:
        return [(_name(s, room), room)]
    name = min(max(room * 3 // 8, 14), 44)
    agent = 22 if room >= 100 else 13 if room >= 66 else 10
    folder = min(max(room // 4, 12), 34) if room >= 62 else 0
    rest = room - name - agent - folder
    branch = f"  {s.branch}" if s.branch and folder >= 24 else ""
    place = (
        [(ink((shorten_middle(s.cwd, folder - 1 - len(branch)), "quiet"), (branch, "quiet")), folder)] if folder else []
    )
    return [
        (_name(s, name - 1), name),
        (ink((one_line(_agent(s, agent - 1), agent - 1), "")), agent),
        *place,
        (ink((one_line(what, max(rest - 1, 1)), style)), rest),
    ]
