"""The history (UI-8): every session that is over, the newest first."""

from __future__ import annotations

from typing import ClassVar

from interlock.tui.model.table import TableRow, history_rows
from interlock.tui.screens.board import BoardScreen


class HistoryScreen(BoardScreen):
    """View 3."""

    view = "History"
    dated: ClassVar[bool] = True
    empty: ClassVar[tuple[str, ...]] = (
        "Nothing is over yet.",
        "",
        "Sessions that have ended stand here, with what was asked, run and changed in them.",
        "`interlock sessions` lists them without the screen.",
    )

    def rows(self, words: str) -> list[TableRow]:
        return history_rows(self.store.sessions, words)
