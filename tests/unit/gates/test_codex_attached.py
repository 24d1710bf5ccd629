"""The client of Codex's app-server against a scripted one on a real socket (AG-3)."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import struct
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.gates.codex.app_server import AppServer, ServerGone
from interlock.runtime.gates.codex.attach import Attached
from interlock.runtime.gates.host import GateHost

PATIENCE_S = 30


class Peer:
    """The server's side of one conversation."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.heard: list[Any] = []
        self.news = asyncio.Event()

    async def hello(self, *, accept: bool = True) -> None:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        key = next(line.split(": ")[1] for line in head.split("\r\n") if line.lower().startswith("sec-websocket-key"))
        digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode(), usedforsecurity=False).digest()
        answer = base64.b64encode(digest).decode() if accept else "wrong"
        head = f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}"
        self.writer.write(f"HTTP/1.1 101 Switching Protocols\r\n{head}\r\n\r\n".encode())

    async def hear(self) -> tuple[int, bytes]:
        first, second = await self.reader.readexactly(2)
        assert second & 0x80, "a client masks what it sends"
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", await self.reader.readexactly(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await self.reader.readexactly(8))
        mask = await self.reader.readexactly(4)
        data = await self.reader.readexactly(size)
        return first & 0x0F, bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))

    def frame(self, data: bytes, kind: int = 1, *, last: bool = True) -> None:
        if len(data) < 126:
            size = bytes([len(data)])
        else:
            size = (
                b"\x7e" + struct.pack(">H", len(data))
                if len(data) < 1 << 16
                else b"\x7f" + struct.pack(">Q", len(data))
            )
        self.writer.write(bytes([(0x80 if last else 0) | kind]) + size + data)

    def tell(self, **message: Any) -> None:
        self.frame(json.dumps(message).encode())

    async def work(self) -> None:
        """Answer what a client asks, and keep what it answers."""
        await self.hello()
        while True:
            kind, data = await self.hear()
            if kind == 8:
                return
            if kind == 10:
                continue
            message = json.loads(data)
            self.heard.append(message)
            self.news.set()
            if message.get("method") == "thread/loaded/list":
                self.tell(id=message["id"], result={"data": ["t1"]})
            elif message.get("method") == "thread/resume":
                thread = {"cliVersion": "0.171.0", "path": "/no/rollout.jsonl", "turns": []}
                self.tell(id=message["id"], result={"cwd": self.cwd, "thread": thread})
            elif message.get("method") == "initialize":
                self.tell(id=message["id"], result={})

    cwd = "/"

    async def answer_to(self, request: int) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for message in self.heard:
                    if message.get("id") == request and "method" not in message:
                        return message["result"]
                self.news.clear()
                await self.news.wait()

    def ask(self, number: int, command: str = "make deploy", reason: str = "please") -> None:
        item = {"id": f"call_{number}", "type": "commandExecution", "command": command, "status": "inProgress"}
        self.tell(method="item/started", params={"threadId": "t1", "item": item})
        params = {"threadId": "t1", "itemId": f"call_{number}", "command": command, "cwd": self.cwd, "reason": reason}
        self.tell(method="item/commandExecution/requestApproval", id=number, params=params)

    def resolved(self, number: int) -> None:
        self.tell(method="serverRequest/resolved", params={"threadId": "t1", "requestId": number})

    def completed(self, number: int, status: str = "completed", **more: Any) -> None:
        item = {"id": f"call_{number}", "type": "commandExecution", "status": status, **more}
        self.tell(method="item/completed", params={"threadId": "t1", "item": item})


Serve = Callable[..., Any]


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    servers: list[asyncio.Server] = []

    async def serving(work: Callable[[Peer], Any]) -> tuple[str, asyncio.Future[Peer]]:
        came: asyncio.Future[Peer] = asyncio.get_running_loop().create_future()

        async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            peer = Peer(reader, writer)
            if not came.done():
                came.set_result(peer)
            try:
                await work(peer)
            except asyncio.IncompleteReadError:
                pass
            finally:
                writer.close()

        path = str(tmp_path / "as.sock")
        servers.append(await asyncio.start_unix_server(one, path))
        return path, came

    yield serving
    for server in servers:
        server.close()


@pytest.fixture
async def peer(serve: Serve, gate_host: GateHost, machine: Any) -> AsyncIterator[Peer]:
    """A server whose one thread we are attached to."""
    path, came = await serve(Peer.work)
    Peer.cwd = str(machine.project)
    server = await AppServer.connect(path)
    working = asyncio.create_task(Attached(server, gate_host).run())
    async with asyncio.timeout(PATIENCE_S):
        while not gate_host.ledgers:
            await asyncio.sleep(0.01)
    yield await came
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await server.close()


async def test_messages_pass_in_parts_with_pings_between_and_of_any_size(serve: Serve) -> None:
    big = {"method": "big", "params": {"text": "é" * 70_000}}
    small = json.dumps({"method": "small", "params": {"text": "hé"}}, ensure_ascii=False).encode()
    cut = small.index("é".encode()) + 1

    async def work(peer: Peer) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(peer.work())
            while not any(message.get("method") == "initialized" for message in peer.heard):
                await asyncio.sleep(0.01)
            peer.frame(small[:cut], last=False)
            peer.frame(b"are you there", kind=9)
            peer.frame(small[cut:], kind=0)
            peer.tell(**big)

    path, _ = await serve(work)
    server = await AppServer.connect(path)
    messages = server.messages()
    assert (await asyncio.wait_for(anext(messages), PATIENCE_S))["params"]["text"] == "hé"
    assert await asyncio.wait_for(anext(messages), PATIENCE_S) == big
    await server.close()


@pytest.mark.parametrize(
    "frame",
    [b"\xc1\x00", b"\x81\x81aaaa", b"\x80\x00", b"\x88\x00", b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xff", b"\x81"],
)
async def test_what_breaks_the_rules_ends_the_conversation(serve: Serve, frame: bytes) -> None:
    async def work(peer: Peer) -> None:
        await peer.hello()
        await peer.hear()
        peer.writer.write(frame)
        await peer.writer.drain()

    path, _ = await serve(work)
    with pytest.raises(ServerGone):
        await asyncio.wait_for(AppServer.connect(path), PATIENCE_S)


async def test_a_server_that_is_none_is_told(serve: Serve, tmp_path: Path) -> None:
    path, _ = await serve(lambda peer: peer.hello(accept=False))
    with pytest.raises(ServerGone):
        await AppServer.connect(path)
    with pytest.raises(ServerGone):
        await AppServer.connect(str(tmp_path / "nothing.sock"))


async def test_an_answer_of_a_person_reaches_codex_and_counts_when_the_item_is_over(
    peer: Peer, gate_host: GateHost, approver: Any, events: Any
) -> None:
    peer.ask(1)
    ask = await approver.opened()
    assert ask.event["agentReason"] == "please"
    await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    assert await peer.answer_to(1) == {"decision": "accept"}
    ledger = gate_host.ledgers[0]
    peer.resolved(1)
    assert "tool.permission.delivered" not in [e["type"] for e in events(ledger)]
    peer.completed(1, exitCode=3, aggregatedOutput="é")
    ended = await seen(events, ledger, "tool.observation")
    assert (ended["ok"], ended["summary"], ended["metrics"]["outputBytes"]) == (False, "exit code 3", 2)
    assert "tool.permission.delivered" in [e["type"] for e in events(ledger)]


async def seen(events: Any, ledger: Any, kind: str) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = [event for event in events(ledger) if event["type"] == kind]
            if found:
                return found[-1]
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(("status", "answer"), [("completed", "allow"), ("declined", "deny")])
async def test_an_answer_elsewhere_takes_the_ask_away_and_the_item_tells_which(
    peer: Peer, gate_host: GateHost, approver: Any, events: Any, status: str, answer: str
) -> None:
    peer.ask(1)
    await approver.opened()
    peer.resolved(1)
    peer.completed(1, status)
    told = await seen(events, gate_host.ledgers[0], "tool.permission.answered")
    assert (told["answer"], told["by"]["kind"]) == (answer, "native_prompt")
    assert gate_host.broker.pending() == ()


async def test_an_answer_elsewhere_whose_item_says_nothing_yet_takes_the_ask_away_too(
    peer: Peer, gate_host: GateHost, approver: Any, events: Any
) -> None:
    peer.ask(1)
    await approver.opened()
    peer.resolved(1)
    told = await seen(events, gate_host.ledgers[0], "tool.permission.closed")
    assert told["message"] == "answered in Codex's own prompt"


async def test_the_policy_answers_at_once(peer: Peer, machine: Any) -> None:
    machine.policy('deny = ["rm *"]\nallow = ["make build"]\n')
    peer.ask(1, "/bin/bash -lc 'rm -rf x'")
    assert await peer.answer_to(1) == {"decision": "decline"}
    peer.ask(2, "make build", reason="")
    assert await peer.answer_to(2) == {"decision": "accept"}


async def test_what_would_run_outside_the_sandbox_is_asked_about_whatever_a_rule_says(
    peer: Peer, machine: Any, approver: Any
) -> None:
    machine.policy('allow = ["make build"]\n')
    peer.ask(1, "make build", reason="May I build outside the sandbox?")
    ask = await approver.opened()
    assert ask.event["risks"][0] == "runs OUTSIDE the sandbox of Codex"
    await approver.client.answer(ask.ask_id, ask.input_digest, "deny")
    assert await peer.answer_to(1) == {"decision": "decline"}


async def test_a_question_is_shown_and_never_answered_here(peer: Peer, gate_host: GateHost, approver: Any) -> None:
    peer.tell(method="item/tool/requestUserInput", id=4, params={"threadId": "t1", "itemId": "q", "questions": []})
    ask = await approver.opened()
    assert ask.event["choices"] == []
    peer.resolved(4)
    async with asyncio.timeout(PATIENCE_S):
        while gate_host.broker.pending():
            await asyncio.sleep(0.02)
    assert [m for m in peer.heard if m.get("id") == 4 and "method" not in m] == []


async def test_when_the_server_is_gone_nothing_stays_open(peer: Peer, gate_host: GateHost, approver: Any) -> None:
    peer.ask(1)
    await approver.opened()
    peer.writer.close()
    async with asyncio.timeout(PATIENCE_S):
        while gate_host.ledgers:
            await asyncio.sleep(0.02)
    assert gate_host.broker.pending() == ()
