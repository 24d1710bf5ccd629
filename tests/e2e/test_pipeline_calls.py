"""Calls through the whole pipeline, on real files and processes. (spec RT-1 to RT-16; cases named in the tests)"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.pending import Opened
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.permission import Approver, ToolPermission
from interlock.runtime.events.tool import InvocationStarted, ToolObservation
from interlock.runtime.tools import tree
from interlock.runtime.tools.definition import Prepared, ToolDefinition, ToolInput

ROOT = Path(__file__).parents[1]
CASES = {
    case["id"]: case
    for name in ("bug-cases", "attack-cases")
    for case in map(json.loads, (ROOT / f"data/cases/{name}.jsonl").read_text().split("\n")[:-1])
}
NAMES = {"read": "read_file", "write": "write_file", "edit": "edit_file", "shell": "bash", "bash": "bash"}
ME = Approver(kind="person", uid=os.getuid(), pid=os.getpid(), client="test")


class Desk:
    """A session, and a person who answers its asks."""

    def __init__(self, session: RuntimeSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.asks: list[ToolPermission] = []
        self.before: Callable[[ToolPermission], None] = lambda ask: None
        """What happens between the ask and the answer."""
        self.answer: str | None = "allow"
        """None: nobody answers."""
        self.scope, self.message = "once", None
        self.asked = asyncio.Event()
        self.started = asyncio.Event()
        session.setting.broker.subscribe(self._heard)
        session.journal.subscribe(self._wrote)

    def _wrote(self, event: object, line: bytes, offset: int) -> None:
        if isinstance(event, InvocationStarted):
            self.started.set()

    def _heard(self, change: object) -> None:
        if isinstance(change, Opened):
            self.asks.append(change.ask.event)
            self.asked.set()
            if self.answer is not None:
                asyncio.get_running_loop().call_soon(self.reply, change.ask.event)

    def reply(self, ask: ToolPermission, **changed: Any) -> str:
        self.before(ask)
        fields = {"answer": self.answer, "scope": self.scope, "message": self.message, "input_digest": ask.input_digest}
        answer = AskAnswer.model_validate({"ask_id": ask.ask_id, **fields, **changed})
        status = self.session.setting.broker.resolve(answer, ME).status
        if status == "not_recorded":
            self.session.pipeline.cancel(ask.intent_id)
        return status

    async def __call__(self, tool: str, **arguments: Any) -> ToolObservation:
        return await asyncio.wait_for(self.session.pipeline.run(Intent(tool, arguments)), 60)

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        lines = self.session.journal.path.read_bytes().split(b"\n")[:-1]
        return [event for event in map(json.loads, lines) if event["type"].startswith(kind)]

    def artifact(self, kind: str) -> bytes:
        refs = [r for e in self.events("tool.observation") for r in e.get("artifacts", []) if r["kind"] == kind]
        return (self.session.journal.folder / refs[-1]["path"]).read_bytes()


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("INTERLOCK_RUN_DIR", str(tmp_path / "run"))


@asynccontextmanager
async def desk(tmp_path: Path, **options: Any) -> AsyncIterator[Desk]:
    folder = tmp_path / "ws"
    folder.mkdir(exist_ok=True)
    async with RuntimeSession.start(folder, agent="test", server=False, **options) as session:
        yield Desk(session, folder)
    # a journal that broke is what one test is about; every other one is whole
    events = [json.loads(line) for line in session.journal.path.read_bytes().split(b"\n")[:-1]]
    observed = Counter(e["intentId"] for e in events if e["type"] == "tool.observation")
    assert observed == Counter(e["intentId"] for e in events if e["type"] == "tool.intent")


class TestReading:
    async def test_the_same_version_is_not_sent_twice(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("one\ntwo\n")
            first, again = await d("read_file", path="a.txt"), await d("read_file", path="a.txt")
            (d.folder / "a.txt").write_text("one\nTWO\n")
            changed = await d("read_file", path="a.txt")
            assert (first.content, again.code, again.content, changed.content) == (
                "one\ntwo\n",
                "file_unchanged",
                None,
                "one\nTWO\n",
            )
            assert d.asks == []

    async def test_the_first_2000_lines_are_shown_and_the_rest_is_hinted_at(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 2501)))
            seen = await d("read_file", path="a.txt")
            assert seen.content
            assert seen.content.endswith("\n2000\n")
            assert "lines 1-2,000 of 2,500" in seen.summary
            assert seen.suggested_next_tool == {"tool": "read_file", "input": {"path": "a.txt", "offset": 2001}}
            rest = await d("read_file", path="a.txt", offset=2001, limit=3)
            assert rest.content == "2001\n2002\n2003\n"

    async def test_a_cut_is_told_exactly_and_says_how_to_go_on(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            text = "".join(f"line {n}\n" for n in range(1, 1900)) * 2
            (d.folder / "a.txt").write_text(text)
            seen = await d("read_file", path="a.txt")
            assert seen.content
            assert len(seen.content.encode()) <= 16_384
            kept = seen.content[: seen.content.rindex("[truncated: ")]
            whole = "\n".join(text.split("\n")[:2000]) + "\n"
            assert seen.content == f"{kept}[truncated: {seen.omitted_bytes} bytes dropped, refine your query]"
            assert whole.startswith(kept)
            assert len(kept) + seen.omitted_bytes == len(whole)
            assert seen.truncated
            more = await d("read_file", **seen.suggested_next_tool["input"])  # type: ignore[index]
            assert more.content
            assert more.content.startswith(text[kept.rindex("\n") + 1 :][:20])

    async def test_pipes_loops_and_huge_files_block_nobody(self, tmp_path: Path) -> None:
        """PA-018, PA-019, PA-020, PA-010"""
        async with desk(tmp_path) as d:
            os.mkfifo(d.folder / "pipe")
            os.symlink("b", d.folder / "a")
            os.symlink("a", d.folder / "b")
            with (d.folder / "huge").open("wb") as huge:
                huge.truncate(1 << 40)
            pipe, loop, nul = (
                await d("read_file", path="pipe"),
                await d("read_file", path="a"),
                await d("read_file", path="x\0y"),
            )
            assert [o.code for o in (pipe, loop, nul)] == ["runtime_precondition_failed"] * 3
            assert "not a regular file" in pipe.summary
            assert "ELOOP" in loop.summary
            assert "NUL" in nul.summary
            large = await d("read_file", path="huge")
            assert large.truncated
            assert f"{large.omitted_bytes:,} bytes dropped" in large.summary
            assert large.omitted_bytes >= (1 << 40) - 16_384


class TestChanging:
    async def test_a_file_must_be_read_before_it_is_changed(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("x = 1\n")
            for tool, rest in (("edit_file", {"old_string": "x", "new_string": "y"}), ("write_file", {"content": "y"})):
                refused = await d(tool, path="a.txt", **rest)
                assert (refused.phase, refused.code) == ("validate", "runtime_precondition_failed")
                assert refused.side_effects == ()
            assert d.asks == []

    async def test_an_ambiguous_edit_names_every_line_and_asks_nobody(self, tmp_path: Path) -> None:
        """BC-087"""
        case = CASES["BC-087"]["input"]
        async with desk(tmp_path) as d:
            before = eval(case["existing"]["make"], {"__builtins__": {}})
            (d.folder / "f.txt").write_bytes(before)
            await d("read_file", path="f.txt")
            refused = await d("edit_file", **case["args"])
            assert refused.code == "ambiguous_target"
            assert "3 matches" in refused.summary
            assert "1, 3, 5" in refused.summary
            assert (d.folder / "f.txt").read_bytes() == before
            assert d.asks == []
            done = await d("edit_file", **case["args"], replace_all=True)
            assert "all 3 places" in done.summary
            assert (d.folder / "f.txt").read_text().count("x = 9") == 3

    async def test_a_file_that_changed_since_it_was_read_is_stale(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("x = 1\n")
            await d("read_file", path="a.txt")
            (d.folder / "a.txt").write_text("x = 1\n# new\n")
            refused = await d("edit_file", path="a.txt", old_string="x = 1", new_string="x = 2")
            assert (refused.phase, refused.code, refused.retryable) == ("validate", "stale_file_baseline", True)

    async def test_a_file_that_changes_while_it_is_asked_about_is_asked_about_again(self, tmp_path: Path) -> None:
        """BC-030"""
        async with desk(tmp_path) as d:
            target = d.folder / "app.py"
            target.write_text("x = 1\n")
            await d("read_file", path="app.py")
            seen: list[str] = []

            def before(ask: ToolPermission) -> None:
                seen.append(target.read_text())
                if len(d.asks) == 1:
                    target.write_text("# user note\nx = 1\n")

            d.before = before
            done = await d("edit_file", path="app.py", old_string="x = 1", new_string="x = 2")
            assert done.ok
            assert seen == ["x = 1\n", "# user note\nx = 1\n"]
            assert target.read_text() == "# user note\nx = 2\n"
            first, second = d.asks
            assert second.supersedes == first.ask_id
            assert "changed since the diff was shown" in second.reason
            assert " # user note\n-x = 1\n+x = 2\n" in (d.session.journal.folder / str(second.diff_path)).read_text()
            kinds = [e["type"] + ":" + str(e.get("code", "")) for e in d.events("tool.")][-14:]
            assert "tool.validation:stale_file_baseline" in kinds

    async def test_what_was_shown_is_what_is_written(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_bytes(b"a\r\nb\r\n")
            await d("read_file", path="a.txt")
            done = await d("edit_file", path="a.txt", old_string="a\nb", new_string="a\nc")
            assert (d.folder / "a.txt").read_bytes() == b"a\r\nc\r\n"
            assert done.side_effects[0].diff == d.asks[0].diff
            assert (done.side_effects[0].added, done.side_effects[0].removed) == (1, 1)

    async def test_links_never_let_a_write_out_of_the_workspace(self, tmp_path: Path) -> None:
        """BC-091"""
        case = CASES["BC-091"]["input"]
        subprocess.run(["sh", "-c", case["run"]], cwd=tmp_path, check=True)  # noqa: ASYNC221 - nothing runs beside it
        async with desk(tmp_path) as d:
            for call in case["calls"]:
                if call["args"]["path"] == "inner.md":
                    await d("read_file", path="inner.md")
                seen = await d(NAMES[call["tool"]], **call["args"])
                if call["want"] == "refused":
                    assert not seen.ok, call
                    assert str(tmp_path / "outside") in seen.summary
                else:
                    assert seen.ok, seen.summary
            assert (d.folder / "real.txt").read_text() == "Y"
            assert (d.folder / "inner.md").is_symlink()
        assert {p.name: p.read_text() for p in (tmp_path / "outside").iterdir()} == {"victim.txt": "original\n"}

    async def test_a_link_that_a_command_planted_is_not_written_through(self, tmp_path: Path) -> None:
        """SB-019"""
        (tmp_path / "bashrc").write_text("mine\n")
        async with desk(tmp_path) as d:
            await d("bash", command=f"ln -s {tmp_path}/bashrc link")
            assert not (await d("write_file", path="link", content="evil")).ok
        assert (tmp_path / "bashrc").read_text() == "mine\n"


class TestCommands:
    async def test_both_streams_and_the_code_are_facts(self, tmp_path: Path) -> None:
        """BC-079"""
        async with desk(tmp_path) as d:
            seen = await d("bash", **CASES["BC-079"]["input"]["args"])
            assert (seen.ok, seen.code) == (False, "exit_nonzero")
            assert "exit code 3" in seen.summary
            assert (d.artifact("stdout"), d.artifact("stderr")) == (b"out\n", b"err\n")
            assert d.events("tool.invocation.completed")[-1]["exitCode"] == 3

    async def test_an_exit_code_of_the_last_stage_says_so(self, tmp_path: Path) -> None:
        """BC-078"""
        async with desk(tmp_path) as d:
            for number, call in enumerate(CASES["BC-078"]["input"]["calls"], 1):
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
        self, tmp_path: Path, command: str, marked: bool
    ) -> None:
        async with desk(tmp_path) as d:
            assert ("(last stage)" in (await d("bash", command=command)).summary) is marked

    async def test_a_command_that_wants_input_ends_at_once_and_says_so(self, tmp_path: Path) -> None:
        """BC-077"""
        async with desk(tmp_path) as d:
            seen = [await d("bash", command=c["command"], timeout_s=20) for c in CASES["BC-077"]["input"]["calls"]]
            assert [o.code for o in seen] == ["ok", "ok", "exit_nonzero", "exit_nonzero"]
            assert seen[1].content == "got=\n"
            assert ["asked for input" in o.summary for o in seen] == [False, False, True, True]

    async def test_what_ignores_term_is_killed_in_time_with_its_output_kept(self, tmp_path: Path) -> None:
        """BC-074"""
        case = CASES["BC-074"]["input"]
        async with desk(tmp_path) as d:
            seen = await d("bash", **case["args"], timeout_s=case["timeout_s"])
            assert seen.code == "timeout"
            assert seen.content
            assert seen.content.startswith("up\n")
            assert d.events("tool.invocation.completed")[-1]["signalsSent"] == ["SIGTERM", "SIGKILL"]
            assert tree.members(-1, f"{d.session.id}/{seen.invocation_id}") == set()

    async def test_each_call_starts_in_the_stated_directory(self, tmp_path: Path) -> None:
        """BC-080"""
        async with desk(tmp_path) as d:
            seen = [await d("bash", command=c["command"]) for c in CASES["BC-080"]["input"]["calls"]]
            root = f"{os.path.realpath(d.folder)}\n"
            assert (seen[1].content, seen[3].content) == (root, root)
            assert "working directory missing" in seen[5].summary
            d.folder.mkdir()
            assert (await d("bash", command="pwd")).content == root

    async def test_bytes_that_are_no_text_are_counted_and_kept_raw(self, tmp_path: Path) -> None:
        """BC-084"""
        async with desk(tmp_path) as d:
            seen = await d("bash", **CASES["BC-084"]["input"]["args"])
            assert seen.ok
            assert seen.lossy
            assert "binary or non-UTF-8: " in seen.summary
            assert d.artifact("stdout").hex().startswith("686561640afff0280a")

    async def test_a_long_output_keeps_both_ends_and_all_of_it_as_an_artifact(self, tmp_path: Path) -> None:
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

    async def test_the_writable_root_never_comes_from_the_call(self, tmp_path: Path) -> None:
        """SB-017"""
        async with desk(tmp_path) as d:
            refused = await d("bash", command="pwd", cwd="/")
            assert (refused.ok, refused.phase) == (False, "validate")
            assert d.asks == []

    async def test_secrets_of_ours_reach_no_observation(self, tmp_path: Path) -> None:
        host = {"PATH": os.environ["PATH"], "DEPLOY_TOKEN": "tok-93f1c2aa"}
        async with desk(tmp_path, environment=host) as d:
            (d.folder / "notes").write_text("tok-93f1c2aa\n")
            await d("bash", command="env; echo tok-93f1c2aa")
            await d("read_file", path="notes")
            for event in d.events("tool.observation"):
                assert "tok-93f1c2aa" not in json.dumps(event)

    async def test_waiting_for_an_answer_is_no_run_time(self, tmp_path: Path) -> None:
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

    async def test_a_script_that_was_rewritten_while_it_was_asked_about_is_not_run(self, tmp_path: Path) -> None:
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

    async def test_one_approval_is_one_run(self, tmp_path: Path) -> None:
        """PR-018"""
        async with desk(tmp_path) as d:
            await d("bash", command="echo x >> log")
            await d("bash", command="echo x >> log")
            assert len(d.asks) == 2
            assert d.asks[0].ask_id != d.asks[1].ask_id

    async def test_an_allow_for_the_session_covers_exactly_that(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.scope = "session"
            await d("bash", command="touch a")
            await d("bash", command="touch a")
            assert len(d.asks) == 1
            await d("bash", command="touch b")
            assert len(d.asks) == 2
            assert len(d.events("grant.made")) == 2

    async def test_arguments_changed_by_the_agent_after_the_ask_change_nothing(self, tmp_path: Path) -> None:
        """PR-016"""
        async with desk(tmp_path) as d:
            arguments = {"command": "echo shown > out"}
            d.before = lambda ask: arguments.update(command="echo swapped > out")
            await d.session.pipeline.run(Intent("bash", arguments))
            assert (d.folder / "out").read_text() == "shown\n"

    async def test_an_answer_with_another_digest_takes_no_effect(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.answer = None
            task = asyncio.create_task(d("bash", command="touch x"))
            await asyncio.wait_for(d.asked.wait(), 10)
            assert d.reply(d.asks[0], answer="allow", input_digest="0" * 64) == "mismatch"
            d.answer = "deny"
            assert d.reply(d.asks[0]) == "accepted"
            assert (await task).code == "user_denied"
            assert not (d.folder / "x").exists()


class TestEnds:
    async def test_a_deny_hands_on_the_persons_words(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.answer, d.message = "deny", "use a branch, please <b>"
            seen = await d("bash", command="touch x")
            assert (seen.phase, seen.code, seen.side_effects) == ("permission", "user_denied", ())
            assert "use a branch, please <b>" in seen.summary
            assert d.events("tool.invocation") == []

    async def test_unknown_and_hidden_tools_are_refused_at_lookup(self, tmp_path: Path) -> None:
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
    async def test_a_wrong_shape_names_the_field(self, tmp_path: Path, arguments: dict, field: str) -> None:
        async with desk(tmp_path) as d:
            seen = await d("read_file", **arguments)
            assert (seen.phase, seen.code, seen.retryable) == ("validate", "schema_invalid", True)
            assert field in seen.summary

    async def test_cancelling_stops_the_tree_and_is_observed(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            task = asyncio.create_task(d.session.pipeline.run(Intent("bash", {"command": "echo up; sleep 300"})))
            await asyncio.wait_for(d.started.wait(), 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            (seen,) = d.events("tool.observation")
            assert (seen["phase"], seen["code"]) == ("execute", "cancelled")
            assert tree.members(-1, f"{d.session.id}/{seen['invocationId']}") == set()

    async def test_a_call_cancelled_before_its_first_step_is_observed_too(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            task = asyncio.create_task(d.session.pipeline.run(Intent("bash", {"command": "touch x"})))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [e["code"] for e in d.events("tool.observation")] == ["cancelled"]
            assert (await d("bash", command="echo next")).ok

    async def test_one_call_can_be_cancelled_while_it_waits_for_an_answer(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            d.answer = None
            task = asyncio.create_task(d("bash", command="touch x"))
            await asyncio.wait_for(d.asked.wait(), 10)
            assert d.session.pipeline.cancel(d.asks[0].intent_id)
            assert (await task).code == "ask_cancelled"
            assert d.events("tool.permission.closed")[0]["cause"] == "cancelled"

    async def test_a_fault_in_a_tool_is_an_observation(self, tmp_path: Path) -> None:
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

    async def test_edits_and_the_test_behind_them_keep_their_order(self, tmp_path: Path) -> None:
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

    async def test_a_check_is_recorded_with_the_state_of_the_files(self, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            await d("bash", command="python3 -m unittest nothing_here")
            (check,) = d.events("verification")
            assert (check["goal"], check["passed"]) == ("tests", False)
            assert len(check["workspaceDigest"]) == 64


async def test_the_first_event_says_that_nothing_is_confined(tmp_path: Path) -> None:
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
