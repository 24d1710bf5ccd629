"""Standing permissions of a real session, given and taken back over its real socket. (spec ASK-3 to ASK-5, RT-5)"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskRefused
from interlock.runtime.events.message import FinalAnswer

pytestmark = pytest.mark.e2e
OpenDesk = Callable[..., Any]


async def test_an_allow_for_the_turn_ends_with_the_final_answer_and_with_the_next_message(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        d.session.say_user("go")
        await d.allowed("touch a", "turn")
        assert await d.passes("touch a")
        d.session.record(FinalAnswer(message_id="msg_9", evidence={"verdict": "none"}))  # type: ignore[arg-type]
        assert not await d.passes("touch a")
        await d.allowed("touch a", "turn")
        assert await d.passes("touch a")
        d.session.say_user("and now something else")
        assert not await d.passes("touch a")
        assert await d.client.grants() == ()


async def test_an_allow_for_ten_minutes_ends_after_ten_minutes(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.allowed("touch a", "ten_minutes")
        d.clock.more = timedelta(minutes=9, seconds=30)
        assert await d.passes("touch a")
        d.clock.more = timedelta(minutes=10, seconds=1)
        assert not await d.passes("touch a")


async def test_the_wider_suggestion_is_granted_only_when_its_digest_was_answered_with(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        await d.allowed("touch a", "session", pick=0)
        assert not await d.passes("touch b")
        await d.allowed("touch a1", "session", pick=1)
        assert await d.passes("touch b")
        assert [view.matches["field"] for view in await d.client.grants()] == ["command", "pattern"]


async def test_a_suggestion_that_was_not_shown_has_no_effect(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        for wrong, name in (
            ({"scope": "session", "suggestion": "0" * 64}, "digest_mismatch"),
            ({"scope": "rule"}, "choice_not_offered"),
            ({"scope": "rule", "pick": 0}, "choice_not_offered"),  # the exact text is no rule
            ({"scope": "once", "pick": 0}, "choice_not_offered"),
            ({"scope": "session", "pick": 1, "rule": d.offers(ask)[1]["rule"]}, "choice_not_offered"),
        ):
            with pytest.raises(AskRefused) as refused:
                await d.answer(ask, **wrong)
            assert refused.value.name == name
        assert not (d.folder / "a").exists()
        await d.answer(ask, answer="deny")
        assert (await running).code == "user_denied"
        assert d.events("grant.made") == []


async def test_an_approver_that_knows_nothing_of_suggestions_is_served_as_before(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        assert (await d.answer(await d.ask(), "session")).grant_id == "grant_1"
        assert (await running).ok
        assert await d.passes("touch a")
        assert not await d.passes("touch b")


async def test_a_revoked_grant_covers_nothing_and_asks_about_what_has_not_begun(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        grant = (await d.allowed("touch later", "session")).grant_id
        (d.folder / "later").unlink()
        os.mkfifo(d.folder / "pipe")
        blocking = d.begin("tee copy < pipe")
        await d.answer(await d.ask())
        queued = d.begin("touch later")
        while len(d.events("tool.scheduled")) < 3:
            await asyncio.sleep(0.01)
        assert (await d.client.revoke(grant or "")).call_started
        (d.folder / "pipe").open("w").close()
        assert (await asyncio.wait_for(blocking, 20)).ok
        ask = await d.ask()
        assert "holds no longer" in ask.event["reason"]
        assert not (d.folder / "later").exists()
        await d.answer(ask, answer="deny")
        assert (await queued).code == "user_denied"


async def test_an_undone_answer_asks_again_when_its_call_has_not_begun(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        os.mkfifo(d.folder / "pipe")
        blocking = d.begin("tee copy < pipe")
        await d.answer(await d.ask())
        queued = d.begin("touch later")
        first = await d.ask()
        reply = await d.answer(first, "session", 0)
        done = await d.client.revoke(reply.grant_id or "")
        assert not done.call_started
        (d.folder / "pipe").open("w").close()
        assert (await asyncio.wait_for(blocking, 20)).ok
        ask = await d.ask()
        assert "taken back" in ask.event["reason"]
        assert ask.event["supersedes"] == first.ask_id
        await d.answer(ask)
        assert (await queued).ok


async def test_a_deny_stands_above_every_grant(desk: OpenDesk, tmp_path: Path) -> None:
    rules = '[[rule]]\nid = "no-b"\neffect = "deny"\ncommand = "touch b"\n'
    async with desk(tmp_path, rules) as d:
        await d.allowed("touch a", "rule", pick=1)
        assert await d.passes("touch c")
        denied = await asyncio.wait_for(d.begin("touch b"), 20)
        assert (denied.ok, denied.code) == (False, "policy_denied")


@pytest.mark.parametrize("command", ["python3 -c 'print(1)'", "bash run.sh", "rm -rf a", "$X a", "git push -f"])
async def test_nothing_that_stands_is_offered_for_what_runs_code_destroys_or_is_not_understood(
    desk: OpenDesk, tmp_path: Path, command: str
) -> None:
    async with desk(tmp_path) as d:
        running = d.begin(command)
        ask = await d.ask()
        assert ask.event["suggestedRules"] == []
        assert ask.event["choices"] == ["allow.once", "deny", "deny.message"]
        with pytest.raises(AskRefused):
            await d.answer(ask, "session")
        await d.answer(ask, answer="deny")
        await running


async def test_an_ask_without_a_wait_has_no_end(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        assert "expiresAt" not in ask.event
        d.clock.more = timedelta(days=40)
        await d.answer(ask)
        assert (await running).ok
