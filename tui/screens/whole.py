"""Everything that is known of one ask, on the whole screen: nothing folded, nothing cut, nothing to answer."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType

from interlock.tui.commands import ShowWhole, bind
from interlock.tui.model.ask import Ask
from interlock.tui.model.card import flat, whole
from interlock.tui.model.inked import ink
from interlock.tui.screens.overlay import Overlay
from interlock.tui.widgets.inked_lines import InkedBlock, InkedLines
from interlock.tui.widgets.wrapped import WrappedView


class WholeScreen(Overlay[None]):
    """Shows an ask as it was when `v` was pressed."""

    BINDINGS: ClassVar[list[BindingType]] = bind(ShowWhole)  # type: ignore[assignment]
    DEFAULT_CSS = """
    WholeScreen InkedLines { padding: 0 1; }
    WholeScreen InkedBlock { padding: 0 1; border-top: solid $rule; border-bottom: solid $rule; }
    """

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self._ask = ask

    def compose(self) -> ComposeResult:
        yield InkedLines([ink(("the whole ask", "bold"), ("   to read; it is answered on its card", "quiet"))])
        yield InkedBlock(id="whole")
        yield InkedLines([ink(("Esc ", "bold"), ("back   ", "quiet"), ("y ", "bold"), ("copy the source", "quiet"))])

    def on_mount(self) -> None:
        block = self.query_one(InkedBlock)
        source = self._ask.command if self._ask.command is not None else flat(self._ask.input)
        block.show(lambda width: whole(self._ask, width), source)
        block.focus()

    def on_wrapped_view_copy_asked(self, event: WrappedView.CopyAsked) -> None:
        self.interlock.copy(event.text)

    def action_show_whole(self) -> None:
        """The same key closes it."""
        self.dismiss()
