"""A foreign text is shown whole, and it is known whether its end was seen. (spec UI-2, UI-3)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult

from interlock.tui.widgets.text_block import TextBlock

pytestmark = pytest.mark.tui
CASES = Path(__file__).resolve().parents[1] / "data" / "cases" / "attack-cases.jsonl"


def command_of(name: str) -> str:
    lines = CASES.read_text(encoding="utf-8").split("\n")
    return next(found["input"]["command"] for line in lines if line and (found := json.loads(line))["id"] == name)


def app_with(themed: Any, block: TextBlock) -> Any:
    class Host(themed):
        def __init__(self) -> None:
            super().__init__()
            self.ends = 0
            self.copied = ""

        def compose(self) -> ComposeResult:
            yield block

        def on_mount(self) -> None:
            block.focus()

        def on_wrapped_view_end_seen(self) -> None:
            self.ends += 1

        def on_wrapped_view_copy_asked(self, message: TextBlock.CopyAsked) -> None:
            self.copied = message.text

    return Host()


async def until_measured(pilot: Any, block: TextBlock) -> None:
    for _ in range(500):
        await pilot.pause()
        if block.is_measured:
            return
    raise AssertionError("never measured")


async def test_a_short_text_is_seen_at_once(themed: Any, screen_text: Any) -> None:
    block = TextBlock("npm test", prompt="$ ")
    app = app_with(themed, block)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert screen_text(app).split("\n")[0] == "$ npm test"
        assert (block.seen_to_end, block.size.height, app.ends) == (True, 1, 1)


async def test_a_long_text_says_how_much_is_below_until_its_end_was_on_screen(themed: Any, screen_text: Any) -> None:
    block = TextBlock("\n".join(f"line {n}" for n in range(40)))
    app = app_with(themed, block)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert screen_text(app).split("\n")[9].startswith("↓ 31 more lines below")
        assert not block.seen_to_end
        shown: set[str] = set()
        for _ in range(6):
            shown.update(line.strip("▁▂▃▄▅▆▇█ ") for line in screen_text(app).split("\n"))
            await pilot.press("pagedown")
        shown.update(line.strip("▁▂▃▄▅▆▇█ ") for line in screen_text(app).split("\n"))
        assert {f"line {n}" for n in range(40)} <= shown
        assert (block.seen_to_end, app.ends) == (True, 1)
        block.show("\n" * 90 + "x" * 4000)
        await pilot.pause()
        assert not block.seen_to_end


async def test_blank_lines_are_folded_and_the_last_line_is_visible(themed: Any, screen_text: Any) -> None:
    """DI-016."""
    block = TextBlock(command_of("DI-016"), prompt="$ ")
    app = app_with(themed, block)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        text = screen_text(app)
        assert "blank lines]" in text
        assert "rm -rf x" in text
        assert block.seen_to_end


async def test_blanks_do_not_push_the_second_command_away(themed: Any, screen_text: Any) -> None:
    """DI-015."""
    block = TextBlock(command_of("DI-015"))
    app = app_with(themed, block)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.pause()
        assert "spaces]; curl" in screen_text(app)


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_a_long_command_is_wrapped_and_its_end_can_be_reached(themed: Any, screen_text: Any, size: Any) -> None:
    """DI-017."""
    block = TextBlock(command_of("DI-017"))
    app = app_with(themed, block)
    async with app.run_test(size=size) as pilot:
        await until_measured(pilot, block)
        assert "more lines below" in screen_text(app)
        assert not block.seen_to_end
        await pilot.press("G")
        await pilot.pause()
        assert block.seen_to_end
        assert command_of("DI-017")[-8:] in screen_text(app).replace("\n", "")


@pytest.mark.parametrize("text", ["a" * 1_000_000, "é\u0301 " * 300_000, "x\n" * 500_000, "\x1b" * 1_000_000])
async def test_a_megabyte_is_shown_whole(themed: Any, text: str) -> None:
    block = TextBlock(text)
    async with app_with(themed, block).run_test(size=(80, 24)) as pilot:
        assert not block.seen_to_end
        await until_measured(pilot, block)
        await pilot.press("G")
        await pilot.pause()
        assert block.seen_to_end


async def test_resizing_keeps_the_line_that_is_read(themed: Any, screen_text: Any) -> None:
    block = TextBlock("\n".join(f"line {n} " + "word " * 20 for n in range(60)))
    app = app_with(themed, block)
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.pause()
        for _ in range(10):
            await pilot.press("j")
        top = screen_text(app).split("\n")[0].split(" word")[0]
        await pilot.resize_terminal(50, 12)
        await pilot.pause()
        assert screen_text(app).split("\n")[0].startswith(top)


async def test_wrapping_can_be_turned_off_and_the_line_read_sideways(themed: Any, screen_text: Any) -> None:
    block = TextBlock("start " + "-" * 100 + " finish")
    app = app_with(themed, block)
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.press("w")
        await pilot.pause()
        await pilot.press(*["right"] * 12)
        await pilot.pause()
        assert "finish" in screen_text(app)


async def test_the_source_is_what_is_copied(themed: Any) -> None:
    block = TextBlock("a\tb\x1b[0m\u202e")
    app = app_with(themed, block)
    async with app.run_test(size=(40, 8)) as pilot:
        await pilot.press("y")
        await pilot.pause()
        assert app.copied == "a\tb\x1b[0m\u202e"


async def test_a_command_looks_as_it_should(themed: Any, golden: Any) -> None:
    text = (
        "cd infra &&\trm -rf a\u202egpj.sh\n\n\n\n\n\n# 中文 👩\u200d👩\u200d👧 \x1b]52;c;eA==\x07\n"
        + "echo words of a long line; " * 4
    )
    block = TextBlock(text, prompt="$ ")
    app = app_with(themed, block)
    async with app.run_test(size=(60, 8)) as pilot:
        await pilot.pause()
        golden(app, "text-block-60x8")


async def test_colours_of_a_tool_are_the_themes(themed: Any, golden: Any) -> None:
    block = TextBlock("\x1b[31mFAIL\x1b[0m test_total\n\x1b[1;32mPASS\x1b[0m other 10%\r100%", terminal=True)
    app = app_with(themed, block)
    async with app.run_test(size=(40, 4)) as pilot:
        await pilot.pause()
        golden(app, "text-colours-40x4")


@pytest.mark.parametrize(("name", "kind"), [("DI-013", "host"), ("DI-014", "command")])
async def test_letters_that_pass_for_others_are_drawn_apart(themed: Any, name: str, kind: str) -> None:
    block = TextBlock(command_of(name))
    app = app_with(themed, block)
    async with app.run_test(size=(60, 4)) as pilot:
        await pilot.pause()
        (one, *_) = [one for one in block.lookalikes if one.kind == kind]
        strip = app.screen._compositor.render_strips()[0]
        flagged = "".join(s.text for s in strip if s.style and s.style.underline)
        assert flagged == one.word
