"""A runtime killed at any moment: no acknowledged answer lost, nothing run without one, nothing run by the recovery.

(spec ASK-1, EV-3, Q-2; issue: first light.) `INTERLOCK_LONG=1` kills 400 times instead of 25.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient, AskRefused, HostGone
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.cli.main import run as interlock
from interlock.runtime.engine.recover import NOTHING, recover_session
from interlock.runtime.journal.chain import verify
from interlock.runtime.journal.writer import writer_alive

KILLS = 400 if os.environ.get("INTERLOCK_LONG") else 25
SEED = int(os.environ.get("INTERLOCK_SEED", "20260110"))
PATIENCE_S = 20.0
TYPICAL_BYTES = 60_000
"""About the size of the journal of a whole run: the places of the kills are spread over it."""

# One process that has everything imported; each line on its input makes it fork a runtime, which is what gets killed.
NURSERY = r"""
import asyncio, json, os, sys
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
import interlock.runtime.agents.approver, interlock.runtime.tools.builtin.all, interlock.runtime.state.evidence

def bash(mark): return Intent("bash", {"command": f"echo {mark} >> ran.txt"}, "leave a mark")

async def work(workspace):
    async with RuntimeSession.start(workspace, agent="killed", title="to be killed") as session:
        said = {"pid": os.getpid(), "session": session.id, "socket": str(session.setting.reply_to)}
        os.write(1, json.dumps(said).encode() + b"\n")
        for turn in range(6):
            session.say_user(f"turn {turn}")
            await session.pipeline.run(Intent("glob", {"pattern": "*"}))
            await session.pipeline.run(bash(f"single-{turn}"))
            await session.pipeline.run(Intent("write_file", {"path": f"made-{turn}.txt", "content": "made\n" * 40}))
            both = [bash(f"left-{turn}"), bash(f"right-{turn}"), Intent("read_file", {"path": "given.txt"})]
            await asyncio.gather(*(session.pipeline.run(intent) for intent in both))

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(work(line.strip())); code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    os.write(1, json.dumps({"status": status}).encode() + b"\n")
"""

pytestmark = pytest.mark.e2e


@dataclass
class Plan:
    """When to kill."""

    kind: str
    """`bytes`: the journal has grown so far; `asked`: an ask was announced; `sent`: an answer was sent, its reply not
    read; `accepted`: an answer was accepted this instant; `delay`: so many turns of the loop after that."""
    number: int

    @classmethod
    def draw(cls, rng: random.Random) -> Plan:
        kind = rng.choice(("bytes", "bytes", "asked", "sent", "accepted", "delay"))
        return cls(kind, rng.randrange(TYPICAL_BYTES) if kind == "bytes" else rng.randrange(1, 24))


@dataclass
class Witness:
    """What the approver did and saw."""

    sent: dict[str, str] = field(default_factory=dict)
    accepted: dict[str, str] = field(default_factory=dict)
    announced: set[str] = field(default_factory=set)


class Nursery:
    """The process that gives birth to runtimes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def begin(self, workspace: Path) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{workspace}\n".encode())
        return await self.line()

    async def line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            return json.loads(await self._process.stdout.readline())


@asynccontextmanager
async def nursery(log: Path) -> AsyncIterator[Nursery]:
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", NURSERY, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=errors
        )
        try:
            yield Nursery(process)
        finally:
            process.kill()
            await process.wait()


async def approve(socket: str, pid: int, plan: Plan, rng: random.Random, seen: Witness) -> None:
    """Answer everything until the host is gone, and kill it where the plan says so."""
    with suppress(HostGone):
        async with await AskClient.connect(socket, client="the test") as client:
            async for notice in client.subscribe():
                if not isinstance(notice, OpenedNotice):
                    continue
                ask = notice.ask
                seen.announced.add(ask.ask_id)
                if plan.kind == "asked" and len(seen.announced) >= plan.number:
                    os.kill(pid, signal.SIGKILL)
                answer = "deny" if rng.random() < 0.15 else "allow"
                seen.sent[ask.ask_id] = answer
                reply = asyncio.ensure_future(client.answer(ask.ask_id, ask.input_digest, answer))
                if plan.kind == "sent" and len(seen.sent) >= plan.number:
                    for _ in range(rng.randrange(4)):
                        await asyncio.sleep(0)  # not a wait: lets the request out, and perhaps the reply in
                    os.kill(pid, signal.SIGKILL)
                await reply
                seen.accepted[ask.ask_id] = answer
                if plan.kind in ("accepted", "delay") and len(seen.accepted) >= plan.number:
                    for _ in range(rng.randrange(400) if plan.kind == "delay" else 0):
                        await asyncio.sleep(0)
                    os.kill(pid, signal.SIGKILL)


async def kill_at_size(journal: Path, pid: int, size: int) -> None:
    while journal.stat().st_size < size:
        await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)


def events_of(journal: Path) -> list[dict[str, Any]]:
    """The whole lines; a torn last one is for the recovery."""
    return [json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1]]


def check_before(events: list[dict[str, Any]], seen: Witness, workspace: Path) -> None:
    answered = {e["askId"]: e["answer"] for e in events if e["type"] == "tool.permission.answered"}
    missing = {ask: answer for ask, answer in seen.accepted.items() if answered.get(ask) != answer}
    assert not missing, "an answer was acknowledged and is not on record"
    assert all(seen.sent.get(ask) == answer for ask, answer in answered.items()), "an answer that nobody gave"
    asked, allowed, started = set[str](), set[str](), Counter[str]()
    marks: dict[str, str] = {}
    for event in events:
        match event["type"]:
            case "tool.intent":
                marks[event["intentId"]] = str(event["rawInput"])
            case "tool.permission" if event["decision"] == "ask":
                asked.add(event["intentId"])
            case "tool.permission.answered" if event["answer"] == "allow":
                allowed.add(event["intentId"])
            case "tool.invocation.started":
                started[event["intentId"]] += 1
                assert event["intentId"] in allowed or event["intentId"] not in asked, "run without an answer"
    assert all(count == 1 for count in started.values())
    begun = [marks[intent] for intent in started]
    for mark in ran(workspace):
        assert any(f"echo {mark} " in text for text in begun), f"{mark} was run and its start is not on record"
    for made in workspace.glob("made-*.txt"):
        assert any(made.name in text for text in begun), f"{made} was made and its start is not on record"


def ran(workspace: Path) -> list[str]:
    """The marks that commands left."""
    path = workspace / "ran.txt"
    return path.read_text().split() if path.exists() else []


def check_after(journal: Path, before: list[dict[str, Any]], workspace: Path) -> set[str]:
    """The record is whole; returns the asks that the recovery has closed."""
    events = events_of(journal)
    added = events[len(before) :]
    own = {"journal.repaired", "tool.permission.closed", "tool.observation", "session.ended"}
    taken = 1 if added and added[0]["type"] not in own else 0  # a line that lacked only its end is whole now
    assert {e["type"] for e in added[taken:]} <= own
    intents = [e["intentId"] for e in events if e["type"] == "tool.intent"]
    observed = Counter(e["intentId"] for e in events if e["type"] == "tool.observation")
    assert dict(observed) == dict.fromkeys(intents, 1)
    asks = {e["askId"] for e in events if e["type"] == "tool.permission" and e.get("askId")}
    answered = {e["askId"] for e in events if e["type"] == "tool.permission.answered"}
    closed = {e["askId"]: e["cause"] for e in events if e["type"] == "tool.permission.closed"}
    assert asks == answered | set(closed)
    assert not answered & set(closed)
    assert set(closed.values()) <= {"runtime_restarted"}
    assert events[-1]["type"] == "session.ended"
    assert max(Counter(ran(workspace)).values(), default=1) == 1, "something was run twice"
    report = verify(journal.parent)
    assert report.ok, report
    return set(closed)


def check_late(asks: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    for ask in asks:
        assert interlock(["answer", ask, "allow"]) == 1
        said = capsys.readouterr().err
        assert ask in said
        assert "runtime" in said
        assert "Traceback" not in said


async def one_kill(birth: Nursery, workspace: Path, state: Path, plan: Plan, rng: random.Random) -> tuple[str, Witness]:
    """A runtime from its birth to its violent end: its session and what the approver saw."""
    born = await birth.begin(workspace)
    pid, session = born["pid"], born["session"]
    seen = Witness()
    work = [asyncio.ensure_future(approve(born["socket"], pid, plan, rng, seen))]
    if plan.kind == "bytes":
        work.append(
            asyncio.ensure_future(kill_at_size(state / "sessions" / session / "events.jsonl", pid, plan.number))
        )
    await birth.line()  # it is dead and buried: its number cannot be another's before this line
    for task in work[1:]:
        task.cancel()
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*work, return_exceptions=True)
    fault = work[0].exception() if not work[0].cancelled() else None
    assert fault is None or isinstance(fault, HostGone | AskRefused | ProcessLookupError), repr(fault)
    return session, seen


async def test_a_runtime_killed_at_any_moment_loses_no_answer_and_runs_nothing_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(state))
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(tmp_path / "run"))
    rng = random.Random(SEED)
    tally: Counter[str] = Counter()
    async with nursery(tmp_path / "nursery.log") as birth:
        for number in range(KILLS):
            plan = Plan.draw(rng)
            workspace = tmp_path / f"work-{number}"
            workspace.mkdir()
            (workspace / "given.txt").write_text("given\n")
            session, seen = await one_kill(birth, workspace, state, plan, rng)
            journal = state / "sessions" / session / "events.jsonl"
            assert not writer_alive(journal.parent)
            before = events_of(journal)
            try:
                check_before(before, seen, workspace)
                open_now = left_open(before)
                if number % 2:
                    check_late(open_now, capsys)  # the answer comes first and has to do what the recovery would
                done = recover_session(session)
                assert recover_session(session) == NOTHING
                closed = check_after(journal, before, workspace)
                assert open_now == closed
                check_late(closed, capsys)
            except AssertionError as error:
                error.add_note(f"kill {number} of seed {SEED}: {plan}, {journal}")
                raise
            tally["killed"] += before[-1]["type"] != "session.ended"
            tally["open asks"] += len(closed)
            tally["accepted answers"] += len(seen.accepted)
            tally["intents left open"] += done.intents
            tally[f"kind {plan.kind}"] += 1
    with capsys.disabled():
        print(f"\n  {KILLS} runs: {dict(sorted(tally.items()))}", end=" ")
    assert tally["killed"] >= KILLS * 0.6, "too few runs were killed at work to show anything"
    assert tally["open asks"]
    assert tally["accepted answers"] > KILLS


def left_open(events: list[dict[str, Any]]) -> set[str]:
    """Asks without an end."""
    asks = {e["askId"] for e in events if e["type"] == "tool.permission" and e.get("askId")}
    ended = {e["askId"] for e in events if e["type"] in ("tool.permission.answered", "tool.permission.closed")}
    return asks - ended
