"""The inbox as rows: what waits, what runs, what was done today (UI-1).

Promises: asks in the order in which they came, so that a new one stands below those before it; an ask that ended has no
row and is in no count, also while its card is read; every row has a key of its own. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from interlock.tui.model.ask import Ask
from interlock.tui.model.board import SIGN_OF, SessionRow, fits, of_today
from interlock.tui.model.inked import Inked, beside, columns, fitted, ink
from interlock.tui.model.moment import age, rough_age
from interlock.tui.safe_text import one_line
from interlock.tui.signs import SIGNS

MOST_DONE = 200
"""Finished sessions of today that the inbox lists; the history has them all."""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """One row."""

    key: str
    kind: Literal["group", "ask", "session", "blank"]
    title: str = ""
    """Of a group."""
    number: int = 0
    ask: Ask | None = None
    session: SessionRow | None = None


def rows(asks: Sequence[Ask], sessions: Sequence[SessionRow], now: int, *, words: str = "") -> list[InboxRow]:
    """All rows. `words`: the filter."""
    shown = [a for a in asks if not a.is_over and ask_fits(a, words)]
    fitting = [s for s in sessions if not words or fits(s, words)]
    # a session whose ask stands above needs no second row; one whose host does not answer does
    asking = {ask.session for ask in shown}
    running = [s for s in fitting if s.status in ("running", "waiting", "idle") and s.id not in asking]
    running.sort(key=lambda s: (s.started_at, s.id))
    found = _group("waiting", "WAITING FOR YOU", [InboxRow(f"ask:{a.id}", "ask", ask=a) for a in shown])
    found += _group("running", "RUNNING", [InboxRow(f"live:{s.id}", "session", session=s) for s in running])
    done = of_today(fitting, now)[:MOST_DONE]
    return found + _group("done", "DONE TODAY", [InboxRow(f"done:{s.id}", "session", session=s) for s in done])


def _group(name: str, title: str, members: list[InboxRow]) -> list[InboxRow]:
    if not members:
        return []
    return [InboxRow(f"group:{name}", "group", title, len(members)), *members, InboxRow(f"blank:{name}", "blank")]


def ask_fits(ask: Ask, words: str) -> bool:
    """Whether every word stands somewhere in the ask."""
    text = " ".join((ask.title, ask.agent, ask.tool, ask.cwd, ask.prompt, ask.command or "")).casefold()
    return all(word in text for word in words.casefold().split())


def place(asks: Sequence[Ask], ask_id: str) -> str:
    """`1 of 2`: where an ask stands among those that wait; `over` for one that does not any more."""
    if any(ask.id == ask_id and ask.is_over for ask in asks):
        return "over"
    waiting = [ask.id for ask in asks if ask.is_open or ask.id == ask_id]
    return f"{waiting.index(ask_id) + 1} of {len(waiting)}" if ask_id in waiting else ""


def folder_name(cwd: str) -> str:
    """The last part of a folder."""
    return posixpath.basename(cwd.rstrip("/")) or cwd


def row_line(row: InboxRow, width: int, now: int, *, ascii_only: bool = False) -> Inked:
    """One row as it is drawn."""
    if row.kind == "group":
        return beside(ink((row.title, "bold quiet")), ink((str(row.number), "quiet")), width)
    if row.ask is not None:
        return fitted(_ask_line(row.ask, row_age(row, now), width, ascii_only), width)
    if row.session is not None:
        return fitted(_session_line(row.session, row_age(row, now), width, ascii_only), width)
    return ink("")


def row_age(row: InboxRow, now: int) -> str:
    """What of a row grows by itself."""
    if row.ask is not None:
        return age(now - row.ask.opened_at) if row.ask.is_open else row.ask.stage
    if row.session is not None:
        return rough_age(now - row.session.last_at) if row.session.last_at else ""
    return ""


def _ask_line(ask: Ask, old: str, width: int, ascii_only: bool) -> Inked:
    sign = _sign("ask", ascii_only) if ask.stage != "closed" else _sign("gone", ascii_only)
    style = "bold ask" if ask.is_open else "quiet"
    return _line(sign, folder_name(ask.cwd) or ask.title, ask.agent, _wanted(ask), (old, style), width)


def _wanted(ask: Ask) -> str:
    """What is asked for: the beginning of a command, for its own words tell more than what the tool is called."""
    if ask.command is not None and ask.command.strip():
        return ask.command.strip().split("\n")[0]
    if ask.facts.get("question") and ask.prompt:
        return ask.prompt
    named = ask.prompt.split(" ")[0].casefold() in (ask.tool.casefold(), ask.tool.casefold().split("_")[0])
    return ask.prompt if ask.prompt and named else f"{ask.tool} {ask.prompt}".strip()


def _session_line(row: SessionRow, old: str, width: int, ascii_only: bool) -> Inked:
    sign = _sign(SIGN_OF[row.status], ascii_only)
    live = row.status in ("running", "waiting", "idle")
    what = row.action if live and row.status != "idle" else (row.checked or _ending(row))
    if row.fault:
        what = row.fault
    return _line(sign, folder_name(row.cwd) or row.name, row.agent, what, (old, "quiet"), width)


def _ending(row: SessionRow) -> str:
    return {"gone": "writer gone", "done": "done", "failed": "failed", "idle": "your turn"}.get(row.status, row.status)


def _sign(name: str, ascii_only: bool) -> tuple[str, str]:
    sign = SIGNS[name]
    return sign.shown(ascii_only=ascii_only), sign.variable


def _line(sign: tuple[str, str], where: str, agent: str, what: str, old: tuple[str, str], width: int) -> Inked:
    last = 7
    room = width - 2 - last
    if room < 18:
        return columns([(ink(sign), 2), (ink((one_line(what, room), "")), room), (ink(old), -last)])
    first = max(min(room // 3, 18), 8)
    second = max(min(room // 5, 12), 6) if room >= 26 else 0
    third = room - first - second - (2 if second else 1)
    cells = [(ink(sign), 2), (ink((one_line(where, first), "bold")), first + 1)]
    if second:
        cells.append((ink((one_line(agent, second), "quiet")), second + 1))
    return columns([*cells, (ink((one_line(what, third), "")), third), (ink(old), -last)])
