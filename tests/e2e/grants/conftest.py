"""A real session in private places, and a screen at its real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.protocol import AskView, OpenedNotice
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.tools.policy_files import user_file


class Clock:
    """Real time, and what the test adds to it."""

    def __init__(self) -> None:
        self.more = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.more


class Desk:
    """A session and a screen at its socket."""

    def __init__(self, session: RuntimeSession, client: AskClient, clock: Clock, folder: Path) -> None:
        self.session, self.client, self.clock, self.folder = session, client, clock, folder
        self.opened: asyncio.Queue[AskView] = asyncio.Queue()
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for notice in self.client.subscribe():
            if isinstance(notice, OpenedNotice):
                self.opened.put_nowait(notice.ask)

    @staticmethod
    def offers(ask: AskView) -> list[dict[str, Any]]:
        return ask.event["suggestedRules"]

    def begin(self, command: str) -> asyncio.Task[Any]:
        return asyncio.create_task(self.session.pipeline.run(Intent("bash", {"command": command})))

    def begin_write(self, path: str) -> asyncio.Task[Any]:
        return asyncio.create_task(self.session.pipeline.run(Intent("write_file", {"path": path, "content": "x\n"})))

    async def ask(self) -> AskView:
        return await asyncio.wait_for(self.opened.get(), 20)

    async def answer(self, ask: AskView, scope: str = "once", pick: int | None = None, **more: Any) -> Any:
        if pick is not None:
            more["suggestion"] = self.offers(ask)[pick]["digest"]
        return await self.client.answer(ask.ask_id, ask.input_digest, more.pop("answer", "allow"), scope=scope, **more)  # type: ignore[arg-type]

    async def allowed(self, command: str, scope: str, pick: int = 0, **more: Any) -> Any:
        """Run a command that asks, and allow it for this scope."""
        running = self.begin(command)
        reply = await self.answer(await self.ask(), scope, pick, **more)
        assert (await asyncio.wait_for(running, 20)).ok
        return reply

    async def passes(self, command: str) -> bool:
        """Whether the command runs without a question; one that is asked is denied."""
        running = self.begin(command)
        asked = asyncio.create_task(self.opened.get())
        await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        if not asked.done():
            asked.cancel()
            return running.result().ok
        await self.answer(asked.result(), answer="deny")
        assert (await asyncio.wait_for(running, 20)).code == "user_denied"
        return False

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = self.session.journal.path.read_bytes().split(b"\n")[:-1]
        return [event for event in map(json.loads, lines) if event["type"] == kind]

    async def close(self) -> None:
        self._task.cancel()
        await self.client.close()


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "RUN", "CONFIG"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))


@asynccontextmanager
async def _desk(tmp_path: Path, rules: str = "", name: str = "work") -> AsyncIterator[Desk]:
    folder = tmp_path / name
    folder.mkdir(exist_ok=True)
    if rules:
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text(rules)
    clock = Clock()
    async with RuntimeSession.start(folder, agent="test", clock=clock) as session:
        client = await AskClient.connect(session.setting.reply_to or "", "test screen")
        one = Desk(session, client, clock, folder)
        try:
            yield one
        finally:
            await one.close()


@pytest.fixture
def desk() -> Callable[..., AbstractAsyncContextManager[Desk]]:
    return _desk
