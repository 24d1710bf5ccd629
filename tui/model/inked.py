"""Lines of text with the names of their styles: what models hand to widgets.

Promises: pieces are escaped when they come in, so a line is always safe to draw; a style is the name of a theme
variable, with `bold ` in front where weight is wanted; no colours, no widget library.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from interlock.tui.safe_text import SafeText, cells, escape, wrap

Piece = tuple[str | SafeText, str]
"""Text and the name of its style; `""` is the style of the ground."""


class Span(NamedTuple):
    """A stretch of one style."""

    start: int
    end: int
    style: str


@dataclass(frozen=True, slots=True)
class Inked:
    """One line, ready to be drawn."""

    text: SafeText
    spans: tuple[Span, ...] = ()

    @property
    def width(self) -> int:
        """In terminal cells."""
        return cells(self.text)

    def slice(self, start: int, end: int) -> Inked:
        """A part by indexes of the text."""
        spans = tuple(
            Span(max(s.start, start) - start, min(s.end, end) - start, s.style)
            for s in self.spans
            if s.start < end and s.end > start
        )
        return Inked(self.text.slice(start, end), spans)

    def wrapped(self, width: int, *, at_words: bool = True) -> list[Inked]:
        """Rows of at most `width` cells; nothing is cut."""
        rows, at = [], 0
        for row in wrap(self.text, width, at_words=at_words):
            rows.append(self.slice(at, at + len(row.text)))
            at += len(row.text)
        return rows

    def joined(self, other: Inked) -> Inked:
        """This line and then the other."""
        size = len(self.text.text)
        moved = tuple(Span(s.start + size, s.end + size, s.style) for s in other.spans)
        return Inked(self.text.joined(other.text), self.spans + moved)


EMPTY = Inked(SafeText(""))


def blanks(number: int) -> Inked:
    """Spaces of our own; foreign runs of so many would be folded."""
    return Inked(SafeText(" " * max(number, 0)))


def ink(*pieces: Piece | str) -> Inked:
    """One line of pieces; strings are escaped, newlines in them become marks."""
    line = SafeText("")
    spans: list[Span] = []
    for piece in pieces:
        text, style = (piece, "") if isinstance(piece, str) else piece
        safe = escape(text, keep_newlines=False) if isinstance(text, str) else text
        start = len(line.text)
        line = line.joined(safe) if line.text else safe
        if style:
            spans.append(Span(start, start + len(safe.text), style))
    return Inked(line, tuple(spans))


def fitted(line: Inked, width: int) -> Inked:
    """The line in at most `width` cells, `…` where its end was cut."""
    if line.width <= width:
        return line
    if width <= 1:
        return ink("…"[: max(width, 0)])
    first = line.wrapped(width - 1, at_words=False)[0]
    return first.joined(ink("…"))


def beside(left: Inked, right: Inked, width: int) -> Inked:
    """Left text and right text on one line; the right one stays whole, the left one gives way."""
    room = width - right.width - 2
    if room < 8:
        return fitted(left, width)
    left = fitted(left, room)
    return left.joined(blanks(width - left.width - right.width)).joined(right)


def hanging(label: str, line: Inked, width: int, *, indent: int, style: str = "quiet", most: int = 0) -> list[Inked]:
    """A label and wrapped text that hangs under itself. `most`: rows; a cut says how to see the rest."""
    rows = line.wrapped(max(width - indent, 8))
    if most and len(rows) > most:
        note = ink((" … v shows all", "mark"))
        kept = fitted_without_mark(rows[most - 1], width - indent - note.width).joined(note)
        rows = [*rows[: most - 1], kept]
    head = ink((f"{label:<{indent}}"[:indent], style))
    pad = blanks(indent)
    return [(head if number == 0 else pad).joined(row) for number, row in enumerate(rows)]


def fitted_without_mark(line: Inked, width: int) -> Inked:
    """The beginning of a line in at most `width` cells, for a caller that says itself what was cut."""
    return line if line.width <= width else line.wrapped(max(width, 2), at_words=False)[0]


def columns(cells_of: Iterable[tuple[Inked, int]]) -> Inked:
    """Cells of given widths beside each other; a negative width aligns to the right."""
    line = EMPTY
    for cell, size in cells_of:
        cell = fitted(cell, abs(size))
        pad = blanks(abs(size) - cell.width)
        line = line.joined(pad.joined(cell) if size < 0 else cell.joined(pad))
    return line
