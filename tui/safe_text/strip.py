"""Hand safe text to the widget library, so that no caller ever builds markup.

Promises: a plain string is escaped first, so nothing unsafe gets through; marks are drawn in their own style (reversed
when none is given, which survives without colours). Textual is imported when a function is called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style

from interlock.tui.safe_text.escape import SafeText, escape
from interlock.tui.safe_text.fit import cells

if TYPE_CHECKING:
    from textual.content import Content
    from textual.strip import Strip

    from interlock.tui.safe_text.terminal import StyleRun

Spans = Sequence[tuple[int, int, Style]]
_REVERSED = Style(reverse=True)
_DIM = Style(dim=True)
MARK_VARIABLE = "$mark"
"""The theme's variable for escaped places."""


def to_strip(
    text: str | SafeText,
    style: Style | None = None,
    *,
    mark_style: Style | None = None,
    spans: Spans = (),
    width: int | None = None,
) -> Strip:
    """One line as a strip. `spans` (start, end, style) are laid over `style` in order, marks over all of them.

    A string is escaped on one line. With `width` the strip is cut or padded to that many cells; the caller fits the
    text first (`one_line`, `wrap`) where a cut must be seen.
    """
    from textual.strip import Strip

    safe = escape(text, keep_newlines=False) if isinstance(text, str) else text
    base = style or Style.null()
    segments = list(_segments(safe, base, mark_style or _REVERSED, spans))
    strip = Strip(segments, cells(safe))
    return strip if width is None else strip.adjust_cell_length(width, base)


def _segments(safe: SafeText, base: Style, mark_style: Style, spans: Spans) -> Iterator[Segment]:
    layers = [(start, end, style) for start, end, style in spans if end > start]
    for mark in safe.marks:
        if mark.kind != "joiner":
            layers.append((mark.start, mark.end, _DIM if mark.kind in ("tab", "newline") else mark_style))
    size = len(safe.text)
    cuts = sorted({0, size, *(min(max(at, 0), size) for start, end, _ in layers for at in (start, end))})
    starting = sorted(range(len(layers)), key=lambda number: layers[number][0])
    active: list[int] = []
    nearest = 0
    for start, end in pairwise(cuts):
        while nearest < len(starting) and layers[starting[nearest]][0] <= start:
            active.append(starting[nearest])
            nearest += 1
        active = [number for number in active if layers[number][1] > start]
        style = base
        for number in sorted(active):
            style = style + layers[number][2]
        yield Segment(safe.text[start:end].replace("\n", " "), style)


def to_content(text: str | SafeText, style: str = "", *, mark_style: str = f"{MARK_VARIABLE} reverse") -> Content:
    """Text of one or more lines as Textual content, for `Static` and labels. Styles name theme variables."""
    from textual.content import Content, Span

    safe = escape(text) if isinstance(text, str) else text
    spans = [Span(0, len(safe.text), style)] if style else []
    for mark in safe.marks:
        if mark.kind != "joiner":
            spans.append(Span(mark.start, mark.end, "dim" if mark.kind in ("tab", "newline") else mark_style))
    return Content(safe.text, spans=spans)


def run_spans(runs: Sequence[StyleRun], palette: Mapping[str, Style]) -> list[tuple[int, int, Style]]:
    """Colours that a tool wrote, as spans in the theme's own colours; `palette` maps names such as `red` to styles."""
    spans = []
    for run in runs:
        pen = run.pen
        style = palette.get(pen.colour or "", Style.null())
        flags = Style(bold=pen.bold or None, italic=pen.italic or None, underline=pen.underline or None)
        spans.append((run.start, run.end, style + flags + Style(reverse=pen.reverse or None)))
    return spans
