"""What can be taken back for some seconds, and what is said of it afterwards (ASK-4). Plain data and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from interlock.tui.model.moment import count

UNDO_SECONDS = 15.0
HELD_SECONDS = 5.0
"""For how long answers that were given together wait before they are sent."""


_SHORT = {"turn": "this turn's", "session": "the session's", "ten_minutes": "the 10 min", "rule": "the rule"}
"""Scopes, before what was allowed: a narrow screen cuts the end."""


@dataclass(frozen=True, slots=True)
class Undo:
    """A standing permission that was just made."""

    session: str
    grant_id: str
    scope: str
    covers: str
    until: float
    """In seconds of a steady clock."""

    def words(self, key: str) -> str:
        """What stands on the screen while it can be taken back. Foreign words in it."""
        return f"{key} undoes{f' {_SHORT[self.scope]}' if self.scope in _SHORT else ''}: {self.covers}"


@dataclass(frozen=True, slots=True)
class Note:
    """Something to tell the person once. Foreign words in it."""

    words: str
    tone: Literal["information", "warning", "error"] = "information"


def undone_words(covers: str, call_started: bool, rule_removed: bool | None, problem: str) -> Note:
    """What came of taking a permission back."""
    ran = (
        "the call itself had already begun"
        if call_started
        else "the call had not begun: it is asked about before it runs"
    )
    rule = "; its rule is out of your policy file" if rule_removed else ""
    if problem:
        return Note(f"revoked here: {covers}; {ran}; but {problem}", "error")
    return Note(f"revoked: {covers}; {ran}{rule}")


def held_words(answer: str, number: int) -> str:
    """What is held."""
    return f"{count(number, 'ask')} {'allowed' if answer == 'allow' else 'denied'} together"


def together_note(answer: str, done: int, failed: Sequence[tuple[str, str]]) -> Note:
    """What came of answering together: each failure with its ask."""
    verb = "allowed" if answer == "allow" else "denied"
    if not failed:
        return Note(f"{count(done, 'ask')} {verb}")
    each = "\n".join(f"{what}: {why}" for what, why in failed)
    return Note(f"{done} {verb}, {len(failed)} had no effect:\n{each}", "warning")
