"""Rules that answers put into the user's policy file, in running sessions. (spec ASK-4, PO-1)"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskRefused
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.tools.policy_files import user_file

pytestmark = pytest.mark.e2e
OpenDesk = Callable[..., Any]


async def test_a_rule_holds_at_once_and_in_later_sessions_until_it_is_revoked(desk: OpenDesk, tmp_path: Path) -> None:
    before = '# mine\nmode = "ask"\n\n[[rule]]\nid = "x" # why\neffect = "deny"\ncommand = "npm publish *"\n'
    async with desk(tmp_path, before) as d:
        reply = await d.allowed("touch a", "rule", pick=1)
        assert user_file().read_text().startswith(before)
        assert await d.passes("touch b")
        async with RuntimeSession.start(d.folder, agent="later", server=False) as later:
            assert (await later.pipeline.run(Intent("bash", {"command": "touch c"}))).ok
        done = await d.client.revoke(reply.grant_id)
        assert (done.scope, done.rule_removed, done.call_started, done.problem) == ("rule", True, True, None)
        assert user_file().read_text() == before
        assert not await d.passes("touch b")
        with pytest.raises(AskRefused) as refused:
            await d.client.revoke(reply.grant_id)
        assert refused.value.name == "unknown_grant"


async def test_an_edited_rule_may_be_narrower_and_never_broader(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        text = d.offers(ask)[1]["rule"]
        for edited in (
            text.replace("touch *", "* *"),
            text.replace('"touch *"', '["touch *", "python3 *"]'),
            text.replace('"touch *"', '["touch *", "bash -c *"]'),
            text.replace('"touch *"', '["touch *", "rm -rf *"]'),
            text.replace('"touch *"', '["touch *", "git *"]'),
            text.replace('"touch *"', '["touch *", "git status"]'),
            text.replace('"touch *"', '["touch *", "/tmp/touch *"]'),
            text.replace('"touch *"', '["touch *", "t\u043euch *"]'),
            text.replace('id = "', 'id = "' + "x" * 3_000),
            "\ufeff" + text,
            text.replace('"touch *"', '["touch *", "$X *"]'),
            text.replace("touch *", "touch b"),
            text.replace('effect = "allow"', 'effect = "deny"'),
            text + "outside_too = true\n",
            text + 'program = "touch"\n',
            text + f'path = ["/etc/**", "{os.path.realpath(d.folder)}/**"]\n',
            text + text,
            text + "[other]\n",
            text.replace('tool = "bash"', 'tool = ["bash", "write_file"]'),
            text + 'expires = "2001-01-01"\n',
            "rubbish",
        ):
            with pytest.raises(AskRefused) as refused:
                await d.answer(ask, "rule", 1, rule=edited)
            assert refused.value.name == "rule_refused", edited
            assert len(refused.value.message) < 500
        assert not user_file().exists()
        await d.answer(ask, "rule", 1, rule=text.replace("touch *", "touch a*"))
        assert (await running).ok
        assert await d.passes("touch ab")
        assert not await d.passes("touch b")
        assert '"touch a*"' in user_file().read_text()


async def test_a_rule_for_files_stays_in_the_suggested_folder(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        (d.folder / "sub").mkdir()
        running = d.begin_write("sub/one.txt")
        ask = await d.ask()
        folder = d.offers(ask)[-1]
        assert folder["field"] == "folder"
        where = os.path.realpath(d.folder)
        for wider in (
            "/**",
            f"{tmp_path}/**",
            "**",
            f"{{{where},/etc}}/**",
            f"{where}*/**",
            f"{where}/**",
            f"{where}/sub*/**",
        ):
            with pytest.raises(AskRefused) as refused:
                await d.answer(ask, "rule", -1, rule=folder["rule"].replace(f"{where}/sub/**", wider))
            assert refused.value.name == "rule_refused", wider
        await d.answer(ask, "rule", -1, rule=folder["rule"].replace(f"{where}/sub/**", f"{where}/sub/**/*.txt"))
        assert (await running).ok
        assert (await asyncio.wait_for(d.begin_write("sub/two.txt"), 20)).ok
        running = d.begin_write("sub/two.py")
        await d.answer(await d.ask(), answer="deny")
        assert (await running).code == "user_denied"


async def test_an_ask_of_a_rule_is_never_lifted_by_a_rule_of_an_answer(desk: OpenDesk, tmp_path: Path) -> None:
    rules = '[[rule]]\nid = "asks"\neffect = "ask"\ncommand = "touch *"\n'
    async with desk(tmp_path, rules) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        assert "allow.rule" not in ask.event["choices"]
        await d.answer(ask, answer="deny")
        await running


async def test_a_rule_with_a_wait_times_out_as_a_time_out(desk: OpenDesk, tmp_path: Path) -> None:
    rules = '[[rule]]\nid = "soon"\neffect = "ask"\ncommand = "touch *"\nwait = 1\n'
    async with desk(tmp_path, rules) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        assert ask.event["expiresAt"] > ask.event["ts"]
        seen = await asyncio.wait_for(running, 20)
        assert (seen.phase, seen.code) == ("permission", "ask_timed_out")
        assert not (d.folder / "a").exists()
        assert [e["cause"] for e in d.events("tool.permission.closed")] == ["expired"]


async def test_a_policy_file_that_cannot_be_written_is_told_and_the_call_runs_once(
    desk: OpenDesk, tmp_path: Path
) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        user_file().mkdir(parents=True)
        reply = await d.answer(ask, "rule", 1)
        assert reply.grant_id is None
        assert "policy.toml" in reply.grant_fault
        # rules that cannot be read may be others than those it was shown with
        again = await d.ask()
        assert again.event["supersedes"] == ask.ask_id
        assert "cannot be read" in again.event["reason"]
        await d.answer(again)
        assert (await asyncio.wait_for(running, 20)).ok
        assert not await d.passes("touch a")
        assert await d.client.grants() == ()
