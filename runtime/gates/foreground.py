"""Running an agent's own screen in this terminal while this process watches it.

Promises: the agent has the terminal for itself, keys that interrupt go to it alone; servers that were started for it end with
it, in their own process groups, also when this process is told to end.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ATTACHED = "INTERLOCK_ATTACHED"
"""Set for agents that are watched over their own connection, so that hooks of theirs do not ask a second time."""
_GRACE_S = 5.0


class NotStarted(Exception):
    """A program cannot be started or did not come up; the message says which and why."""


def environment() -> dict[str, str]:
    """The environment of an agent that is watched over its own connection."""
    return {**os.environ, ATTACHED: "1"}


async def start_server(command: Sequence[str], log: Path, env: Mapping[str, str]) -> asyncio.subprocess.Process:
    """Start a server in its own process group, its words going to a file. Raises NotStarted."""
    try:
        with log.open("ab") as written:
            return await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
                env=dict(env),
            )
    except OSError as error:
        raise NotStarted(f"cannot start {command[0]}: {error.strerror}. Is it installed and on PATH?") from None


async def end_server(server: asyncio.subprocess.Process) -> None:
    """TERM, then KILL, to a server and what it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(server.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(server.wait(), _GRACE_S)
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGKILL)


async def run_screen(command: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the agent's screen to its end and give its exit code (128+n for a signal). Raises NotStarted."""
    loop = asyncio.get_running_loop()
    try:
        screen = await asyncio.create_subprocess_exec(*command, env=dict(env))
    except OSError as error:
        raise NotStarted(f"cannot start {command[0]}: {error.strerror}. Is it installed and on PATH?") from None
    # the terminal sends these to the screen too: it decides what they mean
    ignored = (signal.SIGINT, signal.SIGQUIT)
    for number in ignored:
        loop.add_signal_handler(number, lambda: None)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, _tell, screen, number)
    try:
        code = await screen.wait()
    finally:
        for number in (*ignored, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
        if screen.returncode is None:
            _tell(screen, signal.SIGTERM)
    return code if code >= 0 else 128 - code


def _tell(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        process.send_signal(number)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
