"""The context of the older Kimi command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.runtime.sources.foreign.registry import UnknownFormat


def call(own: str, command: str) -> dict[str, Any]:
    return {"id": own, "type": "function", "function": {"name": "Shell", "arguments": json.dumps({"command": command})}}


ROWS = [
    {"role": "_system_prompt", "content": "You are …"},
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": "look"},
    {"role": "user", "content": [{"type": "text", "text": "<system>CHECKPOINT 0</system>"}]},
    {"role": "_usage", "token_count": 120},
    {
        "role": "assistant",
        "content": [{"type": "think", "think": "hm"}, {"type": "text", "text": "I look."}],
        "tool_calls": [call("t1", "ls"), call("t2", "false")],
    },
    {"role": "tool", "tool_call_id": "t1", "content": "a.py"},
    {"role": "tool", "tool_call_id": "t2", "content": [{"type": "text", "text": "<system>ERROR: it failed</system>"}]},
    {"role": "assistant", "content": "done"},
]


def test_a_context_tells_turns_answers_calls_and_their_results(read) -> None:
    found = read(ROWS)
    facts = found.facts
    assert (found.kind, facts.user_turns, facts.injected, facts.assistant_messages) == ("kimi", 1, 1, 2)
    assert (dict(facts.calls), facts.ended, facts.failed, dict(facts.usage)) == ({"Shell": 2}, 2, 1, {})
    assert found.of("tool.intent")[0].raw_input == {"command": "ls"}
    assert [e.text for e in found.of("message.assistant")] == ["I look.", "done"]
    assert [e.text for e in found.of("message.reasoning")] == ["hm"]
    assert (found.tally.records, found.tally.kept, found.tally.unknown) == (9, 2, 0)


def test_a_role_that_is_new_is_kept_and_messages_alone_are_nobody_s(read) -> None:
    assert read([*ROWS, {"role": "_later"}]).tally.unknown == 1
    with pytest.raises(UnknownFormat):
        read(ROWS[2:3])
