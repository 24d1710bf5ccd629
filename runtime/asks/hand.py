"""Whether a person's hand is at a terminal multiplexer: its server starts and types for whoever asks, an agent too.

Promises: a yes only when a client that is not an agent's is attached and a key was pressed in it in the last
`RECENT_S` seconds. tmux alone can tell; of the others the answer is no. Does not promise: that it was this key.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

MULTIPLEXERS = {
    "tmux: server": "tmux",
    "tmux": "tmux",
    "screen": "screen",
    "SCREEN": "screen",
    "zellij": "zellij",
    "dtach": "dtach",
    "abduco": "abduco",
    "dvtm": "dvtm",
    "byobu": "tmux",
}
"""What their servers call themselves -> the program that speaks to them."""
RECENT_S = 15
"""Longer than answers that were given together are held back for."""
_PATIENCE_S = 1.0
_WORDS = re.compile(r"(?<![\w.-])(tmux|screen|zellij|dtach|abduco|dvtm|byobu)(?![\w])")
Hand = Callable[[int, int, str, Callable[[int], bool]], bool]
"""Peer, pid of the multiplexer's server, its program, whether a process may type -> whether a person's hand is there."""


def touched(text: str) -> set[str]:
    """The multiplexers that a command names, anywhere in its text: too many rather than too few."""
    return {"tmux" if word == "byobu" else word for word in _WORDS.findall(text)}


def person_types(peer: int, server: int, program: str, may_type: Callable[[int], bool]) -> bool:
    """Whether a person has just typed in a terminal that is attached to the server."""
    socket = _socket_of(peer, server) if program == "tmux" else None
    if socket is None:
        return False
    command = ["tmux", "-S", socket, "list-clients", "-F", "#{client_pid} #{client_activity} #{pid}"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False).stdout
    except (OSError, subprocess.SubprocessError, ValueError):
        return False
    for line in told.splitlines():
        words = line.split()
        if len(words) == 3 and all(word.isdigit() for word in words):
            client, pressed, of = map(int, words)
            if of == server and time.time() - pressed <= RECENT_S and may_type(client):
                return True
    return False


def _socket_of(peer: int, server: int) -> str | None:
    """The server's socket as the peer's environment names it; None when it names another server."""
    try:
        block = Path(f"/proc/{peer}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    for entry in block:
        if entry.startswith(b"TMUX="):
            socket, _, rest = os.fsdecode(entry[5:]).partition(",")
            return socket if rest.split(",")[0] == str(server) and socket.startswith("/") else None
    return None
