"""The filter of a list: one line at its foot, there only while it is used.

Promises: what is typed filters at once; Esc leaves and clears, Enter keeps the words and goes back to the list.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FilterInput(Input):
    """Filter words."""

    DEFAULT_CSS = """
    FilterInput { height: 1; border: none; padding: 0 1; background: $surface; dock: bottom; display: none; }
    FilterInput.-open { display: block; }
    FilterInput:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False)]

    class Filtered(Message):
        """Other words."""

    class Left(Message):
        """The list wants the focus back."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, placeholder="words that a row must have; Enter keeps them, Esc clears", compact=True)

    @property
    def words(self) -> str:
        """The words in force."""
        return self.value.strip() if self.has_class("-open") else ""

    def open(self) -> None:
        """Show it and type."""
        self.add_class("-open")
        self.focus()

    def clear_words(self) -> None:
        """No filter."""
        self.value = ""
        self.remove_class("-open")
        self.post_message(self.Filtered())

    def action_leave(self) -> None:
        """Esc."""
        self.clear_words()
        self.post_message(self.Left())

    @on(Input.Submitted)
    def _kept(self, event: Input.Submitted) -> None:
        event.stop()
        if not self.value.strip():
            self.clear_words()
        self.post_message(self.Left())

    def watch_value(self, value: str) -> None:
        """Filter while typing."""
        if self.has_class("-open"):
            self.post_message(self.Filtered())
