"""What `codex exec --json` prints, in both of its forms, and the one document of the first client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from interlock.runtime.sources.foreign.reading import facts_of
from interlock.runtime.sources.foreign.registry import detect


def item(when: str, kind: str, own: str, **more: Any) -> dict[str, Any]:
    return {"type": f"item.{when}", "item": {"id": own, "type": kind, **more}}


def done(used: int, made: int, cached: int = 0) -> dict[str, Any]:
    usage = {"input_tokens": used, "cached_input_tokens": cached, "output_tokens": made}
    return {"type": "turn.completed", "usage": usage}


BEGIN = [{"type": "thread.started", "thread_id": "0199a213"}, {"type": "turn.started"}]


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_the_stream_is_found_by_its_lines_alone(tmp_path: Path) -> None:
    known, framing = detect(written(tmp_path / "out.txt", *BEGIN))
    assert (known.kind, framing) == ("codex", "lines")
    later = written(tmp_path / "later", item("completed", "agent_message", "item_0", text="hi"))
    assert detect(later)[0].kind == "codex"


def test_a_command_that_was_begun_is_one_call_with_its_exit_code(read) -> None:
    command = {"command": "pytest -q", "aggregated_output": "", "exit_code": None, "status": "in_progress"}
    over = {**command, "aggregated_output": "..F\n", "exit_code": 1, "status": "failed"}
    found = read([*BEGIN, item("started", "command_execution", "item_0", **command),
                  item("completed", "command_execution", "item_0", **over)])  # fmt: skip
    (intent,) = found.of("tool.intent")
    assert (intent.tool, intent.raw_input) == ("exec_command", {"command": "pytest -q"})
    assert (found.outcome.code, found.outcome.content) == ("exit_nonzero", "..F\n")
    assert found.of("tool.invocation.completed")[0].exit_code == 1


def test_a_command_that_only_ended_and_one_that_was_declined_are_calls_too(read) -> None:
    ended = item("completed", "command_execution", "item_0", command="ls", aggregated_output="a\n", exit_code=0,
                 status="completed")  # fmt: skip
    no = item("completed", "command_execution", "item_1", command="rm x", exit_code=-1, status="declined")
    found = read([*BEGIN, ended, no])
    assert [o.code for o in found.of("tool.observation")] == ["ok", "user_denied"]
    assert (found.facts.calls["exec_command"], found.facts.denied) == (2, 1)


def test_changes_of_files_say_which_were_made_and_which_failed(read) -> None:
    changes = [{"path": "a.py", "kind": "update"}, {"path": "b.md", "kind": "add"}]
    found = read([*BEGIN, item("completed", "file_change", "item_0", changes=changes, status="completed"),
                  item("completed", "file_change", "item_1", changes=changes[:1], status="failed")])  # fmt: skip
    good, bad = found.of("tool.observation")
    assert [(e.kind, e.path) for e in good.side_effects] == [("file.changed", "a.py"), ("file.created", "b.md")]
    assert (bad.ok, list(bad.side_effects)) == (False, [])


def test_tools_of_servers_searches_and_agents_have_their_names_and_ends(read) -> None:
    call = {"server": "github", "tool": "search", "arguments": {"q": "x"}}
    ok = {"result": {"content": [{"type": "text", "text": "3 found"}]}, "error": None, "status": "completed"}
    bad = {"result": None, "error": {"message": "tool timeout"}, "status": "failed"}
    spawn = {"tool": "spawn_agent", "prompt": "look", "receiver_thread_ids": ["t2"], "status": "completed"}
    found = read([*BEGIN, item("completed", "mcp_tool_call", "i0", **call, **ok),
                  item("completed", "mcp_tool_call", "i1", **call, **bad),
                  item("completed", "web_search", "i2", query="codex"),
                  item("completed", "web_search", "i3", query="codex"),
                  item("started", "collab_tool_call", "i4", **{**spawn, "receiver_thread_ids": []}),
                  item("completed", "collab_tool_call", "i4", **spawn)])  # fmt: skip
    assert found.facts.calls == {"mcp__github__search": 2, "web_search": 2, "spawn_agent": 1}
    assert found.facts.failed == 1
    assert [o.content for o in found.of("tool.observation")][:2] == ["3 found", "tool timeout"]
    assert (found.facts.sub_agents, found.of("agent.spawned")[0].child) == (1, "t2")


def test_words_faults_and_totals_count_once_and_what_is_new_is_kept(read) -> None:
    records = [*BEGIN, item("completed", "reasoning", "i0", text="hm"), item("started", "todo_list", "i1", items=[]),
               item("completed", "agent_message", "i2", text="done"), item("completed", "error", "i3", message="cut"),
               done(100, 7, 40), {"type": "turn.started"}, item("completed", "future_item", "i4"), done(150, 9, 60),
               {"type": "turn.failed", "error": {"message": "gone"}}]  # fmt: skip
    found = read(records)
    usage = found.facts.usage[""]
    assert (usage.input, usage.output, usage.cache_read) == (150, 9, 60)
    assert (found.facts.assistant_messages, found.facts.boundaries["error"]) == (1, 2)
    assert (found.tally.unknown, found.tally.records) == (1, len(records))


def test_the_older_form_has_events_beside_an_id(tmp_path: Path) -> None:
    def beside(kind: str, **more: Any) -> dict[str, Any]:
        return {"id": "0", "msg": {"type": kind, **more}}

    usage = {"input_tokens": 5, "output_tokens": 2}
    path = written(
        tmp_path / "old.jsonl",
        {"model": "gpt-5", "workdir": "/w", "provider": "openai"},
        {"prompt": "do it"},
        beside("session_configured", session_id="s1", model="gpt-5"),
        beside("task_started"),
        beside("exec_command_begin", call_id="c", command=["ls"], cwd="/w"),
        beside("exec_command_end", call_id="c", stdout="a\n", stderr="", exit_code=0, duration={"secs": 1, "nanos": 0}),
        beside("agent_message", message="done"),
        beside("token_count", info={"total_token_usage": usage}),
        beside("future"),
    )
    facts = facts_of(path)
    assert (facts["format"], facts["session"], facts["cwd"]) == ("codex", "s1", "/w")
    assert (facts["userTurns"], facts["assistantMessages"], facts["toolCalls"]) == (1, 1, {"exec_command": 1})
    assert (facts["toolResults"], facts["failed"], facts["unknownRecords"]) == (1, 0, 1)
    assert facts["tokensByModel"]["gpt-5"]["input"] == 5


def test_the_document_of_the_first_client_is_read_as_a_rollout(tmp_path: Path) -> None:
    head = {"id": "s1", "timestamp": "2025-05-01T10:00:00Z", "instructions": "x"}
    asked = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "show it"}]}
    call = {"type": "local_shell_call", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}}
    output = {"type": "local_shell_call_output", "call_id": "c", "output": '{"output":"a","metadata":{"exit_code":2}}'}
    path = tmp_path / "rollout.json"
    path.write_text(json.dumps({"session": head, "items": [asked, call, output, {"type": "odd"}]}, indent=2))
    facts = facts_of(path)
    assert (facts["format"], facts["session"], facts["firstTime"]) == ("codex", "s1", "2025-05-01T10:00:00.000000Z")
    assert (facts["userTurns"], facts["toolCalls"], facts["failed"]) == (1, {"local_shell": 1}, 1)


def test_a_head_without_a_time_around_it_is_one(tmp_path: Path) -> None:
    path = written(
        tmp_path / "r.jsonl",
        {"type": "session_meta", "payload": {"id": "s1", "cwd": "/w", "timestamp": "2026-01-01T00:00:00Z"}},
        {"type": "response_item", "payload": {"type": "function_call", "call_id": "c", "name": "Read"}},
    )
    facts = facts_of(path)
    assert (facts["session"], facts["toolCallCount"], facts["firstTime"]) == ("s1", 1, "2026-01-01T00:00:00.000000Z")
