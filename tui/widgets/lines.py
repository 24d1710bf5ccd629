"""A list of any length, drawn line by line.

Promises: no work per row at any time but for the rows on screen; the selection is a key, not a place, so new rows never
move it; the rows being read never move on screen while their keys stay; follow mode moves only when the end was in view.
Does not promise: rows of more than one line.
"""

from __future__ import annotations

import textwrap
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.strip import Strip

from interlock.tui.commands import MOVES, OpenRow, ToggleFollow, bind

_CACHED_ROWS = 1024
"""Strips kept: some screens of the largest terminal that is sensible."""
CURSOR = "▌"
"""Drawn before the selected row, so that the selection is seen without colours."""

Item = TypeVar("Item")


class Rows(Protocol):
    """What a `LineList` draws. All methods are called for rows on screen only, and must be quick."""

    def __len__(self) -> int:
        """How many rows there are now."""
        ...

    def row(self, index: int, width: int, selected: bool) -> Strip:
        """One row, at most `width` cells wide, built with `safe_text.to_strip`."""
        ...

    def key(self, index: int) -> str:
        """A name of the row that stays when rows come and go."""
        ...

    def find(self, key: str) -> int | None:
        """The place of a key now, or None when its row is gone."""
        ...


class ListRows(Generic[Item]):
    """Rows over a plain sequence, for lists that are rebuilt when they change."""

    def __init__(
        self,
        items: Sequence[Item],
        draw: Callable[[Item, int, bool], Strip],
        key: Callable[[Item], str],
    ) -> None:
        self.items = items
        self._draw = draw
        self._key = key
        self._places: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.items)

    def row(self, index: int, width: int, selected: bool) -> Strip:
        """The row, drawn by the function that was given."""
        return self._draw(self.items[index], width, selected)

    def key(self, index: int) -> str:
        """The key of the item."""
        return self._key(self.items[index])

    def find(self, key: str) -> int | None:
        """The place of a key; the table is made at the first question."""
        if self._places is None:
            self._places = {self._key(item): place for place, item in enumerate(self.items)}
        return self._places.get(key)


class LineList(ScrollView, can_focus=True):
    """Shows `Rows` with a cursor. Give new rows with `show`, and say `changed()` when the same rows differ."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor", "lines--cursor-bar", "lines--empty"}
    DEFAULT_CSS = """
    LineList {
        height: 1fr;
        background: $background;
        color: $foreground;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
    }
    LineList > .lines--cursor { background: $surface; }
    LineList:focus > .lines--cursor { background: $cursor; }
    LineList > .lines--cursor-bar { color: $quiet; }
    LineList:focus > .lines--cursor-bar { color: $ask; }
    LineList > .lines--empty { color: $quiet; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bind(*MOVES, OpenRow, ToggleFollow)  # type: ignore[assignment]

    opens = True
    """Whether a row can be opened."""
    follow: var[bool] = var(False)
    """Whether the end is kept in view while it is in view."""

    class Highlighted(Message):
        """The cursor is on another row."""

        def __init__(self, lines: LineList, index: int, key: str) -> None:
            super().__init__()
            self.lines, self.index, self.key = lines, index, key

        @property
        def control(self) -> LineList:
            """The list, for `@on(…, "#id")`."""
            return self.lines

        def can_replace(self, message: Message) -> bool:
            """Only the newest place matters."""
            return isinstance(message, LineList.Highlighted) and message.lines is self.lines

    class Selected(Message):
        """Enter or a second click on the row under the cursor."""

        def __init__(self, lines: LineList, index: int, key: str) -> None:
            super().__init__()
            self.lines, self.index, self.key = lines, index, key

        @property
        def control(self) -> LineList:
            """The list, for `@on(…, "#id")`."""
            return self.lines

    def __init__(
        self,
        rows: Rows | None = None,
        *,
        empty: Sequence[str] = (),
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name
        classes: str | None = None,
    ) -> None:
        """`empty`: lines of our own that teach what would be here."""
        super().__init__(name=name, id=id, classes=classes)
        self._rows: Rows = rows if rows is not None else ListRows([], _nothing, str)
        self._empty = tuple(empty)
        self._wrapped: list[str] = []
        self._wrapped_for = 0
        self._index = 0
        self._key = self._rows.key(0) if len(self._rows) else ""
        self._top_key = ""
        self._cache: OrderedDict[tuple[int, int, bool], Strip] = OrderedDict()

    # --- what there is

    @property
    def rows(self) -> Rows:
        """The rows that are shown."""
        return self._rows

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def index(self) -> int | None:
        """The place of the cursor, None in an empty list."""
        return self._index if len(self._rows) else None

    @property
    def key(self) -> str | None:
        """The key under the cursor, None in an empty list."""
        return self._key if len(self._rows) else None

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is in view."""
        return self.scroll_offset.y + self._height >= len(self._rows)

    @property
    def _height(self) -> int:
        return max(self.scrollable_content_region.height, 1)

    def show(self, rows: Rows) -> None:
        """Show other rows; the cursor stays on its key when the key is among them."""
        at_end = self.is_at_end
        self._rows = rows
        self._settle(at_end)

    def changed(self) -> None:
        """Say that the rows differ from what was drawn: other text, more rows, fewer rows."""
        # Until the new length is taken over, the virtual size is the length that was on screen.
        self._settle(self.scroll_offset.y + self._height >= self.virtual_size.height)

    def tick(self, places: Iterable[int] | None = None) -> None:
        """Say that the same rows may look otherwise by now: those that do are drawn anew, they alone. `places`: where
        to look, all that are in view if not given.
        """
        top, width = self.scroll_offset.y, self.scrollable_content_region.width
        view = range(top, min(top + self._height, len(self._rows)))
        for place in view if places is None else places:
            drawn = (place, width, place == self._index)
            if place in view and (known := self._cache.get(drawn)) is not None:
                now = self._drawn(*drawn)
                if now != known:
                    self._cache[drawn] = now
                    self.refresh_line(place)

    def select(self, key: str) -> bool:
        """Put the cursor on a key and bring it in view. False when it is not there."""
        place = self._rows.find(key)
        if place is None:
            return False
        self._move(place)
        return True

    # --- keeping the place

    def _settle(self, was_at_end: bool) -> None:
        self._cache.clear()
        count = len(self._rows)
        was_on_last = self._index >= self.virtual_size.height - 1
        shift = self._place_again(count)
        self.virtual_size = Size(self.size.width, count)
        if self.follow and was_at_end:
            if was_on_last and count:
                self._put(count - 1)
            self._scroll(count - self._height)
        elif shift:
            self._scroll(self.scroll_offset.y + shift)
        self._remember_top()
        self.refresh()

    def _place_again(self, count: int) -> int:
        """Find the cursor's key again; returns by how much the rows being read were moved."""
        if not count:
            self._index, self._key = 0, ""
            return 0
        top = self.scroll_offset.y
        cursor_in_view = top <= self._index < top + self._height
        before = self._index
        place = self._rows.find(self._key) if self._key else None
        shift = 0
        if place is None:
            self._put(min(before, count - 1))
        else:
            self._index = place
            shift = place - before
        if place is None or not cursor_in_view:
            top_place = self._rows.find(self._top_key) if self._top_key else None
            shift = top_place - top if top_place is not None else 0
        return shift

    def _remember_top(self) -> None:
        top = self.scroll_offset.y
        self._top_key = self._rows.key(top) if top < len(self._rows) else ""

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._remember_top()

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=max(y, 0), animate=False, immediate=True, force=True)

    # --- the cursor

    def _put(self, place: int) -> None:
        key = self._rows.key(place)
        if place == self._index and key == self._key:
            return
        self._index, self._key = place, key
        self.post_message(self.Highlighted(self, place, key))

    def _move(self, place: int) -> None:
        count = len(self._rows)
        if not count:
            return
        self._put(min(max(place, 0), count - 1))
        self.scroll_to_region(Region(0, self._index, 1, 1), animate=False, immediate=True, force=True)
        self.refresh()

    def action_cursor_down(self) -> None:
        """One row down."""
        self._move(self._index + 1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self._move(self._index - 1)

    def action_page_down(self) -> None:
        """One screen down, one row kept."""
        self._move(self._index + max(self._height - 1, 1))

    def action_page_up(self) -> None:
        """One screen up, one row kept."""
        self._move(self._index - max(self._height - 1, 1))

    def action_go_top(self) -> None:
        """First row."""
        self._move(0)

    def action_go_end(self) -> None:
        """Last row."""
        self._move(len(self._rows) - 1)

    def action_toggle_follow(self) -> None:
        """Follow the end, from the end on."""
        self.follow = not self.follow
        if self.follow:
            self.action_go_end()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enter is no key of a list whose rows do not open."""
        return self.opens if action == "open_row" else super().check_action(action, parameters)

    def action_open_row(self) -> None:
        """Say that the row under the cursor was chosen."""
        if len(self._rows):
            self.post_message(self.Selected(self, self._index, self._key))

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a click on the cursor opens."""
        place = event.y + self.scroll_offset.y
        if place >= len(self._rows):
            return
        if place == self._index:
            self.action_open_row()
        else:
            self._move(place)

    # --- drawing

    def on_mount(self) -> None:
        """Take over the length of the rows given at construction."""
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._remember_top()

    def on_resize(self, _event: events.Resize) -> None:
        """Rows are drawn anew for another width; the cursor stays in view."""
        in_view = self.scroll_offset.y <= self._index < self.scroll_offset.y + self._height
        self._cache.clear()
        self.virtual_size = Size(self.size.width, len(self._rows))
        if in_view:
            self._move(self._index)

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Keep Textual's own behaviour, and draw the cursor in its other colour."""
        super().watch_has_focus(_has_focus)
        self._cache.clear()

    def notify_style_update(self) -> None:
        """Another theme: nothing drawn before is right."""
        super().notify_style_update()
        self._cache.clear()

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        place = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if place >= len(self._rows):
            return self._blank(y, width)
        selected = place == self._index
        known = self._cache.get((place, width, selected))
        if known is None:
            known = self._cache[place, width, selected] = self._drawn(place, width, selected)
            if len(self._cache) > _CACHED_ROWS:
                self._cache.popitem(last=False)
        return known

    def _drawn(self, place: int, width: int, selected: bool) -> Strip:
        base = self.get_component_rich_style("lines--cursor") if selected else self.rich_style
        row = self._rows.row(place, max(width - 1, 1), selected)
        bar = self.get_component_rich_style("lines--cursor-bar", partial=True) if selected else Style.null()
        strip = Strip([Segment(CURSOR if selected else " ", bar), *row], row.cell_length + 1)
        return strip.adjust_cell_length(width).apply_style(base)

    def _taught(self, width: int) -> list[str]:
        """The lines of an empty list at a width, wrapped once."""
        if self._wrapped_for != width:
            self._wrapped_for = width
            self._wrapped = [row for line in self._empty for row in textwrap.wrap(line, max(width - 3, 10)) or [""]]
        return self._wrapped

    def _blank(self, y: int, width: int) -> Strip:
        from interlock.tui.safe_text import one_line, to_strip

        if len(self._rows):
            return Strip.blank(width, self.rich_style)
        words = self._taught(width)
        if not 0 <= y - 1 < len(words):
            return Strip.blank(width, self.rich_style)
        style = self.get_component_rich_style("lines--empty")
        return to_strip(one_line(f"  {words[y - 1]}", width), style, width=width)


def _nothing(_item: object, width: int, _selected: bool) -> Strip:
    return Strip.blank(width)
