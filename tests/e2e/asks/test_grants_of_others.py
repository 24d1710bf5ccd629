"""Taking back what stands in another session of the same host, as docs/protocol.md has it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient, AskRefused
from interlock.runtime.asks.protocol import OpenedNotice
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.gates.rules import Rules

pytestmark = pytest.mark.e2e
AGENT = Agent(name="Claude Code", version="2.1.332", kind="claude_code")
PATIENCE_S = 60


@asynccontextmanager
async def two_sessions(folder: Path) -> AsyncIterator[tuple[AskClient, Ledger, Ledger]]:
    """A host of two sessions, each with a grant of its own for the same command."""
    async with (
        GateHost(rules=Rules(managed=folder / "no-managed.toml")) as host,
        await AskClient.connect(host.reply_to or "", "test screen") as client,
    ):
        ledgers = [host.open(AGENT, Foreign(session=f"f-{n}", log="/no/log.jsonl"), str(folder)) for n in "ab"]
        notices = client.subscribe()
        coming = asyncio.ensure_future(anext(notices))
        while not host.is_watched:
            await client.ping()
        for ledger in ledgers:
            call = ForeignCall(tool="Bash", input={"command": "touch a"}, cwd=str(folder))
            judged = asyncio.create_task(ledger.judge(call))
            while not isinstance(notice := await asyncio.wait_for(coming, PATIENCE_S), OpenedNotice):
                coming = asyncio.ensure_future(anext(notices))
            ask = notice.ask
            await client.answer(ask.ask_id, ask.input_digest, "allow", scope="session")
            assert (await judged).decision == "allow"
            coming = asyncio.ensure_future(anext(notices))
        coming.cancel()
        await asyncio.wait({coming})
        yield client, ledgers[0], ledgers[1]


def revoked(ledger: Ledger) -> list[dict[str, Any]]:
    lines = map(json.loads, ledger.journal.path.read_text().splitlines())
    return [event for event in lines if event["type"] == "grant.revoked"]


async def test_the_named_session_alone_loses_its_grant_and_its_journal_says_who_took_it(tmp_path: Path) -> None:
    async with two_sessions(tmp_path / "work") as (client, one, other):
        assert {(g.grant_id, g.session) for g in await client.grants()} == {
            ("grant_1", one.session),
            ("grant_1", other.session),
        }
        reply = await client.revoke("grant_1", other.session)
        assert (reply.grant_id, reply.session) == ("grant_1", other.session)
        assert [g.session for g in await client.grants()] == [one.session]
        assert revoked(one) == []
        (event,) = revoked(other)
        assert event["by"]["client"] == "test screen"
        with pytest.raises(AskRefused) as refused:
            await client.revoke("grant_1", other.session)
        assert refused.value.name == "unknown_grant"


async def test_an_id_that_stands_in_two_sessions_is_taken_back_in_neither(tmp_path: Path) -> None:
    async with two_sessions(tmp_path / "work") as (client, one, other):
        with pytest.raises(AskRefused, match="2 sessions") as refused:
            await client.revoke("grant_1")
        assert refused.value.name == "unknown_grant"
        assert len(await client.grants()) == 2
        assert revoked(one) == revoked(other) == []
        await client.revoke("grant_1", one.session)
        assert (await client.revoke("grant_1")).session == other.session


async def test_a_session_that_is_not_here_has_no_grants_to_take_back(tmp_path: Path) -> None:
    async with two_sessions(tmp_path / "work") as (client, one, other):
        for grant, session in (
            ("grant_1", "20260110-090000-other-1f3a9c"),
            ("grant_2", one.session),
            ("grant_9", None),
        ):
            with pytest.raises(AskRefused) as refused:
                await client.revoke(grant, session)
            assert refused.value.name == "unknown_grant"
        other.end()
        with pytest.raises(AskRefused) as refused:
            await client.revoke("grant_1", other.session)
        assert refused.value.name == "unknown_grant"
        assert [g.session for g in await client.grants()] == [one.session]


async def test_a_host_of_one_session_refuses_a_grant_of_another(tmp_path: Path) -> None:
    async with (
        two_sessions(tmp_path / "work") as (_, one, _other),
        RuntimeSession.start(tmp_path / "work", agent="test") as session,
    ):
        async with await AskClient.connect(session.setting.reply_to or "", "test screen") as client:
            with pytest.raises(AskRefused) as refused:
                await client.revoke("grant_1", one.session)
        assert refused.value.name == "unknown_grant"
        assert revoked(one) == []
