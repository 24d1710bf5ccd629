"""The demo by keys alone, in a real terminal, from the first ask to the evidence. (issue: first light)"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent / "interlock"
Open = Callable[[Path, tuple[int, int], str], Any]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("tmux"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


@pytest.fixture(params=[(80, 24), (140, 40)], ids=["80x24", "140x40"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path, open_terminal: Open) -> Any:
    return open_terminal(tmp_path, request.param, f"{BIN} demo")


def journals(home: Path) -> dict[str, list[dict]]:
    found = {}
    for path in (home / "state" / "sessions").glob("*/events.jsonl"):
        found[path.parent.name] = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    return found


def open_asks(home: Path) -> set[str]:
    waiting: set[str] = set()
    for events in journals(home).values():
        for event in events:
            if event["type"] == "tool.permission" and event.get("askId"):
                waiting.add(event["askId"])
            elif event["type"] in ("tool.permission.answered", "tool.permission.closed"):
                waiting.discard(event["askId"])
    return waiting


def ended(home: Path) -> bool:
    found = journals(home)
    return len(found) == 2 and all(any(e["type"] == "session.ended" for e in events) for events in found.values())


def answer_until_the_end(terminal: Any, key: str) -> int:
    """Press the answer key whenever a card stands there with its answers; returns how many answers took effect."""
    end = time.monotonic() + 90
    while time.monotonic() < end and not ended(terminal.home):
        shown = terminal.screen()
        if "allow is locked" in shown:
            terminal.keys("G")
            time.sleep(0.2)
        elif "▸ a once" in shown:
            before = open_asks(terminal.home)
            terminal.keys(key)
            stop = time.monotonic() + 1.0
            while time.monotonic() < stop and open_asks(terminal.home) == before:
                time.sleep(0.1)
        elif "a once" not in shown and open_asks(terminal.home):
            terminal.keys("n")
            time.sleep(0.2)
        else:
            time.sleep(0.1)
    assert ended(terminal.home), terminal.screen()
    return sum(
        event["type"] == "tool.permission.answered" for events in journals(terminal.home).values() for event in events
    )


def test_the_demo_is_answered_to_its_end_by_keys_alone(terminal: Any) -> None:
    terminal.wait(lambda s: "Interlock" in s, "the screen", 60)
    terminal.wait(lambda s: "? shop" in s, "the first ask")
    assert answer_until_the_end(terminal, "a") == 5
    verdicts = [
        e["evidence"]["verdict"]
        for events in journals(terminal.home).values()
        for e in events
        if e["type"] == "answer.final"
    ]
    assert sorted(verdicts) == ["none", "passed"]
    terminal.keys("2")
    terminal.wait(lambda s: "mender" in s and "surveyor" in s, "both sessions on the board")
    terminal.keys("q")
    shown = terminal.wait(lambda s: "left with 0" in s, "the shell again")
    assert "interlock show" in shown


def test_a_quit_ends_the_agents_and_restores_the_terminal(tmp_path: Path, open_terminal: Open) -> None:
    terminal = open_terminal(tmp_path, (100, 30), f"{BIN} demo")
    terminal.wait(lambda s: "▸ a once" in s, "the first ask", 60)
    terminal.keys("q")
    terminal.wait(lambda s: "y  leave" in s, "the question")
    terminal.keys("y")
    terminal.wait(lambda s: "left with 0" in s, "the shell again")
    terminal.type("echo typed $((20+3))")
    terminal.keys("Enter")
    terminal.wait(lambda s: "typed 23" in s, "an echo: the terminal is in its usual mode")
    found = journals(tmp_path)
    assert {e["reason"] for events in found.values() for e in events if e["type"] == "session.ended"} == {"cancelled"}
    assert not open_asks(tmp_path)
