"""One question with yes or no, on top: before something is taken away that a person once gave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from interlock.tui.model.inked import Inked, ink
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.inked_lines import InkedLines


class QuestionScreen(Overlay[bool]):
    """Gives True for yes alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "yes", "Yes", show=False),
        Binding("n", "back", "No", show=False),
    ]
    DEFAULT_CSS = """
    QuestionScreen { align: center middle; }
    QuestionScreen InkedLines { width: 70; max-width: 100%; border: round $rule; padding: 1 2; height: auto; }
    """

    def __init__(self, title: str, lines: Sequence[Inked], yes: str) -> None:
        """`title`, `yes`: our own words; `lines`: what it is about."""
        super().__init__()
        self._title, self._lines, self._yes = title, lines, yes

    def compose(self) -> ComposeResult:
        wrapped = [row for line in self._lines for row in line.wrapped(60)]
        keys = ink(("y", "bold"), f"  {self._yes}      ", ("n  Esc", "bold"), "  keep it")
        yield InkedLines([ink((self._title, "bold ask")), *wrapped, ink(""), keys])

    def action_yes(self) -> None:
        self.dismiss(True)

    def action_back(self) -> None:
        self.dismiss(False)
