"""No widget sends what an agent wrote as a command to the terminal. (spec UI-3, style.md: hostile corpus)"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.widgets import Static

from interlock.tui.paged_file import PagedFile
from interlock.tui.safe_text import one_line, to_content, to_strip
from interlock.tui.widgets.diff_view import DiffView
from interlock.tui.widgets.key_footer import KeyFooter
from interlock.tui.widgets.lines import LineList, ListRows
from interlock.tui.widgets.message_box import MessageBox
from interlock.tui.widgets.pager import Pager
from interlock.tui.widgets.text_block import TextBlock

pytestmark = pytest.mark.tui
HOSTILE = {
    "terminal": "\x1b[?1049h\x1b[2J\x1b]0;t\x07\x1b]52;c;eA==\x07\x1bP1$r0m\x1b\\\x9b31m\x9d0;t\x9c\x08\x0e\x0f",
    "markup": "[bold]safe[/bold] [link=http://e.example]d[/link] [/nope] [@click=app.quit]x[/] $ask",
    "unicode": "\u202e\u2066\u200b\u200d\ufeff\u2028\u2029\x85\U000e0041\ufe0f\ue000\U000fffff\u0301"
    + "e\u0301\u0302\u0303" * 50,
    "half": "\ud83d \udc80 a\udfffb",
    "nul": "\x00\x01\x7f" * 20 + "\r\r\n\t\t",
}


def app_of(themed: Any, text: str, path: Path) -> Any:
    class Host(themed):
        CSS = "LineList, TextBlock, DiffView, Pager { height: 8; } Static { height: auto; }"

        def compose(self) -> ComposeResult:
            rows = ListRows([text, "x"], lambda item, width, _s: to_strip(one_line(item, width)), lambda item: item[:1])
            yield LineList(rows)
            yield TextBlock(text)
            yield TextBlock(text, terminal=True)
            yield DiffView()
            yield Pager(PagedFile(path))
            yield Static(to_content(text))
            yield MessageBox()
            yield KeyFooter()

        def on_mount(self) -> None:
            flat = text.replace("\n", "")
            self.query_one(DiffView).show_diff(f"--- a/{flat}\n+++ b/{flat}\n@@ -1 +1 @@ {flat}\n-{flat}1\n+{flat}2\n")
            self.query_one(MessageBox).say(text, kept=text, todo=text)
            self.query_one(KeyFooter).say(text)

    return Host()


@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_text_is_only_ever_text(themed: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(HOSTILE[name].encode("utf-8", "surrogatepass"))
    app = app_of(themed, HOSTILE[name], path)
    async with app.run_test(size=(90, 70)) as pilot:
        await pilot.pause()
        drawn = [segment.text for strip in app.screen._compositor.render_strips() for segment in strip]
        bad = {
            c for text in drawn for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        }
        assert bad - {"\u200d"} == set()
        links = [s.style for strip in app.screen._compositor.render_strips() for s in strip if s.style and s.style.link]
        assert links == []
        assert len(drawn) > 20
