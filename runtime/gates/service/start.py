"""Starts the gate service when it is needed, and asks whether it is there.

Promises: `answers` and `start_if_connected` load nothing heavy; a service that is there is never started twice; the one
that is started belongs to no terminal and no agent. Raises nothing where a screen only wants to help.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from typing import Any

from interlock.runtime.gates.service.config import ServiceConfig, ServiceConfigError, read_config
from interlock.runtime.journal.place import PlaceError

PATIENCE_S = 2.0
START_S = 30.0


def answers(config: ServiceConfig) -> dict[str, Any] | None:
    """What the service tells of itself over its socket; None: nobody answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.settimeout(PATIENCE_S)
        try:
            made.connect(config.socket)
            made.sendall(b"GET /alive HTTP/1.1\r\nHost: gate\r\nConnection: close\r\n\r\n")
            data = b"".join(iter(lambda: made.recv(65_536), b""))
            told = json.loads(data.partition(b"\r\n\r\n")[2])
        except (OSError, ValueError):
            return None
    return told if isinstance(told, dict) else None


def start_if_connected() -> bool:
    """Start the service if any agent was ever connected and it does not answer; returns when it does, or cannot."""
    try:
        config = read_config()
        if config is None or answers(config) is not None:
            return False
        return launch().wait(START_S) == 0
    except (ServiceConfigError, PlaceError, OSError, subprocess.TimeoutExpired):
        return False  # `interlock doctor` tells; a screen opens all the same


def launch() -> subprocess.Popen[bytes]:
    """Start it apart from this process; the process that is returned ends when the service is ready or cannot be."""
    marks = ("INTERLOCK_AGENT", "INTERLOCK_CALL")
    environment = {name: value for name, value in os.environ.items() if name not in marks}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "interlock.runtime.cli", "gate", "serve", "--detach"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
