"""A foreign text in full: the raw command of an ask, the input of a call, an output.

Promises (beyond `wrapped`): every character is shown or stands in a mark; a run of blank lines is folded to one line with
its count; very long lines are handled in parts, so that a megabyte on one line costs what its visible rows cost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from textual.strip import Strip

from interlock.tui.safe_text import (
    Lookalike,
    SafeText,
    StyleRun,
    cells,
    confusables,
    escape,
    strip_terminal,
    to_strip,
    wrap,
)
from interlock.tui.safe_text.strip import run_spans
from interlock.tui.widgets.wrapped import WrappedView

PART = 4096
"""Characters of a line that are escaped and wrapped together."""
MOST_BLANK_LINES = 2
"""A longer run of blank lines is folded to a count."""
_BLANK_LINES = re.compile(r"(?m)^(?:[ \t]*\n){%d,}" % (MOST_BLANK_LINES + 1))  # noqa: UP031 - braces are the pattern's
_ANSI = ("red", "green", "yellow", "blue", "magenta", "cyan")


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    blank_lines: int = 0


class TextBlock(WrappedView):
    """Shows one text. `show(text)` sets it; `seen_to_end`, `rows_below` and `source_text` tell of it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"text--prompt", "text--lookalike", *(f"text--{name}" for name in _ANSI)}
    DEFAULT_CSS = """
    TextBlock { height: auto; max-height: 100%; }
    TextBlock > .text--prompt { color: $ask; text-style: bold; }
    TextBlock > .text--lookalike { color: $mark; text-style: bold underline; }
    TextBlock > .text--red { color: $ansi-red; }
    TextBlock > .text--green { color: $ansi-green; }
    TextBlock > .text--yellow { color: $ansi-yellow; }
    TextBlock > .text--blue { color: $ansi-blue; }
    TextBlock > .text--magenta { color: $ansi-magenta; }
    TextBlock > .text--cyan { color: $ansi-cyan; }
    """

    def __init__(
        self,
        text: str = "",
        *,
        prompt: str = "",
        terminal: bool = False,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name
        classes: str | None = None,
    ) -> None:
        """`prompt`: our own sign before the first line (`$ `), continued as an indent. `terminal`: read SGR colours."""
        super().__init__(name=name, id=id, classes=classes)
        self._prompt = prompt
        self._terminal = terminal
        self._source = self._text = ""
        self._runs: tuple[StyleRun, ...] = ()
        self._pieces: list[_Piece] = []
        self._note = ""
        self._alike: tuple[Lookalike, ...] = ()
        self._set(text)

    def show(self, text: str) -> None:
        """Show another text, from its top, unseen."""
        self._set(text)
        self.text_changed()

    @property
    def source_text(self) -> str:
        """The text as it was given."""
        return self._source

    @property
    def note(self) -> str:
        """What a terminal's text left out, or nothing."""
        return self._note

    def _set(self, text: str) -> None:
        self._source = self._text = text
        self._runs, self._note = (), ""
        self._alike = () if self._terminal else confusables(text)
        if self._terminal:
            shown = strip_terminal(text)
            # Escaping again would lose the marks' own look, so a terminal's text is kept as it was escaped.
            self._text, self._runs, self._note = shown.text, shown.runs, shown.note
        self._pieces = list(_cut(self._text))

    @property
    def piece_count(self) -> int:
        """Lines, and parts of very long ones."""
        return len(self._pieces)

    @property
    def _indent(self) -> int:
        return cells(self._prompt)

    def piece_rows(self, piece: int, width: int) -> int:
        """Rows of a line."""
        part = self._pieces[piece]
        room = max(width - self._indent, 2)
        if part.blank_lines or part.end - part.start == 0:
            return 1
        text = self._text[part.start : part.end]
        if len(text) <= room and text.isascii() and text.isprintable():
            return 1
        return len(wrap(self._safe(part), room, at_words=True))

    def piece_strips(self, piece: int, width: int) -> list[Strip]:
        """Rows of a line, each with the prompt's indent."""
        part = self._pieces[piece]
        mark = self.get_component_rich_style("wrapped--mark", partial=True)
        prompt = self.get_component_rich_style("text--prompt", partial=True)
        if part.blank_lines:
            return [Strip.join([to_strip(" " * self._indent), to_strip(f"[{part.blank_lines:,} blank lines]", mark)])]
        safe = self._safe(part)
        rows = wrap(safe, max(width - self._indent, 2), at_words=True) if self.wraps else [safe]
        alike = self._lookalikes(part, safe)
        strips, at = [], 0
        for number, row in enumerate(rows):
            lead = self._prompt if piece == 0 and number == 0 else " " * self._indent
            spans = self._colours(part.start + at, part.start + at + len(row.text))
            spans += [(a - at, b - at, style) for a, b, style in alike if a < at + len(row.text) and b > at]
            strips.append(Strip.join([to_strip(lead, prompt), to_strip(row, mark_style=mark, spans=spans)]))
            at += len(row.text)
        return strips

    def _safe(self, part: _Piece) -> SafeText:
        text = self._text[part.start : part.end]
        return SafeText(text) if self._terminal else escape(text, keep_newlines=False)

    def _lookalikes(self, part: _Piece, safe: SafeText) -> list[tuple[int, int, Style]]:
        """Words that may pass for others, so that none of them is drawn like its twin."""
        style = self.get_component_rich_style("text--lookalike", partial=True)
        near = [one for one in self._alike if part.start <= one.start < part.end]
        places = [(one.start - part.start, one.start - part.start + len(one.word)) for one in near]
        return [(safe.shown_at(start), safe.shown_at(end), style) for start, end in places]

    @property
    def lookalikes(self) -> tuple[Lookalike, ...]:
        """What in the text may pass for something else; each says what it is in `message`."""
        return self._alike

    def _colours(self, start: int, end: int) -> list[tuple[int, int, Style]]:
        if not self._runs:
            return []
        near = [run for run in self._runs if run.start < end and run.end > start]
        palette: Mapping[str, Style] = {n: self.get_component_rich_style(f"text--{n}", partial=True) for n in _ANSI}
        return [(max(a - start, 0), b - start, style) for a, b, style in run_spans(near, palette)]


def _cut(text: str) -> list[_Piece]:
    """Lines, parts of long lines, and runs of blank lines."""
    pieces: list[_Piece] = []
    at = 0
    for blank in _BLANK_LINES.finditer(text):
        pieces += _lines(text, at, blank.start() - 1 if blank.start() > at else at, at < blank.start())
        pieces.append(_Piece(blank.start(), blank.end(), blank.group().count("\n")))
        at = blank.end()
    pieces += _lines(text, at, len(text), at < len(text))
    return pieces


def _lines(text: str, start: int, end: int, there: bool) -> list[_Piece]:
    pieces: list[_Piece] = []
    while there:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        pieces += _parts(text, start, stop)
        start = stop + 1
        there = stop < end
    return pieces


def _parts(text: str, start: int, stop: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    while stop - start > PART:
        cut = start + PART
        # A cut before an ASCII character takes no cluster apart.
        while not text[cut].isascii() and cut > start + PART // 2:
            cut -= 1
        pieces.append(_Piece(start, cut))
        start = cut
    return [*pieces, _Piece(start, stop)]
