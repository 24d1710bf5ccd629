"""Find and signal every process of a call, wherever it has moved itself.

Promises: members are found by process group, by parentage, and on Linux also by the mark in their environment, so a
child that made its own session is found too. Does not promise: to find a process that cleaned its environment and was
adopted by init before anybody looked.
"""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress

from interlock.runtime.tools.environment import CALL_MARK

_ALIVE = (b"R", b"S", b"D", b"T", b"t", b"I", b"W", b"P", b"K")
"""States of proc(5) but `Z` and `X`."""


def members(leader: int, mark: str) -> set[int]:
    """Ids of the living processes of the call: group of `leader`, its descendants, and all that carry `mark`."""
    table = _table()
    found = {pid for pid, (_, group) in table.items() if group == leader or pid == leader}
    if os.path.isdir("/proc/self"):
        found |= {pid for pid in table if pid not in found and _carries(pid, mark)}
    grown = True
    while grown:
        inner = {pid for pid, (parent, _) in table.items() if parent in found and pid not in found}
        found |= inner
        grown = bool(inner)
    found.discard(os.getpid())
    return found


def send(leader: int, mark: str, number: signal.Signals) -> int:
    """Signal every member and say how many there were."""
    found = members(leader, mark)
    for pid in found:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    return len(found)


def parents() -> dict[int, int]:
    """pid -> parent of every process that is not a zombie."""
    return {pid: parent for pid, (parent, _) in _table().items()}


def zombies_of(parent: int) -> list[int]:
    """Children of a process that have ended and were not waited for; nothing where there is no /proc."""
    if not os.path.isdir("/proc/self"):
        return []
    return [pid for pid, (above, _) in _table_proc((b"Z",)).items() if above == parent]


def _table() -> dict[int, tuple[int, int]]:
    """pid -> (parent, group) of every process that is not a zombie."""
    return _table_proc(_ALIVE) if os.path.isdir("/proc/self") else _table_ps()


def _table_proc(states: tuple[bytes, ...]) -> dict[int, tuple[int, int]]:
    table: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", "rb") as file:
                # the name in parentheses may hold anything, blanks and parentheses too
                fields = file.read().rpartition(b")")[2].split()
            if fields[0] in states:
                table[int(name)] = (int(fields[1]), int(fields[2]))
    return table


def _table_ps() -> dict[int, tuple[int, int]]:
    listed = subprocess.run(["ps", "-axo", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=False)
    table: dict[int, tuple[int, int]] = {}
    for line in listed.stdout.split("\n"):
        fields = line.split()
        if len(fields) == 4 and not fields[3].startswith("Z"):
            table[int(fields[0])] = (int(fields[1]), int(fields[2]))
    return table


def _carries(pid: int, mark: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{CALL_MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False
