"""Kinds of record that were counted wrongly once: what each comes to in the facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.foreign.reading import facts_of

DENIED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


def record(kind: str, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"u{number}",
        "parentUuid": None,
        "sessionId": "s1",
        "timestamp": f"2026-01-10T09:00:{number:02}.000Z",
        "cwd": "/w",
        "version": "2.1.100",
        **fields,
    }


def user(number: int, content: Any, **fields: Any) -> dict[str, Any]:
    return record("user", number, message={"role": "user", "content": content}, **fields)


def model(number: int, message_id: str, *blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return record("assistant", number, message={"id": message_id, "role": "assistant", "content": blocks}, **fields)


def call(name: str, call_id: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(number: int, call_id: str, words: str, *, failed: bool = False) -> dict[str, Any]:
    return user(number, [{"type": "tool_result", "tool_use_id": call_id, "content": words, "is_error": failed}])


def facts(folder: Path, *records: dict[str, Any]) -> dict[str, Any]:
    log = folder / "s1.jsonl"
    log.write_text("".join(json.dumps(r) + "\n" for r in (user(0, "go"), *records)))
    return facts_of(log)


@pytest.mark.parametrize(
    "before", ["<ide_opened_file>x</ide_opened_file>\n", "<system-reminder>\na\n</system-reminder> "]
)
def test_words_behind_what_the_client_put_before_them_are_a_persons(tmp_path: Path, before: str) -> None:
    found = facts(tmp_path, user(1, f"{before}fix this"), user(2, before))
    assert (found["userTurns"], found["injectedMessages"]) == (2, 1)


def test_a_notice_behind_a_reminder_is_no_persons(tmp_path: Path) -> None:
    found = facts(tmp_path, user(1, "<system-reminder>a</system-reminder>\n[Request interrupted by user]"))
    assert (found["userTurns"], found["interrupted"]) == (1, 1)


@pytest.mark.parametrize(("words", "failed"), [(DENIED, True), ("API Error: 500", True), ("done", False)])
def test_every_call_for_a_sub_agent_counts_whatever_came_of_it(tmp_path: Path, words: str, failed: bool) -> None:
    found = facts(tmp_path, model(1, "m1", call("Task", "t1", prompt="x")), result(2, "t1", words, failed=failed))
    assert found["subAgentCalls"] == 1


def test_a_response_that_is_a_thought_alone_is_a_message(tmp_path: Path) -> None:
    found = facts(tmp_path, model(1, "m1", {"type": "thinking", "thinking": "hm", "signature": "s"}))
    assert found["assistantMessages"] == 1


def test_another_call_under_the_id_of_one_that_ended_is_a_call_and_a_repeat_is_none(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        model(1, "m1", call("Bash", "call_0", command="ls")),
        result(2, "call_0", "a"),
        model(3, "m2", call("Bash", "call_0", command="ls")),
        model(4, "m3", call("Bash", "call_0", command="false")),
        result(5, "call_0", "Exit code 1\n", failed=True),
    )
    assert (found["toolCalls"], found["toolResults"], found["failed"]) == ({"Bash": 2}, 2, 1)


def test_words_that_are_no_version_change_none(tmp_path: Path) -> None:
    found = facts(tmp_path, user(1, "x", version="[trimmed for fixture]"), user(2, "y", version="unknown"))
    assert (found["versions"], found["version"], found["boundaries"]) == (["2.1.100"], "2.1.100", {})


def test_a_queued_message_that_two_records_tell_of_is_one_turn(tmp_path: Path) -> None:
    found = facts(
        tmp_path,
        record("queue-operation", 1, operation="enqueue", content="and this"),
        record("queue-operation", 2, operation="remove"),
        record("attachment", 3, attachment={"type": "queued_command", "prompt": "and this", "commandMode": "prompt"}),
    )
    assert found["userTurns"] == 2


def test_records_that_were_printed_over_several_lines_are_read(tmp_path: Path) -> None:
    log = tmp_path / "full.jsonl"
    log.write_text("\n".join(json.dumps(r, indent=2) for r in (user(0, "go"), model(1, "m1", call("Bash", "t")))))
    found = facts_of(log)
    assert (found["format"], found["records"], found["userTurns"]) == ("claude_code", 2, 1)
    assert found["longestLine"] == max(map(len, log.read_text().split("\n")))


def test_the_times_of_the_first_years_are_written_with_four_digits(tmp_path: Path) -> None:
    found = facts(tmp_path, user(1, "x", timestamp="0001-01-01T00:00:00Z"))
    assert found["firstTime"] == "0001-01-01T00:00:00.000000Z"


def test_a_line_with_two_records_is_one_glued_line_and_as_long_as_both(tmp_path: Path) -> None:
    log = tmp_path / "s1.jsonl"
    glued = json.dumps(user(1, "a")) + json.dumps({"type": "summary", "summary": "t", "leafUuid": "x"})
    log.write_text("\n".join([json.dumps(user(0, "go")), glued, json.dumps(user(2, "b"))]))
    found = facts_of(log)
    assert (found["gluedLines"], found["gluedRecovered"], found["longestLine"]) == (1, 2, len(glued))
    assert (found["userTurns"], found["damagedLines"]) == (3, 0)


def test_a_record_torn_within_a_character_takes_none_of_the_one_behind_it(tmp_path: Path) -> None:
    torn = json.dumps(user(1, "日本語"), ensure_ascii=False).encode()
    torn = torn[: torn.index("本".encode()) + 1]
    log = tmp_path / "s1.jsonl"
    log.write_bytes(json.dumps(user(0, "go")).encode() + b"\n" + torn + json.dumps(user(2, "b")).encode() + b"\n")
    found = facts_of(log)
    assert (found["userTurns"], found["damagedLines"], found["gluedRecovered"]) == (2, 1, 1)
