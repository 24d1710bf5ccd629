"""Allow for longer, undo and the rules by keys alone, in a real terminal: what answers, and what must not. (UI-4, ASK-4)"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

BIN = Path(sys.executable).parent / "interlock"
HOST = """
import asyncio, sys
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession

async def main():
    async with RuntimeSession.start(sys.argv[1], agent="mender", title="mend it") as session:
        session.say_user("go")
        for name in ("first", "second"):
            await session.pipeline.run(Intent("bash", {"command": f"touch {name}"}))
        await asyncio.sleep(600)

asyncio.run(main())
"""
Open = Callable[[Path, tuple[int, int], str], Any]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.xdist_group("tmux"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


@pytest.fixture(params=[(80, 24), (140, 40), (200, 50)], ids=["80x24", "140x40", "200x50"])
def terminal(request: pytest.FixtureRequest, tmp_path: Path, open_terminal: Open) -> Iterator[Any]:
    (tmp_path / "work").mkdir()
    screen = open_terminal(tmp_path, request.param, str(BIN))
    environment = {**os.environ, **screen.environment}
    host = subprocess.Popen([sys.executable, "-c", HOST, str(tmp_path / "work")], env=environment)
    screen.wait(lambda s: "touch first" in s, "the first ask", 60)
    if request.param[0] < 100:
        screen.keys("Enter")
    screen.wait(lambda s: "▸ a once" in s, "an armed card")
    yield screen
    host.kill()
    host.wait(20)


def events(terminal: Any, kind: str) -> list[dict[str, Any]]:
    (journal,) = (terminal.home / "state" / "sessions").glob("*/events.jsonl")
    found = [json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1]]
    return [event for event in found if event["type"] == kind]


def answers(terminal: Any) -> list[str]:
    return [event["scope"] for event in events(terminal, "tool.permission.answered")]


def open_panel(terminal: Any) -> None:
    terminal.keys("A")
    terminal.wait(lambda s: "allow for longer" in s and "on record" in s and "▸ t turn" in s, "an armed panel")


def press(terminal: Any, key: str, armed: str, done: Callable[[str], bool], what: str) -> str:
    """Press an answer key when the screen says that it counts; what the screen shows may be of a moment ago, so again."""
    for _ in range(10):
        terminal.wait(lambda s: armed in s or done(s), f"{armed!r}, or {what}")
        if not done(terminal.screen()):
            terminal.keys(key)
        try:
            return terminal.wait(done, what, 3)
        except AssertionError:
            continue
    return terminal.wait(done, what)


def test_only_a_key_that_is_offered_and_armed_gives_a_longer_allow_and_u_takes_it_back(terminal: Any) -> None:
    open_panel(terminal)
    terminal.keys("Enter", "Space")
    terminal.paste("tsT")
    terminal.wait(lambda s: "▸ t turn" in s, "the panel, armed again")
    terminal.resize(90, 26)
    terminal.wait(lambda s: "▸ t turn" in s and "allow for longer" in s, "the panel in another size")
    terminal.keys("r")  # the exact command is no rule, so this key is not offered
    terminal.keys("?")
    terminal.wait(lambda s: "Keys here" in s and "Allow ten minutes" in s and "Inbox" not in s, "the keys of the panel")
    terminal.keys("Escape")
    terminal.wait(lambda s: "▸ t turn" in s, "the panel, armed again")
    assert answers(terminal) == []
    press(terminal, "T", "▸ t turn", lambda s: "touch second" in s and "u undoes the 10 min" in s, "the next ask")
    assert answers(terminal) == ["ten_minutes"]
    terminal.keys("u")
    terminal.wait(lambda s: "revoked: exactly touch first" in s, "what came of it")
    assert len(events(terminal, "grant.revoked")) == 1


def test_a_rule_of_the_persons_own_is_kept_as_a_rule_alone_and_revoked_in_the_rules_view(terminal: Any) -> None:
    open_panel(terminal)
    terminal.keys("j")
    shown = terminal.wait(lambda s: "r rule, for good" in s and "▸" in s and "still asked" not in s, "the wider one")
    assert 'command = "touch *"' in shown
    terminal.keys("e", "Down", "Down", "Down", "Down", "End", "Left", "Left", "f")  # as fast as a terminal can
    terminal.wait(lambda s: 'command = "touch f*"' in s, "the edited line")
    terminal.keys("Escape")
    shown = terminal.wait(lambda s: "your rule" in s and "▸ r rule, for good" in s, "the rule, looked at by the host")
    assert 'command = "touch f*"' in shown
    assert "t turn" not in shown
    terminal.keys("t", "s", "T")
    terminal.wait(lambda s: "▸ r rule, for good" in s, "the panel, armed again")
    assert answers(terminal) == []
    press(terminal, "r", "▸ r rule", lambda s: "touch second" in s and "u undoes the rule" in s, "what is not covered")
    policy = terminal.home / "config" / "policy.toml"
    assert 'command = "touch f*"' in policy.read_text()
    terminal.keys("4")
    terminal.wait(lambda s: "ALLOWED IN RUNNING SESSIONS" in s and "x revoke" in s and "for good" in s, "the rules")
    terminal.keys("x")
    terminal.wait(lambda s: "Revoke this permission?" in s, "the question")
    terminal.keys("Enter", "Space")
    assert 'command = "touch f*"' in policy.read_text()
    terminal.keys("y")
    terminal.wait(lambda s: "No standing grant." in s, "nothing left")
    assert "touch" not in policy.read_text()
    assert answers(terminal) == ["rule"]
