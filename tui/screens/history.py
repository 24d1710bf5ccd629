"""The history (UI-8, its first form): every session that is over, by day, filtered as you type."""

from __future__ import annotations

from interlock.tui.model.session_list import ListItem, history_items
from interlock.tui.screens.session_list import SessionListScreen


class HistoryScreen(SessionListScreen):
    """View 3."""

    view = "History"
    empty = (
        "Nothing is over yet.",
        "",
        "Sessions that have ended stand here by day; Enter opens one with all that it did.",
        "`/` filters by words of their title, folder, agent, branch or state.",
    )

    def items(self, words: str) -> list[ListItem]:
        """Sessions that are over."""
        return history_items(self.store.sessions, words)
