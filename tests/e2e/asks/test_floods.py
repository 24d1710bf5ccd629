"""Ten thousand requests of one client, and another client that only wants to answer."""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient, HostGone
from interlock.runtime.asks.protocol import AskView, OpenedNotice
from interlock.runtime.engine import preview
from interlock.runtime.engine.grants import SessionGrants
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession

pytestmark = pytest.mark.e2e
Connect = Callable[[str], Any]
FLOOD = 10_000
FEW = 200
"""Requests of the flood that may be served while another client waits for one reply."""
PATIENCE_S = 60


class Waiting:
    """A session with an open ask, and a polite client that has seen it."""

    def __init__(self, session: RuntimeSession, client: AskClient, ask: AskView, call: asyncio.Task[Any]) -> None:
        self.session, self.client, self.ask, self.call = session, client, ask, call
        self.socket = session.setting.reply_to or ""

    async def answered(self) -> None:
        """The ask is answered, and the call runs."""
        reply = await asyncio.wait_for(self.client.answer(self.ask.ask_id, self.ask.input_digest, "allow"), PATIENCE_S)
        assert reply.accepted

    async def ran(self, folder: Path) -> None:
        assert (await asyncio.wait_for(self.call, PATIENCE_S)).ok
        assert (folder / "made").exists()


@asynccontextmanager
async def waiting(folder: Path) -> AsyncIterator[Waiting]:
    async with (
        RuntimeSession.start(folder, agent="test") as session,
        await AskClient.connect(session.setting.reply_to or "", "polite") as client,
    ):
        call = asyncio.create_task(session.pipeline.run(Intent("bash", {"command": "touch made"})))
        notices = client.subscribe()
        notice = await asyncio.wait_for(anext(notices), PATIENCE_S)
        assert isinstance(notice, OpenedNotice)
        yield Waiting(session, client, notice.ask, call)


async def test_a_flood_of_grant_lists_leaves_every_other_client_its_turn(
    tmp_path: Path, rude: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = 0
    listed = SessionGrants.listed

    def counted(self: SessionGrants) -> Any:
        nonlocal served
        served += 1
        return listed(self)

    monkeypatch.setattr(SessionGrants, "listed", counted)
    async with waiting(tmp_path / "work") as w:
        flood = rude(w.socket)
        flood.flood("grants.list", FLOOD)
        while served == 0:
            await w.client.ping()
        for _ in range(20):
            before = served
            await w.client.ping()
            assert served - before < FEW
        before = served
        await w.answered()
        assert served - before < FEW
        assert served < FLOOD, "the flood was over before it was tried"
        await w.ran(tmp_path / "work")
        await flood.done()
        assert [reply["id"] for reply in flood.replies] == list(range(FLOOD))
        assert all(reply["result"] == {"grants": []} for reply in flood.replies)


async def test_a_flood_of_previews_holds_up_no_answer_and_every_one_gets_a_reply(tmp_path: Path, rude: Connect) -> None:
    async with waiting(tmp_path / "work") as w:
        digest = w.ask.event["suggestedRules"][0]["digest"]
        tasks, threads = len(asyncio.all_tasks()), threading.active_count()
        flood = rude(w.socket)
        flood.flood("asks.preview", FLOOD, askId=w.ask.ask_id, suggestion=digest)
        most = 0
        while not flood.replies:
            await w.client.ping()
            most = max(most, len(asyncio.all_tasks()))
        await w.answered()
        assert len(flood.replies) < FLOOD, "the flood was over before it was tried"
        await w.ran(tmp_path / "work")
        while not flood.ended.is_set():
            await w.client.ping()
            most = max(most, len(asyncio.all_tasks()))
        assert most - tasks < 30, "previews pile up"
        assert threading.active_count() - threads < 30
        assert sorted(reply["id"] for reply in flood.replies) == list(range(FLOOD))
        kinds = Counter(reply.get("error", {}).get("data", {}).get("name", "result") for reply in flood.replies)
        assert set(kinds) <= {"result", "bad_request", "unknown_ask"}, kinds
        assert kinds["result"] > 0


@pytest.mark.parametrize("method", ["grants.list", "asks.preview"])
async def test_a_flood_leaves_nothing_behind_in_memory(tmp_path: Path, rude: Connect, method: str) -> None:
    async with waiting(tmp_path / "work") as w:
        digest = w.ask.event["suggestedRules"][0]["digest"]
        params = {"askId": w.ask.ask_id, "suggestion": digest} if method == "asks.preview" else {}
        peaks = []
        tracemalloc.start()
        try:
            for count in (500, FLOOD):
                tracemalloc.reset_peak()
                flood = rude(w.socket)
                flood.flood(method, count, keep=False, **params)
                await flood.done()
                assert flood.count == count
                flood.close()
                left, peak = tracemalloc.get_traced_memory()
                peaks.append((left, peak))
        finally:
            tracemalloc.stop()
        (small_left, small_peak), (large_left, large_peak) = peaks
        assert large_left - small_left < 3 << 20
        assert large_peak - small_peak < 12 << 20, "the flood itself lies in this process too: 2 MiB, for a time twice"
        await w.answered()


async def test_previews_of_clients_that_come_and_go_never_run_beside_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = most = 0
    begun, go_on = threading.Semaphore(0), threading.Event()
    look = preview.past_calls

    def held(*arguments: Any, **more: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        begun.release()
        assert go_on.wait(PATIENCE_S)
        running -= 1
        return look(*arguments, **more)

    monkeypatch.setattr(preview, "past_calls", held)
    async with waiting(tmp_path / "work") as w:
        digest = w.ask.event["suggestedRules"][0]["digest"]
        try:
            for number in range(3):
                async with await AskClient.connect(w.socket, "restless") as restless:
                    wanted = asyncio.create_task(restless.preview(w.ask.ask_id, digest))
                    if number == 0:
                        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_S)
                    for _ in range(20):
                        await restless.ping()
                with pytest.raises(HostGone):
                    await wanted
                for _ in range(20):
                    await w.client.ping()
            assert most == 1
        finally:
            go_on.set()
        assert (await asyncio.wait_for(w.client.preview(w.ask.ask_id, digest), PATIENCE_S)).suggestion == digest
        assert most == 1
        await w.answered()
