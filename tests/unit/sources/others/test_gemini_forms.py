"""Gemini CLI's saved checkpoints, and the stream of `--output-format stream-json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.foreign.reading import open_log

CONTEXT = "This is the Gemini CLI. We are setting up the context for our chat."


def content(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args}}


def answer(name: str, **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response}}


SAVED = [
    content("user", {"text": CONTEXT}),
    content("model", {"text": "Got it."}),
    content("user", {"text": "list it"}, {"inlineData": {"mimeType": "image/png", "data": "x"}}),
    content("model", {"text": "hm", "thought": True}, {"text": "I look."}, call("ls", path="a"), call("ls", path="b")),
    content("user", answer("ls", output="a.py"), answer("ls", error="no such folder")),
    content("model", {"text": "done"}),
]


@pytest.mark.parametrize("wrap", [lambda rows: rows, lambda rows: {"history": rows, "authType": "x"}])
def test_a_checkpoint_tells_turns_calls_and_their_results_in_order(read_path, tmp_path: Path, wrap) -> None:
    path = tmp_path / "checkpoint-x.json"
    path.write_text(json.dumps(wrap(SAVED)))
    found = read_path(path)
    assert (found.kind, found.facts.user_turns, found.facts.injected) == ("gemini", 1, 1)
    assert (found.facts.assistant_messages, dict(found.facts.calls)) == (3, {"ls": 2})
    assert [e.text for e in found.of("message.user")][1] == "list it\n[image/png]"
    assert [e.text for e in found.of("message.reasoning")] == ["hm"]
    first, second = found.of("tool.observation")
    asked = {e.intent_id: e.raw_input for e in found.of("tool.intent")}
    assert (asked[first.intent_id], first.ok, first.content) == ({"path": "a"}, True, "a.py")
    assert (asked[second.intent_id], second.ok) == ({"path": "b"}, False)


def test_a_checkpoint_that_is_saved_again_tells_what_is_new_and_what_was_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint-x.json"
    path.write_text(json.dumps(SAVED[:4]))
    log = open_log(path, session="s")
    assert [e.type for e in log.events()].count("tool.intent") == 2
    path.write_text(json.dumps(SAVED))
    assert [e.type for e in log.events()] == [
        "tool.observation",
        "tool.observation",
        "message.assistant",
        "foreign.record",
    ]
    path.write_text(json.dumps(SAVED[:2]))
    assert [e.type for e in log.events()] == ["session.boundary", "foreign.record"]


@pytest.mark.parametrize("odd", [{"parts": [{"text": "x"}]}, {"role": "tool"}, {"role": 5, "parts": 5}])
def test_a_content_of_an_unknown_role_is_told_as_unknown_wherever_it_stands(
    read_path, tmp_path: Path, odd: dict[str, Any]
) -> None:
    path = tmp_path / "checkpoint-x.json"
    path.write_text(json.dumps([*SAVED, *SAVED, odd, content("model", {"text": "still here"})]))
    found = read_path(path)
    assert [e.reason for e in found.of("foreign.unknown")] == ["unknown role"]
    assert found.of("message.assistant")[-1].text == "still here"


def line(kind: str, second: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "timestamp": f"2026-01-10T09:00:{second:02}.000Z", **more}


STREAM = [
    line("init", 0, session_id="s1", model="gemini-3"),
    line("message", 1, role="user", content="do it"),
    line("tool_use", 2, tool_name="shell", tool_id="t1", parameters={"command": "ls"}),
    line("tool_result", 3, tool_id="t1", status="success", output="a"),
    line("tool_use", 4, tool_name="read", tool_id="t2", parameters={}),
    line("tool_result", 5, tool_id="t2", status="error", error={"type": "x", "message": "not found"}),
    line("message", 6, role="assistant", content="It is ", delta=True),
    line("message", 7, role="assistant", content="done.", delta=True),
    line("error", 8, severity="warning", message="slow"),
    line("error", 9, severity="error", message="gone"),
    line("result", 10, status="success", stats={"input_tokens": 90, "output_tokens": 7, "cached": 40, "tool_calls": 2}),
]


def test_the_stream_tells_turns_calls_one_message_of_all_pieces_and_the_sum(read) -> None:
    found = read(STREAM)
    facts = found.facts
    assert (found.kind, facts.sessions, facts.user_turns, facts.assistant_messages) == ("gemini", ["s1"], 1, 1)
    assert (dict(facts.calls), facts.ended, facts.failed) == ({"shell": 1, "read": 1}, 2, 1)
    assert [e.text for e in found.of("message.assistant")] == ["It is done."]
    usage = facts.usage["gemini-3"]
    assert (usage.input, usage.output, usage.cache_read) == (90, 7, 40)
    assert dict(facts.boundaries) == {"error": 1}
    assert (facts.first, facts.last) == ("2026-01-10T09:00:00.000000Z", "2026-01-10T09:00:10.000000Z")


def test_a_stream_that_ends_within_an_answer_tells_what_came(read) -> None:
    found = read(STREAM[:8])
    assert found.tally.records == 8
    stats = {"models": {"a": {"input_tokens": 5, "output_tokens": 1}, "b": {"input_tokens": 2, "output_tokens": 1}}}
    by_model = read([*STREAM[:2], line("result", 3, status="error", error={"message": "no"}, stats=stats)]).facts
    assert {model: usage.input for model, usage in by_model.usage.items()} == {"a": 5, "b": 2}
    assert by_model.boundaries["error"] == 1
