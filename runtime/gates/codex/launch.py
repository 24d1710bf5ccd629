"""`interlock codex`: Codex's own screen on an app-server that this process is a client of too (AG-3).

Promises: both the person's screen of Codex and the inbox can answer at any moment; when Codex's screen ends, all that was
started for it ends. Codex's own sandbox and rules stay as they are.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from interlock.runtime.gates.codex.app_server import AppServer, ServerGone
from interlock.runtime.gates.codex.attach import Attached
from interlock.runtime.gates.foreground import NotStarted, Server, end_server, environment, run_screen, start_server
from interlock.runtime.gates.host import GateHost
from interlock.runtime.journal.place import run_home

_log = logging.getLogger(__name__)
PATIENCE_S = 60.0
FIRST_S = 2.0
"""Head start of Codex's own screen: the first client gives the sessions the name that their record keeps."""


async def launch(host: GateHost, arguments: Sequence[str], program: str = "codex") -> int:
    """Run Codex with these arguments to its end. Raises NotStarted."""
    path = run_home() / f"codex-{os.getpid()}-{secrets.token_hex(3)}.sock"
    env = environment()
    log = path.with_suffix(".log")
    server = await start_server([program, "app-server", "--listen", f"unix://{path}"], log, env)
    host.learn([server.process.pid])
    watching: asyncio.Task[None] | None = None
    try:
        await _listening(server, path, log)
        watching = asyncio.create_task(_watch(path, host))
        return await run_screen([program, "--remote", f"unix://{path}", *arguments], env, server)
    finally:
        if watching is not None:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
        await end_server(server)
        for left in (path, log):
            left.unlink(missing_ok=True)


async def _listening(server: Server, path: Path, log: Path) -> None:
    for _ in range(int(PATIENCE_S * 20)):
        if path.exists():
            return
        if server.process.returncode is not None:
            break
        await asyncio.sleep(0.05)
    told = log.read_bytes()[-2000:].decode("utf-8", "replace").strip()
    raise NotStarted(f"codex app-server did not come up: {told or 'it said nothing'}")


async def _watch(path: Path, host: GateHost) -> None:
    await asyncio.sleep(FIRST_S)
    try:
        server = await AppServer.connect(os.path.realpath(path))
    except ServerGone as error:
        _log.error("codex asks alone: %s", error)
        return
    try:
        await Attached(server, host).run()
    finally:
        await server.close()
