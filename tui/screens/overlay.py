"""What opens on top of a view and closes with Esc.

Promises: global keys that would be surprising under it are not live; the way back is always Esc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.screen import Screen, ScreenResultType

from interlock.tui.commands import Back, bind

if TYPE_CHECKING:
    from interlock.tui.app import InterlockApp


class Overlay(Screen[ScreenResultType]):
    """A screen on top."""

    BINDINGS: ClassVar[list[BindingType]] = bind(Back)  # type: ignore[assignment]
    DEFAULT_CSS = """
    Overlay { background: $background; }
    """

    @property
    def interlock(self) -> InterlockApp:
        """The app, with its own type."""
        return self.app  # type: ignore[return-value]

    def store_changed(self) -> None:
        """Something differs in the store: for those that show it."""

    def action_back(self) -> None:
        """Esc."""
        self.dismiss()
