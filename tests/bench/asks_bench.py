"""The socket: how long an ask and an answer travel, and how many a host can take."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import tempfile
import threading
import time
from pathlib import Path

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.asks.server import AskServer
from interlock.runtime.events.permission import ToolPermission

ROUNDS = 300
MANY = 1000


def run() -> list[tuple[str, str, str]]:
    """All figures in milliseconds of wall time, medians; the journal is a list in memory (no fsync)."""
    with tempfile.TemporaryDirectory(prefix="il") as folder:
        os.environ["INTERLOCK_RUN_DIR"] = folder
        os.chmod(folder, 0o700)
        try:
            return asyncio.run(measure(Path(folder)))
        finally:
            del os.environ["INTERLOCK_RUN_DIR"]


async def measure(folder: Path) -> list[tuple[str, str, str]]:
    broker = Broker(lambda event, durable: event.model_copy(update={"session": "s1"}))
    async with AskServer(broker) as server, await AskClient.connect(server.path) as client:
        visible, answered = await travel(broker, client)
        await client.close()
        together = await crowd(broker, server.path)
    echo = await asyncio.to_thread(echo_round_trip, folder / "echo.sock")
    return [
        ("ask opened -> seen by a subscriber", f"p50 {visible * 1e3:.2f} ms", "p50 <= 35 ms to the screen"),
        ("answer round trip", f"p50 {answered * 1e3:.2f} ms = {answered / echo:.1f}x echo", "p50 <= 3x blocking echo"),
        ("1000 pending asks, listed and answered", f"{together:,.0f} answers/s", ">= 10,000 answers/s"),
    ]


def ask(broker: Broker, name: str) -> None:
    broker.open(
        ToolPermission(ask_id=name, intent_id=name, decision="ask", reason="asks", source="tool", input_digest="d")
    )


async def travel(broker: Broker, client: AskClient) -> tuple[float, float]:
    notices = client.subscribe()
    following = asyncio.ensure_future(anext(notices))
    await client.ping()
    seen, answered = [], []
    for n in range(ROUNDS):
        began = time.perf_counter()
        ask(broker, f"t{n}")
        assert isinstance(await following, OpenedNotice)
        seen.append(time.perf_counter() - began)
        began = time.perf_counter()
        await client.answer(f"t{n}", "d", "allow")
        answered.append(time.perf_counter() - began)
        await anext(notices)
        following = asyncio.ensure_future(anext(notices))
        await asyncio.sleep(0)
    following.cancel()
    return statistics.median(seen), statistics.median(answered)


async def crowd(broker: Broker, path: Path) -> float:
    """Requests are pipelined on one connection, as a bulk answer sends them."""
    for n in range(MANY):
        ask(broker, f"c{n}")
    reader, writer = await asyncio.open_unix_connection(str(path), limit=1 << 22)
    began = time.perf_counter()
    writer.write(b'{"jsonrpc":"2.0","id":0,"method":"asks.list"}\n')
    asks = json.loads(await reader.readline())["result"]["asks"]
    assert len(asks) == MANY
    for n, one in enumerate(asks):
        params = {"askId": one["askId"], "inputDigest": one["inputDigest"], "answer": "deny"}
        writer.write(
            json.dumps({"jsonrpc": "2.0", "id": n, "method": "asks.answer", "params": params}).encode() + b"\n"
        )
    for _ in asks:
        assert b'"accepted":true' in await reader.readline()
    spent = time.perf_counter() - began
    writer.close()
    return MANY / spent


def echo_round_trip(path: Path) -> float:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            with listener.accept()[0] as peer:
                while data := peer.recv(4096):
                    peer.sendall(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        client.connect(str(path))
        times = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            client.sendall(b"x" * 150 + b"\n")
            client.recv(4096)
            times.append(time.perf_counter() - began)
    thread.join(5)
    return statistics.median(times)
