"""Codex's own folder: its sessions are listed, named and judged without reading them whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.codex.ends import END, ends_of
from interlock.runtime.sources.codex.places import CodexHome, codex_home
from interlock.runtime.sources.codex.status import LONG, RECENT, judged
from interlock.runtime.sources.codex.writers import open_rollouts

FIRST = "01990000-0000-7000-8000-000000000001"
SECOND = "01990000-0000-7000-8000-000000000002"


@pytest.fixture
def home(tmp_path: Path) -> CodexHome:
    return CodexHome(tmp_path / "codex")


def write(home: CodexHome, session: str, records: list[Any], folder: str = "sessions/2026/06/01") -> Path:
    path = home.home / folder / f"rollout-2026-06-01T10-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def begun(rollout) -> list[dict[str, Any]]:
    return [
        rollout.meta(FIRST, git={"branch": "fix"}, base_instructions={"text": "x" * 200_000}, parent_thread_id="p-1"),
        rollout.message("user", "<environment_context>\n</environment_context>"),
        rollout.event("task_started", turn_id="t1"),
        rollout.event("user_message", message="\nFix the build\nplease"),
        rollout.call("c1", "exec_command", {"cmd": "make"}),
    ]


def test_the_folder_is_the_one_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    assert codex_home() == tmp_path / "elsewhere"
    monkeypatch.delenv("CODEX_HOME")
    assert codex_home() == Path.home() / ".codex"


def test_a_missing_folder_holds_no_sessions(home: CodexHome) -> None:
    assert home.logs() == []
    home.refresh()


def test_sessions_are_found_in_their_days_and_in_the_archive(home: CodexHome, rollout) -> None:
    write(home, FIRST, [rollout.meta(FIRST)])
    write(home, SECOND, [rollout.meta(SECOND)], "archived_sessions")
    old = write(home, FIRST, [rollout.meta(FIRST)], "archived_sessions")
    os.utime(old, (1, 1))
    (home.home / "sessions" / "notes.jsonl").write_text("{}\n")
    found = {ref.id: ref.path for ref in home.logs()}
    assert set(found) == {f"codex:{FIRST}", f"codex:{SECOND}"}
    assert found[f"codex:{FIRST}"].parent.name == "01", "the one that was written last"


def test_thousands_of_sessions_are_listed_without_opening_one(home: CodexHome, tmp_path: Path) -> None:
    for day in range(1, 26):
        folder = home.home / "sessions" / "2026" / "06" / f"{day:02}"
        folder.mkdir(parents=True)
        for number in range(200):
            name = f"rollout-2026-06-{day:02}T10-00-00-01990000-0000-7000-8000-{day:04}{number:08}.jsonl"
            os.mkfifo(folder / name)  # whoever opened one to read would wait for ever
    assert len(home.logs()) == 5000


def test_a_summary_tells_what_the_ends_of_a_long_log_tell(home: CodexHome, rollout) -> None:
    start = begun(rollout)
    middle = [rollout.message("assistant", "y" * 5000) for _ in range(100)]
    write(home, FIRST, [*start, *middle, rollout.call("c2", "write_stdin", {})])
    (ref,) = home.logs()
    assert ref.size > 4 * END
    summary = home.summary(ref)
    assert (summary.version, summary.cwd, summary.branch, summary.parent) == ("0.144.3", "/home/dev/app", "fix", "p-1")
    assert (summary.title, summary.last_action, summary.open_call) == ("Fix the build", "write_stdin", "write_stdin")
    assert summary.last_at - summary.started_at == 105 * 1_000_000


def test_a_call_with_a_result_is_not_open(home: CodexHome, rollout) -> None:
    write(home, FIRST, [*begun(rollout), rollout.output("c1", "Process exited with code 0\nOutput:\n")])
    (ref,) = home.logs()
    assert (home.summary(ref).last_action, home.summary(ref).open_call) == ("exec_command", "")


def test_the_name_that_a_person_gave_wins(home: CodexHome, rollout) -> None:
    write(home, FIRST, begun(rollout))
    index = home.home / "session_index.jsonl"
    names = [
        {"id": FIRST, "thread_name": "old"},
        {"id": SECOND, "thread_name": "other"},
        {"id": FIRST, "thread_name": "new"},
    ]
    index.write_text("".join(json.dumps(name) + "\n" for name in names) + "not json\n")
    (ref,) = home.logs()
    assert home.summary(ref).title == "new"
    with index.open("a") as file:
        file.write(json.dumps({"id": FIRST, "thread_name": "newest"}) + "\n")
    assert home.summary(ref).title == "newest"


def test_a_sub_agent_is_called_what_its_parent_calls_it(home: CodexHome, rollout) -> None:
    spawn = {
        "subagent": {"thread_spawn": {"parent_thread_id": SECOND, "agent_path": "/root/tests", "agent_role": None}}
    }
    asked = rollout.event("user_message", message="Look at the tests")
    write(home, FIRST, [rollout.meta(FIRST, source=spawn), asked])
    (ref,) = home.logs()
    assert (home.summary(ref).title, home.summary(ref).parent) == ("/root/tests · Look at the tests", SECOND)
    write(home, FIRST, [rollout.meta(FIRST, source=spawn), rollout.meta(SECOND), asked])
    (ref,) = home.logs()
    assert home.summary(ref).title == "/root/tests"


def test_a_log_that_cannot_be_read_says_so(home: CodexHome, rollout) -> None:
    path = write(home, FIRST, begun(rollout))
    (ref,) = home.logs()
    path.unlink()
    assert "cannot be read" in home.summary(ref).fault


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\xff\xfe\x00", b"[1]\n", b'{"type":"session_meta","payload":[]}\n', b"{" * 9000]
)
def test_ends_of_anything_are_empty_and_no_fault(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "rollout-x.jsonl"
    path.write_bytes(data)
    assert ends_of(path).summary.title == ""


@contextmanager
def holding(path: Path, mode: str) -> Iterator[None]:
    """Another process that has the file open."""
    code = "import sys; f = open(sys.argv[1], sys.argv[2]); print('open', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "open\n"
        yield
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be seen without /proc")


@needs_proc
def test_a_process_that_writes_a_rollout_is_seen_and_one_that_reads_it_is_not(home: CodexHome, rollout) -> None:
    path = write(home, FIRST, begun(rollout))
    with holding(path, "r"):
        assert open_rollouts(tuple(home.roots())) == frozenset()
    with holding(path, "a"):
        assert open_rollouts(tuple(home.roots())) == {os.path.realpath(path)}
    assert open_rollouts(tuple(home.roots())) == frozenset()


def test_without_proc_it_is_said_that_nothing_can_be_known(tmp_path: Path) -> None:
    assert open_rollouts((tmp_path,), tmp_path / "no proc") is None


@needs_proc
def test_a_session_is_judged_by_its_process_and_its_turn(home: CodexHome, rollout) -> None:
    path = write(home, FIRST, begun(rollout))
    now = time.time_ns() // 1000 + 20_000_000
    with holding(path, "a"):
        home.refresh()
        (ref,) = home.logs()
        running = home.judge(ref, None, None, now)
        assert (running.status, running.live, running.evidence) == ("running", True, "exec_command has no result yet")
        with path.open("a") as file:
            file.writelines(json.dumps(r) + "\n" for r in (rollout.output("c1", "x"), rollout.event("task_complete")))
        (ref,) = home.logs()
        assert home.judge(ref, None, None, now).status == "idle"
    home.refresh()
    assert home.judge(ref, None, None, now).status == "done"


@needs_proc
def test_a_session_whose_process_went_away_in_a_turn_is_gone(home: CodexHome, rollout) -> None:
    write(home, FIRST, begun(rollout))
    home.refresh()
    (ref,) = home.logs()
    told = home.judge(ref, None, None, time.time_ns() // 1000 + 20_000_000)
    assert told.status == "gone"
    assert not told.live


def test_an_old_session_is_judged_without_being_read(home: CodexHome, rollout) -> None:
    path = write(home, FIRST, begun(rollout))
    os.utime(path, (1_600_000_000, 1_600_000_000))
    (ref,) = home.logs()
    path.unlink()
    os.mkfifo(path)  # whoever opened it to read would wait for ever
    home.refresh()
    told = home.judge(ref, None, None, time.time_ns() // 1000)
    assert (told.status, told.guessed) == ("done", True)


@pytest.mark.parametrize(
    ("live", "turn", "call", "quiet", "status", "guessed"),
    [
        (True, "open", "exec_command", 0, "running", False),
        (True, "open", "exec_command", LONG + 1, "running", True),
        (True, "open", "", LONG + 1, "running", False),
        (True, "over", "", 0, "idle", False),
        (True, "", "", LONG, "idle", True),
        (True, "", "", 0, "running", True),
        (False, "open", "", 0, "running", True),
        (False, "open", "", LONG, "gone", False),
        (False, "over", "", LONG, "done", False),
        (False, "", "", LONG, "done", True),
        (None, "open", "", LONG, "running", True),
        (None, "over", "", LONG, "idle", True),
        (None, "open", "exec_command", RECENT + 1, "gone", True),
        (None, "over", "", RECENT + 1, "done", True),
    ],
)
def test_the_status_follows_from_the_evidence(live, turn, call, quiet, status, guessed) -> None:
    told = judged(live, turn, call, quiet)
    assert (told.status, told.guessed) == (status, guessed)
    assert told.evidence
