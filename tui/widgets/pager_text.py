"""The text of the pager: a place in a file, and the rows that are drawn from there.

Promises: reads only what is on the screen; a row is never cut; what is no UTF-8 is shown as bytes. Knows no keys.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from interlock.tui.paged_file import HEX_ROW, Found, PagedFile
from interlock.tui.safe_text import SafeText, escape, to_strip, wrap

_CACHED_PARTS = 256


class PagerText(Widget, can_focus=True):
    """The text of the pager. It holds a place in the file, and draws from there."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "pager--mark",
        "pager--hit",
        "pager--hit-now",
        "pager--offset",
        "pager--end",
    }
    DEFAULT_CSS = """
    PagerText { height: 1fr; background: $background; color: $foreground; }
    PagerText > .pager--mark { color: $mark; text-style: reverse; }
    PagerText > .pager--hit { background: $hit; }
    PagerText > .pager--hit-now { background: $hit-now; color: $hit-text; text-style: bold; }
    PagerText > .pager--offset { color: $quiet; }
    PagerText > .pager--end { color: $quiet; }
    """

    def __init__(self, file: PagedFile) -> None:
        super().__init__()
        self.file = file
        self.top = 0
        self.sub = 0
        self.left = 0
        self.wraps = True
        self.hex = file.is_binary
        self.wanted = ""
        self.hit = Found(-1, -1)
        self._parts: OrderedDict[tuple[int, int], tuple[list[SafeText], str]] = OrderedDict()

    # --- rows

    def rows_at(self, start: int) -> list[SafeText]:
        """The rows of one line or part."""
        return self._part(start)[0]

    def _part(self, start: int) -> tuple[list[SafeText], str]:
        width = self.size.width if self.wraps else 0
        known = self._parts.get((start, width))
        if known is None:
            data = self.file.read(start, self.next(start) - start)
            text = data.removesuffix(b"\n").decode("utf-8", "surrogateescape")
            safe = escape(text, keep_newlines=False, raw_bytes=True)
            known = self._parts[start, width] = (wrap(safe, width) if width else [safe], text)
            if len(self._parts) > _CACHED_PARTS:
                self._parts.popitem(last=False)
        return known

    def next(self, start: int) -> int:
        """Start of what follows."""
        return min(start + HEX_ROW, self.file.size) if self.hex else self.file.next_start(start)

    def previous(self, start: int) -> int:
        """Start of what stands before."""
        return max(start - HEX_ROW, 0) if self.hex else self.file.previous_start(start)

    def _count(self, start: int) -> int:
        return 1 if self.hex else len(self.rows_at(start))

    def move(self, rows: int) -> None:
        """Move by rows; stops with the last row of the file at the bottom of the screen."""
        for _ in range(abs(rows)):
            if rows > 0 and not self._down():
                break
            if rows < 0 and not self._up():
                break
        self.refresh()

    def _down(self) -> bool:
        if self.is_end_shown():
            return False
        if self.sub + 1 < self._count(self.top):
            self.sub += 1
        else:
            self.top, self.sub = self.next(self.top), 0
        return True

    def _up(self) -> bool:
        if self.sub:
            self.sub -= 1
        elif self.top <= 0:
            return False
        else:
            self.top = self.previous(self.top)
            self.sub = self._count(self.top) - 1
        return True

    def is_end_shown(self) -> bool:
        """Whether the last row of the file is on the screen."""
        shown, start, size = -self.sub, self.top, self.file.size
        while start < size:
            shown += self._count(start)
            if shown > self.size.height:
                return False
            start = self.next(start)
        return True

    def go_to(self, place: int, *, above: int = 0) -> None:
        """Show the line of a place, with some rows above it."""
        self.top = place - place % HEX_ROW if self.hex else self.file.start_of(place)
        self.sub = 0
        if not self.hex and place > self.top:
            seen = len(self.file.read(self.top, place - self.top).decode("utf-8", "surrogateescape"))
            rows, text = self._part(self.top)
            at = escape(text[:seen], keep_newlines=False, raw_bytes=True)
            for row in rows[:-1]:
                if len(at.text) < len(row.text):
                    break
                at = at.slice(len(row.text), len(at.text))
                self.sub += 1
        for _ in range(above):
            self._up()
        self.refresh()

    def go_end(self) -> None:
        """Show the end."""
        size = self.file.size
        if size:
            last = size - 1
            self.top = last - last % HEX_ROW if self.hex else self.file.start_of(last)
            self.sub = self._count(self.top) - 1
            for _ in range(self.size.height - 1):
                self._up()
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        """Another width: rows within a line are other rows."""
        self._parts.clear()
        self.sub = min(self.sub, max(self._count(self.top) - 1, 0))

    def forget(self) -> None:
        """Draw all anew, after a change of how."""
        self._parts.clear()
        self.sub = self.left = 0
        self.top = self.top - self.top % HEX_ROW if self.hex else self.file.start_of(self.top)
        self.refresh()

    # --- drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """All rows from the place on; the lines of one paint are worked out together."""
        strips = self._screen(crop.y + crop.height)[crop.y :]
        return [strip.crop(crop.x, crop.x + crop.width) for strip in strips]

    def _screen(self, height: int) -> list[Strip]:
        strips: list[Strip] = []
        start, skip, size, width = self.top, self.sub, self.file.size, self.size.width
        while len(strips) < height and start < size:
            if self.hex:
                strips.append(self._hex_strip(start))
            else:
                strips += self._part_strips(start)[skip:]
            start, skip = self.next(start), 0
        if len(strips) < height:
            strips.append(to_strip("(end)" if size else "(empty file)", self._style("end")))
        blank = [Strip.blank(width)] * max(height - len(strips), 0)
        return [strip.adjust_cell_length(width).apply_style(self.rich_style) for strip in (*strips[:height], *blank)]

    def _part_strips(self, start: int) -> list[Strip]:
        rows, text = self._part(start)
        spans = self._hits(start, text)
        mark, strips, at = self._style("mark"), [], 0
        for row in rows:
            here = [(a - at, b - at, style) for a, b, style in spans if a < at + len(row.text) and b > at]
            strip = to_strip(row, mark_style=mark, spans=here)
            strips.append(strip if self.wraps else strip.crop(self.left, self.left + self.size.width))
            at += len(row.text)
        return strips

    def _hits(self, start: int, text: str) -> list[tuple[int, int, Style]]:
        plain = "" if self.wanted.startswith("re:") else self.wanted
        spans: list[tuple[int, int, Style]] = []
        whole = escape(text, keep_newlines=False, raw_bytes=True) if plain in text or self.hit.start >= start else None
        if whole is None:
            return []
        at = text.find(plain) if plain else -1
        while at >= 0:
            spans.append((whole.shown_at(at), whole.shown_at(at + len(plain)), self._style("hit")))
            at = text.find(plain, at + len(plain))
        size = len(text.encode("utf-8", "surrogateescape"))
        if start <= self.hit.start < start + size:
            data = text.encode("utf-8", "surrogateescape")
            first = len(data[: self.hit.start - start].decode("utf-8", "surrogateescape"))
            last = len(data[: self.hit.end - start].decode("utf-8", "surrogateescape"))
            spans.append((whole.shown_at(first), whole.shown_at(last), self._style("hit-now")))
        return spans

    def _hex_strip(self, start: int) -> Strip:
        data = self.file.read(start, HEX_ROW)
        left = " ".join(f"{byte:02x}" for byte in data[:8]).ljust(24)
        right = " ".join(f"{byte:02x}" for byte in data[8:]).ljust(24)
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in data)
        style = self._style("hit-now") if start <= self.hit.start < start + HEX_ROW else Style.null()
        return Strip.join(
            [to_strip(f"{start:010x}  ", self._style("offset")), to_strip(f"{left} {right} {letters}", style)]
        )

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"pager--{name}", partial=True)
