"""A machine of its own for every test, a gate host on a real socket, and an approver that answers on it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.protocol import AskView, OpenedNotice
from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.gates.rules import Rules

PATIENCE_S = 30
AGENT = Agent(name="Claude Code", version="2.1.332", kind="claude_code")


@dataclass
class Machine:
    """Folders of one test."""

    root: Path
    project: Path

    def policy(self, text: str) -> None:
        """Write the user's rules."""
        place = self.root / "config" / "policy.toml"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Nothing of the real user's is read or written."""
    for name in ("state", "config", "run"):
        monkeypatch.setenv(f"INTERLOCK_{name.upper()}_DIR", str(tmp_path / name))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    project = tmp_path / "home" / "project"
    project.mkdir(parents=True)
    return Machine(tmp_path, project)


@pytest.fixture
async def gate_host(machine: Machine):
    """A host at work."""
    async with GateHost(rules=Rules(managed=machine.root / "no-managed.toml")) as started:
        yield started


@pytest.fixture
def ledger(gate_host: GateHost, machine: Machine) -> Ledger:
    """One session of an agent at that host."""
    return gate_host.open(AGENT, Foreign(session="f-1", log="/no/log.jsonl"), str(machine.project))


@pytest.fixture
def call(machine: Machine) -> Callable[..., ForeignCall]:
    """Makes calls of a shell tool."""

    def made(command: str = "make deploy", **more: object) -> ForeignCall:
        return ForeignCall(tool="Bash", input={"command": command}, cwd=str(machine.project), **more)  # type: ignore[arg-type]

    return made


class Approving:
    """An approver that subscribes over the socket."""

    def __init__(self, client: AskClient) -> None:
        self.client = client
        self.notices = client.subscribe()

    async def next(self) -> object:
        """The next thing it is told."""
        return await asyncio.wait_for(anext(self.notices), PATIENCE_S)

    async def opened(self) -> AskView:
        """The next ask that opens."""
        while True:
            notice = await self.next()
            if isinstance(notice, OpenedNotice):
                return notice.ask


@pytest.fixture
async def approver(gate_host: GateHost):
    """An approver that is told of everything from now on."""
    client = await AskClient.connect(gate_host.reply_to or "", "test screen")
    approving = Approving(client)
    first = asyncio.ensure_future(approving.notices.__anext__())
    while not gate_host.is_watched:
        await client.ping()
    pending = [first]

    async def next_one() -> object:
        if pending:
            return await asyncio.wait_for(pending.pop(), PATIENCE_S)
        return await asyncio.wait_for(anext(approving.notices), PATIENCE_S)

    approving.next = next_one  # type: ignore[method-assign]
    yield approving
    for waiting in pending:
        waiting.cancel()
    await client.close()


@pytest.fixture
def events() -> Callable[[Ledger], list[dict]]:
    """The journal of a ledger as it lies on the disk."""

    def read(ledger: Ledger) -> list[dict]:
        return [json.loads(line) for line in ledger.journal.path.read_text().splitlines()]

    return read
