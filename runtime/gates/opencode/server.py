"""Talking to an opencode server on this machine: plain requests, and its stream of events.

Promises: only 127.0.0.1 is reached; an answer or an event that cannot be read is passed over with a word in the log; the end of
the stream is the end of `events`. As much HTTP/1.1 as that server speaks.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote

_log = logging.getLogger(__name__)
PATIENCE_S = 30.0
HEAD_S = 5.0
"""A request that opencode took in while it was starting is sometimes never answered."""
SILENCE_S = 60.0
"""A stream without a word for so long is taken up anew; opencode sends a sign of life more often."""
MOST_BYTES = 64 << 20
_LINE = 1 << 20


class ServerFault(Exception):
    """The server cannot be reached or refused; the message says why."""


class OpencodeServer:
    """The server behind one port."""

    def __init__(self, port: int, directory: str, password: str = "") -> None:
        self._port = port
        self._query = f"?directory={quote(directory, safe='')}"
        user = base64.b64encode(f"opencode:{password}".encode()).decode()
        self._auth = f"Authorization: Basic {user}\r\n" if password else ""

    async def get(self, path: str) -> Any:
        """Ask for something. Raises ServerFault."""
        return await self._exchange("GET", path, None)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Send something. Raises ServerFault."""
        return await self._exchange("POST", path, json.dumps(body).encode())

    async def events(self) -> AsyncIterator[dict[str, Any]]:
        """Every event of every folder from now on, until the stream ends: `{"directory": …, "payload": {…}}`.

        The stream of one folder ends unheard when opencode sets that folder up anew. Raises ServerFault.
        """
        reader, writer = await self._open("GET", "/global/event", None, "text/event-stream")
        try:
            async with asyncio.timeout(HEAD_S):
                status, headers = await _head(reader)
            if status != 200:
                raise ServerFault(f"opencode answered the request for events with {status}")
            lines = _lines(_body(reader, headers))
            while True:
                # not wait_for: it can lose the cancelling of who waits
                async with asyncio.timeout(SILENCE_S):
                    line = await anext(lines, None)
                if line is None:
                    return
                if line.startswith(b"data:"):
                    with suppress(ValueError, RecursionError):
                        event = json.loads(line[5:])
                        if isinstance(event, dict):
                            yield event
        except TimeoutError:
            raise ServerFault("opencode's stream of events says nothing") from None
        finally:
            writer.close()

    async def _exchange(self, method: str, path: str, body: bytes | None) -> Any:
        try:
            async with asyncio.timeout(PATIENCE_S):
                reader, writer = await self._open(method, path, body, "application/json")
                try:
                    status, headers = await _head(reader)
                    data = b"".join([chunk async for chunk in _body(reader, headers)])
                finally:
                    writer.close()
        except TimeoutError:
            raise ServerFault(f"opencode did not answer {method} {path} within {PATIENCE_S:.0f} s") from None
        if status >= 300:
            raise ServerFault(
                f"opencode answered {method} {path} with {status}: {data[:200].decode('utf-8', 'replace')}"
            )
        try:
            return json.loads(data) if data else None
        except (ValueError, RecursionError):
            raise ServerFault(f"the answer of opencode to {method} {path} is no JSON") from None

    async def _open(
        self, method: str, path: str, body: bytes | None, accept: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        sized = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body is not None else ""
        head = (
            f"{method} {path}{self._query} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nAccept: {accept}\r\n"
            f"Connection: close\r\n{self._auth}{sized}\r\n"
        )
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=_LINE)
            writer.write(head.encode() + (body or b""))
            await writer.drain()
        except OSError as error:
            raise ServerFault(f"opencode cannot be reached on port {self._port}: {error.strerror or error}") from None
        return reader, writer


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    try:
        raw = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError) as error:
        raise ServerFault(f"opencode sent no answer ({type(error).__name__})") from None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) < 2 or not words[1].isdigit():
        raise ServerFault("opencode sent no answer that can be read")
    pairs = (line.partition(":") for line in lines)
    return int(words[1]), {name.strip().lower(): value.strip() for name, _, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> AsyncIterator[bytes]:
    try:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            while size := int((await reader.readline()).split(b";")[0].strip() or b"0", 16):
                if size > MOST_BYTES:
                    raise ServerFault("opencode sent too much at once")
                yield await reader.readexactly(size)
                await reader.readline()
        elif headers.get("content-length", "").isdigit():
            left = int(headers["content-length"])
            if left > MOST_BYTES:
                raise ServerFault("opencode sent too much at once")
            yield await reader.readexactly(left)
        else:
            while chunk := await reader.read(1 << 16):
                yield chunk
    except (asyncio.IncompleteReadError, ConnectionError, ValueError):
        return  # the server is gone


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    held = bytearray()
    async for chunk in chunks:
        held += chunk
        if len(held) > MOST_BYTES:
            raise ServerFault("opencode sent an event that is too large")
        *whole, rest = bytes(held).split(b"\n")
        held = bytearray(rest)
        for line in whole:
            yield line.rstrip(b"\r")
