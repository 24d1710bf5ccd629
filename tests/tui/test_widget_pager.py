"""The pager shows an artifact of any size. (spec UI-7, Q-1)"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult

from interlock.tui.paged_file import PagedFile
from interlock.tui.widgets.pager import Pager

pytestmark = pytest.mark.tui


def app_with(themed: Any, path: Path) -> Any:
    class Host(themed):
        copied: tuple[str, bool] = ("", False)

        def compose(self) -> ComposeResult:
            yield Pager(PagedFile(path))

        def on_mount(self) -> None:
            self.query_one(Pager).focus()

        def on_pager_copy_asked(self, message: Pager.CopyAsked) -> None:
            self.copied = (message.text, message.whole)

    return Host()


async def searched(app: Any, pilot: Any) -> None:
    await pilot.pause()
    await app.workers.wait_for_complete()
    await pilot.pause()


async def test_lines_are_paged_from_both_ends(themed: Any, screen_text: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("".join(f"line {n}\n" for n in range(100)))
    app = app_with(themed, path)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert screen_text(app).startswith("line 0\nline 1")
        await pilot.press("j", "j")
        assert screen_text(app).startswith("line 2\n")
        await pilot.press("pagedown")
        assert screen_text(app).startswith("line 10\n")
        await pilot.press("G")
        assert "line 99" in screen_text(app).split("\n")[8]
        assert "100 %" in screen_text(app)
        await pilot.press("j", "k")
        assert screen_text(app).startswith("line 90\n")
        await pilot.press("g")
        assert screen_text(app).startswith("line 0\n")


async def test_a_line_without_end_is_shown_whole(themed: Any, screen_text: Any, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text("é" * 3_000_000 + "LAST")
    app = app_with(themed, path)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("G")
        await pilot.pause()
        assert "LAST" in screen_text(app)
        await pilot.press("k", "pageup", "w", "w")
        assert "é" * 59 in screen_text(app)
        assert "<0x" not in screen_text(app)


async def test_search_goes_to_hits_both_ways(themed: Any, screen_text: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("".join(f"line {n}{' ERROR [x]' if n % 40 == 30 else ''}\n" for n in range(200)))
    app = app_with(themed, path)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("slash", *"ERR")
        await searched(app, pilot)
        assert "line 30 ERROR" in screen_text(app)
        await pilot.press("enter", "n")
        await searched(app, pilot)
        assert "line 70 ERROR" in screen_text(app)
        await pilot.press("N")
        await searched(app, pilot)
        assert "line 30 ERROR" in screen_text(app)
        await pilot.press("slash", *"nothing here")
        await searched(app, pilot)
        assert "not found" in screen_text(app)
        await pilot.press("escape")
        assert "line 30 ERROR" in screen_text(app)


async def test_a_regular_expression_waits_for_enter(themed: Any, screen_text: Any, tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("".join(f"line {n}\n" for n in range(500)))
    app = app_with(themed, path)
    async with app.run_test(size=(60, 12)) as pilot:
        await pilot.press("slash", *"re:zz", "enter")
        await searched(app, pilot)
        assert "not found" in screen_text(app)
        await pilot.press("slash", *r"re:^line 4\d9$", "enter")
        await searched(app, pilot)
        assert "line 409" in screen_text(app)


async def test_binary_is_shown_as_bytes_and_can_be_turned_to_text(
    themed: Any, screen_text: Any, tmp_path: Path
) -> None:
    path = tmp_path / "blob"
    path.write_bytes(bytes(range(256)) * 20)
    app = app_with(themed, path)
    async with app.run_test(size=(90, 12)) as pilot:
        await pilot.pause()
        assert screen_text(app).split("\n")[1].startswith("0000000010  10 11 12")
        await pilot.press("G")
        assert "0000001ff0" in screen_text(app) or "00000013f0" in screen_text(app)
        await pilot.press("g", "H")
        assert "␛" in screen_text(app)
        assert "<0xFF>" in screen_text(app)


async def test_an_empty_file_says_so_and_a_copy_says_whether_it_is_whole(
    themed: Any, screen_text: Any, tmp_path: Path
) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    app = app_with(themed, path)
    async with app.run_test(size=(60, 6)) as pilot:
        await pilot.press("G", "j", "k", "pageup")
        assert "(empty file)" in screen_text(app)
        path.write_text("x\ty")
        await pilot.press("y")
        await pilot.pause()
        assert app.copied == ("x\ty", True)


async def test_the_pager_looks_as_it_should(themed: Any, golden: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("artifacts/out-17.txt")
    path.parent.mkdir()
    path.write_text(
        "npm test\n\x1b[31mFAIL\x1b[0m src/sum.test.js\n  expected 4, got 5\n" + "wide 中文 " * 12 + "\nok\n"
    )
    app = app_with(themed, path)
    async with app.run_test(size=(80, 10)) as pilot:
        await pilot.press("slash", *"FAIL")
        await searched(app, pilot)
        await pilot.press("enter")
        golden(app, "pager-80x10")
