"""The palette offers what the place below can do, and never an answer. (spec UI-9)"""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import ComposeResult

from interlock.tui.commands import AllowOnce, Quit, ShowHelp, bind
from interlock.tui.palette import CommandProvider
from interlock.tui.widgets.text_block import TextBlock

pytestmark = pytest.mark.tui


async def test_the_palette_knows_the_focused_widget_and_offers_no_answers(themed: Any) -> None:
    class Host(themed):
        BINDINGS = bind(AllowOnce, ShowHelp, Quit)

        def compose(self) -> ComposeResult:
            yield TextBlock("a text")

        def action_allow_once(self) -> None: ...

        def action_show_help(self) -> None: ...

    app = Host()
    async with app.run_test() as pilot:
        block = app.query_one(TextBlock)
        block.focus()
        await pilot.pause()
        provider = CommandProvider(app.screen)
        offered = [hit async for hit in provider.discover()]
        titles = {hit.text for hit in offered}
        assert {"Wrap", "Copy", "Help", "Quit"} <= titles
        assert "Allow once" not in titles
        (wrap,) = [hit async for hit in provider.search("Wrap") if hit.text == "Wrap"]
        await wrap.command()
        assert block.wraps is False
