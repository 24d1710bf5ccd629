"""Who is at the other end of a local socket, and whether it may answer.

Promises: the user id is the kernel's word, not the peer's; a process of the agent, a child of one, or one that carries
the mark of a call is refused. Does not promise: to see a process that another one, not of the agent, was talked into
starting (docs/protocol.md says so).
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CALL_MARK = b"INTERLOCK_CALL="
"""How the environment of a process begins that was started for a call (see runtime/tools/environment.py)."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A connected process."""

    uid: int
    pid: int | None


def peer_of(connection: socket.socket) -> Peer:
    """The peer's credentials. Raises OSError where the platform does not tell."""
    if sys.platform.startswith("linux"):
        pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return Peer(uid, pid)
    # macOS: LOCAL_PEERCRED (1) gives an xucred, LOCAL_PEERPID (2) the pid; both at level SOL_LOCAL (0)
    credentials = connection.getsockopt(0, 1, 76)
    (uid,) = struct.unpack_from("I", credentials, 4)
    (pid,) = struct.unpack("i", connection.getsockopt(0, 2, 4))
    return Peer(uid, pid)


def refusal(peer: Peer, agents: Callable[[], set[int]]) -> str | None:
    """Why this peer may not take part, or None."""
    if peer.uid != os.getuid():
        return f"this socket belongs to user {os.getuid()}; user {peer.uid} may not use it"
    if peer.pid is None:
        return None
    if _carries_mark(peer.pid):
        return "a process that an agent started may not answer an agent's questions"
    running = agents()
    if running and any(pid in running for pid in ancestors(peer.pid)):
        return "a process that descends from the agent may not answer its questions"
    return None


def _carries_mark(pid: int) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return any(entry.startswith(CALL_MARK) for entry in environment.split(b"\0"))


def ancestors(pid: int) -> list[int]:
    """The process and all above it, as far as /proc tells; bounded."""
    found: list[int] = []
    while pid > 1 and pid not in found and len(found) < 128:
        found.append(pid)
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            pid = int(stat[stat.rindex(")") + 2 :].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found
