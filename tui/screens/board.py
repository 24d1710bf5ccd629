"""The sessions board (UI-5): every session with its state from evidence, what needs a person first.

Promises: the cursor stays on its session while states change; Enter opens it; the evidence of the state under the
cursor stands in the lowest line.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from interlock.tui.commands import Find, bind
from interlock.tui.model.inked import Inked, fitted, ink
from interlock.tui.model.table import TableRow, board_rows, row_age, table_line
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.filter_input import FilterInput
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.inked_lines import InkedLines
from interlock.tui.widgets.lines import LineList


class BoardScreen(FrameScreen):
    """View 2; the history is the same list of other rows."""

    view = "Sessions"
    dated: ClassVar[bool] = False
    empty: ClassVar[tuple[str, ...]] = (
        "No session yet.",
        "",
        "Every agent that runs through Interlock stands here while it works.",
        "`interlock demo` starts two on a scratch project.",
    )
    BINDINGS: ClassVar[list[BindingType]] = bind(Find)  # type: ignore[assignment]
    DEFAULT_CSS = """
    BoardScreen #evidence { height: 1; dock: bottom; padding: 0 1; }
    """

    def compose_content(self) -> ComposeResult:
        yield GroupedList[TableRow](
            self._draw,
            lambda row: row.key,
            lambda row: row.kind == "session",
            age=None if self.dated else lambda row: row_age(row, self.store.now()),
            empty=self.empty,
            id="list",
        )
        yield InkedLines(id="evidence")
        yield FilterInput(id="filter")

    def _draw(self, row: TableRow, width: int) -> Inked:
        return table_line(row, width, self.store.now(), ascii_only=self.interlock.ascii_only, dated=self.dated)

    @property
    def list(self) -> GroupedList[TableRow]:
        """The list."""
        return self.query_one("#list", GroupedList)

    def on_mount(self) -> None:
        self.list.focus()

    def rows(self, words: str) -> list[TableRow]:
        """The rows of this view."""
        return board_rows(self.store.sessions, words)

    def refresh_rows(self) -> None:
        words = self.query_one("#filter", FilterInput).words
        self.list.show_items(self.rows(words))
        self._show_evidence()

    def _show_evidence(self) -> None:
        item = self.list.item
        row = item.session if item is not None else None
        words = f"{row.id}   {row.status}: {row.fault or row.evidence}" if row is not None else ""
        self.query_one("#evidence", InkedLines).show([fitted(ink((words, "quiet")), max(self.size.width - 2, 1))])

    @on(LineList.Highlighted, "#list")
    def _moved(self) -> None:
        self._show_evidence()

    @on(LineList.Selected, "#list")
    def _chosen(self) -> None:
        item = self.list.item
        if item is not None and item.session is not None:
            self.interlock.open_session(item.session.id)

    def action_find(self) -> None:
        """Open the filter."""
        self.query_one("#filter", FilterInput).open()

    @on(FilterInput.Filtered)
    def _filtered(self) -> None:
        self.changed()

    @on(FilterInput.Left)
    def _filter_left(self) -> None:
        self.list.focus()

    def action_back(self) -> None:
        if self.query_one("#filter", FilterInput).words:
            self.query_one("#filter", FilterInput).clear_words()
