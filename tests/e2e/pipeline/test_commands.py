"""Commands through the whole pipeline. (spec RT-1 to RT-16; cases named in the tests)"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.engine.intent import Intent
from interlock.runtime.tools import tree

OpenDesk = Callable[..., Any]
Cases = dict[str, Any]


class TestCommands:
    async def test_both_streams_and_the_code_are_facts(self, desk: OpenDesk, cases: Cases, tmp_path: Path) -> None:
        """BC-079"""
        async with desk(tmp_path) as d:
            seen = await d("bash", **cases["BC-079"]["input"]["args"])
            assert (seen.ok, seen.code) == (False, "exit_nonzero")
            assert "exit code 3" in seen.summary
            assert (d.artifact("stdout"), d.artifact("stderr")) == (b"out\n", b"err\n")
            assert d.events("tool.invocation.completed")[-1]["exitCode"] == 3

    async def test_an_exit_code_of_the_last_stage_says_so(self, desk: OpenDesk, cases: Cases, tmp_path: Path) -> None:
        """BC-078"""
        async with desk(tmp_path) as d:
            for number, call in enumerate(cases["BC-078"]["input"]["calls"], 1):
                seen = await d("bash", command=call["command"])
                marked = "0 (last stage)" in seen.summary
                assert (seen.ok, marked) == ((True, True) if number <= 5 else (False, False)), call
                assert "success" not in seen.summary + seen.user_text

    @pytest.mark.parametrize(
        ("command", "marked"),
        [
            ("(false; true)", True),
            ("{ false; true; }", True),
            ("false\ntrue", True),
            ("true && true", False),
            ("cat <<EOF\nx\nEOF", False),
            ("echo 'a;b|c'", False),
            ("if false; then :; fi", True),
        ],
    )
    async def test_hidden_stages_are_marked_and_plain_commands_are_not(
        self, desk: OpenDesk, tmp_path: Path, command: str, marked: bool
    ) -> None:
        async with desk(tmp_path) as d:
            assert ("(last stage)" in (await d("bash", command=command)).summary) is marked

    async def test_a_command_that_wants_input_ends_at_once_and_says_so(
        self, desk: OpenDesk, cases: Cases, tmp_path: Path
    ) -> None:
        """BC-077"""
        async with desk(tmp_path) as d:
            seen = [await d("bash", command=c["command"], timeout_s=20) for c in cases["BC-077"]["input"]["calls"]]
            assert [o.code for o in seen] == ["ok", "ok", "exit_nonzero", "exit_nonzero"]
            assert seen[1].content == "got=\n"
            assert ["asked for input" in o.summary for o in seen] == [False, False, True, True]

    async def test_what_ignores_term_is_killed_in_time_with_its_output_kept(
        self, desk: OpenDesk, cases: Cases, tmp_path: Path
    ) -> None:
        """BC-074"""
        case = cases["BC-074"]["input"]
        async with desk(tmp_path) as d:
            seen = await d("bash", **case["args"], timeout_s=case["timeout_s"])
            assert seen.code == "timeout"
            assert seen.content
            assert seen.content.startswith("up\n")
            assert d.events("tool.invocation.completed")[-1]["signalsSent"] == ["SIGTERM", "SIGKILL"]
            assert tree.members(-1, f"{d.session.id}/{seen.invocation_id}") == set()

    async def test_each_call_starts_in_the_stated_directory(self, desk: OpenDesk, cases: Cases, tmp_path: Path) -> None:
        """BC-080"""
        async with desk(tmp_path) as d:
            seen = [await d("bash", command=c["command"]) for c in cases["BC-080"]["input"]["calls"]]
            root = f"{os.path.realpath(d.folder)}\n"
            assert (seen[1].content, seen[3].content) == (root, root)
            assert "working directory missing" in seen[5].summary
            d.folder.mkdir()
            assert (await d("bash", command="pwd")).content == root

    async def test_bytes_that_are_no_text_are_counted_and_kept_raw(
        self, desk: OpenDesk, cases: Cases, tmp_path: Path
    ) -> None:
        """BC-084"""
        async with desk(tmp_path) as d:
            seen = await d("bash", **cases["BC-084"]["input"]["args"])
            assert seen.ok
            assert seen.lossy
            assert "binary or non-UTF-8: " in seen.summary
            assert d.artifact("stdout").hex().startswith("686561640afff0280a")

    async def test_a_long_output_keeps_both_ends_and_all_of_it_as_an_artifact(
        self, desk: OpenDesk, tmp_path: Path
    ) -> None:
        async with desk(tmp_path) as d:
            seen = await d("bash", command="seq 1 200000; echo 'Error: at the end'")
            whole = d.artifact("stdout")
            head, tail = str(seen.content).split(f"[truncated: {seen.omitted_bytes} bytes dropped, refine your query]")
            assert whole.startswith(head.encode())
            assert whole.endswith(tail.encode())
            assert len(head) + len(tail) + seen.omitted_bytes == len(whole)
            assert "Error: at the end" in tail
            more = await d("read_artifact", artifact=seen.raw_ref, around="150000", limit=1)
            assert [line.split()[1] for line in str(more.content).split("\n") if line] == ["149999", "150000", "150001"]

    async def test_the_writable_root_never_comes_from_the_call(self, desk: OpenDesk, tmp_path: Path) -> None:
        """SB-017"""
        async with desk(tmp_path) as d:
            refused = await d("bash", command="pwd", cwd="/")
            assert (refused.ok, refused.phase) == (False, "validate")
            assert d.asks == []

    async def test_secrets_of_ours_reach_no_observation(self, desk: OpenDesk, tmp_path: Path) -> None:
        host = {"PATH": os.environ["PATH"], "DEPLOY_TOKEN": "tok-93f1c2aa"}
        async with desk(tmp_path, environment=host) as d:
            (d.folder / "notes").write_text("tok-93f1c2aa\n")
            await d("bash", command="env; echo tok-93f1c2aa")
            await d("read_file", path="notes")
            for event in d.events("tool.observation"):
                assert "tok-93f1c2aa" not in json.dumps(event)

    async def test_waiting_for_an_answer_is_no_run_time(self, desk: OpenDesk, tmp_path: Path) -> None:
        """BC-043: the wait is longer than the time-out, and the command still runs."""
        async with desk(tmp_path) as d:
            d.answer = None
            task = asyncio.create_task(d("bash", command="touch x; echo ok", timeout_s=0.5))
            await asyncio.wait_for(d.asked.wait(), 10)
            await asyncio.sleep(0.7)  # the wait itself is what is tested: longer than the time-out of the command
            d.answer = "allow"
            assert d.reply(d.asks[0]) == "accepted"
            seen = await task
            assert (seen.ok, seen.content) == (True, "ok\n")
            assert seen.metrics.waited_ms is not None
            assert seen.metrics.waited_ms >= 700

    async def test_a_script_that_was_rewritten_while_it_was_asked_about_is_not_run(
        self, desk: OpenDesk, tmp_path: Path
    ) -> None:
        """PR-017"""
        async with desk(tmp_path) as d:
            script = d.folder / "script.sh"
            script.write_text("echo good > out\n")
            d.before = lambda ask: script.write_text("echo evil > out\n") and None
            refused = await d("bash", command="sh script.sh")
            assert (refused.phase, refused.code) == ("permission", "stale_file_baseline")
            assert not (d.folder / "out").exists()
            d.before = lambda ask: None
            assert (await d("bash", command="sh script.sh")).ok

    async def test_one_approval_is_one_run(self, desk: OpenDesk, tmp_path: Path) -> None:
        """PR-018"""
        async with desk(tmp_path) as d:
            await d("bash", command="echo x >> log")
            await d("bash", command="echo x >> log")
            assert len(d.asks) == 2
            assert d.asks[0].ask_id != d.asks[1].ask_id

    async def test_an_allow_for_the_session_covers_exactly_that(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.scope = "session"
            await d("bash", command="touch a")
            await d("bash", command="touch a")
            assert len(d.asks) == 1
            await d("bash", command="touch b")
            assert len(d.asks) == 2
            assert len(d.events("grant.made")) == 2

    async def test_arguments_changed_by_the_agent_after_the_ask_change_nothing(
        self, desk: OpenDesk, tmp_path: Path
    ) -> None:
        """PR-016"""
        async with desk(tmp_path) as d:
            arguments = {"command": "echo shown > out"}
            d.before = lambda ask: arguments.update(command="echo swapped > out")
            await d.session.pipeline.run(Intent("bash", arguments))
            assert (d.folder / "out").read_text() == "shown\n"

    async def test_an_answer_with_another_digest_takes_no_effect(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.answer = None
            task = asyncio.create_task(d("bash", command="touch x"))
            await asyncio.wait_for(d.asked.wait(), 10)
            assert d.reply(d.asks[0], answer="allow", input_digest="0" * 64) == "mismatch"
            d.answer = "deny"
            assert d.reply(d.asks[0]) == "accepted"
            assert (await task).code == "user_denied"
            assert not (d.folder / "x").exists()
