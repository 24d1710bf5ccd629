"""Answers that must not count: each is refused by an error of its own, and nothing of it is recorded (ASK-1).

`INTERLOCK_LONG=1`: 1,000 of each kind instead of 25.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timedelta

import pytest

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.server import AskServer

COUNT = 1000 if os.environ.get("INTERLOCK_LONG") == "1" else 25


def stale(bench, ask: str) -> None:
    """The call was cancelled before the answer came."""
    bench.broker.cancel(ask)


def replaced(bench, ask: str) -> None:
    """What it showed has changed, and another ask stands for it."""
    bench.ask(f"{ask}-anew", supersedes=ask)


def late(bench, ask: str) -> None:
    """Its time ran out."""
    bench.later(61)


def restarted(bench, ask: str) -> None:
    """Its session ended."""
    bench.broker.cancel(ask, "session_closed")


@pytest.mark.parametrize(
    ("become", "error", "cause"),
    [
        (stale, "ask_closed", "cancelled"),
        (replaced, "ask_closed", "superseded"),
        (late, "expired", "expired"),
        (restarted, "ask_closed", "session_closed"),
    ],
)
async def test_an_answer_to_an_ask_that_is_over(bench, dial, become: Callable, error: str, cause: str) -> None:
    wire = await dial()
    for number in range(COUNT):
        ask = f"a{number}"
        bench.ask(ask, expires_at=(bench.now + timedelta(seconds=60)).isoformat())
        become(bench, ask)
        refused = (await wire.answer(ask))["error"]["data"]
        assert (refused["name"], refused["cause"]) == (error, cause)
    assert bench.of("tool.permission.answered") == []


async def test_an_answer_that_was_given_before(bench, dial) -> None:
    """The same frame twice, and the other answer after the first: both are told who was first."""
    wire = await dial()
    for number in range(COUNT):
        ask = f"a{number}"
        pending = bench.ask(ask)
        first = await wire.answer(ask, "deny")
        for again in ("deny", "allow"):
            refused = (await wire.answer(ask, again))["error"]["data"]
            assert (refused["name"], refused["answer"]) == ("already_resolved", "deny")
            assert refused["at"] == first["result"]["at"]
        assert (await pending.wait()).answer == "deny"
    assert len(bench.of("tool.permission.answered")) == COUNT


async def test_an_answer_about_another_input(bench, dial) -> None:
    wire = await dial()
    for number in range(COUNT):
        ask = f"a{number}"
        pending = bench.ask(ask)
        for digest in ("d-other", f"d-a{number + 1}", f"D-{ask}", f"d-{ask}0"):
            assert (await wire.answer(ask, digest=digest))["error"]["data"]["name"] == "digest_mismatch"
        assert pending.is_open
    assert bench.of("tool.permission.answered") == []


async def test_an_answer_of_an_earlier_ask_that_is_replayed_at_a_later_one(bench, dial) -> None:
    """What was recorded off the wire for one ask counts for no other, whichever part of it is put in its place."""
    wire = await dial()
    bench.ask("a-first")
    await wire.answer("a-first")
    for number in range(COUNT):
        ask = f"a{number}"
        pending = bench.ask(ask)
        assert (await wire.answer("a-first"))["error"]["data"]["name"] == "already_resolved"
        assert (await wire.answer(ask, digest="d-a-first"))["error"]["data"]["name"] == "digest_mismatch"
        assert (await wire.answer("a-never", digest=f"d-{ask}"))["error"]["data"]["name"] == "unknown_ask"
        assert pending.is_open
    assert len(bench.of("tool.permission.answered")) == 1


async def test_an_answer_that_is_replayed_after_the_host_was_started_again(bench, run_dir) -> None:
    """Of what its journal tells: answered ones stay answered, open ones were closed, and neither comes back."""
    from interlock.runtime.asks.client import AskClient, AskRefused

    for number in range(COUNT):
        bench.ask(f"a{number}")
        bench.ask(f"b{number}")
    async with AskServer(bench.broker) as server, await AskClient.connect(server.path) as client:
        for number in range(COUNT):
            await client.answer(f"a{number}", f"d-a{number}", "allow")
    again = Broker(bench.record, lambda: bench.now)
    assert again.restore(list(bench.events)) == [f"b{number}" for number in range(COUNT)]
    async with AskServer(again) as server, await AskClient.connect(server.path) as client:
        for number in range(COUNT):
            for ask, error in ((f"a{number}", "already_resolved"), (f"b{number}", "ask_closed")):
                with pytest.raises(AskRefused) as refused:
                    await client.answer(ask, f"d-{ask}", "allow")
                assert refused.value.name == error
        assert await client.list() == ()
    assert len(bench.of("tool.permission.answered")) == COUNT
