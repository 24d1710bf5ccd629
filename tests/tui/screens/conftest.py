"""A real host (journal, broker, socket) and a person at the keys, for tests of whole screens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.pending import Pending
from interlock.runtime.asks.protocol import SessionInfo
from interlock.runtime.asks.server import AskServer
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, Foreign, SandboxState, SessionEnded, SessionStarted
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.journal.writer import JournalWriter
from interlock.tui.app import InterlockApp

CHOICES = ("allow.once", "allow.session", "deny", "deny.message")


class Clock:
    """Steady seconds that move when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Host:
    """One session with its socket. `ask` opens an ask as the gate would."""

    session: str = "20260110-090000-demo-aaaaaa"
    agent: str = "demo"
    title: str = "mend the shop"
    cwd: str = "/home/dev/app"
    kind: str = "runtime"
    foreign: str = ""
    """Of a gate: the agent's own id of the session that it answers for."""
    counter: int = 0
    asks: list[Pending] = field(default_factory=list)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __post_init__(self) -> None:
        self.journal = JournalWriter.create(self.session, self.clock)
        self.journal.append(
            SessionStarted(
                agent=Agent(name=self.agent, version="1", kind=self.kind),
                foreign=Foreign(session=self.foreign) if self.foreign else None,
                cwd=self.cwd,
                workspace=(self.cwd,),
                host="box",
                pid=1,
                user="dev",
                sandbox=SandboxState(),
                runtime_version="0",
                title=self.title,
                branch="main",
            )
        )
        self.broker = Broker(lambda event, durable: self.journal.append(event, durable=durable))
        self.server = AskServer(
            self.broker,
            sessions=[
                SessionInfo(
                    id=self.session, agent=self.agent, title=self.title, cwd=self.cwd, journal=str(self.journal.path)
                )
            ],
        )

    def ask(
        self, command: str | None = None, *, tool: str = "bash", parts: list[dict] | None = None, **more: Any
    ) -> Pending:
        self.counter += 1
        shown = more.pop("shown_input", {"command": command} if command is not None else {})
        intent = self.journal.ids.new("int")
        self.journal.append(ToolIntent(intent_id=intent, tool=tool, raw_input=shown))
        diff = more.pop("diff_text", None)
        ref = self.journal.artifacts.put_bytes(diff.encode(), "diff", "text/x-diff") if diff else None
        facts = more.pop("facts", {"parts": parts} if parts else {})
        event = ToolPermission(
            intent_id=intent,
            decision="ask",
            reason=more.pop("reason", "shell commands ask"),
            source="built-in",
            ask_id=more.pop("ask_id", f"ask{self.counter}"),
            prompt=more.pop("prompt", (command or "").split("\n")[0][:60]),
            risks=more.pop("risks", ()),
            facts=facts,
            input_digest=f"digest-{self.counter}",
            diff=ref.id if ref else more.pop("diff", None),
            diff_path=ref.path if ref else more.pop("diff_path", None),
            tool=tool,
            tool_version="1",
            shown_input=shown,
            cwd=self.cwd,
            agent=more.pop("agent", self.agent),
            sandbox=SandboxState(),
            choices=more.pop("choices", CHOICES),
            **more,
        )
        self.asks.append(self.broker.open(event))
        return self.asks[-1]

    def answers(self) -> list[tuple[str, str, str, str | None]]:
        """(ask, answer, scope, message) as the journal has them."""
        from interlock.runtime.journal.codec import decode_line

        lines = self.journal.path.read_bytes().split(b"\n")
        events = [decode_line(line) for line in lines if b"permission.answered" in line]
        return [(e.ask_id, e.answer, e.scope, e.message) for e in events]  # type: ignore[union-attr]

    async def close(self) -> None:
        await self.server.close()
        self.broker.close_all()
        self.journal.append(SessionEnded(reason="completed"))
        self.journal.close()


@dataclass
class Live:
    """The screen and the person."""

    app: InterlockApp
    pilot: Pilot[Any]
    clock: Clock

    @property
    def card(self) -> Any:
        return self.app.screen.card  # type: ignore[attr-defined]

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def rest(self) -> None:
        await self.app.settled()
        await self.pilot.pause()

    async def arm(self) -> None:
        """Let the guard time pass."""
        await self.rest()
        self.clock.seconds += 2
        screen: Any = self.app.screen
        getattr(screen, "card", screen)._watch()
        await self.rest()

    async def press(self, *keys: str) -> None:
        """Keys as a person types them: one after the other, with time between."""
        for key in keys:
            await self.pilot.press(key)
            self.clock.seconds += 0.1
            await self.rest()

    async def until(self, seen: Callable[[], Any], what: str = "", seconds: float = 20) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not seen():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"not seen in {seconds} s: {what}\n{self.text}\n{self.app.store.faults}") from None
        await self.rest()


@pytest.fixture(autouse=True)
def places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    run = tmp_path / "r"
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(run))
    return tmp_path / "state"


@dataclass
class Work:
    """A real session of the runtime whose agent wants things."""

    session: Any
    folder: Path
    calls: list[asyncio.Task[Any]] = field(default_factory=list)

    async def want(self, *commands: str) -> None:
        """Calls that ask, one after the other; returns when all of them wait."""
        from interlock.runtime.engine.intent import Intent

        for command in commands:
            waiting = len(self.session.setting.broker.pending())
            self.calls.append(asyncio.create_task(self.session.pipeline.run(Intent("bash", {"command": command}))))
            async with asyncio.timeout(10):
                while len(self.session.setting.broker.pending()) == waiting:
                    await asyncio.sleep(0.005)

    def answer_all(self, answer: str = "deny") -> None:
        from interlock.runtime.asks.protocol import AskAnswer
        from interlock.runtime.events.permission import Approver

        for ask in self.session.setting.broker.pending():
            given = AskAnswer(ask_id=ask.ask_id, input_digest=ask.input_digest, answer=answer)  # type: ignore[arg-type]
            self.session.setting.broker.resolve(given, Approver(kind="person", uid=1, pid=1, client="other"))

    def events(self, kind: str) -> list[Any]:
        from interlock.runtime.journal.codec import decode_line

        lines = self.session.journal.path.read_bytes().split(b"\n")[:-1]
        return [event for event in map(decode_line, lines) if getattr(event, "type", "") == kind]


@pytest.fixture
def work(tmp_path: Path) -> Callable[..., Any]:
    """Opens a session of the runtime: `async with work() as one`."""

    @asynccontextmanager
    async def open_work(rules: str = "", **options: Any) -> AsyncIterator[Work]:
        from interlock.runtime.engine.session import RuntimeSession
        from interlock.runtime.tools.policy_files import user_file

        if rules:
            user_file().parent.mkdir(parents=True, exist_ok=True)
            user_file().write_text(rules)
        folder = tmp_path / "shop"
        folder.mkdir(exist_ok=True)
        async with RuntimeSession.start(folder, agent="mender", title="mend the shop", **options) as session:
            yield Work(session, folder)

    return open_work


@pytest.fixture
async def host() -> AsyncIterator[Callable[..., Awaitable[Host]]]:
    """Makes hosts; they are ended with the test."""
    made: list[Host] = []

    async def make(**settings: Any) -> Host:
        one = Host(**settings)
        made.append(one)
        await one.server.start()
        return one

    yield make
    for one in made:
        await one.close()


@pytest.fixture
def live() -> Callable[..., Any]:
    """Opens the screen: `async with live() as person`."""

    @asynccontextmanager
    async def open_live(size: tuple[int, int] = (140, 40), **options: Any) -> AsyncIterator[Live]:
        clock = Clock()
        app = InterlockApp(clock=clock, bell=False, **options)
        async with app.run_test(size=size) as pilot:
            person = Live(app, pilot, clock)
            await person.rest()
            yield person

    return open_live


@pytest.fixture
def fixed_now() -> Callable[[], int]:
    """One moment for golden screens."""
    moment = int(datetime(2026, 1, 10, 9, 2, 14, tzinfo=UTC).timestamp()) * 1_000_000
    return lambda: moment
