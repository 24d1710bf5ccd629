"""The public shell cases, and shfmt as a second reader."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_CASES = Path(__file__).parents[2] / "data" / "cases" / "attack-cases.jsonl"


def _load() -> list[dict]:
    rows = [json.loads(line) for line in _CASES.read_text(encoding="utf-8").splitlines() if line]
    return [row for row in rows if row["class"] == "shell"]


def _command(row: dict) -> str:
    given = row["input"]
    return given["command"] if "command" in given else eval(given["command_python"])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shell_case" in metafunc.fixturenames:
        rows = _load()
        metafunc.parametrize("shell_case", [(_command(r), r) for r in rows], ids=[r["id"] for r in rows])
