"""Where Claude Code keeps its sessions, which run now, and what they are doing: with real folders and processes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.claude_code.home import ClaudeHome
from interlock.runtime.sources.claude_code.live import LiveSession, live_sessions, process_start
from interlock.runtime.sources.claude_code.places import (
    all_transcripts,
    config_home,
    main_of,
    sub_agents,
    tool_results,
    transcripts,
)
from interlock.runtime.sources.claude_code.status import judge
from interlock.runtime.sources.claude_code.summary import END_BYTES, summary

NOW = 1_770_000_000_000_000
MINUTE = 60_000_000
COMMON = {
    "sessionId": "s1",
    "version": "2.1.332",
    "cwd": "/w",
    "gitBranch": "main",
    "timestamp": "2026-01-10T09:00:00.000Z",
}


def line(value: dict[str, Any]) -> str:
    return json.dumps(value) + "\n"


def prompt(words: str, **more: Any) -> dict[str, Any]:
    return {**COMMON, "type": "user", "uuid": "u1", "message": {"role": "user", "content": words}, **more}


def call(call_id: str, tool: str = "Bash", at: str = "2026-01-10T09:00:01.000Z") -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": {}}
    return {**COMMON, "type": "assistant", "uuid": call_id, "timestamp": at, "message": {"content": [block]}}


def result(call_id: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "x"}
    return {**COMMON, "type": "user", "uuid": f"r{call_id}", "message": {"content": [block]}}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """One session with two agents of its own, one of an early version, and what else lies about."""
    project = tmp_path / "projects" / "-home-dev-app"
    agents = project / "s1" / "subagents"
    (agents / "workflows" / "wf_1").mkdir(parents=True)
    (project / "s1" / "tool-results").mkdir()
    (project / "s1.jsonl").write_text(line(prompt("fix the tests")) + line(call("t1")))
    side = {"isSidechain": True, "agentId": "abc"}
    (agents / "agent-abc.jsonl").write_text(line(prompt("look", **side)))
    meta = {"agentType": "Explore", "description": "look around", "toolUseId": "t1", "spawnDepth": 1, "model": "haiku"}
    (agents / "agent-abc.meta.json").write_text(json.dumps(meta))
    (agents / "workflows" / "wf_1" / "agent-def.jsonl").write_text(line(prompt("ping", **side | {"agentId": "def"})))
    (agents / "workflows" / "wf_1" / "journal.jsonl").write_text("{}\n")
    (project / "agent-old.jsonl").write_text(line(prompt("old", **side | {"agentId": "old"})))
    (project / "s1" / "tool-results" / "b1.txt").write_text("long")
    (project / "notes.txt").write_text("x")
    (project / "folder.jsonl").mkdir()
    (tmp_path / "projects" / "a-file").write_text("x")
    return tmp_path


def test_sessions_and_their_agents_are_found_and_nothing_else(config: Path) -> None:
    assert [log.path.name for log in transcripts(config)] == ["s1.jsonl"]
    found = {(log.path.stem, agent, parent) for log, agent, parent in all_transcripts(config)}
    assert found == {
        ("s1", False, None),
        ("agent-old", True, None),
        ("agent-abc", True, "s1"),
        ("agent-def", True, "s1"),
    }
    (log,) = transcripts(config)
    assert log.size == log.path.stat().st_size
    assert log.mtime_ns == log.path.stat().st_mtime_ns


def test_a_session_knows_its_agents_and_its_long_outputs(config: Path) -> None:
    main = config / "projects" / "-home-dev-app" / "s1.jsonl"
    first, second = sub_agents(main)
    assert (first.agent_id, first.agent_type, first.description, first.call_id) == (
        "abc",
        "Explore",
        "look around",
        "t1",
    )
    assert (first.depth, first.model) == (1, "haiku")
    assert (second.agent_id, second.agent_type, second.call_id) == ("def", "", "")
    assert [path.name for path in tool_results(main)] == ["b1.txt"]
    assert main_of(first.path) == main_of(second.path) == main
    assert main_of(main) is None


def test_a_folder_that_is_not_there_holds_none(tmp_path: Path) -> None:
    assert transcripts(tmp_path / "no") == all_transcripts(tmp_path / "no") == []
    assert live_sessions(tmp_path / "no") == sub_agents(tmp_path / "no.jsonl") == []


def test_the_folder_is_the_one_that_the_environment_names() -> None:
    assert config_home({"CLAUDE_CONFIG_DIR": "/c", "HOME": "/h"}) == Path("/c")
    assert config_home({"HOME": "/h"}) == Path("/h/.claude")


@pytest.mark.skipif(os.getuid() == 0, reason="root reads every folder")
def test_a_project_that_may_not_be_read_hides_no_other(config: Path) -> None:
    shut = config / "projects" / "shut"
    shut.mkdir(mode=0)
    assert [log.path.name for log in transcripts(config)] == ["s1.jsonl"]


def test_a_summary_reads_the_ends_alone(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    filler = {**COMMON, "type": "progress", "uuid": "p", "data": {"type": "bash_progress", "output": "x" * 2000}}
    early, late = "2026-01-10T09:00:00.000Z", "2026-01-10T11:00:00.000Z"
    lines = [
        line({"type": "summary", "summary": "another", "leafUuid": "x"}),
        line(prompt("<command-name>/clear</command-name>")),
        line(prompt("fix the tests\nplease", timestamp=early)),
        line(call("t0")),
        line(result("t0")),
        *[line(filler)] * 200,
        line(prompt("hidden in the middle", cwd="/elsewhere")),
        *[line(filler)] * 200,
        line({"type": "custom-title", "customTitle": "mine", "sessionId": "s1"}),
        line({"type": "ai-title", "aiTitle": "guess", "sessionId": "s1"}),
        line(call("t1", "Read")),
        line(result("t1")),
        line(call("t2", "Bash", late)),
    ]
    log.write_text("".join(lines))
    told = summary(log)
    assert (told.session, told.sessions, told.cwd, told.version, told.branch) == ("s1", ["s1"], "/w", "2.1.332", "main")
    assert (told.title, told.ai_title, told.first_prompt) == ("mine", "guess", "fix the tests")
    assert (told.last_tool, told.open_calls) == ("Bash", {"t2": "Bash"})
    assert told.last_at - told.first_at == 2 * 60 * MINUTE
    assert log.stat().st_size > 4 * END_BYTES


@pytest.mark.parametrize("pad", [0, END_BYTES - 300, END_BYTES, 2 * END_BYTES, 3 * END_BYTES + 17, 900_000])
def test_a_summary_survives_records_of_any_length(tmp_path: Path, pad: int) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(line(prompt("first " + "x" * pad)) + line(call("t1")) + line(prompt("y" * pad)) + '{"type":"us')
    told = summary(log)
    assert (told.session, told.cwd) == ("s1", "/w")
    assert told.title.startswith("first")


def entry(config: Path, pid: int, **more: Any) -> Path:
    folder = config / "sessions"
    folder.mkdir(exist_ok=True)
    path = folder / f"{pid}.json"
    told = {"pid": pid, "sessionId": "s1", "cwd": "/w", "status": "waiting", "waitingFor": "permission prompt"}
    path.write_text(json.dumps({**told, "version": "2.1.332", "updatedAt": NOW // 1000, **more}))
    return path


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as child:
        yield child
        if child.stdin is not None and not child.stdin.closed:
            child.stdin.close()


def test_the_registry_tells_who_waits_and_whether_its_process_is_there(
    config: Path, process: subprocess.Popen[bytes]
) -> None:
    started = process_start(process.pid)
    assert started
    entry(config, process.pid, procStart=started)
    (live,) = live_sessions(config)
    assert (live.status, live.waiting_for, live.updated_at, live.alive, live.proven) == (
        "waiting",
        "permission prompt",
        NOW,
        True,
        True,
    )
    assert process.stdin is not None
    process.stdin.close()
    process.wait(10)
    (live,) = live_sessions(config)
    assert (live.alive, live.proven) == (False, True)


def test_another_process_with_the_same_id_is_not_the_one_that_wrote_the_entry(
    config: Path, process: subprocess.Popen[bytes]
) -> None:
    entry(config, process.pid, procStart="1" if sys.platform == "linux" else "Thu Jan  1 00:00:01 1970")
    assert [live.alive for live in live_sessions(config)] == [False]


@pytest.mark.parametrize("told", [None, "Sat Jan 10 09:00:00 2026" if sys.platform == "linux" else "12345"])
def test_a_start_that_cannot_be_compared_leaves_a_doubt(
    config: Path, process: subprocess.Popen[bytes], told: str | None
) -> None:
    entry(config, process.pid, procStart=told)
    (live,) = live_sessions(config)
    assert (live.alive, live.proven) == (True, False)


def test_keys_sockets_links_and_strange_entries_are_never_read(config: Path) -> None:
    folder = entry(config, 1).parent
    for path in folder.iterdir():
        path.unlink()
    (folder / "77.key").write_text('{"pid": 77, "sessionId": "secret"}')
    (folder / "x.json").write_text('{"pid": 1, "sessionId": "s"}')
    os.mkfifo(folder / "78.json")
    (folder / "79.json").symlink_to(folder / "77.key")
    (folder / "80.json").write_text("{")
    (folder / "81.json").write_text("[1]")
    (folder / "82.json").write_text(json.dumps({"pid": "x", "sessionId": 5}))
    (folder / "83.json").write_text(json.dumps({"pid": 2**40, "sessionId": "s"}))
    (folder / "84.json").write_text(json.dumps({"pid": 1, "sessionId": "s", "name": "x" * 100_000}))
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(folder)
        try:
            listening.bind("85.json")
        finally:
            os.chdir(here)
        assert live_sessions(config) == []


ALIVE = LiveSession(pid=7, session="s1", status="waiting", waiting_for="permission prompt")


@pytest.mark.parametrize(
    ("live", "open_calls", "silent", "status", "guessed"),
    [
        (ALIVE, ["Bash"], 90, "waiting", False),
        (LiveSession(pid=7, session="s1", status="busy"), [], 90, "running", False),
        (LiveSession(pid=7, session="s1", status="idle"), [], 90, "idle", False),
        (LiveSession(pid=7, session="s1", status="busy", proven=False), [], 90, "running", True),
        (LiveSession(pid=7, session="s1", status="dreaming"), ["Bash"], 90, "running", True),
        (LiveSession(pid=7, session="s1", status="dreaming"), [], 90, "idle", True),
        (LiveSession(pid=7, session="s1", status="busy", alive=False), ["Bash"], 0, "gone", False),
        (None, [], 0, "running", True),
        (None, ["Bash"], 5, "running", True),
        (None, ["Bash"], 60, "gone", True),
        (None, [], 5, "done", True),
    ],
)
def test_the_status_comes_from_evidence_and_says_when_it_is_guessed(
    live: LiveSession | None, open_calls: list[str], silent: int, status: str, guessed: bool
) -> None:
    judged = judge(live, open_calls, NOW - silent * MINUTE, NOW)
    assert (judged.status, judged.guessed) == (status, guessed)
    assert judged.evidence


def test_a_waiting_session_says_for_what() -> None:
    assert judge(ALIVE, ["Bash"], NOW, NOW).evidence == (
        "process 7 says it is waiting for permission prompt (Bash has no result yet)"
    )


def test_a_log_that_ends_with_what_is_written_at_exit_belongs_to_no_process(config: Path) -> None:
    """Seen in 2.1.332: the cost of the session is its last record."""
    home = ClaudeHome(config)
    (ref,) = [ref for ref in home.logs() if ref.session == "s1"]
    with open(ref.path, "a") as file:
        file.write(line(result("t1")) + line({"type": "cost-state", "totalCostUSD": 0.1}) + line({"type": "mode"}))
    now = time.time_ns() // 1000
    judged = home.judge(ref, home.summary(ref), None, now)
    assert (judged.status, judged.guessed, judged.live) == ("done", False, False)
    with open(ref.path, "a") as file:
        file.write(line(prompt("go on")))
    judged = home.judge(ref, home.summary(ref), None, now)
    assert (judged.status, judged.guessed) == ("running", True)


def test_a_log_is_read_once_until_it_changes(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at thousands of sessions that were just written read the ends of each again at every look."""
    opened: list[str] = []
    really_open = os.open

    def counted(path: Any, *rest: Any, **more: Any) -> int:
        opened.append(Path(path).name)
        return really_open(path, *rest, **more)

    monkeypatch.setattr(os, "open", counted)
    home = ClaudeHome(config)

    def look() -> list[str]:
        opened.clear()
        (ref,) = [ref for ref in home.logs() if ref.session == "s1"]
        home.judge(ref, None, None, time.time_ns() // 1000)
        return list(opened)

    (ref,) = [ref for ref in home.logs() if ref.session == "s1"]
    home.summary(ref)
    assert opened == ["s1.jsonl"]
    assert (look(), look()) == ([], [])
    with open(ref.path, "a") as file:
        file.write(line(prompt("go on")))
    assert (look(), look()) == (["s1.jsonl"], [])


def test_what_was_kept_of_a_log_goes_with_it(config: Path) -> None:
    home = ClaudeHome(config)
    for ref in home.logs():
        home.summary(ref)
    held = {f"claude_code:{name}" for name in ("s1", "old", "abc", "def")}
    assert set(home._left) == held
    (config / "projects" / "-home-dev-app" / "s1.jsonl").unlink()
    home.logs()
    assert set(home._left) == held - {"claude_code:s1"}


def test_a_log_without_any_time_is_not_running() -> None:
    assert judge(None, ["Bash"], 0, NOW).status == "gone"


def test_the_home_lists_summarises_and_judges(config: Path, process: subprocess.Popen[bytes]) -> None:
    entry(config, process.pid, procStart=process_start(process.pid))
    home = ClaudeHome(config)
    home.refresh()
    logs = {ref.session: ref for ref in home.logs()}
    assert {name: ref.parent for name, ref in logs.items()} == {"s1": None, "old": None, "abc": "s1", "def": "s1"}
    main = home.summary(logs["s1"])
    assert (main.title, main.cwd, main.open_call, main.last_action) == ("fix the tests", "/w", "Bash", "Bash")
    agent = home.summary(logs["abc"])
    assert (agent.title, agent.parent) == ("Explore: look around", "s1")
    assert home.summary(logs["old"]).parent == "s1"
    now = time.time_ns() // 1000
    judged = home.judge(logs["s1"], main, None, now)
    assert (judged.status, judged.live, judged.guessed) == ("waiting", True, False)
    logs["s1"].path.unlink()
    assert "cannot be read" in home.summary(logs["s1"]).fault
