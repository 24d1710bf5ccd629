"""The last line and the messages. (screen.md sections 1 and 4)"""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import ComposeResult

from interlock.tui.commands import AllowOnce, CopySource, Deny, NextWaiting, OpenPalette, ShowHelp, bind, keymap
from interlock.tui.widgets.key_footer import KeyFooter
from interlock.tui.widgets.message_box import MessageBox

pytestmark = pytest.mark.tui


def app_of(themed: Any) -> Any:
    class Host(themed):
        BINDINGS = bind(AllowOnce, Deny, NextWaiting, CopySource, OpenPalette, ShowHelp)
        armed = False

        def __init__(self) -> None:
            super().__init__()
            self.done: list[str] = []

        def compose(self) -> ComposeResult:
            yield MessageBox()
            yield KeyFooter()

        def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
            return None if action == "allow_once" and not self.armed else True

        def action_allow_once(self) -> None:
            self.done.append("allow_once")

        def action_deny(self) -> None:
            self.done.append("deny")

        def action_next_waiting(self) -> None:
            self.done.append("next_waiting")

        def action_show_help(self) -> None:
            self.done.append("show_help")

    return Host()


async def test_the_footer_shows_keys_and_dims_what_is_not_live(themed: Any, golden: Any) -> None:
    app = app_of(themed)
    async with app.run_test(size=(80, 4)) as pilot:
        app.query_one(KeyFooter).say("sent")
        await pilot.pause()
        golden(app, "footer-80x4")


async def test_a_narrow_footer_keeps_help(themed: Any, screen_text: Any) -> None:
    app = app_of(themed)
    async with app.run_test(size=(34, 3)) as pilot:
        await pilot.pause()
        assert "? help" in screen_text(app).split("\n")[-1]


async def test_the_footer_shows_a_persons_own_keys(themed: Any, screen_text: Any) -> None:
    app = app_of(themed)
    async with app.run_test(size=(80, 3)) as pilot:
        app.set_keymap(keymap({"deny": "ctrl+d"}))
        await pilot.pause()
        assert "Ctrl+D deny" in screen_text(app)
        await pilot.press("d")
        await pilot.press("ctrl+d")
        assert app.done == ["deny"]


async def test_a_click_does_what_the_key_does_but_never_answers(themed: Any, screen_text: Any) -> None:
    app = app_of(themed)
    async with app.run_test(size=(80, 3)) as pilot:
        await pilot.pause()
        line = screen_text(app).split("\n")[-1]
        await pilot.click(KeyFooter, offset=(line.index("deny"), 0))
        await pilot.click(KeyFooter, offset=(line.index("once"), 0))
        assert app.done == []
        await pilot.click(KeyFooter, offset=(line.index("help"), 0))
        await pilot.pause()
        assert app.done == ["show_help"]


async def test_a_message_says_what_happened_what_was_kept_and_what_to_do(themed: Any, golden: Any) -> None:
    app = app_of(themed)
    async with app.run_test(size=(70, 8)) as pilot:
        box = app.query_one(MessageBox)
        box.say(
            "The policy in /home/a\u202e/[x].toml has one bad rule.",
            kept="The other 12 rules hold.",
            todo="Open it with 4, then E.",
        )
        await pilot.pause()
        golden(app, "message-70x8")
        box.hush()
        await pilot.pause()
        assert box.size.height == 0
