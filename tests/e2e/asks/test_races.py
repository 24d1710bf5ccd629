"""Several approvers at once, and approvers that are killed: one decision and one run for each ask (ASK-1, ASK-7).

Real parts: a session of the runtime that runs shell commands, and approvers that are processes of their own.
`INTERLOCK_LONG=1`: 10,000 races and 400 kills.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient, AskRefused
from interlock.runtime.asks.pending import Pending
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.tool import ToolObservation

pytestmark = pytest.mark.e2e
LONG = os.environ.get("INTERLOCK_LONG") == "1"
RACES = 10_000 if LONG else 25
KILLS = 400 if LONG else 12
SEED = int(os.environ.get("INTERLOCK_SEED", "7"))
PATIENCE_S = 60

APPROVER = r"""
import json, socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); lines = s.makefile("rb")
def call(method, **params):
    s.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
    return json.loads(lines.readline())
call("hello", client=sys.argv[2]); print("{}", flush=True)
for line in sys.stdin:
    print(json.dumps(call("asks.answer", **json.loads(line))), flush=True)
"""


class Approver:
    """A process that answers what it is told to."""

    def __init__(self, process: asyncio.subprocess.Process, name: str) -> None:
        self.process = process
        self.name = name

    @classmethod
    async def start(cls, socket: str, name: str) -> Approver:
        made = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-c", APPROVER, socket, name,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        return cls(made, name)

    def send(self, ask: Pending, answer: str) -> None:
        assert self.process.stdin is not None
        params = {"askId": ask.ask_id, "inputDigest": ask.input_digest, "answer": answer}
        self.process.stdin.write(json.dumps(params).encode() + b"\n")

    async def reply(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return json.loads(await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_S))

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()


class Work:
    """A session whose commands leave a mark each."""

    def __init__(self, session: RuntimeSession, folder: Path) -> None:
        self.session = session
        self.socket = session.setting.reply_to or ""
        self._marks = folder / "ran.txt"

    def want(self, mark: str) -> asyncio.Task[ToolObservation]:
        intent = Intent("bash", {"command": f"echo {mark} >> ran.txt"}, "leave a mark")
        return asyncio.create_task(self.session.pipeline.run(intent))

    async def asked(self) -> Pending:
        async with asyncio.timeout(PATIENCE_S):
            while not (open_asks := self.session.setting.broker.pending()):
                await asyncio.sleep(0)
        return open_asks[0]

    def marks(self) -> Counter[str]:
        return Counter(self._marks.read_text().split()) if self._marks.exists() else Counter()

    def answers(self) -> list[dict[str, Any]]:
        lines = map(json.loads, self.session.journal.path.read_text().splitlines())
        return [event for event in lines if event["type"] == "tool.permission.answered"]


async def fault_of(person: AskClient, ask: Pending) -> str:
    """Allow it; why that had no effect, "" when it had."""
    try:
        await person.answer(ask.ask_id, ask.input_digest, "allow")
    except AskRefused as refused:
        return refused.name
    return ""


@asynccontextmanager
async def work(folder: Path) -> AsyncIterator[Work]:
    async with RuntimeSession.start(folder, agent="raced") as session:
        yield Work(session, folder)


async def test_of_approvers_that_race_exactly_one_decides_and_it_runs_once(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    allowed: set[str] = set()
    async with work(tmp_path / "work") as w:
        approvers = [await Approver.start(w.socket, f"approver {n}") for n in range(8)]
        try:
            for approver in approvers:
                await approver.reply()
            for race in range(RACES):
                call = w.want(f"m{race}")
                ask = await w.asked()
                racing = chance.sample(approvers, chance.randint(2, 8))
                for approver in racing:
                    approver.send(ask, chance.choice(("allow", "deny")))
                replies = [await approver.reply() for approver in racing]
                observed = await call
                won = [reply["result"] for reply in replies if "result" in reply]
                lost = [reply["error"]["data"] for reply in replies if "error" in reply]
                assert len(won) == 1, replies
                assert {one["name"] for one in lost} == {"already_resolved"}, replies
                assert all((one["by"], one["answer"]) == (won[0]["by"], won[0]["answer"]) for one in lost)
                assert observed.ok == (won[0]["answer"] == "allow")
                if observed.ok:
                    allowed.add(f"m{race}")
        finally:
            for approver in approvers:
                await approver.kill()
        assert w.marks() == Counter(dict.fromkeys(allowed, 1))
        answered = Counter(event["askId"] for event in w.answers())
        assert len(answered) == RACES
        assert set(answered.values()) == {1}


async def test_an_approver_that_is_killed_at_any_point_loses_doubles_and_revives_nothing(tmp_path: Path) -> None:
    chance = random.Random(SEED)
    ran: set[str] = set()
    async with work(tmp_path / "work") as w:
        for number in range(KILLS):
            call = w.want(f"m{number}")
            ask = await w.asked()
            doomed = await Approver.start(w.socket, "doomed")
            doomed.send(ask, chance.choice(("allow", "deny")))
            await asyncio.sleep(chance.choice((0, 0.01, 0.03, 0.06, 0.1)))  # where it is killed, not what is waited for
            await doomed.kill()
            if ask.is_open:
                async with await AskClient.connect(w.socket, "person") as person:
                    (listed,) = await person.list()
                    assert listed.ask_id == ask.ask_id, "it was not lost"
                    # or what the doomed one sent was taken meanwhile
                    assert await fault_of(person, ask) in ("", "already_resolved")
            observed = await call
            if observed.ok:
                ran.add(f"m{number}")
            assert w.session.setting.broker.pending() == (), "it did not come back"
        assert w.marks() == Counter(dict.fromkeys(ran, 1))
        answered = w.answers()
        assert len(answered) == KILLS
        assert len({event["askId"] for event in answered}) == KILLS
        allowed = sum(event["answer"] == "allow" for event in answered)
        assert allowed == len(ran)
