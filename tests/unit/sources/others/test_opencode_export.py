"""Exports of opencode: ids that were blacked out, and a stop of the person's that two places tell of."""

from __future__ import annotations

from typing import Any

STOPPED = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}


def message(role: str, *parts: dict[str, Any], own: str = "REDACTED", **more: Any) -> dict[str, Any]:
    info = {"id": own, "role": role, "sessionID": "ses_1", "time": {"created": 1, "completed": 2}, **more}
    return {"info": info, "parts": [{"id": "REDACTED", "messageID": own, **part} for part in parts]}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words, "time": {"start": 1, "end": 2}}


def tool(name: str, status: str = "completed", **state: Any) -> dict[str, Any]:
    told = {"status": status, "input": {}, "output": "x", "time": {"start": 1, "end": 2}, **state}
    return {"type": "tool", "tool": name, "callID": "REDACTED", "state": told}


def step(count: int) -> dict[str, Any]:
    tokens = {"input": count, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    return {"type": "step-finish", "reason": "stop", "cost": 0, "tokens": tokens}


def export(*messages: dict[str, Any]) -> dict[str, Any]:
    info = {"id": "ses_1", "version": "1.2.20", "directory": "/w", "time": {"created": 1, "updated": 2}}
    return {"info": info, "messages": list(messages)}


def test_messages_parts_and_calls_whose_ids_were_blacked_out_are_each_their_own(read) -> None:
    """As in sessions that Entire stores: each id is the same mark."""
    found = read(
        export(
            message("user", text("go")),
            message("assistant", tool("read"), tool("read"), step(10), modelID="m"),
            message("assistant", tool("bash"), text("done"), step(20), modelID="m"),
            message("user", text("more")),
        )
    )
    facts = found.facts
    assert facts.calls == {"read": 2, "bash": 1}
    assert (facts.ended, facts.user_turns, facts.assistant_messages) == (3, 2, 2)
    assert (facts.usage["m"].input, facts.usage["m"].output) == (30, 2)


def test_a_stop_that_interrupted_a_call_is_one_interrupt(read) -> None:
    aborted = tool("bash", "error", error="Tool execution aborted", metadata={"interrupted": True})
    found = read(export(message("user", text("go")), message("assistant", aborted, error=STOPPED)))
    assert found.facts.interrupted == 1
    assert not found.of("session.boundary")


def test_a_stop_between_calls_is_an_interrupt_of_its_own(read) -> None:
    found = read(export(message("user", text("go")), message("assistant", tool("bash"), error=STOPPED)))
    assert found.facts.interrupted == 1
    (boundary,) = found.of("session.boundary")
    assert boundary.text == "The operation was aborted."
