"""The demo by keys alone, in a real terminal, from the first ask to the evidence. (issue: first light)"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent / "interlock"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("tmux"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


class Terminal:
    """A program in a tmux of its own."""

    def __init__(self, home: Path, size: tuple[int, int], command: str) -> None:
        self.home = home
        self._server = f"interlock-test-{uuid.uuid4().hex[:8]}"
        self._environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "TMPDIR": str(home),
            "INTERLOCK_STATE_DIR": str(home / "state"),
            "INTERLOCK_RUN_DIR": str(home / "run"),
        }
        width, height = size
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y", str(height), "sh")
        self._tmux("set-option", "-g", "remain-on-exit", "on")
        self.type(command + "; echo left with $?")
        self.keys("Enter")

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._server, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return done.stdout

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def keys(self, *names: str) -> None:
        self._tmux("send-keys", *names)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def wait(self, seen: Callable[[str], bool], what: str, seconds: float = 30) -> str:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            shown = self.screen()
            if seen(shown):
                return shown
            time.sleep(0.1)  # a terminal gives no sign of its own: it can only be looked at again
        raise AssertionError(f"not seen within {seconds} s: {what}\n{self.screen()}")

    def close(self) -> None:
        subprocess.run(["tmux", "-L", self._server, "kill-server"], capture_output=True, timeout=20, check=False)


@pytest.fixture(params=[(80, 24), (140, 40)], ids=["80x24", "140x40"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, request.param, f"{BIN} demo")
    yield made
    made.close()


def journals(home: Path) -> dict[str, list[dict]]:
    found = {}
    for path in (home / "state" / "sessions").glob("*/events.jsonl"):
        found[path.parent.name] = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
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


def answer_until_the_end(terminal: Terminal, key: str) -> int:
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


def test_the_demo_is_answered_to_its_end_by_keys_alone(terminal: Terminal) -> None:
    terminal.wait(lambda s: "Interlock" in s, "the screen", 60)
    terminal.wait(lambda s: "unittest" in s, "the first ask")
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


def test_a_quit_ends_the_agents_and_restores_the_terminal(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, (100, 30), f"{BIN} demo")
    try:
        terminal.wait(lambda s: "unittest" in s, "the first ask", 60)
        terminal.keys("q")
        terminal.wait(lambda s: "y  leave" in s, "the question")
        terminal.keys("y")
        terminal.wait(lambda s: "left with 0" in s, "the shell again")
        terminal.type("echo typed $((20+3))")
        terminal.keys("Enter")
        terminal.wait(lambda s: "typed 23" in s, "an echo: the terminal is in its usual mode")
        found = journals(tmp_path)
        assert {e["reason"] for events in found.values() for e in events if e["type"] == "session.ended"} == {
            "cancelled"
        }
        assert not open_asks(tmp_path)
    finally:
        terminal.close()
