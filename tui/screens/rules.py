"""The sessions board (UI-5): every session with its state from evidence, what needs a person first."""

from __future__ import annotations

from textual.app import ComposeResult

from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.inked_lines import InkedLines


class RulesScreen(FrameScreen):
    view = "Rules"

    def compose_content(self) -> ComposeResult:
        yield InkedLines()

    def refresh_rows(self) -> None: ...
