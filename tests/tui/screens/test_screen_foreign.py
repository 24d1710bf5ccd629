"""Sessions of other agents on the screen: found by themselves, read as they grow, one with what their gate asks. (AG-1, AG-2)"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.tui

SESSION = "11111111-2222-3333-4444-555555555555"
MINE = f"claude_code:{SESSION}"


class Log:
    """A transcript that grows."""

    def __init__(self, config: Path) -> None:
        folder = config / "projects" / "-w-shop"
        folder.mkdir(parents=True)
        self.path = folder / f"{SESSION}.jsonl"
        self.count = 0

    def add(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        self.count += 1
        record = {
            "type": kind,
            "uuid": f"u{self.count}",
            "parentUuid": f"u{self.count - 1}" if self.count > 1 else None,
        }
        record |= {"sessionId": SESSION, "timestamp": f"2026-01-10T09:00:{self.count:02}.000Z", "cwd": "/w/shop"}
        record |= {"version": "2.1.217", "gitBranch": "main", "message": message, **more}
        with self.path.open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")

    def asks_for(self, call: str, tool: str, given: dict[str, Any]) -> None:
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        usage = {"input_tokens": 1000, "output_tokens": 500, "cache_read_input_tokens": 20_000}
        told = {"id": f"msg_{self.count}", "role": "assistant", "model": "claude-opus-4-5", "content": [block]}
        self.add("assistant", told | {"usage": usage})

    def gives(self, call: str, text: str, result: Any) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.add("user", {"role": "user", "content": [block]}, toolUseResult=result)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    config = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    monkeypatch.setenv("INTERLOCK_AGENTS", "claude_code")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    made = Log(config)
    made.add("user", {"role": "user", "content": "mend the shop"})
    made.asks_for("toolu_1", "Bash", {"command": "npm test"})
    return made


async def test_a_running_session_is_on_the_board_and_its_calls_appear_as_they_happen(log: Log, live: Callable) -> None:
    async with live(size=(140, 40)) as person:
        await person.press("2")
        await person.until(lambda: "mend the shop" in person.text, "its row", 20)
        assert "RUNNING" in person.text
        assert "Claude Code" in person.text
        await person.press("enter")
        await person.until(lambda: "npm test" in person.text, "its call")
        assert "Claude Code 2.1.217" in person.text
        assert "running (guessed)" in person.text
        assert "claude-opus-4-5: 1.0k in, 20k cached, 500 out" in person.text
        log.gives("toolu_1", "2 passed", {"stdout": "2 passed", "stderr": "", "interrupted": False})
        log.asks_for("toolu_2", "Edit", {"file_path": "/w/shop/a.py", "old_string": "x", "new_string": "y"})
        await person.until(lambda: "/w/shop/a.py" in person.text, "the next call")
        patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-x", "+y"]}]
        told = {"filePath": "/w/shop/a.py", "oldString": "x", "newString": "y", "structuredPatch": patch}
        log.gives("toolu_2", "done", told)
        await person.until(lambda: person.text.count("✔") >= 2, "both calls done")
        await person.press("right", "right")
        await person.until(lambda: "+ y" in person.text, "the diff of the edit")


async def test_an_ask_of_its_gate_stands_in_the_inbox_once_and_at_its_call(
    log: Log, host: Callable, live: Callable
) -> None:
    gate = await host(agent="Claude Code", kind="claude_code", foreign=SESSION, title="")
    gate.ask("npm test", tool="Bash", shown_input={"command": "npm test"}, agent="Claude Code")
    async with live(size=(140, 40)) as person:
        await person.until(lambda: MINE in person.app.store._feeds, "the session is followed", 20)
        await person.until(lambda: person.app.store.asks[0].session == MINE, "the ask belongs to it")
        assert [row.id for row in person.app.store.sessions] == [MINE]
        assert "sandbox not known" in person.text
        assert "RUNNING" not in person.text, "its ask stands above; it needs no second row"
        await person.arm()
        await person.press("a")
        await person.until(lambda: gate.answers(), "the answer")
        assert gate.answers()[0][1] == "allow"
        log.gives("toolu_1", "2 passed", {"stdout": "2 passed", "stderr": "", "interrupted": False})
        await person.press("2")
        await person.until(lambda: "mend the shop" in person.text)
        await person.press("enter")
        await person.until(lambda: "allow" in person.text and "✔" in person.text, "the call with its answer")
        timeline = person.app.screen.feed.timeline
        call = next(row for row in map(timeline.row, range(len(timeline))) if row.kind == "call")
        assert (call.outcome, bool(call.asked_at), bool(call.answered_at)) == ("ok", True, True)


async def test_a_session_is_opened_by_its_id_and_hostile_titles_are_shown_as_text(log: Log, live: Callable) -> None:
    log.add("user", {"role": "user", "content": "\x1b]0;owned\x07[bold]\u202e"}, uuid="t")
    async with live(size=(80, 24), session=SESSION) as person:
        await person.until(lambda: "npm test" in person.text, "the session", 20)
        assert "\x1b" not in person.text
        assert "\u202e" not in person.text
