"""A look at the machine's processes, as far as it takes to judge a peer. What cannot be seen is said to be so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple, Protocol

AGENT_MARKS = ("INTERLOCK_CALL", "INTERLOCK_AGENT")
"""Environment variables that mark a process of the agent: the engine gives the first to every call, gates the other."""


class ProcessRow(NamedTuple):
    """What the table says of one process."""

    parent: int
    group: int
    session: int
    started: str
    """Opaque; differs between two processes that had the same pid one after the other."""
    name: str = ""
    """What it calls itself; not to be trusted for anything but a refusal."""
    has_terminal: bool = True


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

    def units(self, pid: int) -> tuple[str, ...]:
        """Names of the control groups that it is in, the outermost first; () where there are none."""
        ...


class ProcTable:
    """Linux: /proc."""

    def row(self, pid: int) -> ProcessRow | None:
        try:
            text = Path(f"/proc/{pid}/stat").read_bytes()
        except OSError:
            return None
        # the name in brackets may hold anything, also brackets and blanks
        begin, end = text.find(b"(") + 1, text.rfind(b")")
        fields = text[end + 2 :].split()
        name = text[begin:end].decode("utf-8", "replace")
        return ProcessRow(
            int(fields[1]), int(fields[2]), int(fields[3]), fields[19].decode(), name, int(fields[4]) != 0
        )

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

    def units(self, pid: int) -> tuple[str, ...]:
        try:
            lines = Path(f"/proc/{pid}/cgroup").read_text("utf-8", "replace").splitlines()
        except OSError:
            return ()
        # `0::/path` is version 2; `1:name=systemd:/path` the one in which systemd keeps its units where there is version 1
        paths = [line.split(":", 2)[2] for line in lines if line.startswith("0::") or ":name=systemd:" in line]
        return tuple(part for path in paths for part in path.split("/") if part)


class PsTable:
    """Elsewhere: `ps`, which shows parents and groups; marks, namespaces and control groups are not looked for."""

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

    def units(self, pid: int) -> tuple[str, ...]:
        return ()


def process_table() -> ProcessTable:
    """The table of this machine."""
    return ProcTable() if sys.platform.startswith("linux") else PsTable()


def start_token(pid: int, table: ProcessTable | None = None) -> str | None:
    """What tells this process from a later one with the same pid; None: it does not live."""
    row = (table or process_table()).row(pid)
    return None if row is None else row.started
