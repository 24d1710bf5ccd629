"""When an answer key may answer (UI-4).

Promises: nothing answers before the card was in view, unchanged and the keyboard quiet for the guard time; any change of
the card, any key, any paste begins the time anew; a key that answered the card before needs a longer quiet of its own,
so that a held key repeats into nothing. Pure: the time is passed in, in seconds of one steady clock.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

GUARD_SECONDS = 0.5
REPEAT_SECONDS = 0.75
"""Longest pause between a press and its first repeat that systems have by default (X11: 660 ms)."""


@dataclass(slots=True)
class Guard:
    """The guard of one card place. Asks come and go; the guard stays, for the person's fingers are the same."""

    seconds: float = GUARD_SECONDS
    repeat_seconds: float = REPEAT_SECONDS
    _subject: Hashable = None
    _since: float = 0.0
    """When the present quiet began."""
    _last_key: str = ""
    _last_key_at: float = float("-inf")

    def show(self, subject: Hashable, now: float) -> None:
        """The card shows this now; None: it is out of view. The same subject again changes nothing."""
        if subject != self._subject:
            self._subject = subject
            self._since = now

    def disturb(self, now: float) -> None:
        """Something happened that is no answer: a key, a paste, a drag, a new size."""
        self._since = now

    def press(self, key: str, now: float) -> bool:
        """A key that would answer was pressed. True: it may. The time begins anew in any case."""
        may = self.is_armed(now, key)
        self._last_key, self._last_key_at = key, now
        self._since = now
        return may

    def is_armed(self, now: float, key: str = "") -> bool:
        """Whether an answer with this key would count now."""
        return self.seconds_left(now, key) <= 0

    def seconds_left(self, now: float, key: str = "") -> float:
        """Until it is armed; infinite while nothing is in view."""
        if self._subject is None:
            return float("inf")
        left = self._since + self.seconds - now
        if key and key == self._last_key:
            left = max(left, self._last_key_at + self.repeat_seconds - now)
        # rounding of the clock must not leave a hair's breadth that no timer can pass
        return 0.0 if left < 1e-6 else left
