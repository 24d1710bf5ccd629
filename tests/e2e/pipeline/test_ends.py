"""How calls end, and in what order they run. (spec RT-1 to RT-16; cases named in the tests)"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.engine.intent import Intent
from interlock.runtime.tools import tree
from interlock.runtime.tools.definition import Prepared, ToolDefinition, ToolInput

OpenDesk = Callable[..., Any]


class TestEnds:
    async def test_a_deny_hands_on_the_persons_words(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.answer, d.message = "deny", "use a branch, please <b>"
            seen = await d("bash", command="touch x")
            assert (seen.phase, seen.code, seen.side_effects) == ("permission", "user_denied", ())
            assert "use a branch, please <b>" in seen.summary
            assert d.events("tool.invocation") == []

    async def test_unknown_and_hidden_tools_are_refused_at_lookup(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            seen = await d("raed_file", path="x")
            assert (seen.phase, seen.code) == ("lookup", "unknown_tool")
            assert "read_file" in seen.summary

    @pytest.mark.parametrize(
        ("arguments", "field"),
        [
            ({}, "path"),
            ({"path": 3}, "path"),
            ({"path": "a", "offset": 0}, "offset"),
            ({"path": "a", "x": 1}, "x"),
            ({"path": "\ud83d"}, "path"),
        ],
    )
    async def test_a_wrong_shape_names_the_field(
        self, desk: OpenDesk, tmp_path: Path, arguments: dict, field: str
    ) -> None:
        async with desk(tmp_path) as d:
            seen = await d("read_file", **arguments)
            assert (seen.phase, seen.code, seen.retryable) == ("validate", "schema_invalid", True)
            assert field in seen.summary

    async def test_cancelling_stops_the_tree_and_is_observed(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            task = asyncio.create_task(d.session.pipeline.run(Intent("bash", {"command": "echo up; sleep 300"})))
            await asyncio.wait_for(d.started.wait(), 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            (seen,) = d.events("tool.observation")
            assert (seen["phase"], seen["code"]) == ("execute", "cancelled")
            assert tree.members(-1, f"{d.session.id}/{seen['invocationId']}") == set()

    async def test_a_call_cancelled_before_its_first_step_is_observed_too(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            task = asyncio.create_task(d.session.pipeline.run(Intent("bash", {"command": "touch x"})))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [e["code"] for e in d.events("tool.observation")] == ["cancelled"]
            assert (await d("bash", command="echo next")).ok

    async def test_one_call_can_be_cancelled_while_it_waits_for_an_answer(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.answer = None
            task = asyncio.create_task(d("bash", command="touch x"))
            await asyncio.wait_for(d.asked.wait(), 10)
            assert d.session.pipeline.cancel(d.asks[0].intent_id)
            assert (await task).code == "ask_cancelled"
            assert d.events("tool.permission.closed")[0]["cause"] == "cancelled"

    async def test_a_fault_in_a_tool_is_an_observation(self, desk: OpenDesk, tmp_path: Path) -> None:
        class Nothing(ToolInput):
            pass

        async def broken(context: object) -> str:
            raise ZeroDivisionError("by nought")

        def prepare(call: Nothing, context: Any) -> Prepared:
            return Prepared(call, "Break", "Break", broken, context.workspace.home, 5.0)

        tool = ToolDefinition("broken", "1", "", Nothing, frozenset({"read"}), True, prepare)
        async with desk(tmp_path, tools=[tool]) as d:
            seen = await d("broken")
            assert (seen.ok, seen.phase, seen.code) == (False, "execute", "tool_fault")
            assert "ZeroDivisionError" in seen.summary

    async def test_edits_and_the_test_behind_them_keep_their_order(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("1\n")
            await d("read_file", path="a.txt")
            _, _, ran = await asyncio.gather(
                d("edit_file", path="a.txt", old_string="1", new_string="2"),
                d("edit_file", path="a.txt", old_string="2", new_string="3"),
                d("bash", command="cat a.txt; touch b"),
            )
            assert ran.content == "3\n"
            scheduled = d.events("tool.scheduled")
            assert scheduled[2]["waitsFor"] == [scheduled[1]["invocationId"]]
            assert len(scheduled[3]["waitsFor"]) == 2

    async def test_a_check_is_recorded_with_the_state_of_the_files(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            await d("bash", command="python3 -m unittest nothing_here")
            (check,) = d.events("verification")
            assert (check["goal"], check["passed"]) == ("tests", False)
            assert len(check["workspaceDigest"]) == 64


async def test_the_first_event_says_that_nothing_is_confined(desk: OpenDesk, tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        first = d.events()[0]
        assert (first["type"], first["sandbox"]["mode"], first["sandbox"]["provider"]) == (
            "session.started",
            "none",
            "none",
        )
        await d("bash", command="touch x")
        assert d.asks[0].sandbox
        assert d.asks[0].sandbox.mode == "none"
