"""The one cap. (spec RT-12; case BC-083)"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interlock.runtime.engine.cap import cap, fit, note
from interlock.runtime.tools.output import Excerpt

NOTE = re.compile(r"\[truncated: ([0-9]+) bytes dropped, refine your query\]")
CASE = next(
    case
    for case in map(json.loads, (Path(__file__).parents[1] / "data/cases/bug-cases.jsonl").read_text().split("\n")[:-1])
    if case["id"] == "BC-083"
)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=400)
LIMITS = st.integers(0, 600)


@pytest.mark.parametrize("row", CASE["input"]["cases"], ids=lambda row: str(row["kept"]))
def test_a_cut_at_a_byte_limit_keeps_whole_characters(row: dict) -> None:
    data = eval(row["make"], {"__builtins__": {}})
    kept = fit(data, CASE["input"]["limit"])
    assert (len(kept), len(data) - len(kept)) == (row["kept"], row["dropped"])
    kept.decode("utf-8", "strict")


@given(TEXTS, LIMITS)
@example("日本", 3)
@example("a" * 60, 50)
@example("", 0)
def test_content_and_note_fit_and_the_count_is_exact(text: str, limit: int) -> None:
    total = len(text.encode())
    cut = cap(text, limit)
    assert len(cut.text.encode()) <= limit
    if total <= limit:
        assert cut == (text, 0, text)
        return
    assert text.startswith(cut.kept)
    assert len(cut.kept.encode()) + cut.dropped == total
    if len(note(total)) > limit:
        assert cut == ("", total, "")
        return
    assert cut.text == cut.kept + note(cut.dropped)
    # one character more would not have fitted
    more = text[: len(cut.kept) + 1].encode()
    assert len(more) + len(note(total - len(more))) > limit


@given(TEXTS, LIMITS)
def test_both_ends_are_exact_pieces_around_the_note(text: str, limit: int) -> None:
    total = len(text.encode())
    cut = cap(text, limit, keep="ends")
    assert len(cut.text.encode()) <= limit
    if not cut.dropped:
        assert cut.text == text
    elif cut.text:
        head, tail = cut.text.split(note(cut.dropped), 1)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head.encode()) + len(tail.encode()) + cut.dropped == total


@given(TEXTS, TEXTS, st.integers(1, 10**12), LIMITS, st.sampled_from(["head", "ends"]))
def test_an_excerpt_is_always_told_as_cut(head: str, tail: str, omitted: int, limit: int, keep: str) -> None:
    total = len(head.encode()) + omitted + len(tail.encode())
    cut = cap(Excerpt(head, tail, omitted), limit, keep=keep)  # type: ignore[arg-type]
    assert len(cut.text.encode()) <= limit
    assert cut.dropped >= omitted
    told = NOTE.findall(cut.text)
    if len(note(total)) <= limit:
        assert str(cut.dropped) in told
        kept = len(cut.text.encode()) - len(note(cut.dropped))
        assert kept + cut.dropped == total


@given(st.binary(max_size=40), st.integers(0, 50))
def test_half_a_character_never_gets_through(data: bytes, limit: int) -> None:
    text = data.decode("utf-8", "surrogateescape")
    cap(text, limit).text.encode("utf-8", "strict")


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_tiny_limits_hold(limit: int) -> None:
    assert cap("日本" * 100, limit) == ("", 600, "")


def test_lines_stay_whole_where_both_ends_are_kept() -> None:
    text = "".join(f"line {n}\n" for n in range(1000))
    cut = cap(text, 500, keep="ends")
    head, tail = cut.text.split(note(cut.dropped))
    assert head.endswith("\n")
    assert tail.startswith("\nline ")
    assert tail.endswith("line 999\n")
    assert len(tail) > len(head)
