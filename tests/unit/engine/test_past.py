"""Past calls are read within bounds, and what was not looked at is told. (spec ASK-4)"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.engine.past import past_calls
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, SandboxState, SessionStarted
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.journal.place import sessions_home
from interlock.runtime.journal.writer import JournalWriter


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERLOCK_STATE_DIR", str(tmp_path))


def journal(name: str, commands: list[str], *, age: int = 0) -> Path:
    writer = JournalWriter.create(name, lambda: datetime(2026, 1, 10, tzinfo=UTC))
    start = SessionStarted(
        agent=Agent(name="demo"), cwd="/w", workspace=("/w",), host="h", pid=1, user="u",
        sandbox=SandboxState(), runtime_version="0",
    )  # fmt: skip
    writer.append(start)
    for number, command in enumerate(commands):
        intent = f"int_{number}"
        writer.append(ToolIntent(intent_id=intent, tool="bash", raw_input={"command": command}))
        permission = ToolPermission(
            intent_id=intent, decision="deny", reason="", source="user", tool="bash", cwd="/w/sub"
        )
        writer.append(permission)
    writer.close()
    os.utime(writer.path, (1_000_000 - age, 1_000_000 - age))
    return writer.path


def commands(found: object) -> list[str]:
    return [call.input["command"] for call in found.calls]  # type: ignore[attr-defined]


def test_the_newest_calls_come_first_with_the_folder_they_were_judged_in() -> None:
    journal("old", ["a", "b"], age=10)
    journal("new", ["c", "d"])
    found = past_calls(sessions_home(), "bash")
    assert commands(found) == ["d", "c", "b", "a"]
    assert (found.sessions, found.whole) == (2, True)
    assert (found.calls[0].cwd, found.calls[0].workspace, found.calls[0].agent) == ("/w/sub", ("/w",), "demo")


def test_the_call_that_is_asked_about_and_other_tools_do_not_count() -> None:
    journal("one", ["a", "b"])
    assert commands(past_calls(sessions_home(), "bash", but="one/int_1")) == ["a"]
    assert commands(past_calls(sessions_home(), "write_file")) == []


def test_a_bound_of_calls_and_one_of_bytes_are_kept_and_told() -> None:
    journal("old", [f"old {n}" for n in range(50)], age=10)
    path = journal("new", [f"new {n}" for n in range(50)])
    few = past_calls(sessions_home(), "bash", most=20)
    assert (commands(few)[0], len(few.calls), few.whole) == ("new 49", 20, False)
    half = past_calls(sessions_home(), "bash", most_bytes=path.stat().st_size // 2)
    assert commands(half)[0] == "new 49"
    assert 10 < len(half.calls) < 50
    assert (half.whole, half.calls[0].workspace) == (False, ("/w",))


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    path = journal("one", ["a", "b"])
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], b"\xff{broken", b"", *lines[2:]]) + b'{"half')
    (tmp_path / "sessions" / "empty").mkdir()
    (tmp_path / "sessions" / "folder" / "events.jsonl").mkdir(parents=True)
    assert commands(past_calls(sessions_home(), "bash")) == ["b", "a"]
    assert past_calls(tmp_path / "nowhere", "bash").calls == []
