"""As much HTTP/1.1 as hooks speak: a request with a length, an answer in JSON, connections that are kept.

Promises: sizes of head and body are bounded; a request that cannot be read gets an answer that says so and ends its
connection; the handler learns at once when the caller has hung up; one connection's fault is its own.
Does not promise: chunked bodies, pipelining, ranges, TLS. Only what this machine's own hooks send.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

_log = logging.getLogger(__name__)

MAX_HEAD_BYTES = 32_768
MAX_BODY_BYTES = 64 << 20
"""A hook that tells of a written file carries all of it; agents cut tool output far below this."""
_IDLE_S = 120.0
"""Seconds after which a kept connection without a request, or one that stops in the middle of one, is closed."""
_CHUNK = 1 << 16


class BadRequest(Exception):
    """The request cannot be read; `status` is the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True)
class Request:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    gone: asyncio.Event
    """Set when the caller has hung up."""
    peer: socket.socket | None
    """Of the connection, to ask the kernel who it is; None: it is closed."""
    is_local_socket: bool
    """Whether it came over the Unix socket, which only this user can open."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; the value is sent as JSON."""

    value: Any
    status: int = 200


Handler = Callable[[Request], Awaitable[Reply]]
Admission = Callable[[socket.socket, Mapping[str, str]], bool]
"""Whether a caller with these headers may be heard; asked before a body is read."""
MAX_CONNECTIONS = 256
_WORDS = {200: "OK", 400: "Bad Request", 404: "Not Found", 408: "Request Timeout", 411: "Length Required"}
_WORDS |= {413: "Content Too Large", 431: "Request Header Fields Too Large", 500: "Internal Server Error"}


class HttpServer:
    """Serves one handler on any number of sockets."""

    def __init__(self, handler: Handler, admits: Admission = lambda _made, _headers: True) -> None:
        self._handler = handler
        self._admits = admits
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def connections(self) -> int:
        """Connections that are open."""
        return len(self._tasks)

    async def listen_tcp(self, port: int) -> None:
        """Listen on 127.0.0.1 alone. Raises OSError when the port is taken."""
        self._servers.append(await asyncio.start_server(self._serve, "127.0.0.1", port, limit=MAX_HEAD_BYTES))

    async def listen_socket(self, listening: socket.socket) -> None:
        """Serve a Unix socket that listens already."""
        self._servers.append(await asyncio.start_unix_server(self._serve, sock=listening, limit=MAX_HEAD_BYTES))

    async def close(self) -> None:
        """Stop listening and end every connection; handlers are cancelled."""
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= MAX_CONNECTIONS:
            _log.warning("a connection was refused: %d are open", len(self._tasks))
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            stream = _Stream(reader)
            while await self._one(stream, writer):
                pass
        except (ConnectionError, TimeoutError, asyncio.CancelledError):
            pass  # the peer is gone, or the service ends: nobody is left to tell
        except Exception:
            _log.exception("a connection failed")
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _one(self, stream: _Stream, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; whether the connection is kept."""
        try:
            async with asyncio.timeout(_IDLE_S):
                head = await _head(stream)
                if head is None:
                    return False
                method, path, headers = head
                made: socket.socket = writer.get_extra_info("socket")
                if not self._admits(made, headers):
                    raise BadRequest(404, f"{method} {path[:100]} by a caller that may not be heard")
                body = await _body(stream.reader, writer, headers)
        except BadRequest as error:
            _log.warning("a request was refused: %s", error)
            await _send(writer, Reply({"error": str(error)}, error.status), keep=False)
            return False
        request = Request(method, path, headers, body, asyncio.Event(), made, made.family == socket.AF_UNIX)
        reply = await self._handled(request, stream)
        if reply is None:
            return False
        keep = headers.get("connection", "").lower() != "close"
        await _send(writer, reply, keep=keep)
        return keep

    async def _handled(self, request: Request, stream: _Stream) -> Reply | None:
        """The handler's reply; None: the caller hung up before it."""
        work = asyncio.ensure_future(self._handler(request))
        watch = asyncio.ensure_future(stream.look_ahead())
        try:
            await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done() and stream.is_over:
                request.gone.set()
                await work
                return None
            return await work
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise
        except Exception:
            _log.exception("a hook could not be handled")
            return Reply({"error": "the gate failed; its log says how"}, 500)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)


class _Stream:
    """A reader with one byte of looking ahead: a caller that waits for its answer sends nothing, so the end of the
    stream is its hanging up, and a byte is the beginning of its next request."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.reader = reader
        self.is_over = False
        self._ahead = b""

    async def look_ahead(self) -> None:
        """Return when the stream ends or its next byte is there. To cancel it loses nothing."""
        if not self._ahead:
            self._ahead = await self.reader.read(1)
            self.is_over = not self._ahead

    async def head(self) -> bytes:
        """The bytes of the next head; empty when the stream ended before it."""
        ahead, self._ahead = self._ahead, b""
        try:
            return ahead + await self.reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            if (ahead + error.partial).strip():
                raise BadRequest(400, "the request ends in its head") from None
            return b""
        except asyncio.LimitOverrunError:
            raise BadRequest(431, f"the head is longer than {MAX_HEAD_BYTES} bytes") from None


async def _head(stream: _Stream) -> tuple[str, str, dict[str, str]] | None:
    raw = await stream.head()
    if not raw:
        return None
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequest(400, "the request line is none")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or name.lower() in headers:
            raise BadRequest(400, "a header is no header, or is there twice")
        headers[name.lower()] = value.strip()
    return words[0], words[1].partition("?")[0], headers


async def _body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: Mapping[str, str]) -> bytes:
    if "transfer-encoding" in headers:
        raise BadRequest(411, "a body needs a length")
    told = headers.get("content-length", "0")
    if not (told.isascii() and told.isdigit()):
        raise BadRequest(400, "the length is no number")
    size = int(told)
    if size > MAX_BODY_BYTES:
        raise BadRequest(413, f"the body is longer than {MAX_BODY_BYTES} bytes")
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await writer.drain()
    try:
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        raise ConnectionResetError("the request ends in its body") from None


async def _send(writer: asyncio.StreamWriter, reply: Reply, *, keep: bool) -> None:
    data = json.dumps(reply.value).encode()
    head = (
        f"HTTP/1.1 {reply.status} {_WORDS.get(reply.status, 'Error')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        f"Connection: {'keep-alive' if keep else 'close'}\r\n\r\n"
    )
    writer.write(head.encode() + data)
    await writer.drain()
