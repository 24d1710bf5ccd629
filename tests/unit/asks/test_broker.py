"""The first answer by id and digest wins; what cannot be recorded does not take effect."""

from __future__ import annotations

import asyncio

import pytest

from interlock.runtime.asks.broker import AskNotRecorded, Broker
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.events.permission import Approver

ANN = Approver(kind="person", uid=1, pid=10, client="ann")
BOB = Approver(kind="person", uid=1, pid=11, client="bob")


def answer(ask="a1", said="allow", **more):
    return AskAnswer(**({"ask_id": ask, "input_digest": f"d-{ask}", "answer": said} | more))


async def test_the_second_answer_is_told_who_was_first(bench):
    pending = bench.ask()
    assert bench.broker.resolve(answer(), ANN).status == "accepted"
    second = bench.broker.resolve(answer(said="deny"), BOB)
    assert second.status == "already"
    assert "ann" in second.detail
    assert (await pending.wait()).allowed
    assert len(bench.of("tool.permission.answered")) == 1
    assert len(bench.of("tool.permission.delivered")) == 1


async def test_the_answer_is_in_the_journal_before_the_waiter_is_released(bench):
    pending = bench.ask()
    original, seen = bench.record, []
    bench.broker._record = lambda event, durable: (seen.append((durable, pending.is_open)), original(event, durable))[1]
    bench.broker.resolve(answer(), ANN)
    assert seen == [(True, True)]


async def test_a_journal_that_refuses_leaves_the_ask_open_and_says_so(bench):
    pending = bench.ask()
    bench.broken = True
    refused = bench.broker.resolve(answer(), ANN)
    assert refused.status == "not_recorded"
    assert "No space left" in refused.detail
    assert pending.is_open
    bench.broken = False
    assert bench.broker.resolve(answer(said="deny"), ANN).status == "accepted"
    assert not (await pending.wait()).allowed


async def test_an_ask_that_cannot_be_recorded_is_not_open(bench):
    bench.broken = True
    with pytest.raises(AskNotRecorded):
        bench.ask()
    assert bench.broker.pending() == ()


async def test_an_answer_that_cannot_be_delivered_on_the_record_does_not_run(bench):
    pending = bench.ask()
    bench.broker.resolve(answer(), ANN)
    bench.broken = True
    with pytest.raises(AskNotRecorded):
        await pending.wait()


async def test_another_digest_is_refused_and_the_ask_stays_open(bench):
    pending = bench.ask()
    assert bench.broker.resolve(answer(input_digest="other"), ANN).status == "mismatch"
    assert pending.is_open


async def test_a_late_allow_is_expired_and_nothing_runs(bench):
    pending = bench.ask(expires_at="2026-01-10T09:00:05Z")
    bench.later(6)
    assert bench.broker.resolve(answer(), ANN).status == "expired"
    outcome = await pending.wait()
    assert (outcome.allowed, outcome.cause) == (False, "expired")
    assert len(bench.of("tool.permission.closed")) == 1


async def test_a_wait_keeps_the_expiry_by_itself(bench):
    pending = bench.ask(expires_at="2026-01-10T08:59:59Z")
    assert (await pending.wait()).cause == "expired"


async def test_a_cancelled_ask_tells_the_approver_that_it_is_stale(bench):
    bench.ask()
    assert bench.broker.cancel("a1")
    late = bench.broker.resolve(answer(), ANN)
    assert late.status == "closed"
    assert "cancelled" in late.detail


async def test_an_ask_whose_waiter_is_cancelled_is_closed(bench):
    task = asyncio.create_task(bench.ask().wait())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.broker.pending() == ()
    assert bench.of("tool.permission.closed")[0].cause == "cancelled"


async def test_of_parallel_asks_the_named_one_is_answered(bench):
    """BC-032."""
    for name in ("a1", "a2", "a3"):
        bench.ask(name)
    bench.broker.resolve(answer("a2"), ANN)
    assert [p.ask_id for p in bench.broker.pending()] == ["a1", "a3"]
    assert [e.ask_id for e in bench.of("tool.permission.answered")] == ["a2"]


async def test_an_ask_id_is_never_used_again(bench):
    bench.ask()
    bench.broker.resolve(answer(), ANN)
    with pytest.raises(ValueError, match="used before"):
        bench.ask()


async def test_a_changed_ask_supersedes_the_old_one(bench):
    old = bench.ask()
    bench.ask("a2", supersedes="a1")
    assert (await old.wait()).cause == "superseded"
    assert bench.broker.resolve(answer(), ANN).status == "closed"


async def test_a_choice_that_the_host_cannot_honour_is_refused(bench):
    bench.ask(choices=("allow.once", "deny"))
    for given in (answer(scope="session"), answer(said="deny", message="no")):
        assert bench.broker.resolve(given, ANN).status == "not_offered"


async def test_after_a_restart_the_asks_left_open_are_closed_with_the_cause(bench):
    """BC-039."""
    bench.ask("a1")
    bench.ask("a2")
    bench.broker.resolve(answer("a2"), ANN)
    again = Broker(bench.record, lambda: bench.now)
    assert again.restore(list(bench.events)) == ["a1"]
    assert bench.events[-1].cause == "runtime_restarted"
    assert again.pending() == ()
    assert again.resolve(answer("a1"), BOB).status == "closed"
    assert again.resolve(answer("a2"), BOB).status == "already"


async def test_a_recording_that_answers_again_meets_a_closed_door(bench):
    bench.ask()
    original, inner = bench.record, []

    def meddling(event, durable):
        if event.type == "tool.permission.answered":
            inner.append(bench.broker.resolve(answer(said="deny"), BOB).status)
        return original(event, durable)

    bench.broker._record = meddling
    assert bench.broker.resolve(answer(), ANN).status == "accepted"
    assert inner == ["not_recorded"]
    assert len(bench.of("tool.permission.answered")) == 1


async def test_a_screen_is_recorded_once(bench):
    bench.ask()
    for by in (ANN, ANN, BOB):
        assert bench.broker.shown("a1", by).status == "accepted"
    assert len(bench.of("tool.permission.shown")) == 2
