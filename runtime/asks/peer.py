"""Who is at the other end of a Unix socket, as the kernel says.

Does not promise: that the process is still the one that connected; the kernel notes it when the connection is made.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from typing import NamedTuple

_LOCAL_LEVEL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 0x001, 0x002
"""macOS, sys/un.h."""


class Peer(NamedTuple):
    """The other end."""

    uid: int
    pid: int
    """0: not visible from here."""


def peer_of(connection: socket.socket) -> Peer:
    """Credentials of the other end. Raises OSError when the system does not tell."""
    if sys.platform.startswith("linux"):
        size = struct.calcsize("3i")
        pid, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return Peer(uid, pid)
    if sys.platform == "darwin":
        _, uid = struct.unpack_from("Ii", connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERCRED, 76))
        (pid,) = struct.unpack("i", connection.getsockopt(_LOCAL_LEVEL, _LOCAL_PEERPID, 4))
        return Peer(uid, pid)
    raise OSError(f"peer credentials are not known on {sys.platform}")


def own_uid() -> int:
    """The only user whose peers are served."""
    return os.geteuid()
