"""Who runs beside whom. (spec RT-6)"""

from __future__ import annotations

import asyncio
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from interlock.runtime.engine.schedule import Scheduler, Ticket
from interlock.runtime.tools.definition import SAFE, Claim, Concurrency


def read(path: str) -> Concurrency:
    return Concurrency("safe", path, (Claim(f"file:{path}", "read"),), early=("file:",))


def edit(path: str) -> Concurrency:
    return Concurrency("keyed", path, (Claim(f"file:{path}", "exclusive"), Claim("tree", "edit")), early=("file:",))


def shell(cwd: str) -> Concurrency:
    return Concurrency("exclusive", cwd, (Claim(f"cwd:{cwd}", "exclusive"), Claim("tree", "shell")), early=("tree",))


def waits(*calls: Concurrency) -> list[tuple[str, ...]]:
    scheduler = Scheduler()
    return [scheduler.enqueue(str(n), call).waits_for for n, call in enumerate(calls)]


def test_reads_run_together() -> None:
    assert waits(read("a"), read("a"), read("b"), SAFE) == [(), (), (), ()]


def test_edits_of_one_file_wait_and_of_two_files_do_not() -> None:
    assert waits(edit("a"), edit("b"), edit("a"), read("a"), read("c")) == [(), (), ("0",), ("0", "2"), ()]


def test_an_edit_waits_for_a_read_before_it() -> None:
    assert waits(read("a"), edit("a")) == [(), ("0",)]


def test_an_edit_and_a_command_never_overlap() -> None:
    assert waits(edit("a"), shell("w"), edit("b")) == [(), ("0",), ("1",)]


def test_commands_are_exclusive_per_directory() -> None:
    assert waits(shell("w"), shell("v"), shell("w")) == [(), (), ("0",)]


async def test_a_call_that_is_refused_lets_the_next_pass_and_is_not_named() -> None:
    scheduler = Scheduler()
    first, second = scheduler.enqueue("1", edit("a")), scheduler.enqueue("2", shell("w"))
    turn = asyncio.create_task(second.turn())
    await asyncio.sleep(0)
    assert not turn.done()
    scheduler.release(first)
    await turn
    assert second.waits_for == ()


async def test_a_command_is_looked_at_only_after_the_edits_before_it() -> None:
    scheduler = Scheduler()
    first, other, second = (scheduler.enqueue(str(n), c) for n, c in enumerate((edit("a"), shell("w"), shell("w"))))
    early = asyncio.create_task(second.early_turn())
    await asyncio.sleep(0)
    assert not early.done()
    scheduler.release(first)
    await early
    assert second.waits_for == ("1",)
    assert not other.done.is_set()


CALLS = st.lists(
    st.one_of(st.sampled_from("ab").map(read), st.sampled_from("ab").map(edit), st.sampled_from("wv").map(shell)),
    max_size=8,
)


@given(CALLS, st.randoms(use_true_random=False))
def test_conflicting_calls_never_overlap_and_keep_their_order(calls: list[Concurrency], random: Random) -> None:
    ran: list[int] = []
    inside: list[int] = []

    async def one(scheduler: Scheduler, number: int, ticket: Ticket) -> None:
        for _ in range(random.randrange(3)):
            await asyncio.sleep(0)
        await ticket.turn()
        for other in inside:
            assert not any(a.conflicts(b) for a in calls[number].claims for b in calls[other].claims)
        inside.append(number)
        ran.append(number)
        for _ in range(random.randrange(3)):
            await asyncio.sleep(0)
        inside.remove(number)
        scheduler.release(ticket)

    async def play() -> None:
        scheduler = Scheduler()
        tickets = [scheduler.enqueue(str(n), c) for n, c in enumerate(calls)]
        await asyncio.wait_for(asyncio.gather(*(one(scheduler, n, t) for n, t in enumerate(tickets))), 10)

    asyncio.run(play())
    assert sorted(ran) == list(range(len(calls)))
    for i, a in enumerate(calls):
        for j in range(i):
            if any(x.conflicts(y) for x in a.claims for y in calls[j].claims):
                assert ran.index(j) < ran.index(i)
