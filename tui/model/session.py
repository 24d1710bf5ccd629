"""The head of a session's screen: what it is, what it came to, and what is wrong with its journal. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from interlock.runtime.state.session import ModelUse
from interlock.tui.model.board import SIGN_OF, SessionRow
from interlock.tui.model.inked import Inked, ink
from interlock.tui.model.moment import age, amount, count, money
from interlock.tui.safe_text import one_line
from interlock.tui.signs import SIGNS


class Tally(Protocol):
    """What was met that is no plain event."""

    damaged: int
    unknown: int
    duplicates: int
    conflicts: int
    foreign: int
    notes: list[str]


class Follower(Protocol):
    """As far as the head needs it."""

    @property
    def tally(self) -> Tally: ...
    @property
    def pending_bytes(self) -> int: ...


class Followed(Protocol):
    """A session that is followed."""

    @property
    def follower(self) -> Follower: ...
    @property
    def is_partial(self) -> bool: ...
    @property
    def read_bytes(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def fault(self) -> str: ...
    @property
    def complete(self) -> bool: ...
    @property
    def count(self) -> int: ...


def head_line(row: SessionRow, feed: Followed, now: int) -> Inked:
    """`shop-api   claude   main   running 12m   41 calls  3 denied   182k tokens  $1.42   checks passed`."""
    sign = SIGNS[SIGN_OF[row.status]]
    span = age((now if row.live else row.last_at) - row.started_at) if row.started_at else ""
    line = ink(
        (row.name, "bold accent"),
        "   ",
        (row.agent_name, ""),
        "   ",
        (row.branch, "quiet"),
        "   ",
    )
    line = line.joined(
        ink((f"{sign.shown()} {row.status}{' (guessed)' if row.guessed else ''} {span}", f"bold {sign.variable}"))
    )
    line = line.joined(ink("   ", (count(row.calls, "call"), "")))
    if row.denied:
        line = line.joined(ink((f"  {row.denied} denied", "denied")))
    if row.failed:
        line = line.joined(ink((f"  {row.failed} failed", "failed")))
    if row.tokens:
        line = line.joined(
            ink(
                (
                    f"   {amount(row.tokens)} tokens  {'≈' if row.estimated and row.cost else ''}{money(row.cost)}",
                    "quiet",
                )
            )
        )
    if row.checked:
        line = line.joined(ink((f"   {row.checked}", "ok" if row.checked == "checks passed" else "failed")))
    if feed.is_partial:
        share = feed.read_bytes * 100 // max(feed.size, 1)
        line = line.joined(ink((f"   reading the rest: {share} %", "mark")))
    return line


def model_lines(models: Mapping[str, ModelUse], width: int) -> list[Inked]:
    """Tokens and cost of each model, where a session used more than one or the log tells of caches."""
    parts = [_model(name, use) for name, use in models.items() if use.input or use.output]
    return ink(("models   ", "quiet"), ("   ".join(parts), "")).wrapped(width)[:2] if parts else []


def _model(name: str, use: ModelUse) -> str:
    cached = f", {amount(use.cache_read)} cached" if use.cache_read else ""
    cost = f", ≈{money(use.cost_usd)}" if use.priced and money(use.cost_usd) else ""
    return (
        f"{one_line(name, 40) or 'model not recorded'}: {amount(use.input)} in{cached}, {amount(use.output)} out{cost}"
    )


_NOTES = {
    "truncated": "the journal was cut while it was watched; what was read before stays above the divider",
    "replaced": "the journal was replaced by another file; what was read before stays above the divider",
    "missing": "the journal is not there; what was read before stays, and it is looked for again",
    "bom": "the journal begins with a byte order mark, which is no part of it",
}


def trouble(feed: Followed) -> Sequence[str]:
    """What is wrong with the journal, one sentence each; nothing for a sound one."""
    found = [feed.fault] if feed.fault else []
    tally = feed.follower.tally
    found += [
        _NOTES[note] for note in dict.fromkeys(tally.notes) if note in _NOTES and not (note == "missing" and found)
    ]
    for number, one, many in (
        (tally.damaged, "line is no event and is shown as damaged", "lines are no events and are shown as damaged"),
        (
            tally.conflicts,
            "line contradicts an earlier one, not applied",
            "lines contradict earlier ones, not applied",
        ),
        (tally.foreign, "line names another session", "lines name another session"),
    ):
        if number:
            found.append(f"{number:,} {one if number == 1 else many}")
    if feed.complete and not feed.count and not found:
        found.append("the journal is empty: nothing was recorded in it")
    return found
