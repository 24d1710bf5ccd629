"""An ask is its host and its id, and it is found by the address in its journal (ASK-9, FT-023, FT-024, FT-031)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.pending import Pending
from interlock.runtime.asks.protocol import SessionInfo
from interlock.runtime.asks.server import AskServer
from interlock.runtime.events.permission import ToolPermission
from interlock.tui.hosts import Hosts
from interlock.tui.model.answers import BY_COMMAND
from interlock.tui.model.given import given

pytestmark = pytest.mark.e2e
BIN = Path(sys.executable).parent / "interlock"
PATIENCE_S = 60.0


@asynccontextmanager
async def host(name: str, ask_id: str) -> AsyncIterator[Pending]:
    """A host of its own with one open ask."""
    events: list = []

    def record(event, durable):
        events.append(event.model_copy(update={"seq": len(events), "session": name, "ts": "2026-01-10T09:00:00Z"}))
        return events[-1]

    broker = Broker(record)
    async with AskServer(broker, sessions=(SessionInfo(id=name, agent=f"agent of {name}", cwd="/srv"),)):
        yield broker.open(
            ToolPermission(
                intent_id="int_1", decision="ask", reason="asks", source="built-in", ask_id=ask_id, input_digest=f"d-{name}",
                shown_input={"command": f"echo {name}"}, tool="bash", prompt=f"echo {name}", cwd="/srv",
                choices=("allow.once", "deny", "deny.message"),
            )
        )  # fmt: skip


async def interlock(*words: str, **environment: str) -> tuple[int, str, str]:
    process = await asyncio.create_subprocess_exec(
        str(BIN), *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment}
    )
    out, err = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    return process.returncode or 0, out.decode(), err.decode()


async def test_two_hosts_with_one_id_are_two_asks_on_the_command_line() -> None:
    async with host("first", "ask_same") as one, host("second", "ask_same") as other:
        code, out, err = await interlock("asks", "--json")
        assert code == 0
        rows = [json.loads(line) for line in out.splitlines()]
        assert {row["session"] for row in rows} == {"first", "second"}
        assert "2 hosts have an ask with the id ask_same" in err
        code, _, err = await interlock("answer", "ask_same", "deny")
        assert code == 1
        assert "say which one you mean" in err
        assert "first" in err
        assert "second" in err
        code, _, err = await interlock("answer", "ask_same@second", "deny", "--message", "not this")
        assert code == 0, err
        assert (await other.wait()).message == "not this"
        assert one.is_open
        code, _, err = await interlock("answer", "ask_same", "allow")
        assert code == 0, err
        assert (await one.wait()).allowed


async def test_two_hosts_with_one_id_are_two_asks_on_the_screen_and_both_can_be_answered() -> None:
    async with host("first", "ask_same") as one, host("second", "ask_same") as other:
        hosts = Hosts(lambda: None)
        looking = asyncio.create_task(hosts.run())
        try:
            await asyncio.wait_for(hosts.looked.wait(), PATIENCE_S)
            shown = {ask.session: ask for ask in hosts.asks.values()}
            assert set(shown) == {"first", "second"}
            assert len({ask.id for ask in shown.values()}) == 2
            assert any("two hosts have an ask with the id ask_same" in problem for problem in hosts.problems)
            hosts.errands.answer(given(shown["second"], BY_COMMAND["deny"]))
            assert (await asyncio.wait_for(other.wait(), PATIENCE_S)).answer == "deny"
            assert one.is_open
            hosts.errands.answer(given(shown["first"], BY_COMMAND["allow_once"]))
            assert (await asyncio.wait_for(one.wait(), PATIENCE_S)).allowed
        finally:
            looking.cancel()
            await asyncio.wait({looking})


class Call:
    """`interlock call` that waits, in its own folders."""

    def __init__(self, home: Path) -> None:
        self.work = home / "work"
        self.environment = {**os.environ, "INTERLOCK_RUN_DIR": str(home / "elsewhere")}
        self.process = subprocess.Popen(
            [str(BIN), "call", "bash", '{"command": "touch x"}', "-w", str(self.work)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
        )

    async def ask(self) -> dict:
        while True:
            _, out, _ = await interlock("asks", "--json", INTERLOCK_RUN_DIR=self.environment["INTERLOCK_RUN_DIR"])
            if out:
                return json.loads(out)

    def end(self, number: int = signal.SIGKILL) -> None:
        self.process.send_signal(number)
        self.process.wait(PATIENCE_S)


@pytest.fixture
def call(tmp_path: Path) -> Iterator[Call]:
    made = Call(tmp_path)
    yield made
    made.process.kill()
    made.process.wait(PATIENCE_S)


async def test_an_ask_of_another_run_folder_is_listed_and_answered(call: Call) -> None:
    """FT-024: the journal names the socket."""
    ask = await call.ask()
    code, out, err = await interlock("asks")
    assert code == 0, err
    assert ask["askId"] in out
    assert ask["session"] in out
    assert "interlock-call" in out
    assert str(call.work) in out or "~/work" in out
    code, _, err = await interlock("answer", ask["askId"], "allow")
    assert code == 0, err
    assert await asyncio.to_thread(call.process.wait, PATIENCE_S) == 0
    assert (call.work / "x").exists()


async def test_an_ask_of_another_run_folder_is_on_the_screen(call: Call) -> None:
    ask = await call.ask()
    hosts = Hosts(lambda: None)
    looking = asyncio.create_task(hosts.run())
    try:
        await asyncio.wait_for(hosts.looked.wait(), PATIENCE_S)
        (shown,) = hosts.asks.values()
        assert (shown.id, shown.host_pid, shown.agent) == (ask["askId"], call.process.pid, "interlock-call")
        hosts.errands.answer(given(shown, BY_COMMAND["allow_once"]))
        assert await asyncio.to_thread(call.process.wait, PATIENCE_S) == 0
    finally:
        looking.cancel()
        await asyncio.wait({looking})


async def test_an_ask_that_cannot_be_reached_is_told(call: Call) -> None:
    ask = await call.ask()
    Path(ask["socket"]).unlink()
    code, out, err = await interlock("asks")
    assert code == 1
    assert "Nothing" not in out
    assert f"1 ask waits in session {ask['session']}, its host cannot be reached" in err
    code, _, err = await interlock("answer", ask["askId"], "allow")
    assert code == 1
    assert "cannot be reached" in err
    hosts = Hosts(lambda: None)
    looking = asyncio.create_task(hosts.run())
    try:
        await asyncio.wait_for(hosts.looked.wait(), PATIENCE_S)
        assert any("its host cannot be reached" in problem for problem in hosts.problems)
    finally:
        looking.cancel()
        await asyncio.wait({looking})


async def test_the_session_in_the_list_is_one_that_show_takes(call: Call) -> None:
    """FT-031."""
    ask = await call.ask()
    code, out, err = await interlock("show", ask["session"])
    assert code == 0, err
    assert "touch x" in out
