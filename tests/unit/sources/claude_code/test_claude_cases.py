"""Bug reports of other readers of these transcripts, as their exact inputs. (BC-001, 002, 003, 005, 006, 010, 013, 016,
018, 060, 066)"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.adapter import FORMAT, ClaudeAdapter
from interlock.runtime.sources.claude_code.places import transcripts
from interlock.runtime.sources.claude_code.status import judge
from interlock.runtime.sources.claude_code.summary import summary
from interlock.runtime.sources.foreign.copies import Copies
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.reading import all_events, facts_of, open_log
from interlock.runtime.sources.foreign.translation import Translation

CASES = Path(__file__).parents[3] / "data" / "cases" / "bug-cases.jsonl"
HOUR = 3_600_000_000


def case(name: str) -> dict[str, Any]:
    for line in CASES.read_text("utf-8").split("\n"):
        if line.startswith(f'{{"id": "{name}"'):
            return json.loads(line)["input"]
    raise KeyError(name)


def content(file: dict[str, Any]) -> bytes:
    if "make" in file:
        # the cases give the bytes as an expression of Python's, with nothing but literals in it
        return eval(file["make"], {"__builtins__": {}})
    return "\n".join(file["lines"]).encode() + (b"\n" if file.get("final_newline", True) else b"")


def placed(root: Path, file: dict[str, Any]) -> Path:
    path = root / file["name"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content(file))
    return path


def read(path: Path) -> tuple[list[AnyEvent], Translation]:
    translation = open_log(path)
    events = list(all_events(translation))
    translation.close()
    assert translation.format.kind == "claude_code"
    return events, translation


def said(events: list[AnyEvent]) -> list[str]:
    return [e.text for e in events if e.type in ("message.user", "message.assistant")]


def test_a_damaged_line_hides_nothing_behind_it(tmp_path: Path) -> None:
    """BC-001"""
    events, translation = read(placed(tmp_path, case("BC-001")))
    assert said(events) == ["one", "two", "four", "five"]
    assert translation.tally.damaged == 1
    (damage,) = [e for e in events if e.type == "foreign.damaged"]
    lines = case("BC-001")["lines"]
    assert damage.origin is not None
    assert damage.origin.offset == len("\n".join(lines[:2])) + 1
    assert damage.origin.size == len(lines[2])
    assert max(e.ts for e in events) == "2026-01-10T09:00:04.000000Z"


def test_a_record_behind_a_torn_one_is_recovered_and_the_torn_one_is_no_text(tmp_path: Path) -> None:
    """BC-002"""
    events, translation = read(placed(tmp_path, case("BC-002")))
    assert said(events) == ["one", "whole again", "end"]
    assert translation.tally.damaged == 1
    assert not any("parentUuid" in words for words in said(events))


def test_two_records_on_one_line_leave_no_orphan(tmp_path: Path) -> None:
    """BC-003"""
    path = placed(tmp_path, case("BC-003"))
    translation = open_log(path)
    events = list(all_events(translation))
    adapter = translation._adapter
    assert isinstance(adapter, ClaudeAdapter)
    assert said(events) == ["one", "two", "four", "five"]
    assert (adapter.tree.orphans, translation.tally.glued) == (0, 2)
    translation.close()


def test_half_a_surrogate_pair_loses_nothing_else(tmp_path: Path) -> None:
    """BC-005"""
    events, translation = read(placed(tmp_path, case("BC-005")))
    (observed,) = [e for e in events if e.type == "tool.observation"]
    assert observed.content == "videos \ufffd..."
    assert translation.tally.records == 2
    assert b"videos \xef\xbf\xbd..." in b"".join(line for e in events for line in translation.encode(e))


def test_line_separators_inside_a_text_do_not_end_a_line(tmp_path: Path) -> None:
    """BC-006"""
    path = placed(tmp_path, case("BC-006"))
    events, translation = read(path)
    assert translation.tally.records == 1
    assert [len(words) for words in said(events)] == [16]
    assert translation.read_bytes + len(b"\n") == path.stat().st_size


def test_two_session_ids_in_one_log_are_one_conversation_with_a_resume_in_it(tmp_path: Path) -> None:
    """BC-010"""
    events, _ = read(placed(tmp_path, case("BC-010")))
    told = [e.type for e in events if e.type in ("message.user", "message.assistant", "session.boundary")]
    speech = ["message.user", "message.assistant"]
    assert told == [*speech, "session.boundary", *speech]
    assert [e.kind for e in events if e.type == "session.boundary"] == ["resumed"]
    facts = facts_of(tmp_path / case("BC-010")["name"])
    assert facts["sessions"] == ["s1", "s2"]


def test_zeros_and_escapes_in_one_log_do_not_stop_the_reading_of_another(tmp_path: Path) -> None:
    """BC-013, the transcript of the two"""
    files = [f for f in case("BC-013")["files"] if f["name"].startswith("claude/")]
    events, _ = read(placed(tmp_path, files[0]))
    assert said(events) == ["one", "two"]


def test_what_goes_on_from_an_older_record_is_a_branch_however_the_log_is_read(tmp_path: Path) -> None:
    """BC-016"""
    first, _, second = case("BC-016")["steps"]
    path = placed(tmp_path, first["write"])
    translation = Translation(path, FORMAT, "lines", session="s")
    lines = translation.read()
    with open(path, "ab") as file:
        file.write("\n".join(second["append"]).encode() + b"\n")
    lines += translation.read()
    adapter = translation._adapter
    assert isinstance(adapter, ClaudeAdapter)
    assert adapter.tree.branches == 2
    translation.close()
    cold = Translation(path, FORMAT, "lines", session="s")
    assert cold.read() == lines
    cold.close()
    events, _ = read(path)
    at = next(i for i, e in enumerate(events) if e.type == "session.boundary" and e.kind == "branch")
    assert said(events[:at]) == ["one", "two", "four", "five"]
    assert said(events[at:]) == ["other branch", "branch answer"]


def test_a_response_that_stands_in_two_logs_is_counted_in_the_first(tmp_path: Path) -> None:
    """BC-018"""
    copies, grand, own = Copies(), SessionFacts(), {}
    for file in case("BC-018")["files"]:
        events, _ = read(placed(tmp_path, file))
        name = Path(file["name"]).stem
        own[name] = SessionFacts()
        for event in copies.marked(name, events):
            own[name].add(event)
            grand.add(event)
    total, second = grand.tokens(), own["s2"].tokens()
    assert (total.input, total.cache_read, total.output) == (15, 100, 57)
    assert (second.input, second.cache_read, second.output, own["s2"].inherited) == (5, 0, 7, 1)


def test_a_session_without_a_process_is_not_running_and_its_open_call_is_named(tmp_path: Path) -> None:
    """BC-060"""
    path = placed(tmp_path, case("BC-060"))
    events, _ = read(path)
    asked = [e.call_id for e in events if e.type == "tool.intent"]
    ended = [e.intent_id for e in events if e.type == "tool.observation"]
    assert (asked, len(ended)) == (["t1", "t2"], 1)
    told = summary(path)
    assert told.open_calls == {"t2": "Bash"}
    judged = judge(None, ["Bash"], told.last_at, told.last_at + HOUR)
    assert judged.status == "gone"
    assert judged.guessed
    assert "1 call without a recorded result" in judged.evidence


@pytest.mark.parametrize("number", range(4))
def test_the_project_is_what_the_records_say_and_never_the_name_of_the_folder(tmp_path: Path, number: int) -> None:
    """BC-066"""
    for file in case("BC-066")["files"]:
        placed(tmp_path, file)
    logs = sorted(log.path for log in transcripts(tmp_path / "claude"))
    assert len(logs) == 4
    right = ["/home/dev/my app", "/home/dev/my_app", "/home/dev/my/app.v2", ""]
    assert summary(logs[number]).cwd == right[number]
    assert (facts_of(logs[number])["cwd"] or "") == right[number]
