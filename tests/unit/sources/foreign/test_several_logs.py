"""Several logs counted together: what a resume or a fork copied counts once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.cli.main import run
from interlock.runtime.sources.foreign.reading import facts_of, facts_of_several

CASES = Path(__file__).parents[3] / "data" / "cases" / "bug-cases.jsonl"
SAMPLES = Path(__file__).parents[3] / "data" / "samples"


def claude(session: str, *records: dict[str, Any]) -> str:
    made = []
    for number, record in enumerate(records):
        base = {"sessionId": session, "parentUuid": None, "uuid": f"{session}-{number}", "version": "2.1.100"}
        made.append(json.dumps({**base, "timestamp": f"2026-01-10T09:00:{number:02}.000Z", **record}) + "\n")
    return "".join(made)


def answer(message_id: str, *blocks: dict[str, Any], tokens: int = 1, **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": tokens}
    message = {"id": message_id, "role": "assistant", "model": "m", "content": blocks, "usage": usage}
    return {"type": "assistant", "message": message, **fields}


def call(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Task", "input": {"prompt": "x"}}


def result(call_id: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "boom", "is_error": True}
    return {"type": "user", "message": {"role": "user", "content": [block]}}


def shown(capsys: pytest.CaptureFixture[str], *logs: Path) -> dict[str, Any]:
    assert run(["show", *map(str, logs), "--facts", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_response_in_two_logs_counts_once_in_the_total(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """BC-018"""
    case = next(c for c in map(json.loads, CASES.read_text().splitlines()) if c["id"] == "BC-018")
    logs = []
    for file in case["input"]["files"]:
        logs.append(tmp_path / Path(file["name"]).name)
        logs[-1].write_text("\n".join(file["lines"]) + "\n")
    found = shown(capsys, *logs)
    total, second = found["total"]["tokens"], found["files"][1]
    assert (total["input"], total["cacheRead"], total["output"]) == (15, 100, 57)
    assert (second["tokens"]["input"], second["tokens"]["output"], second["inheritedMessages"]) == (5, 7, 1)
    assert (found["total"]["assistantMessages"], found["total"]["sessions"]) == (2, ["s1", "s2"])


@pytest.mark.parametrize("turned", [False, True])
def test_a_copied_call_and_its_end_count_in_the_log_that_began_first(tmp_path: Path, turned: bool) -> None:
    call_id = "toolu_01ABCDEFGHIJKLMNOPQ"
    old, new = tmp_path / "z-old.jsonl", tmp_path / "a-new.jsonl"
    copied = [
        answer("msg_01A", {"type": "thinking", "thinking": "hm"}),
        answer("msg_01A", call(call_id)),
        result(call_id),
    ]
    old.write_text(claude("s1", *copied))
    later = {"timestamp": "2026-01-11T09:00:00.000Z"}
    new.write_text(
        claude("s2", *({**record, **later} for record in copied), answer("msg_01B", {"type": "text", "text": "x"}))
    )
    found = facts_of_several([new, old] if turned else [old, new])
    files = {Path(file["file"]).name: file for file in found["files"]}
    for name, counts in (("z-old.jsonl", (1, 1, 1, 1, 0)), ("a-new.jsonl", (0, 0, 0, 1, 1))):
        keys = ("toolCallCount", "failed", "subAgentCalls", "assistantMessages", "inheritedMessages")
        assert tuple(files[name][key] for key in keys) == counts
    assert (found["total"]["toolCallCount"], found["total"]["assistantMessages"]) == (1, 2)


def test_a_fork_that_says_so_counts_nothing_of_what_it_copied(tmp_path: Path) -> None:
    log, mark = tmp_path / "s2.jsonl", {"forkedFrom": {"sessionId": "s1", "messageUuid": "u"}}
    copied = [{**answer("msg_1", call("t1"), tokens=9), **mark}, {**result("t1"), **mark}]
    log.write_text(claude("s2", *copied, answer("msg_2", {"type": "text", "text": "x"})))
    found = facts_of(log)
    assert (found["toolCallCount"], found["failed"], found["subAgentCalls"], found["assistantMessages"]) == (0, 0, 0, 1)
    assert (found["tokens"]["output"], found["inheritedMessages"]) == (1, 1)


def test_logs_that_share_nothing_come_to_their_sum() -> None:
    logs = [SAMPLES / "claude-code" / "omp-22523a.jsonl", *sorted((SAMPLES / "codex").glob("eg-*.jsonl"))]
    alone, found = [facts_of(log) for log in logs], facts_of_several(logs)
    assert [{k: v for k, v in file.items() if k != "file"} for file in found["files"]] == alone
    added = ("failed", "userTurns", "assistantMessages", "subAgentCalls", "toolCallCount", "records", "bytes")
    assert {key: found["total"][key] for key in added} == {key: sum(one[key] for one in alone) for key in added}
    assert found["total"]["firstTime"] == min(one["firstTime"] for one in alone)
    assert found["total"]["tokens"]["input"] == sum(one["tokens"]["input"] for one in alone)


def test_an_earlier_and_a_later_state_of_one_session_count_as_the_later() -> None:
    early, late = (SAMPLES / "claude-code" / f"omp-{name}.jsonl" for name in ("52ce42", "5f7d11"))
    found, whole = facts_of_several([early, late])["total"], facts_of(late)
    for key in ("tokensByModel", "toolCalls", "assistantMessages", "userTurns", "failed"):
        assert found[key] == whole[key]


def test_several_sessions_are_shown_together_as_facts_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "a", "b"]) == 1
    assert "one session at a time" in capsys.readouterr().err
