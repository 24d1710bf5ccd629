"""The editor of a message to the agent (BC-034).

Promises: editing keys only edit, on an empty line too; Enter alone submits; Esc leaves; a pasted text of several lines
keeps all its words.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class MessageInput(Input):
    """One line of text for the agent."""

    DEFAULT_CSS = """
    MessageInput { height: 1; border: none; padding: 0; background: $surface; }
    MessageInput:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Back", show=False)]

    class Left(Message):
        """The person went back without sending."""

    def __init__(self, *, id: str | None = None, classes: str | None = None, placeholder: str = "") -> None:  # noqa: A002
        super().__init__(
            id=id, classes=classes, placeholder=placeholder or "why? the agent reads this word for word", compact=True
        )

    def action_leave(self) -> None:
        """Esc."""
        self.post_message(self.Left())

    def _on_paste(self, event: events.Paste) -> None:
        # the base class keeps the first line alone and says nothing of the others
        if event.text:
            text = " ".join(event.text.split("\n"))
            selection = self.selection
            if selection.is_empty:
                self.insert_text_at_cursor(text)
            else:
                self.replace(text, *selection)
        event.stop()
        event.prevent_default()
