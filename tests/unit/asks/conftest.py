"""A host with a real socket and a memory of what it recorded."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.server import AskServer
from interlock.runtime.events.permission import ToolPermission

START = datetime(2026, 1, 10, 9, tzinfo=UTC)


@dataclass
class Bench:
    """A broker over a list that stands for the journal; `broken` makes it refuse."""

    events: list = field(default_factory=list)
    broken: bool = False
    now: datetime = START

    def __post_init__(self) -> None:
        self.broker = Broker(self.record, lambda: self.now)

    def record(self, event, durable):
        if self.broken:
            raise OSError("No space left on device")
        written = event.model_copy(
            update={"seq": len(self.events), "session": event.session or "s1", "ts": self.now.isoformat()}
        )
        self.events.append(written)
        return written

    def ask(self, ask_id="a1", **more):
        values = {"intent_id": f"int_{ask_id}", "input_digest": f"d-{ask_id}", "shown_input": {"command": "echo 1"}}
        values |= {"choices": ("allow.once", "allow.session", "deny", "deny.message"), "tool": "bash"} | more
        return self.broker.open(
            ToolPermission(ask_id=ask_id, decision="ask", reason="asks", source="built-in", **values)
        )

    def of(self, kind):
        return [e for e in self.events if e.type == kind]

    def later(self, seconds):
        self.now += timedelta(seconds=seconds)


@dataclass
class Wire:
    """A bare connection: bytes out, lines in."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def line(self):
        async with asyncio.timeout(10):
            data = await self.reader.readline()
        return json.loads(data) if data else None

    async def call(self, method, number=1, **params):
        await self.send(
            json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"
        )
        return await self.line()

    async def answer(self, ask="a1", answer="allow", digest=None, **more):
        return await self.call("asks.answer", askId=ask, inputDigest=digest or f"d-{ask}", answer=answer, **more)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(folder))
    return folder


@pytest.fixture
async def server(bench: Bench, run_dir: Path):
    async with AskServer(bench.broker) as made:
        yield made


@pytest.fixture
async def dial(server: AskServer):
    made: list[Wire] = []

    async def connect() -> Wire:
        wire = Wire(*await asyncio.open_unix_connection(str(server.path)))
        made.append(wire)
        return wire

    yield connect
    for wire in made:
        wire.writer.transport.abort()
