"""Does a process belong to an agent? Read from the process table; what cannot be read, or not told from one, counts as yes.

Seen, of the agents of every host: descent by parent links, also through a process that adopts orphans; the brand that no
descendant can take off; the session or process group of an agent's process, also after the parent link is lost; a mark in the
environment that the process or one above it was started with; a PID namespace that is not ours; what a timer or a service
manager started; what came out of a terminal multiplexer that a command of an agent may have typed into, unless a person
just pressed a key there (`hand`).
Not seen: a process that something outside was talked into starting in a way that a person starts it too, by a script whose
command line does not say so. docs/protocol.md tells.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from interlock.runtime.asks.hand import MULTIPLEXERS, Hand, person_types
from interlock.runtime.asks.process import ProcessRow, ProcessTable, process_table
from interlock.runtime.tools import brand

_DEEPEST = 4096
"""Parent links followed at most."""
TIMERS = frozenset({"at", "atd", "batch", "cron", "crond", "anacron", "fcron", "launchd-cron"})
"""Programs that start others at a time: nobody sits in front of what they start."""
_TIMER_UNITS = frozenset(f"{name}.service" for name in TIMERS)


class Process(NamedTuple):
    """One process for good: a pid may be given again, but not with the same start."""

    pid: int
    started: str


@dataclass(slots=True)
class Known:
    """What is known of agents' processes, and never forgotten while this host lives."""

    agents: dict[int, str] = field(default_factory=dict)
    """pid -> start of processes of agents."""
    hosts: dict[int, str] = field(default_factory=dict)
    """pid -> start of hosts below which everything belongs to an agent."""
    touched: set[str] = field(default_factory=set)
    """Terminal multiplexers that a command of an agent named."""

    def add(self, other: Known) -> None:
        """Take over what another host knows."""
        self.agents |= other.agents
        self.hosts |= other.hosts
        self.touched |= other.touched


class Lineage:
    """Remembers agents' processes and judges peers."""

    def __init__(self, table: ProcessTable | None = None, hand: Hand = person_types) -> None:
        self._table = table or process_table()
        self._hand = hand
        self.known = Known()

    def learn(self, pids: Iterable[int]) -> dict[int, str]:
        """Remember processes of the agent, also for when they have gone and only their group or session is left.
        Gives those that live, with their starts."""
        rows = {pid: self._table.row(pid) for pid in pids}
        living = {pid: row.started for pid, row in rows.items() if row is not None}
        self.known.agents |= living
        return living

    def objection(self, pid: int) -> str | None:
        """Why this peer may not answer, nor watch; None: nothing speaks against it. This very process may always."""
        if pid == os.getpid():
            return None
        row = self._table.row(pid)
        if pid <= 0 or row is None:
            return "its process cannot be seen"
        if self._table.foreign(pid) is not False:
            return "it lives in another process namespace, or that cannot be told"
        if self._table.marked(pid) is None:
            return "its environment cannot be read"
        if brand.is_branded(pid) is None:
            return "its limits cannot be read"
        chain = list(self._chain(pid))
        if len(chain) >= _DEEPEST:
            return "what it descends from cannot be told"
        return self._of_agent(chain) or _of_service(self._table.units(pid), chain)

    def _of_agent(self, chain: list[tuple[int, ProcessRow]]) -> str | None:
        for pid, row in chain:
            if self.known.agents.get(pid) == row.started:
                return "it descends from a process of the agent"
            if pid != chain[0][0] and self.known.hosts.get(pid) == row.started:
                return "it was started below a host, where all belongs to its agent"
            if self._is_known(row.session, row.started) or self._is_known(row.group, row.started):
                return "it is in a session or process group of the agent"
            if self._table.marked(pid):
                return "its environment, or that of a process above it, carries the mark of the agent"
            if brand.is_branded(pid):
                return "it or a process above it was started by an agent, whatever became of its parent"
        return None

    def typed(self, pid: int) -> str | None:
        """Why an answer of this peer may be an agent's typing: it is in a multiplexer that an agent has used, and no
        person's hand is there at this moment. None: nothing speaks for that. To watch, no hand is needed."""
        if pid == os.getpid() or not self.known.touched:
            return None
        for above, row in self._chain(pid):
            program = MULTIPLEXERS.get(row.name)
            if program in self.known.touched and not self._hand(pid, above, program, self._may_type):
                return (
                    f"a command of an agent has used {program}, and no person has just pressed a key in a terminal "
                    "attached to it"
                )
        return None

    def _may_type(self, pid: int) -> bool:
        chain = list(self._chain(pid))
        return bool(chain) and self._of_agent(chain) is None and _of_service(self._table.units(pid), chain) is None

    def _is_known(self, leader: int, started: str) -> bool:
        known = self.known.agents.get(leader)
        if known is None:
            return False
        row = self._table.row(leader)
        # without its leader the number cannot have been given again while the session lasts
        return row is None or row.started == known

    def _chain(self, pid: int) -> Iterator[tuple[int, ProcessRow]]:
        """The process and those above it."""
        for _ in range(_DEEPEST):
            row = self._table.row(pid)
            if row is None or pid <= 0:
                return
            yield pid, row
            pid = row.parent


def _of_service(units: tuple[str, ...], chain: list[tuple[int, ProcessRow]]) -> str | None:
    """The objection to what nobody started at a terminal: a timer's work, a transient unit, a service without a terminal."""
    timer = next((row.name for _, row in chain if row.name in TIMERS), None)
    timer = timer or next((unit for unit in units if unit in _TIMER_UNITS), None)
    if timer is not None:
        return f"{timer} started it, not a person"
    for unit in units:
        # a scope keeps its parent, and with it what it descends from; a service does not
        if unit.startswith(("run-", "run_")) and unit.endswith(".service"):
            return "it runs in a transient unit of the service manager, which an agent can start as well as a person"
    of_user = any(unit.startswith("user@") for unit in units)
    if (
        of_user
        and units[-1].endswith(".service")
        and not units[-1].startswith("user@")
        and not chain[0][1].has_terminal
    ):
        return "the service manager started it, and it has no terminal"
    return None
