"""Measure text in terminal cells, and fit it into a given number of them.

Promises: a fitted text is never wider than asked; what was cut is marked by `…`, never silent; a cluster of one base
and its marks is never cut apart.
"""

from __future__ import annotations

from rich.cells import cell_len, split_graphemes

from interlock.tui.safe_text.escape import SafeText, escape

NOTIFICATION_COLUMNS = 120
"""Longest text handed to the desktop (DI-033)."""
_ELLIPSIS = "…"


def cells(text: str | SafeText) -> int:
    """Width in terminal cells, by grapheme cluster, of text that is already safe."""
    return cell_len(str(text))


def _index_at(text: str, width: int) -> int:
    """The longest prefix, as an index, that is at most `width` cells wide."""
    if text.isascii():
        return min(len(text), max(width, 0))
    used = 0
    for start, _end, size in split_graphemes(text)[0]:
        if used + size > width:
            return start
        used += size
    return len(text)


def wrap(safe: SafeText, width: int, *, at_words: bool = False) -> list[SafeText]:
    """Break one line (no newlines in it) into rows of at most `width` cells; always at least one row.

    With `at_words`, a row ends after a space when there is one in its last half.
    """
    width = max(width, 2)
    rows: list[SafeText] = []
    for start, end in _breaks(safe.text, width, at_words):
        rows.append(safe.slice(start, end) if safe.marks else SafeText(safe.text[start:end]))
    return rows or [SafeText("")]


def _breaks(text: str, width: int, at_words: bool) -> list[tuple[int, int]]:
    spans = [] if text.isascii() else split_graphemes(text)[0]
    found: list[tuple[int, int]] = []
    start = cluster = 0
    while start < len(text):
        if not spans:
            end = min(start + width, len(text))
        else:
            end, cluster = _fill(spans, cluster, width)
        if at_words and end < len(text):
            space = text.rfind(" ", start + (end - start) // 2, end)
            if space >= 0 and space + 1 < end:
                end = space + 1
                cluster = _cluster_at(spans, cluster, end)
        found.append((start, end))
        start = end
    return found


def _fill(spans: list[tuple[int, int, int]], cluster: int, width: int) -> tuple[int, int]:
    used = 0
    while cluster < len(spans) and (used == 0 or used + spans[cluster][2] <= width):
        used += spans[cluster][2]
        cluster += 1
    return spans[cluster - 1][1], cluster


def _cluster_at(spans: list[tuple[int, int, int]], cluster: int, index: int) -> int:
    while cluster > 0 and spans and spans[cluster - 1][0] >= index:
        cluster -= 1
    return cluster


def one_line(text: str, width: int) -> SafeText:
    """Foreign text on one line of at most `width` cells, newlines shown as marks, `…` where it was cut at the end."""
    if width <= 0:
        return SafeText("")
    # Ten source characters a cell are more than any legal cluster needs; the rest could not be shown anyhow.
    head = text[: width * 10 + 64]
    safe = escape(head, keep_newlines=False)
    if len(head) == len(text) and cells(safe) <= width:
        return safe
    cut = safe.slice(0, _index_at(safe.text, width - 1))
    return SafeText(cut.text + _ELLIPSIS, cut.marks, safe.warnings)


def shorten_middle(path: str, width: int) -> SafeText:
    """A foreign path of at most `width` cells, cut in the middle, so that its root and its last part stay readable."""
    safe = escape(path, keep_newlines=False)
    if cells(safe) <= width:
        return safe
    if width <= 1:
        return SafeText(_ELLIPSIS[: max(width, 0)], (), safe.warnings)
    room = width - 1
    last = safe.text[safe.text.rfind("/", 0, max(len(safe.text) - 1, 0)) :]
    tail = min(max(cells(last), room * 2 // 3), room - min(room // 4, 8))
    start = _index_at(safe.text, cells(safe) - tail)
    while start < len(safe.text) and cells(safe.text[start:]) > tail:
        start += _index_at(safe.text[start:], 2) or 1
    end = safe.slice(start, len(safe.text))
    head = safe.slice(0, _index_at(safe.text, room - cells(end)))
    joined = head.joined(SafeText(_ELLIPSIS)).joined(end)
    return SafeText(joined.text, joined.marks, safe.warnings)


def notification(text: str) -> str:
    """Foreign text for a desktop notification or a title: one line, no control, at most 120 columns."""
    return one_line(" ".join(text.split("\n")).strip(), NOTIFICATION_COLUMNS).text
