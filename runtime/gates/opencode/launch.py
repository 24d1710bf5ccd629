"""`interlock opencode`: opencode's own screen with a port that this process is a client of (AG-3).

Promises: both opencode's screen and the inbox can answer at any moment.
Does not promise: to keep others of this machine from that port. opencode asks for a password there, but its own shell commands
inherit it; the plugin of `interlock connect opencode` opens no port.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress

from interlock.runtime.gates.foreground import environment, free_port, run_screen
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.opencode.attach import Attached
from interlock.runtime.gates.opencode.server import OpencodeServer


async def launch(host: GateHost, arguments: Sequence[str], program: str = "opencode") -> int:
    """Run opencode with these arguments to its end. Raises NotStarted."""
    port, password, directory = free_port(), secrets.token_urlsafe(18), os.getcwd()
    env = environment() | {"OPENCODE_SERVER_PASSWORD": password}
    attached = Attached(OpencodeServer(port, directory, password), host, directory)
    watching = asyncio.create_task(attached.run())
    try:
        return await run_screen([program, "--port", str(port), *arguments], env)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
