"""The HTTP that hooks speak: bounds, broken requests, callers that hang up."""

from __future__ import annotations

import asyncio
import json

import pytest

from interlock.runtime.gates.service.http import MAX_BODY_BYTES, HttpServer, Reply, Request

PATIENCE_S = 30


class Bench:
    """A server whose handler can be held."""

    def __init__(self) -> None:
        self.seen: list[Request] = []
        self.hold = asyncio.Event()
        self.hold.set()
        self.left = asyncio.Event()
        self.server = HttpServer(self.handle)
        self.port = 0

    async def handle(self, request: Request) -> Reply:
        self.seen.append(request)
        if request.path == "/fault":
            raise RuntimeError("a fault of the handler")
        waiting = [asyncio.ensure_future(self.hold.wait()), asyncio.ensure_future(request.gone.wait())]
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for one in waiting:
            one.cancel()
        if request.gone.is_set():
            self.left.set()
        return Reply({"size": len(request.body)})

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def say(self, data: bytes) -> tuple[int, dict]:
        """One request on a connection of its own."""
        reader, writer = await self.connect()
        writer.write(data)
        try:
            return await asyncio.wait_for(reply(reader), PATIENCE_S)
        finally:
            writer.close()


async def reply(reader: asyncio.StreamReader) -> tuple[int, dict]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    size = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
    return int(head.split(" ")[1]), json.loads(await reader.readexactly(size))


def post(body: bytes, path: str = "/x", more: str = "") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: gate\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


@pytest.fixture
async def bench():
    made = Bench()
    probe = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    made.port = probe.sockets[0].getsockname()[1]
    probe.close()
    await probe.wait_closed()
    await made.server.listen_tcp(made.port)
    yield made
    await made.server.close()


async def test_connection_is_kept_for_many_requests(bench):
    reader, writer = await bench.connect()
    for size in (0, 1, 100_000):
        writer.write(post(b"x" * size))
        assert await asyncio.wait_for(reply(reader), PATIENCE_S) == (200, {"size": size})
    writer.close()


async def test_request_in_single_bytes_is_the_same_request(bench):
    reader, writer = await bench.connect()
    for byte in post(b'{"a": 1}'):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0)
    assert (await asyncio.wait_for(reply(reader), PATIENCE_S))[1] == {"size": 8}
    writer.close()


async def test_second_request_that_comes_too_early_waits_its_turn(bench):
    reader, writer = await bench.connect()
    writer.write(post(b"one") + post(b"three"))
    assert await asyncio.wait_for(reply(reader), PATIENCE_S) == (200, {"size": 3})
    assert await asyncio.wait_for(reply(reader), PATIENCE_S) == (200, {"size": 5})
    writer.close()


async def test_handler_is_told_at_once_when_the_caller_hangs_up(bench):
    bench.hold.clear()
    _, writer = await bench.connect()
    writer.write(post(b"{}"))
    while not bench.seen:
        await asyncio.sleep(0)
    writer.close()
    await asyncio.wait_for(bench.left.wait(), PATIENCE_S)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"POST /x SPDY/9\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nno colon here\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (f"POST /x HTTP/1.1\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode(), 413),
        (b"POST /x HTTP/1.1\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", 431),
    ],
)
async def test_broken_request_is_told_what_is_wrong_and_reaches_no_gate(bench, data, status):
    assert (await bench.say(data))[0] == status
    assert bench.seen == []


async def test_no_more_connections_are_held_than_the_bound(bench, monkeypatch):
    monkeypatch.setattr("interlock.runtime.gates.service.http.MAX_CONNECTIONS", 2)
    held = [await bench.connect() for _ in range(2)]
    while bench.server.connections < 2:
        await asyncio.sleep(0)
    reader, writer = await bench.connect()
    assert await asyncio.wait_for(reader.read(), PATIENCE_S) == b""
    for _, one in (*held, (reader, writer)):
        one.close()


async def test_fault_of_a_gate_is_an_error_for_that_caller_alone(bench):
    assert (await bench.say(post(b"", "/fault")))[0] == 500
    assert (await bench.say(post(b"")))[0] == 200


async def test_caller_that_leaves_in_the_middle_of_a_body_reaches_no_gate(bench):
    _, writer = await bench.connect()
    writer.write(b"POST /x HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf")
    await writer.drain()
    writer.close()
    assert await bench.say(post(b"")) == (200, {"size": 0})
    assert len(bench.seen) == 1


async def test_curl_that_asks_before_a_large_body_is_told_to_go_on(bench):
    reader, writer = await bench.connect()
    writer.write(b"POST /x HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    assert (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE_S)).startswith(b"HTTP/1.1 100")
    writer.write(b"abc")
    assert await asyncio.wait_for(reply(reader), PATIENCE_S) == (200, {"size": 3})
    writer.close()
