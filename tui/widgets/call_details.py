"""Everything about one row of a timeline, in tabs: overview, input, diff, output, what the model saw, the record.

Promises: the tab stays the same from row to row; texts begin at their top; what a tab has not is said in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from interlock.tui.model.call import (
    TABS,
    CallRecord,
    headline,
    input_lines,
    model_lines,
    output_text,
    overview,
    record_lines,
    source_of,
)
from interlock.tui.model.inked import EMPTY, Inked, fitted, ink
from interlock.tui.widgets.diff_view import DiffView
from interlock.tui.widgets.inked_lines import InkedBlock, InkedLines
from interlock.tui.widgets.text_block import TextBlock
from interlock.tui.widgets.wrapped import WrappedView


class TabLine(Widget):
    """The names of the tabs; a click chooses one."""

    DEFAULT_CSS = """
    TabLine { height: 1; }
    """

    class Chosen(Message):
        """A tab was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.tab = name

    def compose(self) -> ComposeResult:
        yield InkedLines(id="tabs")

    def show(self, chosen: str) -> None:
        """Mark the chosen one."""
        line = EMPTY
        for name in TABS:
            line = line.joined(
                ink((f"[{name}]" if name == chosen else f" {name} ", "bold" if name == chosen else "quiet"))
            )
        self.query_one(InkedLines).show([fitted(line, max(self.size.width, 20))])

    def on_click(self, event: events.Click) -> None:
        """Find the name under the pointer."""
        at = 0
        for name in TABS:
            at += len(name) + 2
            if event.x < at:
                self.post_message(self.Chosen(name))
                return


class CallDetails(Widget):
    """Shows a `CallRecord`."""

    DEFAULT_CSS = """
    CallDetails { layout: vertical; padding: 0 1; }
    CallDetails .hidden { display: none; }
    CallDetails InkedBlock, CallDetails DiffView, CallDetails TextBlock { height: 1fr; margin-top: 1; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.record = CallRecord(())
        self.tab = TABS[0]
        self._diff = ""

    def compose(self) -> ComposeResult:
        yield InkedLines(id="headline")
        yield TabLine(id="tabline")
        yield InkedBlock(id="lines")
        yield DiffView(id="calldiff", classes="hidden")
        yield TextBlock(terminal=True, id="output", classes="hidden")

    def show(self, record: CallRecord, diff: str) -> None:
        """Show another row, or the same with more in it."""
        self.record, self._diff = record, diff
        self._draw()

    def open_tab(self, name: str) -> None:
        """Another tab."""
        self.tab = name
        self._draw()

    def turn(self, step: int) -> None:
        """The tab beside."""
        self.open_tab(TABS[(TABS.index(self.tab) + step) % len(TABS)])

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        """A click on a name."""
        self.open_tab(event.tab)

    def on_resize(self) -> None:
        """The names for another width."""
        self.query_one(TabLine).show(self.tab)

    @property
    def body(self) -> WrappedView:
        """What the present tab shows."""
        return next(view for view in self.query(WrappedView) if not view.has_class("hidden"))

    def focus_body(self) -> None:
        """The focus into the text."""
        self.body.focus()

    @property
    def has_focus_within(self) -> bool:
        """Whether the focus is in here."""
        return self.screen.focused is not None and self in self.screen.focused.ancestors_with_self

    def _draw(self) -> None:
        had_focus = self.has_focus_within
        self.query_one("#headline", InkedLines).show([headline(self.record)])
        self.query_one(TabLine).show(self.tab)
        lines, diff, output = (
            self.query_one("#lines", InkedBlock),
            self.query_one("#calldiff", DiffView),
            self.query_one("#output", TextBlock),
        )
        text = output_text(self.record) if self.tab == "Output" else ""
        chosen = diff if self.tab == "Diff" and self._diff else output if text else lines
        for view in (lines, diff, output):
            view.set_class(view is not chosen, "hidden")
        if chosen is diff and diff.source_text != self._diff:
            diff.show_diff(self._diff)
        elif chosen is output and output.source_text != text:
            output.show(text)
        elif chosen is lines:
            lines.show(self._builder(), source_of(self.record))
        if had_focus:
            chosen.focus()

    def _builder(self) -> Callable[[int], Sequence[Inked]]:
        record = self.record
        builders: dict[str, Callable[[int], Sequence[Inked]]] = {
            "Overview": lambda width: overview(record, width),
            "Input": lambda width: input_lines(record, width),
            "Diff": lambda width: [ink(("nothing of this row changed a file", "quiet"))],
            "Output": lambda width: [ink(("no output is recorded", "quiet"))],
            "Model saw": lambda width: model_lines(record, width),
            "Record": lambda width: record_lines(record, width),
        }
        return builders[self.tab] if record.lines else lambda width: [ink(("nothing is chosen", "quiet"))]
