"""The Agent Client Protocol: chunks, calls, permissions, of one direction or both."""

from __future__ import annotations

from typing import Any

import pytest


def update(kind: str, /, **more: Any) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": "s1", "update": {"sessionUpdate": kind, **more}},
    }


def chunk(said: str, kind: str = "agent_message_chunk", /, **more: Any) -> dict[str, Any]:
    return update(kind, content={"type": "text", "text": said}, **more)


def ask(own: int, call: str, **more: Any) -> dict[str, Any]:
    kinds = {"x1": "allow_once", "x2": "allow_always", "x3": "reject_once", "x4": "reject_always"}
    options = [{"optionId": o, "name": o, "kind": k} for o, k in kinds.items()]
    tool = {"toolCallId": call, "title": "rm", "kind": "delete", **more}
    return {
        "jsonrpc": "2.0",
        "id": own,
        "method": "session/request_permission",
        "params": {"sessionId": "s1", "toolCall": tool, "options": options},
    }


def answer(own: int, option: str | None) -> dict[str, Any]:
    outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
    return {"jsonrpc": "2.0", "id": own, "result": {"outcome": outcome}}


def prompt(said: str, own: int = 3) -> dict[str, Any]:
    blocks = [{"type": "text", "text": said}, {"type": "resource_link", "uri": "file:///a"}]
    return {"jsonrpc": "2.0", "id": own, "method": "session/prompt", "params": {"sessionId": "s1", "prompt": blocks}}


def test_chunks_are_joined_until_something_else_comes(read) -> None:
    found = read(
        [
            chunk("Hel"),
            chunk("lo."),
            chunk("hm", "agent_thought_chunk"),
            update("tool_call", toolCallId="t", kind="read", status="in_progress"),
            chunk("Bye"),
        ]
    )
    assert [event.text for event in found.of("message.assistant")] == ["Hello.", "Bye"]
    assert [event.text for event in found.of("message.reasoning")] == ["hm"]


def test_a_prompt_is_a_turn_and_names_what_was_attached(read) -> None:
    (said,) = read([prompt("look")]).of("message.user")
    assert (said.text, said.injected) == ("look\n[resource_link file:///a]", None)


def test_a_text_and_the_calls_behind_it_are_one_response_and_those_after_a_result_another(read) -> None:
    made = [prompt("x"), chunk("one"), update("tool_call", toolCallId="a", kind="read", status="in_progress")]
    ended = [update("tool_call_update", toolCallId="a", status="completed"), chunk("two")]
    assert read([*made, *ended]).facts.assistant_messages == 2


def test_a_permission_can_be_the_first_that_tells_of_a_call(read) -> None:
    change = [{"type": "diff", "path": "/a", "oldText": "x\n", "newText": "y\n"}]
    found = read(
        [ask(0, "t1", kind="edit", content=change), update("tool_call_update", toolCallId="t1", status="completed")]
    )
    (intent,) = found.of("tool.intent")
    assert (intent.tool, intent.raw_input["changes"]) == ("edit", [{"path": "/a"}])
    assert found.outcome.inline_diff == "--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"
    assert found.outcome.side_effects[0].path == "/a"


@pytest.mark.parametrize(
    ("option", "said", "scope", "code"),
    [
        ("x1", "allow", "once", "tool_error"),
        ("x2", "allow", "session", "tool_error"),
        ("x3", "deny", "once", "user_denied"),
        ("x4", "deny", "session", "user_denied"),
        (None, None, None, "cancelled"),
    ],
)
def test_answers_are_read_by_the_kind_of_the_option(
    read, option: str | None, said: str | None, scope: str | None, code: str
) -> None:
    found = read([ask(5, "t1"), answer(5, option), update("tool_call_update", toolCallId="t1", status="failed")])
    assert [(e.answer, e.scope) for e in found.of("tool.permission.answered")] == ([(said, scope)] if said else [])
    assert found.outcome.code == code


def test_a_refused_call_of_which_the_agent_says_nothing_more_is_closed_with_the_turn(read) -> None:
    found = read([ask(0, "t1"), answer(0, "x3"), {"jsonrpc": "2.0", "id": 3, "result": {"stopReason": "end_turn"}}])
    assert (found.outcome.code, found.facts.denied) == ("user_denied", 1)


def test_ids_of_the_two_directions_that_collide_are_told_apart(read) -> None:
    found = read(
        [
            prompt("x", own=0),
            ask(0, "t1"),
            answer(0, "x1"),
            {"jsonrpc": "2.0", "id": 0, "result": {"stopReason": "cancelled"}},
        ]
    )
    assert [event.answer for event in found.of("tool.permission.answered")] == ["allow"]
    assert dict(found.facts.boundaries) == {"interrupted": 1}


@pytest.mark.parametrize("said", ["User refused permission to run tool", 'Tool "x" was canceled by the user.'])
def test_without_the_client_s_half_a_refusal_is_read_from_the_agent_s_words(read, said: str) -> None:
    content = [{"type": "content", "content": {"type": "text", "text": f"```\n{said}\n```"}}]
    found = read([ask(0, "t1"), update("tool_call_update", toolCallId="t1", status="failed", content=content)])
    assert (found.outcome.code, found.outcome.summary) == ("user_denied", said)


@pytest.mark.parametrize(
    "raw", [{"exit_code": 3, "duration": {"secs": 1, "nanos": 5e8}}, {"metadata": {"exit": 3}, "durationMs": 1500}]
)
def test_exit_code_and_time_are_read_from_the_raw_output(read, raw: dict[str, Any]) -> None:
    found = read([update("tool_call", toolCallId="t", kind="execute", status="in_progress", rawInput={"command": "x"}),
                  update("tool_call_update", toolCallId="t", status="completed", rawOutput=raw)])  # fmt: skip
    (ended,) = found.of("tool.invocation.completed")
    assert (ended.exit_code, ended.duration_ms, found.outcome.code) == (3, 1500, "exit_nonzero")


def test_the_agent_s_own_name_of_a_tool_is_kept_and_its_input_waited_for(read) -> None:
    meta = {"claudeCode": {"toolName": "Bash"}}
    found = read([update("tool_call", toolCallId="t", kind="execute", status="pending", rawInput={}, _meta=meta),
                  update("tool_call_update", toolCallId="t", rawInput={"command": "ls"})])  # fmt: skip
    (intent,) = found.of("tool.intent")
    assert (intent.tool, intent.raw_input) == ("Bash", {"command": "ls"})


def test_history_that_is_sent_again_on_a_load_is_inherited(read) -> None:
    load = {"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": {"sessionId": "s1", "cwd": "/w"}}
    found = read([load, chunk("old", "user_message_chunk"), chunk("yes"), prompt("new")])
    assert (found.facts.user_turns, found.facts.inherited, found.facts.cwd) == (1, 1, "/w")


def test_a_running_total_of_cost_is_told_as_what_came_to_it(read) -> None:
    found = read(
        [update("usage_update", used=1, size=2, cost={"amount": a, "currency": "USD"}) for a in (0.5, 0.5, 0.75)]
    )
    assert found.facts.cost_usd == pytest.approx(0.75)


def test_a_recorder_s_notes_around_a_frame_give_its_time(read) -> None:
    found = read(
        [{"dir": "in", "t": 1796028511.95, "m": chunk("x")}, {"dir": "out", "t": 1796028512.0, "m": prompt("y")}]
    )
    assert found.facts.first.startswith("2026-11-30T08:48:31.95")
