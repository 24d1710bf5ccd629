"""opencode's database: read as it grows, whatever tables it has, and never written to."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.runtime.sources.foreign.reading import facts_of, open_log
from interlock.runtime.sources.opencode.home import OpencodeHome
from interlock.runtime.sources.opencode.process import holders
from interlock.runtime.sources.opencode.status import judge

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples" / "opencode"
SAME = (
    "session", "version", "parent", "cwd", "toolCalls", "toolResults", "failed", "denied", "userTurns", "assistantMessages",
    "subAgentCalls", "tokensByModel",
)  # fmt: skip


def listing(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["five-steps", "denied", "sub-agent"])
def test_the_event_log_and_the_tables_tell_the_same(tmp_path: Path, make_database, sample_rows, name: str) -> None:
    found = []
    for leave in ((), ("event",)):
        path = tmp_path / f"{name}{len(leave)}.db"
        make_database(path, sample_rows(f"{name}.rows.jsonl"), leave=leave).close()
        facts = facts_of(path)
        found.append({key: facts[key] for key in SAME})
    assert found[0] == found[1]
    assert found[0]["toolCalls"]


def test_a_database_an_export_and_a_stream_of_one_run_agree(tmp_path: Path, make_database, sample_rows) -> None:
    path = tmp_path / "x.db"
    make_database(path, sample_rows("denied.rows.jsonl")).close()
    rows, export = facts_of(path), facts_of(SAMPLES / "denied.export.json")
    assert {key: rows[key] for key in SAME} == {key: export[key] for key in SAME}
    assert (rows["denied"], rows["failed"]) == (1, 0)


def test_a_sub_agent_is_a_session_of_its_own_and_linked_to_its_call(
    tmp_path: Path, make_database, sample_rows, read_path
) -> None:
    path = tmp_path / "x.db"
    make_database(path, sample_rows("sub-agent.rows.jsonl")).close()
    found = read_path(path)
    (spawned,) = found.of("agent.spawned")
    child = read_path(path, part=spawned.child)
    assert (spawned.agent_type, spawned.description) == ("general", "Look around")
    assert child.facts.parent == found.facts.sessions[0]
    assert dict(child.facts.calls) == {"bash": 1}


@pytest.mark.parametrize("open_writer", [True, False])
def test_reading_changes_no_byte_and_makes_no_file(
    tmp_path: Path, make_database, sample_rows, open_writer: bool
) -> None:
    path = tmp_path / "x.db"
    writer = make_database(path, sample_rows("five-steps.rows.jsonl"))
    if not open_writer:
        writer.execute("pragma wal_checkpoint(truncate)")
        writer.close()
    before = listing(tmp_path)
    # from another process, as it is in life: SQLite shares its files between the connections of one
    program = str(Path(sys.executable).parent / "interlock")
    done = subprocess.run(
        [program, "show", str(path), "--facts", "--json"], capture_output=True, timeout=60, check=True
    )
    assert json.loads(done.stdout)["toolCallCount"] == 5
    assert listing(tmp_path) == before
    writer.close()


def test_rows_that_come_while_it_is_followed_are_told_once_and_in_order(
    tmp_path: Path, make_database, sample_rows, put_row
) -> None:
    rows = sample_rows("five-steps.rows.jsonl")
    path = tmp_path / "x.db"
    events = [row["row"] for row in rows if row["table"] == "event"]
    writer = make_database(path, rows, leave=("event",))
    put_row(writer, "event", events[0])
    writer.commit()
    translation = open_log(path, session="s")
    told = [event.type for event in translation.events()]
    for row in events[1:]:
        put_row(writer, "event", row)
        writer.commit()
        told += [event.type for event in translation.events(200)]
        while translation.more:
            told += [event.type for event in translation.events(200)]
    assert not list(translation.events())
    told += [event.type for event in translation.end()]
    translation.close()
    writer.close()
    assert (told.count("tool.observation"), told.count("message.user"), translation.tally.records) == (
        5,
        1,
        len(events),
    )


def test_a_part_that_changes_in_the_tables_is_told_when_it_is_whole(tmp_path: Path, make_database, put_row) -> None:
    path = tmp_path / "x.db"
    session = {"id": "ses_1", "directory": "/d", "title": "t", "version": "1", "time_created": 1, "time_updated": 2}
    tool = {"type": "tool", "tool": "bash", "callID": "c1"}
    part = {"id": "prt_2", "message_id": "msg_1", "session_id": "ses_1", "time_created": 1, "time_updated": 1}
    states = [
        {"status": "pending", "input": {}},
        {"status": "running", "input": {"command": "ls"}, "time": {"start": 1796028579013}},
        {"status": "completed", "input": {"command": "ls"}, "output": "x", "metadata": {"exit": 2},
         "time": {"start": 1796028579013, "end": 1796028579513}},
    ]  # fmt: skip
    message = {"id": "msg_1", "session_id": "ses_1", "time_created": 1, "time_updated": 1,
               "data": json.dumps({"role": "assistant", "modelID": "m", "time": {"created": 1796028579000}})}  # fmt: skip
    writer = make_database(path, [{"table": "session", "row": session}, {"table": "message", "row": message}])
    translation = open_log(path, session="s")
    told = []
    for n, state in enumerate(states):
        put_row(writer, "part", {**part, "time_updated": n, "data": json.dumps({**tool, "state": state})})
        writer.commit()
        told.append([e for e in translation.events() if e.type.startswith("tool.")])
    translation.close()
    writer.close()
    assert [[e.type for e in step] for step in told] == [
        [], ["tool.intent"], ["tool.invocation.completed", "tool.observation"]
    ]  # fmt: skip
    ended, observed = told[2]
    assert (ended.exit_code, ended.duration_ms, observed.code, observed.ok) == (2, 500, "exit_nonzero", False)


def test_rows_that_are_no_json_are_damaged_and_the_others_are_read(tmp_path: Path, make_database, sample_rows) -> None:
    path = tmp_path / "x.db"
    writer = make_database(path, sample_rows("five-steps.rows.jsonl"))
    writer.execute("update event set data = '{\"torn' where seq in (9, 20)")
    writer.commit()
    writer.close()
    facts = facts_of(path)
    assert (facts["damagedLines"], facts["records"], facts["toolCallCount"]) == (2, 75, 5)


def test_a_database_of_something_else_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("create table notes (id integer)")
    connection.commit()
    connection.close()
    with pytest.raises(OSError, match="no database of opencode"):
        facts_of(path)


def test_a_file_that_only_begins_like_a_database_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\x00" + b"junk" * 1000)
    with pytest.raises(OSError, match=r"cannot be (read|opened)"):
        facts_of(path)


def test_its_home_lists_sessions_with_parents_and_asks_again_only_after_a_change(
    tmp_path: Path, make_database, sample_rows
) -> None:
    writer = make_database(tmp_path / "opencode.db", sample_rows("sub-agent.rows.jsonl"))
    home = OpencodeHome(tmp_path)
    home.refresh()
    refs = {ref.session: ref for ref in home.logs()}
    child = next(ref for ref in refs.values() if ref.parent)
    assert child.parent in refs
    summary = home.summary(child)
    assert (summary.cwd, summary.version, summary.last_action, summary.open_call) == (
        "/home/dev/app",
        "1.18.33",
        "bash",
        "",
    )
    writer.execute(
        "update session set title = 'new', time_updated = time_updated + 5000 where id = ?", (child.session,)
    )
    writer.commit()
    again = next(ref for ref in home.logs() if ref.session == child.session)
    assert again.mtime_ns == child.mtime_ns + 5_000_000_000
    assert home.summary(again).title == "new"
    judged = home.judge(again, home.summary(again), None, again.mtime_ns // 1000 + 1)
    assert judged.status == "done"
    writer.close()


def test_a_process_that_has_a_database_open_is_found(tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    path = tmp_path / "opencode.db"
    path.touch()
    for pid, name in ((11, "opencode"), (12, "vim")):
        folder = proc / str(pid) / "fd"
        folder.mkdir(parents=True)
        (proc / str(pid) / "comm").write_text(name + "\n")
        (folder / "3").symlink_to(path)
    assert holders([path], proc) is None
    (proc / "self" / "fd").mkdir(parents=True)
    assert holders([path], proc) == {path: [11]}


@pytest.mark.parametrize(
    ("call", "rest", "ago", "held", "status"),
    [
        ("bash", False, 5, [7], "running"),
        ("bash", False, 5, [], "gone"),
        ("", True, 5, [7], "idle"),
        ("", True, 5000, [7], "done"),
        ("", False, 5, [7], "running"),
        ("", False, 5, [], "gone"),
        ("", True, 5, [], "done"),
        ("", True, 5, None, "idle"),
        ("bash", False, 5000, None, "gone"),
    ],
)
def test_what_a_session_does_is_judged_from_processes_and_its_last_turn(
    call: str, rest: bool, ago: int, held: list[int] | None, status: str
) -> None:
    now = 1_800_000_000_000_000
    judged = judge(call, rest, now - ago * 1_000_000, now, held)
    assert judged.status == status
    assert judged.evidence
    assert judged.guessed or held == []
