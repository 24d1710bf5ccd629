"""Run a command's work so that it ends in order when the process is told to end.

Promises: SIGTERM, SIGHUP and SIGINT cancel the work and wait for it: what it runs is stopped, what it asked is closed,
and the record says how it ended. A second signal changes nothing; only SIGKILL leaves things open.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from interlock.runtime.cli.fault import CommandFault

_Result = TypeVar("_Result")
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def run_stoppable(work: Coroutine[Any, Any, _Result]) -> _Result:
    """The result of the work. Raises CommandFault with exit code 128 + number when a signal ended it."""
    return asyncio.run(_until_told(work))


async def _until_told(work: Coroutine[Any, Any, _Result]) -> _Result:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    told: list[int] = []

    def stop(number: int) -> None:
        if not told:
            task.cancel()
        told.append(number)

    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            loop.add_signal_handler(number, stop, number)
    try:
        return await task
    except asyncio.CancelledError:
        if not told:
            raise
        name = signal.Signals(told[0]).name
        raise CommandFault(f"stopped by {name}; what ran was ended and is on record.", 128 + told[0]) from None
