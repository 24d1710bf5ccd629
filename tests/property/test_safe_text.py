"""Whatever is written, nothing but drawable text reaches the terminal. (spec UI-3)"""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import split_graphemes
from rich.console import Console

from interlock.tui.safe_text import cells, confusables, escape, notification, one_line, strip_terminal, to_strip, wrap

ODD = st.sampled_from(
    list("\x1b\x07\x9b\x9d\r\n\t\x00\x7f\u202e\u200d\u200b\ufe0f\u0301\u0302\u2028\ud83d😀👩中aé[]();~m;\ue000")
)
FOREIGN = st.text(st.one_of(st.characters(), ODD), max_size=80)
NEVER = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def sent(text: str) -> str:
    """What a terminal would be sent for one strip, without our own style codes."""
    written = to_strip(text).render(Console(color_system="standard", force_terminal=True, width=200))
    return re.sub("\x1b\\[[0-9;]*m", "", written)


def hidden(text: str) -> list[str]:
    return [char for char in text if unicodedata.category(char) in NEVER and char != "\u200d"]


@given(FOREIGN)
@settings(max_examples=400, deadline=None)
def test_no_control_character_reaches_the_terminal(text: str) -> None:
    assert hidden(sent(text)) == []
    assert hidden(escape(text).text.replace("\n", "")) == []
    assert hidden(strip_terminal(text).text.replace("\n", "")) == []
    assert hidden(notification(text)) == []
    sent(text).encode("utf-8")


@given(FOREIGN)
@settings(max_examples=200, deadline=None)
def test_marks_lie_in_order_within_the_text(text: str) -> None:
    safe = escape(text)
    at = 0
    for mark in safe.marks:
        assert at <= mark.start < mark.end <= len(safe.text)
        at = mark.start


@given(FOREIGN)
@settings(max_examples=200, deadline=None)
def test_what_is_plain_stays_and_escaping_again_adds_no_warning(text: str) -> None:
    plain = "".join(char for char in text if " " < char < "\x7f")
    assert escape(plain).text == plain
    again = escape(escape(text).text)
    assert [w for w in again.warnings if "spaces" not in w] == []


@given(FOREIGN, st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_fitted_text_fits(text: str, width: int) -> None:
    assert cells(one_line(text, width)) <= width
    safe = escape(text, keep_newlines=False)
    rows = wrap(safe, width)
    assert "".join(row.text for row in rows) == safe.text
    assert all(cells(row) <= max(width, 2) for row in rows)


@given(FOREIGN)
@settings(max_examples=200, deadline=None)
def test_no_cluster_is_a_pile(text: str) -> None:
    safe = escape(text, keep_newlines=False).text
    for start, end, _size in split_graphemes(safe)[0]:
        assert end - start <= 24


@given(FOREIGN)
@settings(max_examples=200, deadline=None)
def test_looking_for_lookalikes_never_fails(text: str) -> None:
    for one in confusables(text):
        assert text[one.start : one.start + len(one.word)] == one.word
