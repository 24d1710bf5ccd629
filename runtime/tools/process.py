"""Run one command as a process of its own.

Promises: own session and process group, empty stdin, no controlling terminal, nothing inherited but the environment
given; both streams are handed on in the order in which they arrive; waits for the process and not for a pipe that a
child keeps open; on time-out or cancellation the whole tree gets TERM, then KILL, and is gone when this returns.
Does not promise: the true order of writes to two pipes within one wake of the loop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Literal

from interlock.runtime.tools import brand, tree
from interlock.runtime.tools.stray import Strays

Stream = Literal["stdout", "stderr"]
Sink = Callable[[Stream, bytes], None]

GRACE_S = 2.0
"""Between TERM and KILL."""
LINGER_S = 0.2
"""How long an open pipe is waited for after the process itself has ended."""
CHUNK = 1 << 16


class CannotStart(Exception):
    """The process could not be made; the message says why. Nothing ran."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a process ended."""

    exit_code: int | None
    """None when a signal ended it."""
    signal: str | None
    """For example `SIGKILL`."""
    ended_by: Literal["itself", "timeout", "cancelled"]
    signals_sent: tuple[str, ...]
    """Signals that were sent to end the tree, in order."""
    left: tuple[int, ...]
    """Processes of the call that still live."""


async def run_process(
    argv: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    mark: str,
    timeout_s: float,
    sink: Sink,
    cancelled: asyncio.Event,
    strays: Strays,
    grace_s: float = GRACE_S,
) -> Finished:
    """Run it to its end. `timeout_s` counts from the start of the process. Raises CannotStart."""
    try:
        process = subprocess.Popen(  # noqa: ASYNC220 - starting takes about a millisecond; waiting is what would block
            list(argv),
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise CannotStart(str(error)) from None
    brand.began(process.pid)
    strays.began(process.pid)
    try:
        call = _Running(process, mark, sink)
        ended_by = await call.ended(timeout_s, cancelled)
        sent = await call.stop(grace_s) if ended_by != "itself" else ()
        await call.drained(LINGER_S)
    finally:
        strays.ended(process.pid)
    left = await asyncio.to_thread(tree.members, process.pid, mark)
    await asyncio.to_thread(brand.ended, process.pid)
    for pid in left:  # one that was started before its parent could be branded
        brand.brand(pid)
    if left:
        strays.add(process.pid, mark)
    call.let_go()
    code = process.returncode
    return Finished(
        exit_code=code if code >= 0 else None,
        signal=signal.Signals(-code).name if code < 0 else None,
        ended_by=ended_by,
        signals_sent=sent,
        left=tuple(sorted(left)),
    )


class _Running:
    """A process between its start and its end."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, sink: Sink) -> None:
        self._process, self._mark = process, mark
        self._sink: Sink | None = sink
        self._loop = asyncio.get_running_loop()
        self._exit = asyncio.Event()
        self._closed = asyncio.Event()
        self._open: dict[int, tuple[Stream, IO[bytes]]] = {}
        streams: tuple[tuple[Stream, IO[bytes] | None], ...] = (("stdout", process.stdout), ("stderr", process.stderr))
        for name, pipe in streams:
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._open[pipe.fileno()] = (name, pipe)
                self._loop.add_reader(pipe.fileno(), self._read, name, pipe.fileno())
        # a thread, not the loop's child watcher: asyncio's own wait can hang on a pipe that a grandchild holds
        threading.Thread(target=self._wait, daemon=True, name=f"wait-{process.pid}").start()

    def _wait(self) -> None:
        self._process.wait()
        with suppress(RuntimeError):  # the loop may be gone when the host ends
            self._loop.call_soon_threadsafe(self._exit.set)

    def _read(self, name: Stream, handle: int) -> None:
        try:
            data = os.read(handle, CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.remove_reader(handle)
            self._open.pop(handle)[1].close()
            if not self._open:
                self._closed.set()
        elif self._sink is not None:
            self._sink(name, data)

    async def ended(self, timeout_s: float, cancelled: asyncio.Event) -> Literal["itself", "timeout", "cancelled"]:
        """Wait until it ends, its time is up, or it must end."""
        exited = asyncio.create_task(self._exit.wait())
        stopped = asyncio.create_task(cancelled.wait())
        try:
            await asyncio.wait({exited, stopped}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            exited.cancel()
            stopped.cancel()
        if self._exit.is_set():
            return "itself"
        return "cancelled" if cancelled.is_set() else "timeout"

    async def stop(self, grace_s: float) -> tuple[str, ...]:
        """TERM to the whole tree, then KILL until nothing of it lives."""
        sent = ["SIGTERM"]
        await asyncio.to_thread(tree.send, self._process.pid, self._mark, signal.SIGTERM)
        deadline = self._loop.time() + grace_s
        # processes that are not our children give no event when they end: they can only be looked for
        while self._loop.time() < deadline and await self._members():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        for _ in range(250):
            if not await asyncio.to_thread(tree.send, self._process.pid, self._mark, signal.SIGKILL):
                break
            if sent[-1] != "SIGKILL":
                sent.append("SIGKILL")
            await asyncio.sleep(0.02)
        await self._exit.wait()
        return tuple(sent)

    async def _members(self) -> set[int]:
        return await asyncio.to_thread(tree.members, self._process.pid, self._mark)

    async def drained(self, linger_s: float) -> None:
        """Take what the process wrote before it ended; an open pipe is not waited for longer than `linger_s`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closed.wait(), linger_s)
        for handle, (name, _) in list(self._open.items()):
            # what the process itself wrote is in the pipe already (64 KiB by default on Linux, and at most 1 MiB)
            for _ in range((1 << 20) // CHUNK):
                if handle in self._open:
                    self._read(name, handle)

    def let_go(self) -> None:
        """Hand nothing on any more. Pipes that a child still holds are read until it closes them, so that it lives on."""
        self._sink = None
