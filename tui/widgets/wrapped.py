"""The ground of widgets that show a long text whole: wrapped, scrolled, measured in slices.

Promises: nothing is cut; the loop is never held for longer than a slice; `seen_to_end` is true only after the last row
has been drawn on the screen; while rows wait below, the lowest line says how many.
A subclass gives pieces (lines, or parts of very long lines): how many, how many rows each takes, and their strips.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from time import perf_counter
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from interlock.tui.commands import MOVES, CopySource, ScrollLeft, ScrollRight, ToggleWrap, bind
from interlock.tui.safe_text import one_line, to_strip

SLICE_SECONDS = 0.008
"""Longest stretch of measuring between two turns of the loop: half a frame."""
GROW_SECONDS = 0.1
"""Least time between two changes of the known length while it is measured; each change is a layout."""
_CACHED_PIECES = 512
_SIDESTEP = 8


class WrappedView(ScrollView, can_focus=True):
    """A scrollable text of pieces. See the module for what it promises."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"wrapped--more", "wrapped--mark"}
    DEFAULT_CSS = """
    WrappedView {
        background: $background;
        color: $foreground;
        scrollbar-size-vertical: 1;
        scrollbar-size-horizontal: 0;
        scrollbar-gutter: stable;
        overflow-y: auto;
        overflow-x: hidden;
    }
    WrappedView > .wrapped--more { color: $ask; background: $surface; text-style: bold; }
    WrappedView > .wrapped--mark { color: $mark; text-style: reverse; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bind(*MOVES, ScrollLeft, ScrollRight, ToggleWrap, CopySource)  # type: ignore[assignment]

    wraps: var[bool] = var(True)
    """Whether long lines are wrapped; otherwise the view scrolls sideways."""

    class EndSeen(Message):
        """The last row has been on the screen, for the first time since the text was set."""

        def __init__(self, view: WrappedView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> WrappedView:
            """The view, for `@on(…, "#id")`."""
            return self.view

    class CopyAsked(Message):
        """The person wants the source text on the clipboard."""

        def __init__(self, view: WrappedView, text: str) -> None:
            super().__init__()
            self.view, self.text = view, text

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(name=name, id=id, classes=classes)
        self._ends = array("Q")
        self._measured_for: tuple[int, bool] = (0, True)
        self._cache: OrderedDict[int, list[Strip]] = OrderedDict()
        self._seen = False
        self._top_piece: int | None = None
        self._widest = 0
        self._grown = 0.0

    # --- what a subclass gives

    @property
    def piece_count(self) -> int:
        """How many pieces there are."""
        raise NotImplementedError

    def piece_rows(self, piece: int, width: int) -> int:
        """How many rows a piece takes when wrapped; cheap, and equal to the length of `piece_strips`."""
        raise NotImplementedError

    def piece_strips(self, piece: int, width: int) -> list[Strip]:
        """The rows of a piece, wrapped to `width`, or one row of any width when `wraps` is off."""
        raise NotImplementedError

    @property
    def source_text(self) -> str:
        """The text as it was written, for the clipboard."""
        raise NotImplementedError

    # --- what it tells

    @property
    def seen_to_end(self) -> bool:
        """Whether the last row has been on the screen since the text was set. An empty text counts as seen."""
        return self._seen or not self.piece_count

    @property
    def is_measured(self) -> bool:
        """Whether the number of rows is known; until then `rows_total` is a lower bound."""
        return len(self._ends) == self.piece_count

    @property
    def rows_total(self) -> int:
        """Rows at the present width, so far as measured."""
        return self._ends[-1] if self._ends else 0

    @property
    def rows_below(self) -> int:
        """Rows that are not in view below."""
        return max(self.rows_total - self.scroll_offset.y - self._height, 0)

    @property
    def _height(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    @property
    def _width(self) -> int:
        return max(self.scrollable_content_region.width, 2)

    # --- measuring

    def text_changed(self) -> None:
        """For subclasses: the text is another one. Starts again at its top, unseen."""
        self._seen = False
        self._start_again(self._measured_for[0])
        self._top_piece = None
        if self.is_mounted:
            self.scroll_to(y=0, x=0, animate=False, immediate=True, force=True)
            self._pump()
        self.refresh(layout=True)

    def _start_again(self, width: int) -> None:
        self._keep_place()
        self._ends = array("Q")
        self._widest = 0
        self._cache.clear()
        self._measured_for = (width, self.wraps)

    def _measure(self, width: int, seconds: float) -> None:
        if self._measured_for != (width, self.wraps):
            self._start_again(width)
        until = perf_counter() + seconds
        total = self.rows_total
        for piece in range(len(self._ends), self.piece_count):
            total += self.piece_rows(piece, width) if self.wraps else 1
            self._ends.append(total)
            if piece % 64 == 63 and perf_counter() > until:
                break

    def _pump(self) -> None:
        self._measure(self._width, SLICE_SECONDS)
        now = perf_counter()
        if self.is_measured or now - self._grown > GROW_SECONDS:
            self._grown = now
            self._grow()
        if not self.is_measured:
            self.call_later(self._pump)

    def _grow(self) -> None:
        self.virtual_size = Size(self._width if self.wraps else max(self._widest, self._width), self.rows_total)
        self._return_to_top_piece()
        self.refresh()

    def _return_to_top_piece(self) -> None:
        if self._top_piece is not None and len(self._ends) > self._top_piece:
            start = self._ends[self._top_piece - 1] if self._top_piece else 0
            self._top_piece = None
            self.scroll_to(y=start, animate=False, immediate=True, force=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """For `height: auto`: the rows, or as many as could be measured in a slice, which then fill the space."""
        self._measure(max(width - self.styles.scrollbar_size_vertical, 2), SLICE_SECONDS)
        return max(self.rows_total, 1)

    def on_mount(self) -> None:
        """Begin to measure."""
        super().on_mount()
        self._pump()

    def on_resize(self, _event: events.Resize) -> None:
        """Another width: measure again, with the same piece on top."""
        self._pump()

    def _keep_place(self) -> None:
        if self._ends and self.scroll_offset.y and self._top_piece is None:
            self._top_piece = bisect_right(self._ends, self.scroll_offset.y)

    def watch_wraps(self, _wraps: bool) -> None:
        """Another way to show the same text."""
        if self.is_mounted:
            self._start_again(self._width)
            self.scroll_to(x=0, animate=False, immediate=True, force=True)
            self._pump()

    def notify_style_update(self) -> None:
        """Another theme: nothing drawn before is right."""
        super().notify_style_update()
        self._cache.clear()

    # --- drawing

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        row = y + self.scroll_offset.y
        width = self._width
        if self._measured_for != (width, self.wraps):
            # a first frame can be wanted before the news of the size was heard
            self._measure(width, SLICE_SECONDS)
            self.call_later(self._pump)
        below = self.rows_total - (self.scroll_offset.y + self._height)
        if y == self._height - 1 and y >= 2 and (below > 0 or not self.is_measured):
            return self._more(below + 1, width)
        if row >= self.rows_total:
            return Strip.blank(width, self.rich_style)
        if row == self.rows_total - 1 and self.is_measured:
            self._mark_seen()
        piece = bisect_right(self._ends, row)
        strips = self._strips(piece, width)
        start = self._ends[piece - 1] if piece else 0
        strip = strips[min(row - start, len(strips) - 1)]
        if not self.wraps:
            strip = strip.crop(self.scroll_offset.x, self.scroll_offset.x + width)
        return strip.adjust_cell_length(width).apply_style(self.rich_style)

    def _strips(self, piece: int, width: int) -> list[Strip]:
        known = self._cache.get(piece)
        if known is None:
            known = self._cache[piece] = self.piece_strips(piece, width)
            if not self.wraps and (widest := max(strip.cell_length for strip in known)) > self._widest:
                self._widest = widest
                self.call_later(self._pump)
            if len(self._cache) > _CACHED_PIECES:
                self._cache.popitem(last=False)
        return known

    def _more(self, below: int, width: int) -> Strip:
        least = "" if self.is_measured else "at least "
        lines = "line" if below == 1 else "lines"
        words = one_line(f"↓ {least}{max(below, 1):,} more {lines} below", width)
        return to_strip(words, self.get_component_rich_style("wrapped--more"), width=width)

    def _mark_seen(self) -> None:
        if not self._seen:
            self._seen = True
            # A message made while the screen draws counts as the screen's own and would not bubble.
            self.call_later(lambda: self.post_message(self.EndSeen(self)))

    # --- moving

    def _by(self, rows: int) -> None:
        self.scroll_to(y=self.scroll_offset.y + rows, animate=False, immediate=True, force=True)

    def action_cursor_down(self) -> None:
        """One row down."""
        self._by(1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self._by(-1)

    def action_page_down(self) -> None:
        """One screen down; what the count covered comes to the top."""
        self._by(max(self._height - 2, 1))

    def action_page_up(self) -> None:
        """One screen up."""
        self._by(-max(self._height - 2, 1))

    def action_go_top(self) -> None:
        """First row."""
        self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def action_go_end(self) -> None:
        """Last row that is measured."""
        self.scroll_to(y=self.rows_total, animate=False, immediate=True, force=True)

    def action_scroll_left(self) -> None:
        """Some cells to the left."""
        self.scroll_to(x=self.scroll_offset.x - _SIDESTEP, animate=False, immediate=True, force=True)

    def action_scroll_right(self) -> None:
        """Some cells to the right."""
        self.scroll_to(x=self.scroll_offset.x + _SIDESTEP, animate=False, immediate=True, force=True)

    def action_toggle_wrap(self) -> None:
        """Wrap or not."""
        self.wraps = not self.wraps

    def action_copy_source(self) -> None:
        """Ask for the source text on the clipboard."""
        self.post_message(self.CopyAsked(self, self.source_text))
