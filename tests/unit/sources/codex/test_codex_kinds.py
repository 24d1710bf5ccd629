"""Kinds of record that were counted wrongly once: what each comes to in the facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.foreign.reading import facts_of


def record(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-06-01T10:00:00.000Z", "type": kind, "payload": payload}


def event(kind: str, /, **fields: Any) -> dict[str, Any]:
    return record("event_msg", {"type": kind, **fields})


def item(kind: str, /, **fields: Any) -> dict[str, Any]:
    return record("response_item", {"type": kind, **fields})


def head(**fields: Any) -> dict[str, Any]:
    return record("session_meta", {"id": "01997ea4", "cwd": "/w", "cli_version": "0.136.0", **fields})


def facts(folder: Path, *records: dict[str, Any]) -> dict[str, Any]:
    log = folder / "rollout.jsonl"
    log.write_text("".join(json.dumps(r) + "\n" for r in (head(), *records)))
    return facts_of(log)


def called(output: Any, name: str = "exec_command") -> list[dict[str, Any]]:
    return [
        item("function_call", name=name, arguments="{}", call_id="c1"),
        item("function_call_output", call_id="c1", output=output),
    ]


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("tool call error: user rejected MCP tool call", "denied"),
        ('err: "user cancelled MCP tool call"', "denied"),
        ("tool call error: the server is gone", "failed"),
        ("command timed out after 1000 milliseconds\n", "failed"),
        ("Wall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nuser rejected MCP tool call", ""),
    ],
)
def test_what_a_call_came_to(tmp_path: Path, output: str, kind: str) -> None:
    found = facts(tmp_path, *called(output))
    assert {name: found[name] for name in ("denied", "failed") if found[name]} == ({kind: 1} if kind else {})


def test_a_picture_without_words_is_one_turn(tmp_path: Path) -> None:
    picture = item("message", role="user", content=[{"type": "input_image", "image_url": "data:"}])
    found = facts(tmp_path, picture, event("user_message", message="", images=["x"]))
    assert (found["userTurns"], found["injectedMessages"]) == (1, 0)


@pytest.mark.parametrize("turned", [False, True])
def test_a_message_that_is_a_plan_alone_is_one_message(tmp_path: Path, turned: bool) -> None:
    told = [
        event("item_completed", item={"type": "Plan", "id": "p", "text": "# plan"}),
        item(
            "message",
            role="assistant",
            content=[{"type": "output_text", "text": "<proposed_plan># plan</proposed_plan>"}],
        ),
    ]
    assert facts(tmp_path, *(told[::-1] if turned else told))["assistantMessages"] == 1


@pytest.mark.parametrize("output", ["collab spawn failed: agent thread limit reached", '{"agent_id":"019a"}'])
def test_every_call_for_a_sub_agent_counts_whatever_came_of_it(tmp_path: Path, output: str) -> None:
    assert facts(tmp_path, *called(output, "spawn_agent"))["subAgentCalls"] == 1


def test_a_script_counts_for_each_agent_that_it_started(tmp_path: Path) -> None:
    started = [
        event("sub_agent_activity", event_id=f"exec-{n}", kind="started", agent_thread_id=f"child-{n}") for n in (1, 2)
    ]
    script = item("custom_tool_call", name="exec", call_id="c1", input="…")
    assert facts(tmp_path, script, *started)["subAgentCalls"] == 2


def test_words_that_are_no_version_change_none(tmp_path: Path) -> None:
    found = facts(tmp_path, event("agent_message", message="x"), head(cli_version="[trimmed for fixture]"))
    assert (found["versions"], found["boundaries"]) == (["0.136.0"], {"resumed": 1})
