"""Reading and changing files through the whole pipeline. (spec RT-1 to RT-16; cases named in the tests)"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interlock.runtime.events.permission import ToolPermission

OpenDesk = Callable[..., Any]
Cases = dict[str, Any]
NAMES = {"read": "read_file", "write": "write_file", "edit": "edit_file", "shell": "bash", "bash": "bash"}


class TestReading:
    async def test_the_same_version_is_not_sent_twice(self, desk: OpenDesk, tmp_path: Path) -> None:
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

    async def test_the_first_2000_lines_are_shown_and_the_rest_is_hinted_at(
        self, desk: OpenDesk, tmp_path: Path
    ) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 2501)))
            seen = await d("read_file", path="a.txt")
            assert seen.content
            assert seen.content.endswith("\n2000\n")
            assert "lines 1-2,000 of 2,500" in seen.summary
            assert seen.suggested_next_tool == {"tool": "read_file", "input": {"path": "a.txt", "offset": 2001}}
            rest = await d("read_file", path="a.txt", offset=2001, limit=3)
            assert rest.content == "2001\n2002\n2003\n"

    async def test_a_cut_is_told_exactly_and_says_how_to_go_on(self, desk: OpenDesk, tmp_path: Path) -> None:
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

    async def test_pipes_loops_and_huge_files_block_nobody(self, desk: OpenDesk, tmp_path: Path) -> None:
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
    async def test_a_file_must_be_read_before_it_is_changed(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("x = 1\n")
            for tool, rest in (("edit_file", {"old_string": "x", "new_string": "y"}), ("write_file", {"content": "y"})):
                refused = await d(tool, path="a.txt", **rest)
                assert (refused.phase, refused.code) == ("validate", "runtime_precondition_failed")
                assert refused.side_effects == ()
            assert d.asks == []

    async def test_an_ambiguous_edit_names_every_line_and_asks_nobody(
        self, desk: OpenDesk, cases: Cases, tmp_path: Path
    ) -> None:
        """BC-087"""
        case = cases["BC-087"]["input"]
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

    async def test_a_file_that_changed_since_it_was_read_is_stale(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_text("x = 1\n")
            await d("read_file", path="a.txt")
            (d.folder / "a.txt").write_text("x = 1\n# new\n")
            refused = await d("edit_file", path="a.txt", old_string="x = 1", new_string="x = 2")
            assert (refused.phase, refused.code, refused.retryable) == ("validate", "stale_file_baseline", True)

    async def test_a_file_that_changes_while_it_is_asked_about_is_asked_about_again(
        self, desk: OpenDesk, tmp_path: Path
    ) -> None:
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

    async def test_what_was_shown_is_what_is_written(self, desk: OpenDesk, tmp_path: Path) -> None:
        async with desk(tmp_path) as d:
            (d.folder / "a.txt").write_bytes(b"a\r\nb\r\n")
            await d("read_file", path="a.txt")
            done = await d("edit_file", path="a.txt", old_string="a\nb", new_string="a\nc")
            assert (d.folder / "a.txt").read_bytes() == b"a\r\nc\r\n"
            assert done.side_effects[0].diff == d.asks[0].diff
            assert (done.side_effects[0].added, done.side_effects[0].removed) == (1, 1)

    async def test_links_never_let_a_write_out_of_the_workspace(
        self, desk: OpenDesk, cases: Cases, tmp_path: Path
    ) -> None:
        """BC-091"""
        case = cases["BC-091"]["input"]
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

    async def test_a_link_that_a_command_planted_is_not_written_through(self, desk: OpenDesk, tmp_path: Path) -> None:
        """SB-019"""
        (tmp_path / "bashrc").write_text("mine\n")
        async with desk(tmp_path) as d:
            await d("bash", command=f"ln -s {tmp_path}/bashrc link")
            assert not (await d("write_file", path="link", content="evil")).ok
        assert (tmp_path / "bashrc").read_text() == "mine\n"
