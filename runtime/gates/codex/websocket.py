"""A WebSocket client over a Unix socket, as much of RFC 6455 as a JSON conversation on this machine needs.

Promises: messages whole and in order; frames masked as clients must; pings answered; a message above `MOST_BYTES`, a frame that
breaks the rules, or the end of the stream ends the conversation with `WebSocketClosed`. Text only, no extensions.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import struct
from contextlib import suppress

MOST_BYTES = 64 << 20
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10


class WebSocketClosed(Exception):
    """The conversation is over; the message says why."""


class WebSocket:
    """One conversation. Make it with `connect`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._writing = asyncio.Lock()

    @classmethod
    async def connect(cls, path: str, *, timeout: float = 10.0) -> WebSocket:
        """Open a conversation on a socket. Raises OSError, TimeoutError or WebSocketClosed."""
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_unix_connection(path, limit=1 << 16)
            try:
                key = base64.b64encode(os.urandom(16))
                writer.write(
                    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Key: " + key + b"\r\nSec-WebSocket-Version: 13\r\n\r\n"
                )
                await writer.drain()
                _check(await reader.readuntil(b"\r\n\r\n"), key)
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError) as error:
                writer.close()
                raise WebSocketClosed(f"no WebSocket answers on {path} ({type(error).__name__})") from None
            except BaseException:
                writer.close()
                raise
        return cls(reader, writer)

    async def send(self, text: str) -> None:
        """Send a message. Raises WebSocketClosed."""
        await self._frame(_TEXT, text.encode())

    async def receive(self) -> str:
        """The next message. Raises WebSocketClosed at the end of the conversation."""
        parts: list[bytes] = []
        try:
            while True:
                kind, last, data = await self._read_frame(MOST_BYTES - sum(map(len, parts)))
                if kind == _PING:
                    await self._frame(_PONG, data)
                elif kind == _CLOSE:
                    raise WebSocketClosed("the other side ended the conversation")
                elif kind in (_TEXT, _BINARY, _CONTINUED):
                    if (kind == _CONTINUED) != bool(parts):
                        raise WebSocketClosed("the parts of a message are not in order")
                    parts.append(data or b"")
                    if last:
                        return b"".join(parts).decode()
        except (asyncio.IncompleteReadError, ConnectionError, UnicodeDecodeError) as error:
            raise WebSocketClosed(f"the stream ended ({type(error).__name__})") from None

    async def close(self) -> None:
        """End the conversation."""
        with suppress(WebSocketClosed):
            await self._frame(_CLOSE, b"")
        self._writer.close()
        with suppress(OSError):
            await self._writer.wait_closed()

    async def _frame(self, kind: int, data: bytes) -> None:
        head = bytes([0x80 | kind])
        size = len(data)
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        mask = os.urandom(4)
        try:
            async with self._writing:
                self._writer.write(head + mask + _masked(data, mask))
                await self._writer.drain()
        except (ConnectionError, RuntimeError) as error:
            raise WebSocketClosed(f"the stream ended ({type(error).__name__})") from None

    async def _read_frame(self, room: int) -> tuple[int, bool, bytes]:
        first, second = await self._reader.readexactly(2)
        if first & 0x70 or second & 0x80:
            raise WebSocketClosed("a frame breaks the rules")
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", await self._reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await self._reader.readexactly(8))
        if size > room:
            raise WebSocketClosed(f"a message is larger than {MOST_BYTES} bytes")
        return first & 0x0F, bool(first & 0x80), await self._reader.readexactly(size)


def _masked(data: bytes, mask: bytes) -> bytes:
    size = len(data)
    key = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")


def _check(head: bytes, key: bytes) -> None:
    first, _, rest = head.partition(b"\r\n")
    expected = base64.b64encode(hashlib.sha1(key + _GUID, usedforsecurity=False).digest())
    fields = dict(line.split(b":", 1) for line in rest.split(b"\r\n") if b":" in line)
    accepted = {name.strip().lower(): value.strip() for name, value in fields.items()}
    if b" 101 " not in first + b" " or accepted.get(b"sec-websocket-accept") != expected:
        raise WebSocketClosed(f"the server does not speak WebSocket: {first[:100].decode('latin-1')}")
