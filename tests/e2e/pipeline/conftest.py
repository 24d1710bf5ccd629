"""A session with real files and processes, and a person who answers its asks."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.pending import Opened
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.permission import Approver, ToolPermission
from interlock.runtime.events.tool import InvocationStarted, ToolObservation

ROOT = Path(__file__).parents[2]
CASES = {
    case["id"]: case
    for name in ("bug-cases", "attack-cases")
    for case in map(json.loads, (ROOT / f"data/cases/{name}.jsonl").read_text().split("\n")[:-1])
}
ME = Approver(kind="person", uid=os.getuid(), pid=os.getpid(), client="test")


class Desk:
    """A session, and a person who answers its asks."""

    def __init__(self, session: RuntimeSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.asks: list[ToolPermission] = []
        self.before: Callable[[ToolPermission], None] = lambda ask: None
        """What happens between the ask and the answer."""
        self.answer: str | None = "allow"
        """None: nobody answers."""
        self.scope, self.message = "once", None
        self.asked = asyncio.Event()
        self.started = asyncio.Event()
        session.setting.broker.subscribe(self._heard)
        session.journal.subscribe(self._wrote)

    def _wrote(self, event: object, line: bytes, offset: int) -> None:
        if isinstance(event, InvocationStarted):
            self.started.set()

    def _heard(self, change: object) -> None:
        if isinstance(change, Opened):
            self.asks.append(change.ask.event)
            self.asked.set()
            if self.answer is not None:
                asyncio.get_running_loop().call_soon(self.reply, change.ask.event)

    def reply(self, ask: ToolPermission, **changed: Any) -> str:
        self.before(ask)
        fields = {"answer": self.answer, "scope": self.scope, "message": self.message, "input_digest": ask.input_digest}
        answer = AskAnswer.model_validate({"ask_id": ask.ask_id, **fields, **changed})
        status = self.session.setting.broker.resolve(answer, ME).status
        if status == "not_recorded":
            self.session.pipeline.cancel(ask.intent_id)
        return status

    async def __call__(self, tool: str, **arguments: Any) -> ToolObservation:
        return await asyncio.wait_for(self.session.pipeline.run(Intent(tool, arguments)), 60)

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        lines = self.session.journal.path.read_bytes().split(b"\n")[:-1]
        return [event for event in map(json.loads, lines) if event["type"].startswith(kind)]

    def artifact(self, kind: str) -> bytes:
        refs = [r for e in self.events("tool.observation") for r in e.get("artifacts", []) if r["kind"] == kind]
        return (self.session.journal.folder / refs[-1]["path"]).read_bytes()


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(tmp_path / "run"))


@asynccontextmanager
async def _desk(tmp_path: Path, **options: Any) -> AsyncIterator[Desk]:
    folder = tmp_path / "ws"
    folder.mkdir(exist_ok=True)
    async with RuntimeSession.start(folder, agent="test", server=False, **options) as session:
        yield Desk(session, folder)
    # a journal that broke is what one test is about; every other one is whole
    events = [json.loads(line) for line in session.journal.path.read_bytes().split(b"\n")[:-1]]
    observed = Counter(e["intentId"] for e in events if e["type"] == "tool.observation")
    assert observed == Counter(e["intentId"] for e in events if e["type"] == "tool.intent")


@pytest.fixture
def desk() -> Callable[..., AbstractAsyncContextManager[Desk]]:
    return _desk


@pytest.fixture
def cases() -> dict[str, Any]:
    """The public cases by id."""
    return CASES
