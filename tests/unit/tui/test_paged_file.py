"""A file of any size is read in windows, and read the same from both ends. (spec Q-1)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.tui.paged_file import PART, WINDOW, PagedFile

STRETCH = st.sampled_from(
    [b"a", b"\n", b"line\n", "中".encode() * 7, b"x" * 5000, b"y" * PART, b"z" * (PART - 1), b"\xff", b"\n\n"]
)


def starts_forwards(file: PagedFile) -> list[int]:
    starts, at = [], 0
    while at < file.size:
        starts.append(at)
        after = file.next_start(at)
        assert after > at
        at = after
    return starts


def starts_backwards(file: PagedFile) -> list[int]:
    starts, at = [], file.size
    while at > 0:
        before = file.previous_start(at)
        assert before < at
        starts.append(before)
        at = before
    return starts[::-1]


@given(st.lists(STRETCH, min_size=1, max_size=24))
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_walking_forwards_and_backwards_meets_the_same_lines(tmp_path: Path, stretches: list[bytes]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"".join(stretches))
    file = PagedFile(path)
    starts = starts_forwards(file)
    assert starts_backwards(file) == starts
    for start, after in zip(starts, [*starts[1:], file.size], strict=True):
        assert after - start <= 2 * PART + 4
        assert {file.start_of(start), file.start_of(after - 1)} == {start}
    file.close()


def test_a_sparse_terabyte_opens_at_both_ends(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as out:
        out.truncate(1 << 40)
    file = PagedFile(path)
    last = file.start_of(file.size - 1)
    assert file.next_start(last) == file.size
    assert file.next_start(0) == PART
    file.close()


@pytest.mark.parametrize("place", [0, 5, WINDOW - 3, WINDOW, 3 * WINDOW - 4])
def test_search_finds_across_windows_both_ways(tmp_path: Path, place: int) -> None:
    path = tmp_path / "file"
    data = bytearray(b"." * (3 * WINDOW + 50))
    data[place : place + 6] = b"needle"
    path.write_bytes(data)
    file = PagedFile(path)
    assert file.find(b"needle", 0)[:2] == (place, place + 6)
    assert file.find(b"needle", file.size, backwards=True)[:2] == (place, place + 6)
    assert file.find(b"needle", place + 1).start == -1
    assert file.find(b"needle", place, backwards=True).start in (-1, place)
    assert "stopped" in file.find(b"nowhere", 0, stopped=lambda: True).note
    file.close()


def test_a_regular_expression_runs_apart_and_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"a1\nb22\nc333\n" + b"a" * 5000 + b"!\n")
    file = PagedFile(path)
    assert file.find_regex(r"\d{2,}", 0)[:2] == (4, 6)
    assert file.find_regex(r"\d{2,}", 7)[:2] == (8, 11)
    assert file.find_regex(r"\d+", 8, backwards=True)[:2] == (4, 6)
    assert "not a regular expression" in file.find_regex("(", 0).note
    assert "not found" in file.find_regex("zzz", 0).note
    assert "was stopped" in file.find_regex("(a+)+$", 12, seconds=1.0).note
    file.close()


def test_a_closed_file_stays_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    file = PagedFile(path)
    file.close()
    file.close()
    with pytest.raises(OSError):
        os.fstat(file._handle)
