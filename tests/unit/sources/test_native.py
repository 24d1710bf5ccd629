"""Sessions of our own are found and watched. (spec AG-1, Q-1)"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from interlock.runtime.events.message import UserMessage
from interlock.runtime.journal import place
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.sources.native import NativeSource


def test_sessions_are_found_newest_first_with_the_life_of_their_writer(clock) -> None:
    source = NativeSource(place.sessions_home())
    assert source.discover() == []
    JournalWriter.create("old", clock).close()
    writer = JournalWriter.create("new", clock)
    writer.append(UserMessage(message_id="m", text="x"))
    (place.sessions_home() / "no-session").mkdir()
    refs = source.discover()
    assert {ref.id: ref.writer_alive for ref in refs} == {"old": False, "new": True}
    assert refs[0].id == "new"
    assert refs[0].size == writer.path.stat().st_size
    writer.close()


@pytest.mark.parametrize("name", ["nobody", "", "..", "a/b"])
def test_an_unknown_session_is_named(name: str) -> None:
    with pytest.raises(KeyError, match="there is no session"):
        NativeSource(place.sessions_home()).session(name)


async def test_new_sessions_and_new_events_are_told_as_they_come(tmp_path: Path, clock) -> None:
    source = NativeSource(place.sessions_home())
    changes = source.watch()

    async def told(session: str) -> None:
        async with asyncio.timeout(20):
            async for ids in changes:
                if session in ids:
                    return

    waiting = asyncio.create_task(told("s1"))
    writer = JournalWriter.create("s1", clock)
    writer.append(UserMessage(message_id="m", text="one"))
    await waiting
    follower = source.session("s1")
    follower.catch_up()
    writer.append(UserMessage(message_id="m", text="two"))
    async with asyncio.timeout(20):
        while follower.state.seq < 1:
            await told("s1")
            follower.catch_up()
    assert follower.state.seq == 1
    follower.close()
    writer.close()
    await changes.aclose()
