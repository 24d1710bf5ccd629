"""A change of a policy file counts for the next decision of a session that runs. (spec PO-1, PO-2, ASK-3)"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.tools.kept_rule import drop_rule
from interlock.runtime.tools.policy_files import trust, user_file

pytestmark = pytest.mark.e2e
OpenDesk = Callable[..., Any]
DENY = '[[rule]]\nid = "no-a"\neffect = "deny"\ncommand = "touch a"\n'
ALLOW = '[[rule]]\nid = "yes-a"\neffect = "allow"\ncommand = "touch a"\n'


def write(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


async def test_a_rule_kept_in_one_session_reaches_another_that_runs_and_leaves_it_when_revoked(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as one, desk(tmp_path, name="other") as two:
        assert not await two.passes("touch b")
        reply = await one.allowed("touch a", "rule", pick=1)
        assert await two.passes("touch b")
        await one.client.revoke(reply.grant_id)
        assert not await two.passes("touch b")
        assert not await one.passes("touch b")


async def test_a_rule_that_was_taken_out_of_the_file_by_hand_is_on_record_as_ended(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        reply = await d.allowed("touch a", "rule", pick=1)
        (grant,) = await d.client.grants()
        assert drop_rule(grant.rule_id)
        assert not await d.passes("touch b")
        assert await d.client.grants() == ()
        (ended,) = d.events("grant.revoked")
        assert (ended["grantId"], ended["by"]["kind"]) == (reply.grant_id, "runtime")
        assert "policy file" in ended["message"]


async def test_a_revoked_rule_covers_nothing_here_although_its_file_cannot_be_changed(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        reply = await d.allowed("touch a", "rule", pick=1)
        text = user_file().read_text()
        user_file().write_text(text + text)  # which of the two to take out is not known
        done = await d.client.revoke(reply.grant_id)
        assert (done.rule_removed, "still stands" in done.problem) == (False, True)
        user_file().write_text(text)
        assert not await d.passes("touch b")


async def test_a_deny_that_is_written_while_a_call_waits_stops_it_after_the_answer(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        write(user_file(), DENY)
        await d.answer(ask)
        assert (await asyncio.wait_for(running, 20)).code == "policy_denied"
        assert not (d.folder / "a").exists()


async def test_a_deny_that_is_written_stands_above_what_was_granted_for_the_session(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        await d.allowed("touch a", "session")
        assert await d.passes("touch a")
        write(user_file(), DENY)
        assert (await asyncio.wait_for(d.begin("touch a"), 20)).code == "policy_denied"
        user_file().unlink()
        assert await d.passes("touch a")


async def test_a_file_that_cannot_be_read_any_more_makes_everything_ask_and_ends_nothing(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        await d.allowed("touch a", "rule", pick=1)
        good = user_file().read_bytes()
        user_file().write_bytes(b"\xff" + good)
        assert not await d.passes("touch b")
        user_file().write_bytes(good)
        assert await d.passes("touch b")
        assert len(await d.client.grants()) == 1


async def test_an_allow_of_the_project_counts_from_the_moment_it_is_trusted_until_it_is_changed(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        place = Path(os.path.realpath(d.folder)) / "interlock-policy.toml"
        write(place, ALLOW)
        assert not await d.passes("touch a")
        trust(place, hashlib.sha256(ALLOW.encode()).hexdigest())
        assert await d.passes("touch a")
        write(place, ALLOW.replace("touch a", "touch *"))
        assert not await d.passes("touch a")
