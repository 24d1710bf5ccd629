"""The client of opencode's server against a scripted one on loopback (AG-3)."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.opencode.attach import Attached
from interlock.runtime.gates.opencode.server import OpencodeServer, ServerFault

PATIENCE_S = 30
SAID = "rather “not”"


def question(number: int) -> dict[str, Any]:
    about = {"id": f"per_{number}", "sessionID": "o1", "permission": "bash", "patterns": ["make deploy"]}
    return {**about, "metadata": {"command": "make deploy"}, "tool": {"messageID": "m", "callID": f"call_{number}"}}


class Scripted:
    """A server that keeps what it is told and streams what a test wants."""

    def __init__(self) -> None:
        self.posts: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self.waiting: list[Any] = []
        self.streams: list[asyncio.StreamWriter] = []
        self.opened = asyncio.Event()
        self.heads: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.heads.append(head)
        method, target, _ = head.split(" ", 2)
        path = target.split("?")[0]
        if path == "/global/event":
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            self.streams.append(writer)
            self.tell("server.connected", {})
            self.opened.set()
            return
        size = next(
            (int(row.split(":")[1]) for row in head.split("\r\n") if row.lower().startswith("content-length")), 0
        )
        body = await reader.readexactly(size)
        told: Any = {"/permission": self.waiting, "/global/health": {"version": "1.18.33"}}.get(path, True)
        if method == "POST":
            self.posts.put_nowait((target, json.loads(body)))
        data = json.dumps(told).encode()
        status = "404 Not Found" if path == "/missing" else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
        writer.close()

    def tell(self, kind: str, properties: dict[str, Any]) -> None:
        """One event, cut into chunks at odd places."""
        event = {"directory": "/p", "payload": {"type": kind, "properties": properties}}
        data = f"data: {json.dumps(event)}\r\n\r\n".encode()
        for part in (data[:7], data[7:8], data[8:]):
            self.streams[-1].write(f"{len(part):x}\r\n".encode() + part + b"\r\n")

    async def post(self) -> tuple[str, Any]:
        return await asyncio.wait_for(self.posts.get(), PATIENCE_S)


@pytest.fixture
async def server() -> AsyncIterator[tuple[Scripted, int]]:
    scripted = Scripted()
    listening = await asyncio.start_server(scripted.serve, "127.0.0.1", 0)
    yield scripted, listening.sockets[0].getsockname()[1]
    for stream in scripted.streams:
        stream.close()
    listening.close()


@pytest.fixture
async def scripted(server: tuple[Scripted, int], gate_host: GateHost, machine: Any) -> AsyncIterator[Scripted]:
    """A server that we are attached to."""
    made, port = server
    made.waiting = [question(0)]
    attached = Attached(OpencodeServer(port, str(machine.project), "secret"), gate_host, str(machine.project))
    working = asyncio.create_task(attached.run())
    await asyncio.wait_for(made.opened.wait(), PATIENCE_S)
    yield made
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)


async def test_a_question_that_was_open_before_is_answered(
    scripted: Scripted, approver: Any, gate_host: GateHost
) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not (asks := await approver.client.list()):
            await asyncio.sleep(0.02)
    await approver.client.answer(asks[0].ask_id, asks[0].input_digest, "deny", message=SAID)
    target, body = await scripted.post()
    assert target.startswith("/permission/per_0/reply?directory=%2F")
    assert body == {"reply": "reject", "message": SAID}
    assert gate_host.ledgers[0].agent.version == "1.18.33"


async def test_an_answer_counts_when_opencodes_record_shows_it(
    scripted: Scripted, approver: Any, gate_host: GateHost, events: Any
) -> None:
    await approver.opened()
    scripted.tell("permission.asked", question(1))
    ask = await approver.opened()
    await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    assert (await scripted.post())[1] == {"reply": "once"}
    scripted.tell("permission.replied", {"sessionID": "o1", "requestID": "per_1", "reply": "once"})
    assert "tool.permission.delivered" not in [e["type"] for e in events(gate_host.ledgers[0])]
    state = {"status": "completed", "output": "é", "metadata": {"exit": 0}, "time": {"start": 5, "end": 12}}
    part = {"type": "tool", "sessionID": "o1", "callID": "call_1", "state": state}
    scripted.tell("message.part.updated", {"part": part})
    async with asyncio.timeout(PATIENCE_S):
        while not (ended := [e for e in events(gate_host.ledgers[0]) if e["type"] == "tool.observation"]):
            await asyncio.sleep(0.02)
    assert ended[0]["metrics"]["durationMs"] == 7
    assert "tool.permission.delivered" in [e["type"] for e in events(gate_host.ledgers[0])]


async def test_a_stream_that_breaks_is_taken_up_again(scripted: Scripted, approver: Any) -> None:
    await approver.opened()
    scripted.opened.clear()
    scripted.streams[-1].close()
    await asyncio.wait_for(scripted.opened.wait(), PATIENCE_S)
    scripted.tell("permission.asked", question(2))
    assert (await approver.opened()).event["tool"] == "bash"
    assert len(await approver.client.list()) == 2


async def test_a_question_whose_events_were_not_heard_comes_and_goes_all_the_same(
    scripted: Scripted, approver: Any, gate_host: GateHost
) -> None:
    await approver.opened()
    scripted.waiting.append(question(3))
    await approver.opened()
    scripted.waiting.clear()
    async with asyncio.timeout(PATIENCE_S):
        while gate_host.broker.pending():
            await asyncio.sleep(0.02)
    assert scripted.posts.empty()


async def test_the_password_goes_with_every_request(scripted: Scripted) -> None:
    word = base64.b64encode(b"opencode:secret").decode()
    assert all(f"Authorization: Basic {word}" in head for head in scripted.heads)


async def test_a_server_that_refuses_or_is_not_there_is_told(server: tuple[Scripted, int]) -> None:
    _, port = server
    with pytest.raises(ServerFault, match="404"):
        await OpencodeServer(port, "/p").get("/missing")
    with pytest.raises(ServerFault, match="cannot be reached"):
        await OpencodeServer(1, "/p").get("/permission")
