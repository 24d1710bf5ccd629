"""A pager for an artifact of any size: text or bytes, search both ways, never the whole file.

Promises: the first screen costs the same for a kilobyte and for a terabyte; a search runs off the loop and is bounded
in time; nothing is cut, what is no UTF-8 is shown as bytes. `/` finds a plain text while it is typed, `re:` before it
makes it a regular expression. The file is closed when the pager goes.
"""

from __future__ import annotations

from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import get_current_worker

from interlock.tui.commands import (
    MOVES,
    CopySource,
    Find,
    FindBackwards,
    NextHit,
    OpenEditor,
    PreviousHit,
    ScrollLeft,
    ScrollRight,
    ToggleHex,
    ToggleWrap,
    bind,
)
from interlock.tui.paged_file import Found, PagedFile
from interlock.tui.safe_text import cells, one_line, shorten_middle, to_strip
from interlock.tui.widgets.pager_text import PagerText

_SIDESTEP = 8
COPY_LIMIT = 1 << 20
"""Bytes of the file that a copy takes at most; the message of the copy says where the rest is."""


class PagerStatus(Widget):
    """One line: where we are, and what the last search said."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"status--note"}
    DEFAULT_CSS = """
    PagerStatus { height: 1; background: $surface; color: $quiet; }
    PagerStatus > .status--note { background: $surface; color: $ask; }
    """

    def __init__(self, text: PagerText) -> None:
        super().__init__()
        self._text = text
        self.note = ""

    def render_line(self, y: int) -> Strip:
        """The line."""
        text, width = self._text, self.size.width
        size = text.file.size
        share = 100 if not size or text.is_end_shown() else text.top * 100 // size
        how = "bytes" if text.hex else "wrapped" if text.wraps else "unwrapped"
        where = f"  {size:,} bytes   byte {text.top:,}   {share} %   {how}"
        if self.note:
            return to_strip(
                one_line(f" {self.note}", width), self.get_component_rich_style("status--note"), width=width
            )
        name = shorten_middle(str(text.file.path), max(width - cells(where) - 1, 8))
        line = one_line(f" {name.text}{where}", width)
        return to_strip(line, self.rich_style, width=width)


class Pager(Vertical):
    """Text, search line and status line. Bind the messages; give it a `PagedFile`."""

    DEFAULT_CSS = """
    Pager { background: $background; }
    Pager > Input { height: 1; border: none; padding: 0 1; background: $surface; display: none; }
    Pager > Input.-open { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bind(  # type: ignore[assignment]
        *MOVES,
        ScrollLeft,
        ScrollRight,
        Find,
        FindBackwards,
        NextHit,
        PreviousHit,
        ToggleWrap,
        ToggleHex,
        CopySource,
        OpenEditor,
    )

    class CopyAsked(Message):
        """The person wants the text on the clipboard: the file's first bytes, at most `COPY_LIMIT`."""

        def __init__(self, pager: Pager, text: str, whole: bool) -> None:
            super().__init__()
            self.pager, self.text, self.whole = pager, text, whole

    class EditorAsked(Message):
        """The person wants the file in $EDITOR."""

        def __init__(self, pager: Pager) -> None:
            super().__init__()
            self.pager = pager

    def __init__(
        self,
        file: PagedFile,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.text = PagerText(file)
        self.status = PagerStatus(self.text)
        self._backwards = False
        self._origin = 0

    def compose(self) -> ComposeResult:
        """Text over search line over status."""
        yield self.text
        yield Input(placeholder="text to find, or re: and a regular expression", select_on_focus=False, compact=True)
        yield self.status

    def on_unmount(self) -> None:
        """Give the file back."""
        self.text.file.close()

    def focus(self, scroll_visible: bool = True) -> Pager:
        """The text takes the focus."""
        self.text.focus(scroll_visible)
        return self

    # --- moving

    def _after(self) -> None:
        self.status.note = ""
        self.status.refresh()

    def _move(self, rows: int) -> None:
        self.text.move(rows)
        self._after()

    def action_cursor_down(self) -> None:
        """One row down."""
        self._move(1)

    def action_cursor_up(self) -> None:
        """One row up."""
        self._move(-1)

    def action_page_down(self) -> None:
        """One screen down, one row kept."""
        self._move(max(self.text.size.height - 1, 1))

    def action_page_up(self) -> None:
        """One screen up, one row kept."""
        self._move(-max(self.text.size.height - 1, 1))

    def on_mouse_scroll_down(self) -> None:
        """Three rows down."""
        self._move(3)

    def on_mouse_scroll_up(self) -> None:
        """Three rows up."""
        self._move(-3)

    def action_go_top(self) -> None:
        """First row."""
        self.text.go_to(0)
        self._after()

    def action_go_end(self) -> None:
        """Last row."""
        self.text.go_end()
        self._after()

    def action_scroll_left(self) -> None:
        """Some cells to the left."""
        self.text.left = max(self.text.left - _SIDESTEP, 0)
        self.text.refresh()

    def action_scroll_right(self) -> None:
        """Some cells to the right."""
        if not self.text.wraps:
            self.text.left += _SIDESTEP
            self.text.refresh()

    def action_toggle_wrap(self) -> None:
        """Wrap or not."""
        self.text.wraps = not self.text.wraps
        self.text.forget()
        self._after()

    def action_toggle_hex(self) -> None:
        """Bytes or text, at the same place."""
        self.text.hex = not self.text.hex
        self.text.forget()
        self._after()

    def action_copy_source(self) -> None:
        """Ask for the text on the clipboard."""
        data = self.text.file.read(0, COPY_LIMIT)
        self.post_message(self.CopyAsked(self, data.decode("utf-8", "replace"), len(data) >= self.text.file.size))

    def action_open_editor(self) -> None:
        """Ask for $EDITOR."""
        self.post_message(self.EditorAsked(self))

    # --- search

    def action_find(self) -> None:
        """Find downwards."""
        self._ask(backwards=False)

    def action_find_backwards(self) -> None:
        """Find upwards."""
        self._ask(backwards=True)

    def _ask(self, *, backwards: bool) -> None:
        self._backwards, self._origin = backwards, self.text.top
        line = self.query_one(Input)
        line.add_class("-open")
        line.value = ""
        line.focus()

    def _close_line(self) -> None:
        self.query_one(Input).remove_class("-open")
        self.text.focus()

    def on_key(self, event: events.Key) -> None:
        """Escape in the search line goes back to where the search began."""
        if event.key == "escape" and self.query_one(Input).has_class("-open"):
            event.stop()
            self.text.wanted, self.text.hit = "", Found(-1, -1)
            self.text.go_to(self._origin)
            self._close_line()

    @on(Input.Changed)
    def find_while_typing(self, event: Input.Changed) -> None:
        """A plain text is looked for with every letter; a regular expression waits for Enter."""
        event.stop()
        if event.value and not event.value.startswith("re:") and self.query_one(Input).has_class("-open"):
            self.text.wanted = event.value
            self._search(self._origin, self._backwards)

    @on(Input.Submitted)
    def find_now(self, event: Input.Submitted) -> None:
        """Enter keeps the hit, and starts a regular expression."""
        event.stop()
        self._close_line()
        if event.value.startswith("re:"):
            self.text.wanted = event.value
            self._search(self._origin, self._backwards)

    def action_next_hit(self) -> None:
        """The next hit, in the direction of the search."""
        self._again(self._backwards)

    def action_previous_hit(self) -> None:
        """The hit before, against the direction of the search."""
        self._again(not self._backwards)

    def _again(self, backwards: bool) -> None:
        hit = self.text.hit
        if self.text.wanted:
            after = self.text.top if hit.start < 0 else hit.start if backwards else max(hit.end, hit.start + 1)
            self._search(after, backwards)

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def _search(self, start: int, backwards: bool) -> None:
        worker, file, wanted = get_current_worker(), self.text.file, self.text.wanted
        if wanted.startswith("re:"):
            found = file.find_regex(wanted[3:], start, backwards=backwards)
        else:
            data = wanted.encode("utf-8", "surrogatepass")
            found = file.find(data, start, backwards=backwards, stopped=lambda: worker.is_cancelled)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._show_hit, found)

    def _show_hit(self, found: Found) -> None:
        if found.start >= 0:
            self.text.hit = found
            self.text.go_to(found.start, above=min(3, self.text.size.height // 3))
        self.text.refresh()
        self.status.note = found.note
        self.status.refresh()
