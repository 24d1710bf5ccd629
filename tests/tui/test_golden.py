"""Goldens are few, used and of two sizes. (ours, style.md)"""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_golden_is_named_by_a_test() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in HERE.rglob("test_*.py"))
    stems = {re.sub(r"-\d+x\d+$", "", path.stem): path.name for path in (HERE / "golden").glob("*.txt")}
    assert [name for stem, name in stems.items() if stem not in sources] == []


def test_there_are_few_goldens() -> None:
    assert len(list((HERE / "golden").glob("*.txt"))) <= 40
