"""The way of an answer key to its answer, for screens that answer (UI-4).

Promises: a key counts only when what it answers was in view and unchanged, and the keyboard quiet, for the guard time; a
burst of keys is a paste and answers nothing; a paste, a drag or a change begins the time anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from textual.timer import Timer
from textual.widget import Widget

from interlock.tui.model.guard import GUARD_SECONDS, REPEAT_SECONDS, Guard

BURST_SECONDS = 0.05
"""An answer is sent when no other key came so soon: nobody types two keys in it, a paste does."""


class AnswerGate:
    """One gate for one screen. `changed` is called when keys become live or cease to be."""

    def __init__(self, owner: Widget, clock: Callable[[], float], seconds: float, changed: Callable[[], None]) -> None:
        """`seconds`: the guard time, by `clock`."""
        self._owner, self._clock, self._changed = owner, clock, changed
        self._guard = Guard(seconds, max(seconds * REPEAT_SECONDS / GUARD_SECONDS, seconds))
        self._subject: Hashable = None
        self._passes: str | None = None
        self._pending: Timer | None = None
        self._arming: Timer | None = None
        self.hint = ""
        """Our words about the last key that had no effect."""

    def watch(self, subject: Hashable, keys: Iterable[str]) -> None:
        """What is in view now (None: nothing that can be answered), and the keys that answer it."""
        now = self._clock()
        if subject != self._subject:
            # a key that was pressed for another card is none for this one, whenever its command runs
            self._subject, self._passes = subject, None
        self._guard.show(subject, now)
        if self._arming is not None:
            self._arming.stop()
            self._arming = None
        left = [s for key in keys if (s := self._guard.seconds_left(now, key)) > 0]
        if subject is not None and left:
            self._arming = self._owner.set_timer(min(left) + 0.01, self._changed)

    def is_armed(self, key: str) -> bool:
        """Whether this key would count now."""
        return self._guard.is_armed(self._clock(), key)

    def note_key(self, key: str) -> None:
        """Every key of the screen, before it does anything."""
        if self._pending is not None:
            self.cancel()
            self.hint = "several keys at once are taken as a paste: nothing was sent"
        self._passes = key if self._guard.press(key, self._clock()) else None
        self._changed()

    def disturb(self) -> None:
        """A paste, a drag, the terminal coming back."""
        self.cancel()
        self._passes = None
        self._guard.disturb(self._clock())
        self._changed()

    def take(self, send: Callable[[], None], lock: str = "", *, at_once: bool = False) -> None:
        """The key of an answer was pressed: `send` is called in a moment, if the key counts and nothing is locked.
        `at_once`: for what is no answer by itself.
        """
        passes, self._passes = self._passes, None
        if passes is None:
            self.hint = "not yet: the card was not in view, or the keyboard not quiet, for long enough"
        else:
            self.hint = ""
        if passes is not None and not lock and at_once:
            send()
        elif passes is not None and not lock:
            self._pending = self._owner.set_timer(BURST_SECONDS, lambda: self._send(send))
        self._changed()

    def _send(self, send: Callable[[], None]) -> None:
        self._pending = None
        send()

    def cancel(self) -> None:
        """Send nothing."""
        if self._pending is not None:
            self._pending.stop()
            self._pending = None

    @property
    def is_sending(self) -> bool:
        """Whether an answer waits to be sent."""
        return self._pending is not None
