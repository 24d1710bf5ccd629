"""A conversation with Codex's app-server: requests both ways and notices, over a WebSocket.

Promises: every request of ours gets its answer or `ServerGone`; what the server says comes in order through `messages`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import ClientConnection, unix_connect
from websockets.exceptions import WebSocketException

from interlock.runtime.version import __version__

PATIENCE_S = 30.0
MOST_BYTES = 64 << 20
"""Of one message."""


class ServerGone(Exception):
    """The app-server does not answer any more, or never did; the message says why."""


class ServerRefused(Exception):
    """The app-server answered a request with an error."""


class AppServer:
    """One client of an app-server. Read `messages` in one place; the answers to `call` come through it."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._count = 0
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._messages: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def connect(cls, path: str) -> AppServer:
        """Say hello on a socket. Raises ServerGone."""
        try:
            # this machine's own server: nothing to compress, and a process that hangs is noticed by what it does not answer
            socket = await unix_connect(path, max_size=MOST_BYTES, compression=None, ping_interval=None)
        except (OSError, TimeoutError, EOFError, WebSocketException) as error:
            raise ServerGone(f"codex app-server cannot be reached on {path}: {error}") from None
        server = cls(socket)
        about = {"name": "interlock", "title": "Interlock", "version": __version__}
        try:
            await server.call("initialize", {"clientInfo": about, "capabilities": {"experimentalApi": True}})
            await server.tell("initialized")
        except (ServerGone, ServerRefused) as error:
            await server.close()
            raise ServerGone(str(error)) from None
        return server

    async def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the server. Raises ServerGone or ServerRefused."""
        self._count += 1
        number = self._count
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._send({"id": number, "method": method, "params": params})
                message = await answer
        except TimeoutError:
            raise ServerGone(f"codex app-server did not answer {method} within {PATIENCE_S:.0f} s") from None
        finally:
            self._waiting.pop(number, None)
        if "error" in message:
            raise ServerRefused(f"codex app-server refused {method}: {str(message['error'])[:300]}")
        result = message.get("result")
        return result if isinstance(result, dict) else {}

    async def tell(self, method: str) -> None:
        """Send a notice. Raises ServerGone."""
        await self._send({"method": method})

    async def answer(self, request: Any, result: Mapping[str, Any]) -> None:
        """Answer a request of the server. Raises ServerGone."""
        await self._send({"id": request, "result": result})

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Notices and requests of the server, until it is gone."""
        while (message := await self._messages.get()) is not None:
            yield message

    async def close(self) -> None:
        """End the conversation."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        await self._socket.close()

    async def _send(self, message: Mapping[str, Any]) -> None:
        try:
            await self._socket.send(json.dumps(message))
        except WebSocketException as error:
            raise ServerGone(f"codex app-server is gone: {error}") from None

    async def _read(self) -> None:
        why = "the conversation was ended"
        try:
            while True:
                self._take(await self._socket.recv())
        except WebSocketException as error:
            why = str(error)
        finally:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(ServerGone(f"codex app-server is gone: {why}"))
            self._messages.put_nowait(None)

    def _take(self, text: str | bytes) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        if "method" in message:
            self._messages.put_nowait(message)
        elif (waiting := self._waiting.get(message.get("id"))) is not None and not waiting.done():  # type: ignore[arg-type]
            waiting.set_result(message)
