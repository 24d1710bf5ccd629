"""The processes of a session: those that run now, and those that outlive the call that started them.

Promises: a process that a finished command leaves running is known until the session ends, and is stopped then.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import NamedTuple

from interlock.runtime.tools import tree

KILL_ROUNDS = 50
"""How often, 20 ms apart, a killed tree is looked at before it is given up."""


class _Call(NamedTuple):
    leader: int
    mark: str


class Strays:
    """Calls of one session that may still have living processes."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._running: set[int] = set()
        self.on_began: Callable[[int], None] | None = None
        """Told of every process that is started."""

    def began(self, leader: int) -> None:
        """A process was started for a call."""
        self._running.add(leader)
        if self.on_began is not None:
            self.on_began(leader)

    def ended(self, leader: int) -> None:
        """That process has ended."""
        self._running.discard(leader)

    def leaders(self) -> set[int]:
        """Ids of the processes from which everything descends that the agent runs."""
        return self._running | self.alive()

    def add(self, leader: int, mark: str) -> None:
        """Remember a call whose shell has ended while others of its tree live."""
        self._calls.append(_Call(leader, mark))

    def alive(self) -> set[int]:
        """Ids of all that still live."""
        return set().union(*(tree.members(call.leader, call.mark) for call in self._calls))

    def stop(self) -> int:
        """Kill all that still live and say how many there were. Blocks for at most a second."""
        count = sum(tree.send(call.leader, call.mark, signal.SIGTERM) for call in self._calls)
        for _ in range(KILL_ROUNDS if count else 0):
            if not sum(tree.send(call.leader, call.mark, signal.SIGKILL) for call in self._calls):
                break
            time.sleep(0.02)
        self._calls.clear()
        return count
