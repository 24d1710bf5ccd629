"""Copying says what it did, in tmux and over SSH. (BC-057)"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from interlock.tui.clipboard import LIMIT, copy, encoded

CASES = Path(__file__).resolve().parents[2] / "data" / "cases" / "bug-cases.jsonl"


def runs() -> list[dict[str, Any]]:
    lines = CASES.read_text(encoding="utf-8").split("\n")
    return next(found["input"]["runs"] for line in lines if line and (found := json.loads(line))["id"] == "BC-057")


def payload(sequence: str) -> bytes:
    found = re.search(r"\]52;c;([A-Za-z0-9+/=]*)", sequence)
    assert found
    return b64decode(found[1])


def test_inside_tmux_the_sequence_is_wrapped(tmp_path: Path) -> None:
    run = runs()[0]
    copied = copy(run["select"], environ=run["env"], folder=tmp_path)
    assert copied.sequence.startswith("\x1bPtmux;\x1b\x1b]52;c;aGVsbG8=")
    assert copied.sequence.endswith("\x1b\\")
    assert "sent to the terminal" in copied.message.lower()
    assert "copied" not in copied.message.lower()


def test_what_is_too_long_goes_to_a_private_file_that_is_named(tmp_path: Path) -> None:
    run = runs()[1]
    copied = copy("x" * run["select_bytes"], environ=run["env"], folder=tmp_path / "new")
    assert copied.sequence == ""
    assert copied.file is not None
    assert copied.file.stat().st_size == run["select_bytes"]
    assert copied.file.stat().st_mode & 0o077 == 0
    assert str(copied.file) in copied.message


def test_half_characters_do_not_fail(tmp_path: Path) -> None:
    copied = copy("half \ud83d pair", environ=runs()[2]["env"], folder=tmp_path)
    assert payload(copied.sequence).decode() == "half \ufffd pair"
    assert encoded("\ud83d\ude00") == "😀".encode()


@pytest.mark.parametrize("size", [1, LIMIT - 1, LIMIT, LIMIT + 1])
def test_the_limit_is_exact(tmp_path: Path, size: int) -> None:
    copied = copy("x" * size, environ={}, folder=tmp_path)
    assert (copied.file is None) == (size <= LIMIT)
    assert not copied.sequence or len(payload(copied.sequence)) == size


def test_gnu_screen_gets_pieces_that_it_takes(tmp_path: Path) -> None:
    copied = copy("x" * 2000, environ={"STY": "1.pts"}, folder=tmp_path)
    inner = copied.sequence.replace("\x1bP", "").replace("\x1b\\", "")
    assert payload(inner) == b"x" * 2000


def test_nothing_is_said_to_be_nothing(tmp_path: Path) -> None:
    assert copy("", environ={}, folder=tmp_path).sequence == ""
