"""What the board and the history have in common: a filtered list of sessions, one opens on Enter."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType

from interlock.tui.commands import CopySource, Find, bind
from interlock.tui.model.session_list import ListItem, item_line
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.widgets.filter_input import FilterInput
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.lines import LineList


class SessionListScreen(FrameScreen):
    """A view that lists sessions. Subclasses give `items` and `empty`."""

    BINDINGS: ClassVar[list[BindingType]] = bind(Find, CopySource)  # type: ignore[assignment]
    empty: ClassVar[tuple[str, ...]] = ()

    def items(self, words: str) -> list[ListItem]:
        """The rows for these filter words."""
        raise NotImplementedError

    def compose_content(self) -> ComposeResult:
        app = self.interlock
        yield GroupedList[ListItem](
            lambda item, width: item_line(item, width, self.store.now(), ascii_only=app.ascii_only),
            lambda item: item.key,
            lambda item: item.row is not None,
            empty=self.empty,
            id="sessions",
        )
        yield FilterInput(id="filter")

    @property
    def list(self) -> GroupedList[ListItem]:
        """The list."""
        return self.query_one("#sessions", GroupedList)

    def on_mount(self) -> None:
        super().on_mount()
        self.list.focus()

    def refresh_rows(self) -> None:
        """Pull the rows from the store."""
        self.list.show_items(self.items(self.query_one("#filter", FilterInput).words))

    def tick(self) -> None:
        """Ages grow."""
        self.changed()

    @on(LineList.Selected, "#sessions")
    def _selected(self, event: LineList.Selected) -> None:
        item = self.list.item
        if item is not None and item.row is not None:
            self.interlock.open_session(item.row.id)

    def action_find(self) -> None:
        """Open the filter."""
        self.query_one("#filter", FilterInput).open()

    def action_back(self) -> None:
        """No filter."""
        if self.query_one("#filter", FilterInput).words:
            self.query_one("#filter", FilterInput).clear_words()

    def action_copy_source(self) -> None:
        """The id of the session, which every command takes."""
        item = self.list.item
        if item is not None and item.row is not None:
            self.interlock.copy(item.row.id)

    @on(FilterInput.Filtered)
    def _filtered(self) -> None:
        self.changed()

    @on(FilterInput.Left)
    def _filter_left(self) -> None:
        self.list.focus()
