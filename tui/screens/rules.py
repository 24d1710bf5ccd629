"""The rules: standing grants of sessions that are alive (ASK-4). The policy itself is told by `interlock policy`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult

from interlock.tui.model.inked import Inked
from interlock.tui.model.table import grant_line
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.inbox_list import GroupedList

if TYPE_CHECKING:
    from interlock.tui.feed import StandingGrant

EMPTY = (
    "No standing grant.",
    "",
    "`s` on an ask allows calls like it until its session ends; such a grant stands here while it holds.",
    "It ends with its session. Deny rules stand above every grant.",
    "`interlock policy list` shows the rules that decide without asking.",
)


class RulesScreen(FrameScreen):
    """View 4."""

    view = "Rules"

    def compose_content(self) -> ComposeResult:
        yield GroupedList["StandingGrant"](
            self._draw, lambda grant: f"{grant.session}/{grant.id}", empty=EMPTY, id="list"
        )

    def _draw(self, grant: StandingGrant, width: int) -> Inked:
        names = {row.id: row.name for row in self.store.sessions}
        return grant_line(grant, names.get(grant.session, grant.session), width, self.store.now())

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one(GroupedList).focus()

    def refresh_rows(self) -> None:
        self.query_one(GroupedList).show_items(self.store.grants)
