"""Whose log it is: shapes that are near to one another, and shapes that nobody claims."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.foreign.reading import facts_of
from interlock.runtime.sources.foreign.registry import UnknownFormat, detect

STAMP = "2026-01-10T09:00:00Z"


def log(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("claude_code", {"type": "user", "message": {"content": [{"type": "text", "text": "hi"}]}}),
        (
            "claude_code",
            {"timestamp": STAMP, "sessionId": "s", "message": {"role": "assistant", "usage": {"input_tokens": 1}}},
        ),
        ("claude_code", {"timestamp": STAMP, "message": {"role": "user", "content": "hi"}}),
        (
            "claude_code",
            {"type": "future", "uuid": "u", "parentUuid": None, "sessionId": "s", "version": "3", "timestamp": STAMP},
        ),
        ("copilot_cli", {"type": "session.start", "data": {"sessionId": "s", "copilotVersion": "1"}}),
        ("codex", {"type": "session_meta", "payload": {"id": "s"}}),
        ("pi", {"type": "session", "id": "s", "timestamp": STAMP, "cwd": "/w"}),
        ("gemini", {"sessionId": "s", "messages": [{"type": "user", "content": "hi"}, {"type": "gemini"}]}),
    ],
)
def test_a_log_with_little_in_it_is_its_agent_s(tmp_path: Path, kind: str, record: dict[str, Any]) -> None:
    assert detect(log(tmp_path / "log", record))[0].kind == kind


@pytest.mark.parametrize(
    "records",
    [
        # another agent's, whose first record is near to one of pi's
        [{"type": "session", "version": 0, "id": "s", "createdAt": 1, "cwd": "/w"}, {"type": "turn/start", "seq": 1}],
        [{"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}}],
        [{"role": "user", "content": "hi"}],
        [{"type": "error", "message": "no"}],
        [{"sessionId": "s", "messages": [{"role": "user"}]}],
    ],
)
def test_a_log_of_an_agent_that_is_not_known_is_nobody_s(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    with pytest.raises(UnknownFormat, match="no log that can be read"):
        detect(log(tmp_path / "log", *records))


@pytest.mark.parametrize("odd", [[], {}, [[]], 5, None])
@pytest.mark.parametrize(
    "record",
    [
        lambda odd: {"type": "response_item", "payload": {"type": odd}},
        lambda odd: {"sessionId": "s", "messages": [{"type": odd}]},
        lambda odd: {"type": odd, "payload": {}, "data": {}},
        lambda odd: {"id": "1", "msg": {"type": odd}},
        lambda odd: {"type": "item.completed", "item": {"type": odd}},
        lambda odd: {"message": {"role": odd, "usage": {}}, "timestamp": STAMP},
        lambda odd: {"loglines": [odd], "history": [{"role": odd, "parts": odd}], "role": odd},
        lambda odd: {"session": {}, "items": [{"type": odd}]},
    ],
)
def test_a_field_of_an_odd_type_is_claimed_or_refused_and_breaks_nothing(tmp_path: Path, record: Any, odd: Any) -> None:
    with contextlib.suppress(UnknownFormat):
        detect(log(tmp_path / "log", record(odd)))


def test_the_document_of_a_session_of_the_web_is_read_line_by_line(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "ok"}
    lines = [
        {"type": "user", "timestamp": STAMP, "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [call]}},
        {"type": "user", "message": {"role": "user", "content": [result]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]}},
    ]
    path = tmp_path / "web.json"
    path.write_text(json.dumps({"loglines": lines}, indent=1))
    facts = facts_of(path)
    assert (facts["format"], facts["userTurns"], facts["assistantMessages"]) == ("claude_code", 1, 2)
    assert (facts["toolCalls"], facts["toolResults"]) == ({"Write": 1}, 1)
