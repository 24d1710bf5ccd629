"""Running an agent's own screen in this terminal while this process watches it.

Promises: the agent has the terminal for itself, keys that interrupt go to it alone; a server that was started for it ends with
it, in its own process group; when this process is killed the agent goes on, and its server ends when the agent does.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ATTACHED = "INTERLOCK_ATTACHED"
"""Set for agents that are watched over their own connection, so that hooks of theirs do not ask a second time."""
_GRACE_S = 2.0
_WATCHED = 'exec 3<&0; "$@" </dev/null 3<&- & server=$!; (cat <&3 >/dev/null; kill -s KILL -- -$$) & wait $server'
"""The standard input of this shell is a pipe that we and the agent's screen hold. A person goes on with an agent whose gate was
killed; when both are gone, the server is ended."""


class NotStarted(Exception):
    """A program cannot be started or did not come up; the message says which and why."""


def environment() -> dict[str, str]:
    """The environment of an agent that is watched over its own connection."""
    return {**os.environ, ATTACHED: "1"}


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started for an agent's screen."""

    process: asyncio.subprocess.Process
    held: int
    """The end of a pipe: while anybody holds it, the server lives."""


async def start_server(command: Sequence[str], log: Path, env: Mapping[str, str]) -> Server:
    """Start a server in its own process group, its words going to a file. Raises NotStarted."""
    if shutil.which(command[0], path=env.get("PATH")) is None:
        raise NotStarted(f"cannot start {command[0]}: there is no such program. Is it installed and on PATH?")
    watched, held = os.pipe()
    try:
        with log.open("ab") as written:
            process = await asyncio.create_subprocess_exec(
                *("sh", "-c", _WATCHED, "sh", *command),
                stdin=watched,
                stdout=written,
                stderr=written,
                start_new_session=True,
                env=dict(env),
            )
    except OSError as error:
        os.close(held)
        raise NotStarted(f"cannot start {command[0]}: {error.strerror}. Is it installed and on PATH?") from None
    finally:
        os.close(watched)
    return Server(process, held)


async def end_server(server: Server) -> None:
    """TERM, then KILL, to a server and what it started."""
    process = server.process
    os.close(server.held)
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), _GRACE_S)
            break
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


async def run_screen(command: Sequence[str], env: Mapping[str, str], server: Server | None = None) -> int:
    """Run the agent's screen to its end and give its exit code (128+n for a signal). Raises NotStarted."""
    loop = asyncio.get_running_loop()
    try:
        held = (server.held,) if server is not None else ()
        screen = await asyncio.create_subprocess_exec(*command, env=dict(env), pass_fds=held)
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
