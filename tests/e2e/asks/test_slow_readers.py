"""Clients that send and never read, at a host that others want something of."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.protocol import ClosedNotice, OpenedNotice
from interlock.runtime.asks.server import MAX_PER_PROCESS, AskServer
from interlock.runtime.events.permission import ToolPermission

pytestmark = pytest.mark.e2e
Connect = Callable[[str], Any]
PATIENCE_S = 60
MANY = 12_000
"""Asks; more notifications than may wait for one client."""


class Host:
    """A broker that records into nothing, and its socket."""

    def __init__(self) -> None:
        self.written = 0
        self.broker = Broker(self._record, lambda: datetime.now(UTC))
        self.server = AskServer(self.broker)

    def _record(self, event: Any, durable: bool) -> Any:
        self.written += 1
        return event.model_copy(update={"seq": self.written, "session": "s1", "ts": "2026-01-10T09:00:00Z"})

    def ask(self, ask_id: str, **more: Any) -> None:
        values = {"intent_id": f"int_{ask_id}", "input_digest": "d", "tool": "bash", "choices": ("allow.once", "deny")}
        values |= {"shown_input": {"command": "make"}, "decision": "ask", "reason": "asks", "source": "built-in"}
        self.broker.open(ToolPermission(ask_id=ask_id, **values | more))

    @property
    def path(self) -> str:
        return str(self.server.path)


@asynccontextmanager
async def host() -> AsyncIterator[Host]:
    made = Host()
    async with made.server:
        yield made


async def test_a_host_takes_in_no_more_of_a_client_that_does_not_read_its_replies(rude: Connect) -> None:
    async with host() as h, await AskClient.connect(h.path, "polite") as polite:
        h.ask("a1", shown_input={"command": "x" * 5_000})
        mute = rude(h.path)
        mute.socket.setblocking(False)
        request = mute.request("asks.list") * 1_000
        taken = idle = 0
        while idle < 100:
            try:
                taken += mute.socket.send(request)
                idle = 0
            except BlockingIOError:
                idle += 1
            assert taken < 16 << 20, "it takes in what nobody reads the replies of"
            await polite.ping()
        reply = await asyncio.wait_for(polite.answer("a1", "d", "allow"), PATIENCE_S)
        assert reply.accepted
        (stuck,) = [c for c in h.server._connections if c.approver.client is None]
        assert stuck._writer.transport.get_write_buffer_size() < 2 << 20


async def test_a_watcher_that_never_reads_is_cut_off_and_the_others_are_told_of_everything(rude: Connect) -> None:
    async with host() as h, await AskClient.connect(h.path, "polite") as polite:
        mute = rude(h.path)
        mute.socket.sendall(mute.request("hello", client="mute") + mute.request("asks.subscribe", 2))
        while not any(c._unsubscribe for c in h.server._connections):
            await polite.ping()
        told: list[tuple[str, str]] = []

        async def listen() -> None:
            async for notice in polite.subscribe():
                if isinstance(notice, OpenedNotice):
                    told.append(("opened", notice.ask.ask_id))
                elif isinstance(notice, ClosedNotice):
                    told.append(("closed", notice.ask_id))
                if len(told) == 2 * MANY:
                    return

        listening = asyncio.create_task(listen())
        while sum(c._unsubscribe is not None for c in h.server._connections) < 2:
            await polite.ping()
        wanted: list[tuple[str, str]] = []
        for start in range(0, MANY, 10):
            some = [f"a{number}" for number in range(start, start + 10)]
            for kind, act in (("opened", h.ask), ("closed", h.broker.cancel)):
                for ask_id in some:
                    act(ask_id)
                wanted += [(kind, ask_id) for ask_id in some]
                while len(told) < len(wanted):
                    await asyncio.wait_for(polite.ping(), PATIENCE_S)
        await asyncio.wait_for(listening, PATIENCE_S)
        assert told == wanted
        assert [c.approver.client for c in h.server._connections] == ["polite"]
        mute.flood("ping", MANY * 2)  # what was written before is still there to be read, then the end
        await mute.done()
        assert mute.count < MANY * 2


async def test_a_client_that_hangs_up_without_reading_counts_until_it_is_gone(rude: Connect) -> None:
    async with host() as h, await AskClient.connect(h.path, "polite") as polite:
        for _ in range(MAX_PER_PROCESS - 1):
            await hang_up(h, rude(h.path), polite)
        with socket.socket(socket.AF_UNIX) as late:
            late.settimeout(PATIENCE_S)
            late.connect(h.path)
            refused = json.loads(await asyncio.to_thread(late.recv, 4096))
        assert refused["error"]["data"]["name"] == "too_many_connections"
        await polite.ping()


async def hang_up(h: Host, mute: Any, polite: AskClient) -> None:
    """Ask until replies wait in the host, fewer than it stops at, then end the sending side alone."""
    before = len(h.server._connections)
    mute.socket.sendall(mute.request("hello", client="mute"))
    while len(h.server._connections) == before:
        await polite.ping()
    connection = h.server._connections[-1]
    while not connection._writer.transport.get_write_buffer_size():
        mute.socket.sendall(mute.request("hello", client="mute") * 10)
        await polite.ping()
    mute.socket.shutdown(socket.SHUT_WR)
    while not connection._writer.transport.is_closing():
        await polite.ping()
