"""The list of any length. (screen.md section 4, performance.md section 5)"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.strip import Strip

from interlock.tui.model.inked import Inked, ink
from interlock.tui.safe_text import one_line, to_strip
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.lines import LineList, ListRows

pytestmark = pytest.mark.tui


class Numbers:
    """Rows derived from their number, which count what is asked of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: Counter[str] = Counter()

    def __len__(self) -> int:
        return self.count

    def row(self, index: int, width: int, selected: bool) -> Strip:
        self.asked["row"] += 1
        return to_strip(one_line(f"row {index}", width))

    def key(self, index: int) -> str:
        self.asked["key"] += 1
        return str(index)

    def find(self, key: str) -> int | None:
        return int(key) if int(key) < self.count else None


def words(*items: str) -> ListRows[str]:
    return ListRows(items, lambda item, width, _selected: to_strip(one_line(item, width)), str)


def app_with(themed: Any, lines: LineList) -> Any:
    class Host(themed):
        heard: list[tuple[str, str]]

        def compose(self) -> ComposeResult:
            yield lines

        def on_mount(self) -> None:
            self.heard = []
            lines.focus()

        def on_line_list_highlighted(self, message: LineList.Highlighted) -> None:
            self.heard.append(("highlighted", message.key))

        def on_line_list_selected(self, message: LineList.Selected) -> None:
            self.heard.append(("selected", message.key))

    return Host()


async def test_a_million_rows_ask_only_for_those_on_screen(themed: Any) -> None:
    rows = Numbers(1_000_000)
    lines = LineList(rows)
    async with app_with(themed, lines).run_test(size=(40, 10)) as pilot:
        await pilot.press("G", "k", "pageup", "g", "pagedown", "G")
        rows.count += 1
        lines.changed()
        await pilot.pause()
        assert rows.asked["row"] < 200
        assert rows.asked["key"] < 200
        assert lines.index == 999_999


async def test_keys_move_and_enter_only_says_what_was_chosen(themed: Any) -> None:
    lines = LineList(words(*"abcdefghij"))
    app = app_with(themed, lines)
    async with app.run_test(size=(20, 5)) as pilot:
        await pilot.press("j", "down", "k", "enter")
        assert lines.key == "b"
        await pilot.press("G")
        assert (lines.key, lines.scroll_offset.y) == ("j", 5)
        await pilot.press("home")
        assert (lines.key, lines.scroll_offset.y) == ("a", 0)
        assert ("selected", "b") in app.heard


async def test_new_rows_above_move_neither_cursor_nor_what_is_read(themed: Any, screen_text: Any) -> None:
    lines = LineList(words(*(f"old {n}" for n in range(30))))
    app = app_with(themed, lines)
    async with app.run_test(size=(20, 8)) as pilot:
        lines.select("old 12")
        await pilot.pause()
        before = screen_text(app)
        lines.show(words(*(f"new {n}" for n in range(7)), *(f"old {n}" for n in range(30))))
        await pilot.pause()
        assert [line[:9].rstrip() for line in screen_text(app).split("\n")] == [
            line[:9].rstrip() for line in before.split("\n")
        ]
        assert lines.key == "old 12"


async def test_new_rows_above_do_not_move_a_list_read_away_from_its_cursor(themed: Any, screen_text: Any) -> None:
    lines = LineList(words(*(f"old {n}" for n in range(60))))
    app = app_with(themed, lines)
    async with app.run_test(size=(20, 8)) as pilot:
        lines.scroll_to(y=30, animate=False, immediate=True)
        await pilot.pause()
        assert "old 30" in screen_text(app)
        lines.show(words(*(f"new {n}" for n in range(5)), *(f"old {n}" for n in range(60))))
        await pilot.pause()
        assert screen_text(app).split("\n")[0].strip().startswith("old 30")


async def test_a_row_that_goes_leaves_the_cursor_at_its_place(themed: Any) -> None:
    lines = LineList(words("a", "b", "c"))
    async with app_with(themed, lines).run_test(size=(20, 8)) as pilot:
        await pilot.press("j")
        lines.show(words("a", "c"))
        await pilot.pause()
        assert lines.key == "c"
        lines.show(words())
        await pilot.pause()
        assert (lines.key, lines.index) == (None, None)


async def test_following_sticks_to_the_end_only_from_the_end(themed: Any) -> None:
    rows = Numbers(50)
    lines = LineList(rows)
    async with app_with(themed, lines).run_test(size=(20, 10)) as pilot:
        await pilot.press("f")
        rows.count = 60
        lines.changed()
        await pilot.pause()
        assert (lines.index, lines.is_at_end) == (59, True)
        await pilot.press("pageup", "pageup")
        here = (lines.index, lines.scroll_offset.y)
        rows.count = 90
        lines.changed()
        await pilot.pause()
        assert (lines.index, lines.scroll_offset.y) == here


async def test_a_click_moves_and_a_second_click_opens(themed: Any) -> None:
    lines = LineList(words("a", "b", "c"))
    app = app_with(themed, lines)
    async with app.run_test(size=(20, 8)) as pilot:
        await pilot.click(LineList, offset=(3, 2))
        assert lines.key == "c"
        assert ("selected", "c") not in app.heard
        await pilot.click(LineList, offset=(3, 2))
        await pilot.pause()
        assert ("selected", "c") in app.heard


async def test_an_empty_list_teaches(themed: Any, screen_text: Any) -> None:
    lines = LineList(empty=["Nothing waits for you.", "interlock demo shows how it looks."])
    app = app_with(themed, lines)
    async with app.run_test(size=(50, 8)) as pilot:
        await pilot.pause()
        assert "Nothing waits for you." in screen_text(app)


async def test_rows_look_as_they_should(themed: Any, golden: Any) -> None:
    lines = LineList(
        words("? shop-api  claude  edit_file", "? infra\x1b[31m  \u202ecodex", "▶ 中文 demo 👩\u200d👩\u200d👧 ok")
    )
    app = app_with(themed, lines)
    async with app.run_test(size=(36, 5)) as pilot:
        await pilot.press("j")
        golden(app, "lines-36x5")


async def test_when_time_goes_on_only_the_rows_whose_age_changed_are_drawn_anew(themed: Any) -> None:
    now, drawn = [0], []

    def draw(item: int, width: int) -> Inked:
        drawn.append(item)
        return ink(f"row {item} {(now[0] + item) // 60}m")

    lines: GroupedList[int] = GroupedList(draw, str, age=lambda item: f"{(now[0] + item) // 60}m")
    app = app_with(themed, lines)
    async with app.run_test(size=(40, 12)) as pilot:
        lines.show_items(list(range(10)))
        lines.grow()
        await pilot.pause()
        drawn.clear()
        now[0] = 51
        lines.grow()
        await pilot.pause()
        assert drawn == [9]
        assert "row 9 1m" in strips_text(app)
        lines.show_items(list(range(10)))
        await pilot.pause()
        assert lines.row_count == 10
        lines.show_items([*range(9), 10])
        await pilot.pause()
        assert "row 10 1m" in strips_text(app)
        assert "row 9 " not in strips_text(app)


def strips_text(app: Any) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())
