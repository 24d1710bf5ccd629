"""A list with headings: the cursor steps over what cannot be chosen.

Promises (beyond `lines`): the cursor rests on a heading only when there is nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from textual.strip import Strip

from interlock.tui.model.inked import Inked
from interlock.tui.widgets.lines import LineList, ListRows
from interlock.tui.widgets.palette import strip_of

Item = TypeVar("Item")


class GroupedList(LineList, Generic[Item]):
    """Shows rows of a model. `draw` gives a row as a line, `key` its name, `is_row` whether it can be chosen; `age` is
    what of a row grows by itself, so that a row is drawn anew when that has changed.
    """

    def __init__(
        self,
        draw: Callable[[Item, int], Inked],
        key: Callable[[Item], str],
        is_row: Callable[[Item], bool] = lambda item: True,
        *,
        age: Callable[[Item], str] | None = None,
        empty: Sequence[str] = (),
        id: str | None = None,  # noqa: A002 - Textual's own name
    ) -> None:
        super().__init__(empty=empty, id=id)
        self._item_line, self._item_key, self._is_row = draw, key, is_row
        self._age = age
        self._ages: list[str] = []
        self.items: Sequence[Item] = ()

    def show_items(self, items: Sequence[Item]) -> None:
        """Show other items; the cursor stays on its key. The same again costs nothing that is not seen."""
        if items == self.items:
            self.tick()
            return
        self.items = items
        first = not self.row_count
        self.show(ListRows(items, self._draw, self._item_key))
        if items and (first or not self._is_row(items[self.index or 0])):
            self._move(self.index or 0)

    def grow(self) -> None:
        """Time went on, and nothing else."""
        if self._age is not None:
            before, self._ages = self._ages, [self._age(item) for item in self.items]
            if len(before) == len(self._ages):
                self.tick([place for place, old in enumerate(before) if old != self._ages[place]])
            else:
                self.tick()

    @property
    def item(self) -> Item | None:
        """What is under the cursor."""
        return self.items[self.index] if self.items and self.index is not None else None

    def _draw(self, item: Item, width: int, selected: bool) -> Strip:
        return strip_of(self.app, self._item_line(item, width))

    def _move(self, place: int) -> None:
        count = len(self.items)
        if not count:
            return
        place = min(max(place, 0), count - 1)
        ahead = range(place, count) if place >= self._index else range(place, -1, -1)
        behind = range(place, -1, -1) if place >= self._index else range(place, count)
        found = next((n for n in (*ahead, *behind) if self._is_row(self.items[n])), place)
        super()._move(found)
        if found == next((n for n in range(count) if self._is_row(self.items[n])), -1):
            # the heading above the first row comes into view with it
            self._scroll(0)
