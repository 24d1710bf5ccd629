"""What all views share: one header line, the content, one footer line, and the way to the store.

Promises: rows are pulled when the store says that something changed, once a frame; nothing here moves the focus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen

from interlock.tui.commands import REGISTRY, bind
from interlock.tui.model.header import counts_of, header_line
from interlock.tui.model.inked import fitted, ink
from interlock.tui.model.moment import minute
from interlock.tui.screens.ways import EVERYWHERE, Ways
from interlock.tui.widgets.inbox_list import GroupedList
from interlock.tui.widgets.inked_lines import InkedLines
from interlock.tui.widgets.key_footer import KeyFooter
from interlock.tui.widgets.message_box import MessageBox

if TYPE_CHECKING:
    from interlock.tui.model.undo import Note
    from interlock.tui.store import Store

LEAST_WIDTH, LEAST_HEIGHT = 60, 15
"""Below this the screen says what it needs and shows plain lines."""


class FrameFooter(KeyFooter):
    """The keys of a view; answers stand on their card alone, where it is seen whether they are live."""

    def shown(self) -> list[tuple[str, str, bool, str]]:
        """All but the answers."""
        labels = {key for command in REGISTRY.values() if command.answers for key in command.keys}
        return [row for row in super().shown() if row[3] not in labels]


class FrameScreen(Ways, Screen[None]):
    """A view. Subclasses give `view`, `places`, `compose_content` and `refresh_rows`."""

    view: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = bind(*EVERYWHERE)  # type: ignore[assignment]
    DEFAULT_CSS = """
    FrameScreen { layout: vertical; background: $background; }
    FrameScreen > #header { height: 1; padding: 0 1; }
    FrameScreen > #need { height: auto; display: none; }
    FrameScreen > #content { height: 1fr; border-top: solid $rule; border-bottom: solid $rule; }
    FrameScreen.-small > #content { border: none; }
    FrameScreen.-small > #need { display: block; }
    FrameScreen.-tiny > #header { display: none; }
    """

    def compose(self) -> ComposeResult:
        yield InkedLines(id="header")
        yield InkedLines(id="need")
        with Container(id="content"):
            yield from self.compose_content()
        yield MessageBox(id="said")
        yield FrameFooter(id="footer")

    def compose_content(self) -> ComposeResult:
        """The widgets of the view."""
        raise NotImplementedError

    def refresh_rows(self) -> None:
        """Pull the rows from the store."""
        raise NotImplementedError

    @property
    def store(self) -> Store:
        """The one store."""
        return self.interlock.store

    @property
    def is_small(self) -> bool:
        """Whether the terminal is below the least size."""
        return self.size.width < LEAST_WIDTH or self.size.height < LEAST_HEIGHT

    # Textual calls the handlers of every class of a screen, the one below first: none calls that of its base

    def on_mount(self) -> None:
        self.set_interval(1.0, self.tick)
        self.changed()

    def on_screen_resume(self) -> None:
        """On top again."""
        self.changed()

    def on_resize(self) -> None:
        """Another size."""
        self.set_class(self.is_small, "-small")
        self.set_class(self.size.height < 8, "-tiny")
        self.call_after_refresh(self.changed)

    def changed(self) -> None:
        """Something differs: draw what is on screen."""
        if self.is_mounted and self.is_current:
            self.refresh_rows()
            self.draw_frame()

    def tick(self) -> None:
        """A second has passed: ages grow."""
        if self.is_current:
            self.draw_frame()
            for lines in self.query(GroupedList):
                lines.grow()

    def draw_frame(self) -> None:
        """Header and footer."""
        store, width = self.store, max(self.size.width - 2, 1)
        counts = counts_of(store.asks, store.sessions, scanned=store.scanned, faults=len(store.faults))
        drawn = (counts, self.size, minute(store.now()))
        if drawn != self._drawn_for:
            self._drawn_for = drawn
            self.query_one("#header", InkedLines).show([header_line(counts, self.view, width, store.now())])
            self._say_need()
        self._offer_undo()

    def _say_need(self) -> None:
        here, least = f"{self.size.width}x{self.size.height}", f"{LEAST_WIDTH}x{LEAST_HEIGHT}"
        need = f"Interlock needs {least}; this is {here}." if self.size.width > 47 else f"needs {least}: {here}"
        self.query_one("#need", InkedLines).show([fitted(ink((need, "bold ask")), self.size.width)])

    _drawn_for: object = None
    """What the header was drawn for."""
    _offers_undo = False
    """Whether the footer says what can be undone."""

    def _offer_undo(self) -> None:
        words = self.interlock.undo_words()
        if words or self._offers_undo:
            self.query_one("#footer", FrameFooter).say(words)
        self._offers_undo = bool(words)

    def say(self, note: Note) -> None:
        """Tell something in lines of its own, until the next key. What is read is not covered."""
        first, *more = note.words.split("\n")
        tone: Literal["error", "warning", "note"] = "note" if note.tone == "information" else note.tone
        self.query_one("#said", MessageBox).say(first, todo=more, tone=tone)

    def note_key(self, event: events.Key) -> None:
        """Every key, before it does anything: what was said has been read."""
        self.query_one("#said", MessageBox).hush()

    def action_back(self) -> None:
        """Nothing lies on top here."""
