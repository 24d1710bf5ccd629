"""The rules: standing permissions of living sessions, and what holds where none is (ASK-4, its first form)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from interlock.tui.model.rules import grant_line
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.lines import LineList

if TYPE_CHECKING:
    from interlock.tui.feed import StandingGrant

EMPTY = (
    "Nothing is permitted beforehand.",
    "",
    "`s` on an ask allows calls like it until the session ends; such permissions stand here while it lives.",
    "They end with their session. Enter opens the session that a permission belongs to.",
    "",
    "`interlock policy explain` says what the rules would do with a call, and why.",
)


class RulesScreen(FrameScreen):
    """View 4."""

    view = "Rules"

    def compose_content(self) -> ComposeResult:
        yield GroupedList["StandingGrant"](
            self._line, lambda grant: f"{grant.session} {grant.id}", empty=EMPTY, id="grants"
        )

    def _line(self, grant: StandingGrant, width: int):
        names = {row.id: row.name for row in self.store.sessions}
        return grant_line(grant, names.get(grant.session, grant.session), width, self.store.now())

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#grants", GroupedList).focus()

    def refresh_rows(self) -> None:
        """Pull the permissions from the store."""
        grants = sorted(self.store.grants, key=lambda g: (g.made_at, g.session, g.id))
        self.query_one("#grants", GroupedList).show_items(grants)

    def on_line_list_selected(self, event: LineList.Selected) -> None:
        """Open the session of a permission."""
        grant = self.query_one("#grants", GroupedList).item
        if grant is not None:
            self.interlock.open_session(grant.session)
