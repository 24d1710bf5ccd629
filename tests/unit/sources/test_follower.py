"""A journal followed live: whatever stands in it, each line is accounted for. (spec EV-5, EV-6; ST-*, BC-001..060)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.runtime.events.message import UserMessage
from interlock.runtime.events.permission import PermissionAnswered, ToolPermission
from interlock.runtime.events.session import SessionEnded
from interlock.runtime.events.tool import InvocationStarted, ToolIntent, ToolObservation
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.sources.follower import SessionFollower


def event(seq: int, text: str = "x", session: str = "s1") -> bytes:
    head = f'{{"v":1,"seq":{seq},"ts":"2026-01-10T09:00:00.00000{seq % 10}Z","session":"{session}","prev":"","type":'
    return f'{head}"message.user","messageId":"m{seq}","text":"{text}"}}'.encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "s1").mkdir()
    return tmp_path / "s1"


def follow(folder: Path, *lines: bytes) -> SessionFollower:
    (folder / "events.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    follower = SessionFollower(folder)
    follower.catch_up()
    return follower


def kinds(follower: SessionFollower) -> list[str]:
    return [follower.timeline.row(i).kind for i in range(len(follower.timeline))]


@pytest.mark.parametrize(
    "bad",
    [b"garbage", b'{"seq":9,"ty', b'{"t":"\x00"}', b'{"t":"\xff"}', b'{"t":"\xed\xa0\x80"}', b"[" * 5000],
)
def test_a_bad_line_is_counted_shown_with_its_offset_and_skipped(folder: Path, bad: bytes) -> None:
    follower = follow(folder, event(0), bad, event(1))
    assert kinds(follower) == ["user", "damaged", "user"]
    assert (follower.tally.damaged, follower.damage[0].offset) == (1, len(event(0)) + 1)
    assert follower.raw(follower.damage[0].offset) == bad
    assert follower.state.seq == 1


def test_a_bad_byte_in_a_field_that_no_fold_needs_is_damage_too(folder: Path) -> None:
    follower = follow(folder, event(0), event(1).replace(b'"x"', b'"\xff"'), event(2))
    assert kinds(follower) == ["user", "damaged", "user"]


def test_two_records_on_one_line_are_flagged_and_neither_is_applied(folder: Path) -> None:
    """ST-014"""
    follower = follow(folder, event(0), event(1) + event(2), event(3))
    assert kinds(follower) == ["user", "damaged", "user"]
    assert "2 records" in follower.damage[0].reason


def test_a_record_of_another_kind_is_kept_as_unknown(folder: Path) -> None:
    follower = follow(folder, event(0), b'{"ev":"start"}', event(1).replace(b"message.user", b"message.future"))
    assert kinds(follower) == ["user", "unknown", "unknown"]


def test_the_same_event_twice_is_one_and_a_different_one_with_its_seq_is_a_conflict(folder: Path) -> None:
    """ST-016"""
    follower = follow(folder, event(0), event(1), event(1), event(1), event(1, "forged"), event(2))
    assert kinds(follower) == ["user", "user", "conflict", "user"]
    assert (follower.tally.duplicates, follower.tally.conflicts) == (2, 1)
    assert "seq 1" in follower.damage[0].reason


def test_an_answer_that_names_another_session_answers_nothing(folder: Path) -> None:
    """ST-025"""
    ask = event(0).replace(
        b'"message.user"',
        b'"tool.permission","intentId":"int_1","decision":"ask","askId":"ask_1","reason":"r","source":"s"',
    )
    forged = event(1, session="other").replace(b'"message.user"', b'"tool.permission.answered","askId":"ask_1"')
    foreign = b'{"type":"permission_answer","by":"human","decision":"allow","askId":"ask_1"}'
    follower = follow(folder, ask, forged, foreign)
    assert set(follower.state.asks) == {"ask_1"}
    assert follower.tally.foreign >= 1


def test_a_replaced_journal_begins_anew_behind_a_divider(folder: Path) -> None:
    """ST-022: two generations, kept apart."""
    follower = follow(folder, event(0), event(1), event(2))
    (folder / "new").write_bytes(event(0, "another") + b"\n")
    os.replace(folder / "new", folder / "events.jsonl")
    follower.catch_up()
    assert kinds(follower) == ["user", "user", "user", "divider", "user"]
    assert [follower.timeline.row(i).generation for i in (0, 2, 4)] == [0, 0, 1]
    assert follower.state.seq == 0
    assert follower.raw(0, 0) == event(0)
    assert follower.raw(0) == event(0, "another")
    assert follower.tally.notes == ["replaced"]


def test_an_unfinished_last_line_waits_until_the_rest_arrives(folder: Path) -> None:
    """ST-001"""
    follower = follow(folder, event(0))
    with open(folder / "events.jsonl", "ab", buffering=0) as file:
        file.write(event(1)[:12])
        follower.catch_up()
        assert (len(follower.timeline), follower.pending_bytes) == (1, 12)
        file.write(event(1)[12:] + b"\n")
    follower.catch_up()
    assert (len(follower.timeline), follower.pending_bytes, follower.tally.damaged) == (2, 0, 0)


def observation(number: int, **fields) -> ToolObservation:
    base = {"observation_id": f"obs_{number}", "intent_id": f"int_{number}", "ok": True, "phase": "execute"}
    return ToolObservation(**{**base, "code": "ok", "title": "t", "summary": "s", "user_text": "", **fields})


def test_the_status_comes_from_evidence_and_a_dead_writer_is_never_running(tmp_path, monkeypatch, clock) -> None:
    """BC-060: a call without a result, a writer that is gone."""
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path))
    writer = JournalWriter.create("s1", clock)
    follower = SessionFollower(writer.folder)

    def status_after(*events) -> str:
        for one in events:
            writer.append(one)
        follower.catch_up()
        status, evidence = follower.status()
        assert evidence
        return status

    assert status_after(UserMessage(message_id="m", text="go")) == "idle"
    ask = ToolPermission(
        intent_id="int_1", decision="ask", reason="r", source="built-in", ask_id="ask_1", prompt="run?"
    )
    assert status_after(ToolIntent(intent_id="int_1", tool="bash"), ask) == "waiting"
    assert follower.state.asks["ask_1"].prompt == "run?"
    answer = PermissionAnswered.model_validate(
        {"ask_id": "ask_1", "intent_id": "int_1", "answer": "allow", "by": {"kind": "person"}, "input_digest": "d"}
    )
    assert status_after(answer) == "running"
    assert status_after(observation(1), ToolIntent(intent_id="int_2", tool="bash")) == "running"
    started = InvocationStarted.model_validate(
        {"invocation_id": "inv_2", "intent_id": "int_2", "executor": "e", "cwd": "/", "sandbox": {}}
    )
    assert status_after(started) == "running"
    assert follower.state.running == {"inv_2": "int_2"}
    writer.close()
    assert follower.status()[0] == "gone"
    status, evidence = follower.status(follower.state.last_at + 3_600_000_000)
    assert (status, "1 h ago" in evidence) == ("gone", True)
    assert follower.timeline.close_open() == 1
    row = follower.timeline.row(len(follower.timeline) - 1)
    assert (row.outcome, row.ended_at, row.invocation_id) == ("missing", 0, "inv_2")
    again = JournalWriter.open("s1", clock)
    again.append(SessionEnded(reason="crashed"))
    again.close()
    follower.catch_up()
    assert follower.status()[0] == "failed"
    follower.close()
