"""A full disk and a killed runtime. (spec EV-3, ASK-1; case ST-028)"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.engine.recover import NOTHING, recover_session
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.tools import tree

HOST = """
import asyncio, os, resource, signal, sys
from interlock.runtime.asks.pending import Opened
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.permission import Approver
from interlock.runtime.journal.writer import JournalWriteError

def allow(session):
    def heard(change):
        if isinstance(change, Opened):
            asyncio.get_running_loop().call_soon(reply, change.ask)
    def reply(ask):
        answer = AskAnswer(ask_id=ask.ask_id, input_digest=ask.input_digest, answer="allow")
        if session.setting.broker.resolve(answer, Approver(kind="person")).status == "not_recorded":
            session.pipeline.cancel(ask.event.intent_id)
    session.setting.broker.subscribe(heard)
"""
FULL = (
    HOST
    + """
async def one(room, folder):
    os.mkdir(folder)
    async with RuntimeSession.start(folder, agent="full", server=False) as session:
        allow(session)
        size = os.path.getsize(session.journal.path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, resource.RLIM_INFINITY))
        try:
            await session.pipeline.run(Intent("bash", {"command": "touch ran"}))
            print("through", session.id)
        except JournalWriteError as error:
            print("refused", session.id)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for number in range(1, 30):
    asyncio.run(one(number * 150, f"{sys.argv[1]}/{number}"))
"""
)
WAITS = (
    HOST
    + """
async def main():
    async with RuntimeSession.start(sys.argv[1], agent="killed", server=True) as session:
        print(session.id, flush=True)
        if sys.argv[2] == "running":
            allow(session)
        await session.pipeline.run(Intent("bash", {"command": "echo up; sleep 300; touch ran"}))
asyncio.run(main())
"""
)


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(tmp_path / "run"))


def events(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1]]


def journal_of(tmp_path: Path, session: str) -> Path:
    return tmp_path / "state/sessions" / session / "events.jsonl"


def test_a_full_disk_lets_nothing_run_unlogged(tmp_path: Path) -> None:
    """ST-028: the room ends at every step in turn; the kernel refuses the write."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    outcomes = [line.split() for line in done.stdout.split("\n") if line]
    assert [what for what, _ in outcomes].count("refused") > 5
    for number, (what, session) in enumerate(outcomes, 1):
        path = journal_of(tmp_path, session)
        kinds = [event["type"] for event in events(path)]  # each line is whole: partial records were cut back
        ran = (tmp_path / str(number) / "ran").exists()
        assert ran <= ("tool.invocation.started" in kinds), (number, what, kinds)
        assert ran <= ("tool.permission.answered" in kinds), (number, what, kinds)


class Killed:
    """A runtime in a process of its own, killed when the journal holds an event of `kind`."""

    def __init__(self, tmp_path: Path, how: str, kind: str) -> None:
        self.folder = tmp_path / "ws"
        self.folder.mkdir()
        host = subprocess.Popen([sys.executable, "-c", WAITS, str(self.folder), how], stdout=subprocess.PIPE, text=True)
        assert host.stdout
        self.session = host.stdout.readline().strip()
        self.journal = journal_of(tmp_path, self.session)
        deadline = time.monotonic() + 20
        while not any(event["type"] == kind for event in events(self.journal)):
            assert time.monotonic() < deadline, "the event never came"
            time.sleep(0.02)
        host.send_signal(signal.SIGKILL)
        host.wait(20)
        host.stdout.close()

    def last(self, kind: str) -> dict[str, Any]:
        return [event for event in events(self.journal) if event["type"] == kind][-1]


def test_an_open_ask_of_a_killed_runtime_is_closed_with_the_cause(tmp_path: Path) -> None:
    """BC-039: closed once, the call ends with a code that the model can read, and nothing is run."""
    killed = Killed(tmp_path, "waiting", "tool.permission")
    assert recover_session(killed.session) == (1, 1, 0)
    assert killed.last("tool.permission.closed")["cause"] == "runtime_restarted"
    seen = killed.last("tool.observation")
    assert (seen["phase"], seen["code"], seen["retryable"]) == ("permission", "runtime_restarted", True)
    assert events(killed.journal)[-1]["type"] == "session.ended"
    assert not (killed.folder / "ran").exists()
    before = killed.journal.read_bytes()
    assert recover_session(killed.session) == NOTHING
    assert killed.journal.read_bytes() == before


def test_a_call_that_ran_when_the_runtime_was_killed_is_observed_and_stopped(tmp_path: Path) -> None:
    killed = Killed(tmp_path, "running", "tool.invocation.started")
    mark = f"{killed.session}/{killed.last('tool.invocation.started')['invocationId']}"
    recovered = recover_session(killed.session)
    assert (recovered.asks, recovered.intents) == (0, 1)
    seen = killed.last("tool.observation")
    assert (seen["phase"], seen["code"], seen["retryable"]) == ("execute", "runtime_restarted", False)
    deadline = time.monotonic() + 10
    while tree.members(-1, mark):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert not (killed.folder / "ran").exists()


def test_a_session_whose_writer_lives_is_not_touched(tmp_path: Path) -> None:
    journal = JournalWriter.create("20260101-000000-alive-000000")
    try:
        assert recover_session(journal.session) == NOTHING
        assert os.path.getsize(journal.path) == 0
    finally:
        journal.close()
