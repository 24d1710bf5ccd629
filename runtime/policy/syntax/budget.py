"""The limits of one reading: nesting, size, work and time.

Promises: every unit of work is counted, so that a reading ends even without a clock; with a clock it also ends in time.
A limit that is reached raises `CapReachedError`, never returns half an answer as if it were whole.
"""

from __future__ import annotations

from collections.abc import Callable

from interlock.runtime.policy.syntax.syntax import CapReachedError

MAX_DEPTH = 32
"""Levels of nesting (substitutions, compounds and unwrapped programs together); the issue's figure."""
MAX_SIZE = 65_536
"""Characters that are read as grammar; longer text is scanned coarsely."""
MAX_STEPS = 2_000
"""Units of work (a part of a word, a command); about 20 ms of one core."""
MAX_SECONDS = 0.05
"""Time cap when a clock is given; the issue's figure."""


class Budget:
    """Counts down; shared by a text and everything nested in it."""

    def __init__(self, clock: Callable[[], float] | None = None, steps: int = MAX_STEPS) -> None:
        self._clock = clock
        self._end = clock() + MAX_SECONDS if clock else 0.0
        self._left = steps

    def spend(self, units: int = 1) -> None:
        """Count work. Raises CapReachedError when nothing is left or the time is over."""
        self._left -= units
        if self._left < 0:
            raise CapReachedError(f"more than {MAX_STEPS} parts")
        if self._clock and self._left % 64 == 0 and self._clock() > self._end:
            raise CapReachedError(f"took longer than {int(MAX_SECONDS * 1000)} ms")

    def check_depth(self, depth: int) -> None:
        """Raise CapReachedError when `depth` is over the limit."""
        if depth > MAX_DEPTH:
            raise CapReachedError(f"nested deeper than {MAX_DEPTH} levels")
