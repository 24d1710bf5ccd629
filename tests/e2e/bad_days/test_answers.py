"""Answers that come wrong, twice, too late, or to a host that cannot take them."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.e2e
House = Any
Interlock = Any
PATIENCE_S = 60


@pytest.fixture
def waiting(house: House) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A call of a process of its own that waits for an answer: the process and the ask."""
    arguments = [house.binary, "call", "bash", '{"command": "touch made"}', "-w", str(house.work)]
    process = subprocess.Popen(
        arguments, env=house.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process, house.first_ask(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_wrong_answer_is_refused_and_the_right_one_still_counts(
    house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    interlock("answer", ask, "maybe").fails("`allow` or `deny`", "maybe", code=2)
    interlock("answer", ask, "allow", "--scope", "for-ever").fails("--scope is one of", "for-ever", code=2)
    interlock("answer", ask, "deny", "--scope", "session").fails("--scope", code=2)
    interlock("answer", ask, "allow", "--message", "x").fails("--message", code=2)
    interlock("answer", ask, "allow", "--digest", "0" * 64).fails("digest_mismatch")
    interlock("answer", "ask_that_never_was", "allow").fails("no open ask", "interlock asks")
    assert not (house.work / "made").exists()
    assert interlock("answer", ask, "allow").code == 0
    assert process.wait(timeout=PATIENCE_S) == 0
    assert (house.work / "made").exists()
    interlock("answer", ask, "deny").fails("already answered with allow", "interlock answer")


def test_the_second_answer_to_a_host_that_lives_learns_who_was_first(house: House, interlock: Interlock) -> None:
    """The first call of the session is answered, the host then waits with a second one."""
    script = (
        "import asyncio\nfrom interlock.runtime.engine.intent import Intent\n"
        "from interlock.runtime.engine.session import RuntimeSession\n"
        "async def work():\n"
        f"    async with RuntimeSession.start({str(house.work)!r}) as session:\n"
        "        for name in 'ab':\n"
        "            await session.pipeline.run(Intent('bash', {'command': f'touch {name}'}))\n"
        "asyncio.run(work())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=house.environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        ask = house.first_ask(process)
        assert interlock("answer", ask, "deny").code == 0
        interlock("answer", ask, "allow").fails("already answered: deny by interlock answer")
        assert not (house.work / "a").exists()
    finally:
        process.kill()
        process.communicate()


def test_an_answer_to_a_killed_runtime_closes_the_ask_and_is_refused(
    house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE_S)
    interlock("answer", ask, "allow").fails(ask, "has ended", "nothing was run", "runtime_restarted")
    interlock("answer", ask, "allow").fails(ask, "closed at", "runtime_restarted")
    assert not (house.work / "made").exists()
    (made,) = house.ids()
    assert interlock("verify", made).code == 0
    assert [e["code"] for e in house.events(made) if e["type"] == "tool.observation"] == ["runtime_restarted"]


def test_a_host_that_hangs_is_told_and_its_ask_can_be_answered_afterwards(
    house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    process.send_signal(signal.SIGSTOP)
    try:
        said = interlock("asks").fails(f"host {process.pid}", "does not answer")
        assert "at the hosts that answered" in said.out
        interlock("answer", ask, "allow").fails(ask, "does not answer")
    finally:
        process.send_signal(signal.SIGCONT)
    assert interlock("answer", ask, "deny").code == 0
    assert process.wait(timeout=PATIENCE_S) == 1
    assert not (house.work / "made").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_call_that_is_told_to_end_closes_its_ask_and_says_so(
    number: signal.Signals, house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, _ = waiting
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    house.said(process.returncode, "", err).fails(f"stopped by {number.name}", code=128 + number)
    (made,) = house.ids()
    events = house.events(made)
    assert [e["cause"] for e in events if e["type"] == "tool.permission.closed"] == ["cancelled"]
    assert [e["code"] for e in events if e["type"] == "tool.observation"] == ["ask_cancelled"]
    assert (events[-1]["type"], events[-1]["reason"]) == ("session.ended", "cancelled")
    assert interlock("verify", made).code == 0


@pytest.mark.parametrize("how", ["removed", "replaced", "cut", "grown"])
def test_an_answer_is_not_taken_when_the_journal_is_not_what_it_was(
    how: str, house: House, interlock: Interlock, waiting: tuple[subprocess.Popen[str], str]
) -> None:
    process, ask = waiting
    (made,) = house.ids()
    journal = house.sessions / made / "events.jsonl"
    whole = journal.read_bytes()
    if how == "removed":
        journal.unlink()
    elif how == "replaced":
        journal.rename(journal.with_suffix(".old"))
        journal.write_bytes(whole)
    else:
        journal.write_bytes(whole[:-10] if how == "cut" else whole + b"{}\n")
    for _ in range(2):
        interlock("answer", ask, "allow").fails("not_recorded", str(journal))
    assert process.poll() is None
    assert not (house.work / "made").exists()


def test_a_fault_of_who_listens_does_not_unmake_what_is_on_record(house: House) -> None:
    from interlock.runtime.events.message import UserMessage
    from interlock.runtime.journal.writer import JournalWriter

    def broken(event: object, line: bytes, offset: int) -> None:
        raise RuntimeError("a view failed")

    writer = JournalWriter.create("s1")
    try:
        writer.subscribe(broken)
        first = writer.append(UserMessage(message_id="msg_1", text="kept"), durable=True)
        second = writer.append(UserMessage(message_id="msg_2", text="kept too"), durable=True)
    finally:
        writer.close()
    assert (first.seq, second.seq) == (0, 1)
    assert [event["text"] for event in house.events("s1")] == ["kept", "kept too"]
