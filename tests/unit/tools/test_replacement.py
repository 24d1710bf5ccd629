"""Finding and replacing text in bytes. (spec RT-9; cases BC-087, BC-088)"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from interlock.runtime.tools import replacement
from interlock.runtime.tools.diff import unified

CASES = {
    case["id"]: case
    for case in map(json.loads, (Path(__file__).parents[2] / "data/cases/bug-cases.jsonl").read_text().split("\n")[:-1])
}


def edited(data: bytes, old: str, new: str) -> bytes:
    matches = replacement.find(data, old.encode())
    assert len(matches) == 1
    return replacement.replace(data, matches, old.encode(), new.encode())


@pytest.mark.parametrize("case", CASES["BC-088"]["input"]["calls"], ids=["crlf", "mixed"])
def test_untouched_lines_keep_their_exact_bytes(case: dict) -> None:
    before = eval(case["existing"]["make"], {"__builtins__": {}})
    after = edited(before, case["args"]["old_string"], case["args"]["new_string"])
    assert after.hex() == case["want_hex"]
    diff = unified(before, after, "f.txt")
    assert (diff.added, diff.removed) == (1, 1)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\n", "a\nb", "a\nnew\nb", b"a\r\nnew\r\nb\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", b"a\r\nB\nc\r\n"),
        (b"a\nb\r\nc\n", "a\nb\nc", "a\nx\nb\nc", b"a\nx\nb\r\nc\n"),
        (b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n"),
        (b"a\nb\n", "b", "b\nc", b"a\nb\nc\n"),
        (b"one", "one", "one\ntwo", b"one\ntwo"),
        (b"\xef\xbb\xbfhead\n", "head", "tail", b"\xef\xbb\xbftail\n"),
        (b"caf\xe9 x\n", "x", "y", b"caf\xe9 y\n"),
        (b"a\r\nb\r\n", "a\r\nb", "a\nb", b"a\nb\r\n"),
        (b"a\rb\r", "a\nb", "a\nc", b"a\rc\r"),
        (b"x\n\n\ny", "x\n\n\ny", "x\n\ny", b"x\n\ny"),
    ],
)
def test_new_lines_take_the_line_ends_of_their_neighbours(before: bytes, old: str, new: str, after: bytes) -> None:
    assert edited(before, old, new) == after


def test_every_place_is_found_and_its_line_named() -> None:
    case = CASES["BC-087"]["input"]
    data = eval(case["existing"]["make"], {"__builtins__": {}})
    found = replacement.find(data, case["args"]["old_string"].encode())
    assert replacement.line_numbers(data, found) == [1, 3, 5]


def test_overlapping_places_are_more_than_one() -> None:
    found = replacement.find(b"aaa", b"aa")
    assert len(found) == 2
    assert len(replacement.apart(found)) == 1


def test_a_match_never_begins_inside_a_crlf() -> None:
    assert replacement.find(b"a\r\nb\r\n", b"\nb\n") == [replacement.Match(1, 6)]


def test_whole_content_keeps_the_line_ends_and_mark_of_the_file() -> None:
    assert replacement.like_file(b"x\ny\n", b"\xef\xbb\xbfa\r\nb\r\n") == (
        b"\xef\xbb\xbfx\r\ny\r\n",
        ("CRLF line ends", "byte-order mark"),
    )
    assert replacement.like_file(b"x\ny\n", b"a\r\nb\n") == (b"x\ny\n", ())
