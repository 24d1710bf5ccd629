"""Does a process belong to the agent? Read from the process table; what cannot be read counts as yes.

Seen: descent by parent links; the session or process group of an agent's process, also after the parent link is lost;
a mark (`AGENT_MARKS`) in the environment the process was started with; a PID namespace that is not ours.
Not seen: a process that the agent had started by somebody else (a cron job, a terminal multiplexer's server), and one that
has left parent, session and group and scrubbed its environment, unless this host adopts orphans (a child subreaper).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol

AGENT_MARKS = ("INTERLOCK_CALL", "INTERLOCK_AGENT")
"""Environment variables that mark a process of the agent: the engine gives the first to every call, gates the other."""
_DEEPEST = 4096
"""Parent links followed at most."""


class ProcessRow(NamedTuple):
    """What the table says of one process."""

    parent: int
    group: int
    session: int
    started: str
    """Opaque; differs between two processes that had the same pid one after the other."""


class ProcessTable(Protocol):
    """A look at the machine's processes."""

    def row(self, pid: int) -> ProcessRow | None:
        """None: no such process, or it cannot be seen."""
        ...

    def marked(self, pid: int) -> bool | None:
        """Whether it was started with one of `AGENT_MARKS`. None: cannot be told."""
        ...

    def foreign(self, pid: int) -> bool | None:
        """Whether it lives in another PID namespace. None: cannot be told."""
        ...


class ProcTable:
    """Linux: /proc."""

    def row(self, pid: int) -> ProcessRow | None:
        try:
            text = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            return None
        # the name in brackets may hold anything, also brackets and blanks
        fields = text[text.rfind(b")") + 2 :].split()
        return ProcessRow(int(fields[1]), int(fields[2]), int(fields[3]), fields[19].decode())

    def marked(self, pid: int) -> bool | None:
        try:
            block = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            return None
        return any(entry.partition(b"=")[0].decode("ascii", "replace") in AGENT_MARKS for entry in block.split(b"\0"))

    def foreign(self, pid: int) -> bool | None:
        try:
            return os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid")
        except OSError:
            return None


class PsTable:
    """Elsewhere: `ps`, which shows parents and groups; marks and namespaces are not looked for."""

    def row(self, pid: int) -> ProcessRow | None:
        command = ["ps", "-o", "ppid=,pgid=,lstart=", "-p", str(pid)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=5, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
            )
            parent, group, started = done.stdout.split(maxsplit=2)
            return ProcessRow(int(parent), int(group), int(group), started.strip())
        except (OSError, ValueError, subprocess.SubprocessError):
            return None

    def marked(self, pid: int) -> bool | None:
        return False

    def foreign(self, pid: int) -> bool | None:
        return False


def process_table() -> ProcessTable:
    """The table of this machine."""
    return ProcTable() if sys.platform.startswith("linux") else PsTable()


def start_token(pid: int, table: ProcessTable | None = None) -> str | None:
    """What tells this process from a later one with the same pid; None: it does not live."""
    row = (table or process_table()).row(pid)
    return None if row is None else row.started


class Lineage:
    """Remembers the agent's processes and judges peers."""

    def __init__(self, table: ProcessTable | None = None) -> None:
        self._table = table or process_table()
        self._known: dict[int, str] = {}

    def learn(self, pids: Iterable[int]) -> None:
        """Remember processes of the agent, also for when they have gone and only their group or session is left."""
        for pid in pids:
            row = self._table.row(pid)
            if row is not None:
                self._known[pid] = row.started

    def objection(self, pid: int) -> str | None:
        """Why this peer may not answer; None: nothing speaks against it. This very process may always."""
        if pid == os.getpid():
            return None
        row = self._table.row(pid)
        if pid <= 0 or row is None:
            return "its process cannot be seen"
        if self._table.foreign(pid) is not False:
            return "it lives in another process namespace, or that cannot be told"
        marked = self._table.marked(pid)
        if marked is not False:
            return "its environment carries the mark of the agent" if marked else "its environment cannot be read"
        if self._is_known(row.session, row.started) or self._is_known(row.group, row.started):
            return "it is in a session or process group of the agent"
        return "it descends from a process of the agent" if self._descends(pid) else None

    def _is_known(self, leader: int, started: str) -> bool:
        known = self._known.get(leader)
        if known is None:
            return False
        row = self._table.row(leader)
        # without its leader the number cannot have been given again while the session lasts
        return row is None or row.started == known

    def _descends(self, pid: int) -> bool:
        for _ in range(_DEEPEST):
            row = self._table.row(pid)
            if row is None or pid <= 0:
                return False
            if self._known.get(pid) == row.started:
                return True
            pid = row.parent
        return True
