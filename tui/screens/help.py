"""The keys of the present place, from the commands and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from interlock.tui.commands import ShowHelp, bind, help_rows
from interlock.tui.model.inked import EMPTY, Inked, blanks, hanging, ink
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.inked_lines import InkedBlock, InkedLines

KEYS, TITLE = 18, 22
"""Cells of the first two columns."""
LEAST_BESIDE = 70
"""Cells from which what a command does has a column of its own."""


class HelpScreen(Overlay[None]):
    """Lists commands by group, with the keys that are in force."""

    BINDINGS: ClassVar[list[BindingType]] = bind(ShowHelp)  # type: ignore[assignment]
    DEFAULT_CSS = """
    HelpScreen InkedLines { padding: 0 1; }
    HelpScreen InkedBlock { padding: 0 1; border-top: solid $rule; }
    """

    def __init__(self, places: tuple[str, ...], changes: Mapping[str, str], live: frozenset[str] | None = None) -> None:
        """`live`: names of the commands to show, None for all of these places."""
        super().__init__()
        self._places, self._changes, self._live = places, changes, live

    def compose(self) -> ComposeResult:
        yield InkedLines([ink(("Keys here", "bold"), ("   Esc back   Ctrl+P finds any command by its name", "quiet"))])
        yield InkedBlock(id="help")

    def on_mount(self) -> None:
        block = self.query_one(InkedBlock)
        block.show(self._lines, "")
        block.focus()

    def _lines(self, width: int) -> list[Inked]:
        lines: list[Inked] = []
        group = ""
        for row in help_rows(self._places, self._changes):
            if self._live is not None and row.name not in self._live:
                continue
            if row.group != group:
                group = row.group
                lines += [EMPTY, ink((group, "bold accent"))]
            if width < LEAST_BESIDE:
                text = ink((f"{row.title}   ", ""), (row.help, "quiet"))
                lines += hanging(row.keys, text, width, indent=KEYS, style="bold")
                continue
            first, *more = hanging(row.title, ink((row.help, "quiet")), width - KEYS, indent=TITLE, style="bold")
            lines += [ink((f"{row.keys:<{KEYS}}", "bold")).joined(first), *(blanks(KEYS).joined(one) for one in more)]
        return lines

    def action_show_help(self) -> None:
        """The same key closes it."""
        self.dismiss()
