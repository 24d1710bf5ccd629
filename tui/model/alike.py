"""Asks that are alike, and what is shown of each before they are answered together (ASK-4).

Promises: alike are only open and whole asks of one tool; of shell asks, only those that run the same programs in the same
order; each is shown in full. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interlock.tui.model.ask import Ask
from interlock.tui.model.card import arguments, warnings
from interlock.tui.model.inbox import folder_name
from interlock.tui.model.inked import EMPTY, Inked, beside, ink
from interlock.tui.model.moment import age
from interlock.tui.model.part import parts_of
from interlock.tui.safe_text import one_line


def kind_of(ask: Ask) -> tuple[str, ...]:
    """What has to be the same for two asks to be alike."""
    if ask.command is None:
        return (ask.tool,)
    programs = tuple(part.program for part in parts_of(ask.facts, ask.cwd))
    # a command that was not taken apart is like nothing but itself
    return (ask.tool, *(programs or (ask.command,)))


def alike(ask: Ask, asks: Iterable[Ask]) -> tuple[Ask, ...]:
    """The open, whole asks that are like this one, itself among them, in the order in which they came."""
    kind = kind_of(ask)
    return tuple(one for one in asks if one.is_open and one.is_whole and kind_of(one) == kind)


def row(ask: Ask, marked: bool, width: int, now: int) -> Inked:
    """One ask in the list."""
    sign = ink(("[x] ", "bold ok") if marked else ("[ ] ", "quiet"))
    what = one_line(ask.prompt or ask.command or ask.tool, max(width - 40, 16))
    left = sign.joined(ink((one_line(folder_name(ask.cwd) or ask.title, 16), "bold"), f"  {ask.agent}  ", (what, "")))
    return beside(left, ink((age(now - ask.opened_at), "quiet")), width)


def previews(asks: Sequence[Ask], width: int) -> tuple[list[Inked], list[int]]:
    """(every ask in full, the row in which each begins)."""
    rows: list[Inked] = []
    starts: list[int] = []
    for number, ask in enumerate(asks, 1):
        starts.append(len(rows))
        title = f"   {ask.title}" if ask.title else ""
        rows.append(
            ink((f"{number} of {len(asks)}  ", "quiet"), (ask.tool, "bold accent"), (f"   {ask.agent}{title}", "quiet"))
        )
        rows.append(ink(("in  ", "quiet"), ask.cwd))
        rows += [line for text in warnings(ask) for line in ink((f"! {text}", "bold failed")).wrapped(width)]
        rows += _full(ask, width)
        rows.append(EMPTY)
    return rows, starts


def _full(ask: Ask, width: int) -> list[Inked]:
    if ask.diff is not None:
        return [row for line in ask.diff.rstrip("\n").split("\n") for row in ink((line, _style(line))).wrapped(width)]
    if ask.command is not None:
        rest = {key: value for key, value in ask.input.items() if key != "command"}
        lines = [row for line in ask.command.split("\n") for row in ink((line, "")).wrapped(max(width - 2, 8))]
        shown = [ink(("$ " if number == 0 else "  ", "quiet")).joined(line) for number, line in enumerate(lines)]
        return [*shown, *(arguments(rest, width) if rest else [])]
    return arguments(ask.input, width)


def _style(line: str) -> str:
    return (
        "ok" if line.startswith("+") else "failed" if line.startswith("-") else "quiet" if line.startswith("@@") else ""
    )


def verdict_words(number: int, total: int) -> str:
    """`3 of 4 marked`."""
    return f"{number} of {total} marked"
