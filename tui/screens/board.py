"""The sessions board (UI-5): every session with its state from evidence, what needs a person first."""

from __future__ import annotations

from interlock.tui.model.session_list import ListItem, board_items
from interlock.tui.screens.session_list import SessionListScreen


class BoardScreen(SessionListScreen):
    """View 2."""

    view = "Sessions"
    empty = (
        "No sessions yet.",
        "",
        "Every agent that works through Interlock's runtime stands here, with what it is doing.",
        "`interlock demo` sets two scripted agents to work on a scratch project.",
    )

    def items(self, words: str) -> list[ListItem]:
        """All sessions by group."""
        return board_items(self.store.sessions, words)
