"""The timeline of a session as a list: rows from columns, bars on one scale for what is in view (UI-6).

Promises: no work for rows that are out of view; the cursor stays on its row while rows come; the scale moves in round
steps only. A row's key is its place in the file, so it stays the same when the end is shown first and the rest later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from textual import events
from textual.strip import Strip

from interlock.runtime.state.timeline import Row, Timeline
from interlock.tui.model.waterfall import Scale, lanes, line, scale_of
from interlock.tui.widgets.lines import LineList
from interlock.tui.widgets.palette import strip_of


class TimelineRows:
    """Rows of a timeline up to a published count."""

    def __init__(self, timeline: Timeline, count: int, draw: Callable[[TimelineRows, int, int], Strip]) -> None:
        self.timeline, self.count, self._draw = timeline, count, draw

    def __len__(self) -> int:
        return self.count

    def row(self, index: int, width: int, selected: bool) -> Strip:
        """One row."""
        return self._draw(self, index, width)

    def at(self, index: int) -> Row | None:
        """The row of a place, None outside."""
        return self.timeline.row(index) if 0 <= index < self.count else None

    def key(self, index: int) -> str:
        """Generation and byte offset."""
        row = self.timeline.row(index)
        return f"{row.generation}:{row.offset}:{row.kind == 'divider'}"

    def find(self, key: str) -> int | None:
        """The row of a key; quick, for offsets grow within a file."""
        generation, offset, _ = key.split(":")
        if int(generation) == self.timeline.generation(max(self.count - 1, 0)):
            found = self.timeline.find_offset(int(offset))
            return found if found is not None and found < self.count else None
        return next((n for n in range(self.count - 1, -1, -1) if self.key(n) == key), None)


class Waterfall(LineList):
    """Shows a timeline. Give it the columns with `show_timeline` whenever they grew."""

    DEFAULT_CSS = """
    Waterfall { height: 1fr; }
    """

    def __init__(
        self,
        target: Callable[[Row], str],
        now: Callable[[], int],
        *,
        ascii_only: bool = False,
        empty: tuple[str, ...] = (),
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        """`target`: what a row is about, foreign; `now`: microseconds since 1970."""
        super().__init__(empty=empty, id=id)
        self._target, self._now, self._ascii = target, now, ascii_only
        self.scale = Scale(0, 1)

    def show_timeline(self, timeline: Timeline, count: int) -> None:
        """Show the first `count` rows of these columns."""
        self.show(TimelineRows(timeline, count, self._draw_row))
        self.rescale()
        self._end_in_view = self.is_at_end

    _end_in_view = True

    def on_resize(self, event: events.Resize) -> None:
        """Another height: who was at the end and follows is at the end."""
        was_at_end = self._end_in_view
        super().on_resize(event)
        if self.follow and was_at_end and self.row_count:
            self._scroll(self.row_count - self._height)
        self._end_in_view = self.is_at_end

    def rescale(self) -> None:
        """Fit the scale to the rows in view."""
        rows = self.rows
        if not isinstance(rows, TimelineRows):
            return
        top = self.scroll_offset.y
        seen = [row for n in range(top, top + self._height) if (row := rows.at(n)) is not None]
        scale = scale_of(seen, self._now())
        if scale != self.scale:
            self.scale = scale
            self._cache.clear()
            self.refresh()

    def tick(self, places: Iterable[int] | None = None) -> None:
        """Time went on: what runs or waits grew, and the scale with it at times."""
        self.rescale()
        super().tick(places)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if self.is_mounted:
            self._end_in_view = self.is_at_end
            self.rescale()

    def _draw_row(self, rows: TimelineRows, index: int, width: int) -> Strip:
        row = rows.timeline.row(index)
        lane = lanes(rows.at(index - 1), row, rows.at(index + 1), ascii_only=self._ascii)
        inked = line(row, self._target(row), lane, width, self.scale, self._now(), ascii_only=self._ascii)
        return strip_of(self.app, inked)
