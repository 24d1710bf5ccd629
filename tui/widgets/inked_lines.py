"""Lines of a model on the screen: a fixed block of them, and a long scrolled text of them.

Promises: `InkedLines` is as high as its lines; `InkedBlock` builds its lines for the width that it has, and counts as
read only when they were built and the last of them was drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from interlock.tui.model.inked import Inked
from interlock.tui.widgets.palette import strip_of
from interlock.tui.widgets.wrapped import WrappedView


class InkedLines(Widget):
    """A block of lines, drawn as they are."""

    DEFAULT_CSS = """
    InkedLines { height: auto; width: 1fr; background: $background; color: $foreground; }
    """

    def __init__(self, lines: Sequence[Inked] = (), *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines = tuple(lines)

    @property
    def lines(self) -> tuple[Inked, ...]:
        """What is shown."""
        return self._lines

    def show(self, lines: Sequence[Inked]) -> None:
        """Show other lines."""
        before, self._lines = self._lines, tuple(lines)
        if len(before) != len(self._lines):
            self.refresh(layout=True)
            return
        for y, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            if old != new:
                self.refresh(Region(0, y, self.size.width, 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A row a line."""
        return len(self._lines)

    def render_line(self, y: int) -> Strip:
        """One line of the screen."""
        width = self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, self.rich_style)
        return strip_of(self.app, self._lines[y], width).apply_style(self.rich_style)


class InkedBlock(WrappedView):
    """A long text, built anew for every width."""

    DEFAULT_CSS = """
    InkedBlock { height: 1fr; }
    """

    class EndAsked(Message):
        """The person went to the end on purpose."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._build: Callable[[int], Sequence[Inked]] | None = None
        self._built: Sequence[Inked] = ()
        self._source = ""

    def show(self, build: Callable[[int], Sequence[Inked]], source: str) -> None:
        """Show what `build` gives for a width, from its top, unread. `source`: for the clipboard."""
        self._build, self._source = build, source
        self._built = build(self._measured_for[0]) if self._measured_for[0] else ()
        self.text_changed()

    @property
    def seen_to_end(self) -> bool:
        """Whether the last line has been on the screen; what was never built was never seen."""
        return bool(self._built) and super().seen_to_end

    @property
    def source_text(self) -> str:
        """The text as it was given."""
        return self._source

    @property
    def piece_count(self) -> int:
        """A piece a line."""
        return len(self._built)

    def piece_rows(self, piece: int, width: int) -> int:
        """Lines come wrapped."""
        return 1

    def piece_strips(self, piece: int, width: int) -> list[Strip]:
        """The line."""
        return [strip_of(self.app, self._built[piece])]

    def action_go_end(self) -> None:
        """Last line; folded lines count as passed from then on."""
        super().action_go_end()
        self.post_message(self.EndAsked())

    def _start_again(self, width: int) -> None:
        if self._build is not None and width:
            self._built = self._build(width)
        super()._start_again(width)
