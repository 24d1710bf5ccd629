"""Whether to leave although asks wait."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from interlock.tui.model.inked import ink
from interlock.tui.model.moment import count
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.inked_lines import InkedLines

LEAVING = (
    "Agents that can ask in their own prompt do so at once;",
    "the others wait, here or for `interlock answer`.",
)


class QuitScreen(Overlay[bool]):
    """Gives True when the person wants to leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "leave", "Leave", show=False),
        Binding("n", "back", "Stay", show=False),
    ]
    DEFAULT_CSS = """
    QuitScreen { align: center middle; }
    QuitScreen InkedLines { width: 62; max-width: 100%; border: round $rule; padding: 1 2; height: auto; }
    """

    def __init__(self, waiting: int, leaving: tuple[str, ...] = LEAVING) -> None:
        """`leaving`: our lines that say what becomes of the agents."""
        super().__init__()
        self._waiting, self._leaving = waiting, leaving

    def compose(self) -> ComposeResult:
        verb = "waits" if self._waiting == 1 else "wait"
        lines = [
            ink((f"{count(self._waiting, 'ask')} {verb} for you.", "bold ask")),
            *(ink(line) for line in self._leaving),
            ink(""),
            ink(("y", "bold"), "  leave      ", ("n  Esc", "bold"), "  stay"),
        ]
        yield InkedLines(lines)

    def action_leave(self) -> None:
        self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)
