"""The log of another agent is followed as a journal of ours is, and what its gate recorded stands among its calls."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.events.permission import Approver, PermissionAnswered, PermissionClosed, ToolPermission
from interlock.runtime.events.session import Agent, Foreign, SandboxState, SessionStarted
from interlock.runtime.events.tool import ToolIntent, ToolObservation
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.sources.claude_code.home import ClaudeHome
from interlock.runtime.sources.foreign.follower import ForeignFollower, spool_home
from interlock.runtime.sources.foreign.home import LogRef
from interlock.runtime.sources.foreign.reading import facts_of
from interlock.runtime.sources.foreign.registry import detect
from interlock.runtime.sources.foreign.source import ForeignSource

SAMPLES = Path(__file__).parents[3] / "data" / "samples"
SESSION = "11111111-2222-3333-4444-555555555555"
LINES = (
    b'{"type":"user","uuid":"u1","sessionId":"%s","timestamp":"2026-01-10T09:00:00.000Z","cwd":"/w","version":"2.1.9",'
    b'"message":{"role":"user","content":"go"}}\n',
    b'{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"%s","timestamp":"2026-01-10T09:00:01.000Z",'
    b'"cwd":"/w","version":"2.1.9","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":'
    b'[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}],'
    b'"usage":{"input_tokens":5,"output_tokens":7}}}\n',
    b'{"type":"user","uuid":"u2","parentUuid":"a1","sessionId":"%s","timestamp":"2026-01-10T09:00:04.000Z","cwd":"/w",'
    b'"version":"2.1.9","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1",'
    b'"content":"a b"}]},"toolUseResult":{"stdout":"a b","stderr":"","interrupted":false,"isImage":false}}\n',
)
REQUEST, CALL, RESULT = (line % SESSION.encode() for line in LINES)


def ref_of(path: Path) -> LogRef:
    seen = path.stat()
    return LogRef(detect(path)[0].kind, path.stem, path, seen.st_mtime_ns, seen.st_size)


def caught_up(follower: ForeignFollower) -> ForeignFollower:
    follower.catch_up()
    return follower


def swept() -> None:
    """Wait until what others left is gone."""
    for thread in threading.enumerate():
        if thread.name == "sweep spools":
            thread.join(30)


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return spool_home()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "claude" / "projects" / "-w"
    folder.mkdir(parents=True)
    return folder / f"{SESSION}.jsonl"


@pytest.fixture
def gate(clock: Callable[[], datetime]) -> JournalWriter:
    """The journal of a gate that answers for the session of `log`."""
    writer = JournalWriter.create("gate-1", clock)
    agent, told = Agent(name="Claude Code", version="2.1.9", kind="claude_code"), Foreign(session=SESSION)
    writer.append(
        SessionStarted(
            agent=agent,
            cwd="/w",
            workspace=("/w",),
            host="h",
            pid=1,
            user="u",
            sandbox=SandboxState(),
            runtime_version="1",
            foreign=told,
        )
    )
    return writer


def asked(gate: JournalWriter, call_id: str | None, command: str = "ls") -> str:
    intent = gate.ids.new("int")
    gate.append(ToolIntent(intent_id=intent, tool="Bash", raw_input={"command": command}, call_id=call_id))
    gate.append(
        ToolPermission(
            intent_id=intent, decision="ask", reason="a rule asks", source="user", ask_id=f"ask_{intent}", tool="Bash"
        )
    )
    return intent


def answered(gate: JournalWriter, intent: str) -> None:
    by = Approver(kind="person", uid=1)
    gate.append(PermissionAnswered(ask_id=f"ask_{intent}", intent_id=intent, answer="allow", by=by, input_digest="d"))


@pytest.mark.parametrize(
    "sample", sorted(SAMPLES.glob("c*/*.jsonl")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_a_followed_log_comes_to_what_its_facts_say(sample: Path, spool: Path) -> None:
    follower = caught_up(ForeignFollower(ref_of(sample)))
    facts = facts_of(sample)
    rows = [follower.timeline.row(i) for i in range(len(follower.timeline))]
    assert sum(row.kind == "call" for row in rows) >= follower.state.calls
    # what an adapter holds back until the next record is not followed yet: an unfinished last line, at most one
    assert facts["toolCallCount"] - follower.state.calls in (0, 1) if facts["damagedLines"] else True
    assert follower.state.input_tokens <= facts["tokens"]["input"]
    assert follower.tally.damaged == 0, "the spool itself is sound"
    follower.close()


def test_the_spool_goes_away_with_the_follower_and_after_a_crash(log: Path, spool: Path) -> None:
    log.write_bytes(REQUEST)
    left = spool / "999999999-left"
    left.mkdir()
    follower = caught_up(ForeignFollower(ref_of(log)))
    swept()
    assert not left.exists()
    assert len(list(spool.iterdir())) == 1
    follower.close()
    assert list(spool.iterdir()) == []


def test_a_log_is_followed_while_what_others_left_is_still_being_taken_away(
    log: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was killed while it followed thousands of logs left thousands of folders."""
    log.write_bytes(REQUEST)
    (spool / "999999999-left").mkdir()
    go_on, really_remove = threading.Event(), shutil.rmtree

    def slow(path: Any, **more: Any) -> None:
        if threading.current_thread() is not threading.main_thread():
            assert go_on.wait(30)
        really_remove(path, **more)

    monkeypatch.setattr(shutil, "rmtree", slow)
    follower = caught_up(ForeignFollower(ref_of(log)))
    assert (len(follower.timeline), len(list(spool.iterdir()))) == (2, 2)
    go_on.set()
    swept()
    follower.close()
    assert list(spool.iterdir()) == []


def test_the_spools_are_looked_through_once_however_many_logs_are_followed(
    log: Path, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_bytes(REQUEST)
    listed: list[Any] = []
    really_scan = os.scandir

    def counted(path: Any = ".") -> Any:
        listed.append(path)
        return really_scan(path)

    monkeypatch.setattr(os, "scandir", counted)
    followers = [ForeignFollower(ref_of(log)) for _ in range(3)]
    swept()
    assert listed.count(spool) == 1
    for follower in followers:
        follower.close()


def test_a_log_is_followed_as_it_grows_and_its_lines_can_be_read_again(log: Path, spool: Path) -> None:
    log.write_bytes(REQUEST + CALL[:80])
    follower = caught_up(ForeignFollower(ref_of(log)))
    assert follower.state.calls == 0
    with log.open("ab") as file:
        file.write(CALL[80:])
    caught_up(follower)
    assert follower.state.open_calls
    with log.open("ab") as file:
        file.write(RESULT)
    caught_up(follower)
    assert not follower.state.open_calls
    row = next(r for r in map(follower.timeline.row, range(len(follower.timeline))) if r.kind == "call")
    assert row.outcome == "ok"
    line = follower.raw(row.offset)
    assert line is not None
    offset, record = follower.record_of(line, row.offset)
    assert log.read_bytes()[offset : offset + len(record)] == record == CALL.rstrip(b"\n")
    follower.close()


def test_a_log_that_is_cut_begins_anew_and_what_was_seen_stays(log: Path, spool: Path) -> None:
    log.write_bytes(REQUEST + CALL + RESULT)
    follower = caught_up(ForeignFollower(ref_of(log)))
    log.write_bytes(REQUEST)
    caught_up(follower)
    assert follower.translation.restarts == 1
    assert follower.state.calls == 1
    follower.close()


@pytest.mark.parametrize("call_id", ["toolu_1", None])
def test_an_ask_of_the_gate_stands_at_its_call(
    log: Path, spool: Path, gate: JournalWriter, call_id: str | None
) -> None:
    log.write_bytes(REQUEST + CALL)
    intent = asked(gate, call_id)
    follower = caught_up(ForeignFollower(ref_of(log), gates=[gate.path]))
    row = next(r for r in map(follower.timeline.row, range(len(follower.timeline))) if r.kind == "call")
    assert row.outcome == "waiting"
    assert follower.judge().status == "waiting"
    answered(gate, intent)
    caught_up(follower)
    assert follower.timeline.row(row.index).outcome == "queued"
    assert follower.judge().status != "waiting"
    log.write_bytes(REQUEST + CALL + RESULT)
    caught_up(follower)
    done = follower.timeline.row(row.index)
    assert (done.outcome, bool(done.asked_at), bool(done.answered_at)) == ("ok", True, True)
    follower.close()


def test_an_ask_whose_call_is_not_in_the_log_yet_waits_for_it(log: Path, spool: Path, gate: JournalWriter) -> None:
    log.write_bytes(REQUEST)
    asked(gate, "toolu_1")
    asked(gate, "toolu_9", "rm -rf other")
    follower = caught_up(ForeignFollower(ref_of(log), gates=[gate.path]))
    assert not follower.state.asks
    with log.open("ab") as file:
        file.write(CALL)
    caught_up(follower)
    assert [ask.ask_id for ask in follower.state.asks.values()] == ["ask_int_1"]
    follower.close()


def test_a_gate_that_comes_later_is_told_of_too(log: Path, spool: Path, gate: JournalWriter) -> None:
    log.write_bytes(REQUEST + CALL)
    follower = caught_up(ForeignFollower(ref_of(log)))
    intent = asked(gate, "toolu_1")
    follower.attach(gate.path)
    follower.attach(gate.path)
    caught_up(follower)
    assert len(follower.state.asks) == 1
    gate.append(PermissionClosed(ask_id=f"ask_{intent}", intent_id=intent, cause="cancelled"))
    by_gate: dict[str, Any] = {"code": "cancelled", "title": "t", "summary": "s", "user_text": "s"}
    gate.append(ToolObservation(observation_id="obs_1", intent_id=intent, ok=False, phase="permission", **by_gate))
    caught_up(follower)
    assert not follower.state.asks
    follower.close()


async def test_new_grown_and_deleted_sessions_are_told(tmp_path: Path, log: Path, spool: Path) -> None:
    config = tmp_path / "claude"
    log.write_bytes(REQUEST)
    source = ForeignSource([ClaudeHome(config)])
    watching = source.watch()
    mine = f"claude_code:{SESSION}"

    async def told(session_id: str) -> None:
        async with asyncio.timeout(20):
            async for ids in watching:
                if session_id in ids:
                    return

    await told(mine)
    with log.open("ab") as file:
        file.write(CALL)
    await told(mine)
    seen = source.seen(mine, 0)
    assert seen is not None
    assert seen.summary is not None
    assert (seen.summary.cwd, seen.summary.open_call) == ("/w", "Bash")
    other = log.with_name("99999999-2222-3333-4444-555555555555.jsonl")
    shutil.copy(log, other)
    await told(f"claude_code:{other.stem}")
    other.unlink()
    await told(f"claude_code:{other.stem}")
    assert source.seen(f"claude_code:{other.stem}", 0) is None
    await watching.aclose()


def test_a_folder_that_cannot_be_listed_hides_no_other_agent(log: Path, spool: Path, tmp_path: Path) -> None:
    class Broken(ClaudeHome):
        kind = "broken"
        agent = "Broken"

        def logs(self) -> list[LogRef]:
            raise PermissionError(13, "Permission denied", "/x")

    log.write_bytes(REQUEST)
    source = ForeignSource([Broken(tmp_path / "none"), ClaudeHome(tmp_path / "claude")])
    assert [ref.id for ref in source.discover()] == [f"claude_code:{SESSION}"]
    assert "Broken" in source.faults["broken"]
