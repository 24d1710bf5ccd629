"""A diff, drawn line by line: one column or two, words marked, code coloured where it is visible.

Promises (beyond `wrapped`): the count of files, lines and hunks comes first; every line of the diff is there; a line
that ends in CR or a file that ends without a newline says so; added and removed lines differ by sign, not only by colour.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import ClassVar

from rich.style import Style
from textual.binding import BindingType
from textual.reactive import var
from textual.strip import Strip

from interlock.tui.commands import ToggleSplit, bind
from interlock.tui.diff_text import Diff, DiffLine, WordMarks, diff_of_new_file, read_diff, sides, word_marks
from interlock.tui.safe_text import SafeText, escape, one_line, shorten_middle, to_strip, wrap
from interlock.tui.safe_text.escape import TAB_SIZE
from interlock.tui.syntax import PARTS, syntax_spans
from interlock.tui.widgets.wrapped import WrappedView

LEAST_SPLIT = 100
"""Columns below which two sides would be too narrow to read; one column is drawn instead."""
_SIGNS = {"add": "+", "remove": "-", "context": " "}
_CACHED_MARKS = 512


class DiffView(WrappedView):
    """Shows one diff. `show_diff(text)` or `show_new_file(text, name)`; `seen_to_end` tells whether its end was seen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(
            f"diff--{name}"
            for name in ("add", "add-word", "remove", "remove-word", "head", "hunk", "number", "summary")
        ),
        *(f"diff--syntax-{part}" for part in PARTS),
    }
    DEFAULT_CSS = """
    DiffView { height: 1fr; }
    DiffView > .diff--summary { color: $foreground; text-style: bold; }
    DiffView > .diff--head { color: $foreground; background: $diff-head; text-style: bold; }
    DiffView > .diff--hunk { color: $running; }
    DiffView > .diff--number { color: $quiet; }
    DiffView > .diff--add { background: $diff-add; }
    DiffView > .diff--add-word { background: $diff-add-word; text-style: bold; }
    DiffView > .diff--remove { background: $diff-remove; }
    DiffView > .diff--remove-word { background: $diff-remove-word; text-style: bold; }
    DiffView > .diff--syntax-keyword { color: $syntax-keyword; }
    DiffView > .diff--syntax-name { color: $syntax-name; }
    DiffView > .diff--syntax-string { color: $syntax-string; }
    DiffView > .diff--syntax-number { color: $syntax-number; }
    DiffView > .diff--syntax-comment { color: $syntax-comment; }
    DiffView > .diff--syntax-operator { color: $syntax-operator; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bind(ToggleSplit)  # type: ignore[assignment]

    split: var[bool] = var(False)
    """Two columns, where there is room for them."""

    def __init__(self, *, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(name=name, id=id, classes=classes)
        self._diff = Diff()
        self._source = ""
        self._rows: list[tuple[int, int]] = []
        self._files: list[int] = []
        self._marks: OrderedDict[int, WordMarks] = OrderedDict()
        self._digits = 1

    # --- what is shown

    def show_diff(self, text: str) -> None:
        """Show a unified diff, from its top, unseen."""
        self._take(read_diff(text), text)

    def show_new_file(self, text: str, name: str) -> None:
        """Show a new file in full."""
        self._take(diff_of_new_file(text, name), text)

    @property
    def diff(self) -> Diff:
        """What is shown."""
        return self._diff

    @property
    def source_text(self) -> str:
        """The diff as it was given."""
        return self._source

    @property
    def is_split(self) -> bool:
        """Whether two columns are drawn now."""
        return self.split and self._width >= LEAST_SPLIT

    def _take(self, diff: Diff, source: str) -> None:
        self._diff, self._source = diff, source
        self._rows = sides(diff.lines)
        self._digits = len(str(max((max(line.old, line.new) for line in diff.lines), default=1)))
        self._marks.clear()
        self.text_changed()

    def watch_split(self, _split: bool) -> None:
        """One column or two."""
        if self.is_mounted:
            self._start_again(self._width)
            self._pump()

    def action_toggle_split(self) -> None:
        """One column or two; says when there is no room for two."""
        self.split = not self.split
        if self.split and not self.is_split:
            self.notify(f"Side by side needs {LEAST_SPLIT} columns here; there are {self._width}.", markup=False)

    # --- pieces: the summary, then the lines or the pairs

    @property
    def piece_count(self) -> int:
        """Lines, or pairs of lines, and the summary."""
        if not self._diff.lines:
            return 0
        return 1 + (len(self._rows) if self.is_split else len(self._diff.lines))

    def piece_rows(self, piece: int, width: int) -> int:
        """Rows of a line, or of the longer one of a pair."""
        if piece == 0:
            return 1
        if not self.is_split:
            return self._rows_of(self._diff.lines[piece - 1], width - self._gutter(both=True))
        left, right = self._rows[piece - 1]
        if left == right and self._diff.lines[left].kind != "context":
            return self._rows_of(self._diff.lines[left], width)
        room = self._half(width) - self._gutter(both=False)
        return max(self._rows_of(self._diff.lines[at], room) for at in (left, right) if at >= 0)

    def _rows_of(self, line: DiffLine, room: int) -> int:
        if line.kind == "file":
            return 1
        text = line.text
        plain = text.expandtabs(TAB_SIZE) if "\t" in text else text
        if plain.isascii() and plain.isprintable() and "  " * 32 not in plain and not line.no_newline:
            return max(-(-len(plain) // max(room, 2)), 1)
        return len(wrap(_safe(line), room))

    def piece_strips(self, piece: int, width: int) -> list[Strip]:
        """Rows of a line, or of a pair side by side."""
        if piece == 0:
            return [to_strip(one_line(self._diff.summary, width), self._style("summary"))]
        if not self.is_split:
            return self._line_strips(piece - 1, width, both=True)
        left, right = self._rows[piece - 1]
        if left == right and self._diff.lines[left].kind != "context":
            return self._line_strips(left, width, both=True)
        return self._pair_strips(left, right, width)

    def _pair_strips(self, left: int, right: int, width: int) -> list[Strip]:
        half = self._half(width)
        lefts = self._line_strips(left, half, both=False, old=True) if left >= 0 else []
        rights = self._line_strips(right, half, both=False) if right >= 0 else []
        rule = to_strip("│", self._style("number"))
        rows = []
        for at in range(max(len(lefts), len(rights))):
            one = lefts[at] if at < len(lefts) else Strip.blank(half)
            other = rights[at] if at < len(rights) else Strip.blank(half)
            rows.append(Strip.join([one.adjust_cell_length(half), rule, other]))
        return rows

    # --- one line

    def _half(self, width: int) -> int:
        return (width - 1) // 2

    def _gutter(self, *, both: bool) -> int:
        return self._digits * (2 if both else 1) + (4 if both else 3)

    def _line_strips(self, place: int, width: int, *, both: bool, old: bool = False) -> list[Strip]:
        line = self._diff.lines[place]
        if line.kind == "file":
            return [self._file_strip(place, width)]
        if line.kind in ("hunk", "meta", "note"):
            return self._head_strips(line, width)
        room = width - self._gutter(both=both)
        safe = _safe(line)
        ground = self._style(line.kind) if line.kind != "context" else Style.null()
        spans = self._spans(place, line, safe)
        rows, strips, at = (wrap(safe, room) if self.wraps or not both else [safe]), [], 0
        for number, row in enumerate(rows):
            here = [
                (start - at, end - at, style) for start, end, style in spans if start < at + len(row.text) and end > at
            ]
            lead = to_strip(self._lead(line, number, both, old), self._style("number") + ground)
            text = to_strip(row, ground, mark_style=self._style_of("wrapped--mark"), spans=here)
            whole = Strip.join([lead, text])
            strips.append(whole.adjust_cell_length(max(width, whole.cell_length) if not self.wraps else width, ground))
            at += len(row.text)
        return strips

    def _lead(self, line: DiffLine, number: int, both: bool, old: bool) -> str:
        """Line numbers and sign; a row that goes on has neither."""
        sign = _SIGNS[line.kind]
        if number:
            numbers = " " * (self._gutter(both=both) - 3)
            return f" {numbers}{sign} "[-self._gutter(both=both) :].rjust(self._gutter(both=both))
        shown = [line.old, line.new] if both else [line.old if old else line.new]
        numbers = " ".join((str(one) if one else "").rjust(self._digits) for one in shown)
        return f"{numbers} {sign} ".rjust(self._gutter(both=both))

    def _file_strip(self, place: int, width: int) -> Strip:
        line = self._diff.lines[place]
        file = next((file for file in self._diff.files if file.start == place), None)
        counts = f"  +{file.added:,} -{file.removed:,}" if file else ""
        head = self._style("head")
        name = shorten_middle(line.text, max(width - len(counts) - 2, 4))
        mark = self._style_of("wrapped--mark")
        strip = Strip.join([to_strip(" ", head), to_strip(name, head, mark_style=mark), to_strip(counts, head)])
        return strip.adjust_cell_length(width, head)

    def _head_strips(self, line: DiffLine, width: int) -> list[Strip]:
        style = self._style("hunk") if line.kind == "hunk" else self._style("number")
        safe = _safe(line)
        room = width - (0 if self.is_split else self._gutter(both=True))
        rows = wrap(safe, room) if self.wraps else [safe]
        return [to_strip(row, style, mark_style=self._style_of("wrapped--mark")) for row in rows]

    # --- styles

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"diff--{name}", partial=True)

    def _style_of(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)

    def _spans(self, place: int, line: DiffLine, safe: SafeText) -> list[tuple[int, int, Style]]:
        """Colours of code, then the marks of words over them, both in the places of the shown text."""
        found: list[tuple[int, int, Style]] = []
        for start, end, part in syntax_spans(self._name_at(place), line.text):
            found.append((start, end, self._style(f"syntax-{part}")))
        if line.mate >= 0:
            word = self._style(f"{line.kind}-word")
            found += [(start, end, word) for start, end in self._words(place, line)]
        if safe.marks:
            return [(safe.shown_at(start), safe.shown_at(end), style) for start, end, style in found]
        return found

    def _words(self, place: int, line: DiffLine) -> list[tuple[int, int]]:
        first = min(place, line.mate)
        marks = self._marks.get(first)
        if marks is None:
            lines = self._diff.lines
            marks = self._marks[first] = word_marks(lines[first].text, lines[max(place, line.mate)].text)
            if len(self._marks) > _CACHED_MARKS:
                self._marks.popitem(last=False)
        return marks.old if line.kind == "remove" else marks.new

    def _name_at(self, place: int) -> str:
        name = ""
        low, high = 0, len(self._diff.files)
        while low < high:
            middle = (low + high) // 2
            if self._diff.files[middle].start <= place:
                name, low = self._diff.files[middle].name, middle + 1
            else:
                high = middle
        return name


def _safe(line: DiffLine) -> SafeText:
    safe = escape(line.text, keep_newlines=False)
    return safe.joined(_NO_NEWLINE) if line.no_newline else safe


def _mark_of(words: str) -> SafeText:
    from interlock.tui.safe_text import Mark

    return SafeText(words, (Mark(0, len(words), "newline"),))


_NO_NEWLINE = _mark_of(" (no newline at the end)")
