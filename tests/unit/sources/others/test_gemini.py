"""Gemini CLI: the patch log, the rewritten document, and where its sessions lie."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.foreign.reading import all_events, open_log
from interlock.runtime.sources.gemini.home import GeminiHome

HEAD = {"sessionId": "s-1", "projectHash": "h", "startTime": "2026-01-10T09:00:00.000Z", "kind": "main"}


def message(own: str, kind: str, content: Any = "", second: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": own, "timestamp": f"2026-01-10T09:00:{second:02}.000Z", "type": kind, "content": content, **more}


def call(own: str, name: str, status: str, said: dict[str, Any], **more: Any) -> dict[str, Any]:
    response = {"functionResponse": {"id": own, "name": name, "response": said}}
    return {"id": own, "name": name, "args": {"command": "x"}, "status": status, "result": [response],
            "timestamp": "2026-01-10T09:00:09.000Z", **more}  # fmt: skip


def test_a_message_that_is_written_again_with_its_calls_is_one_message(read) -> None:
    first = message("g", "gemini", "so", tokens={"input": 10, "output": 2, "cached": 4}, model="m")
    found = read([HEAD, first, {**first, "toolCalls": [call("c", "ls", "success", {"output": "x"})]}])
    assert (found.facts.assistant_messages, found.facts.calls.total(), found.facts.tokens().input) == (1, 1, 10)
    assert len(found.of("message.assistant")) == 1


@pytest.mark.parametrize(
    ("status", "said", "code"),
    [
        ("success", {"output": "x"}, "ok"),
        ("success", {"output": "Output: no\nExit Code: 3"}, "exit_nonzero"),
        ("error", {"error": "File not found"}, "tool_error"),
        ("error", {"error": 'Tool "x" was canceled by the user.'}, "user_denied"),
        ("cancelled", {"error": "[Operation Cancelled] Reason: User did not allow tool call"}, "user_denied"),
        ("cancelled", {"error": "[Operation Cancelled] Reason: User cancelled the operation."}, "cancelled"),
        ("error", {"error": "Tool execution blocked: no"}, "policy_denied"),
        ("error", {"error": "Tool execution denied by policy."}, "policy_denied"),
        (
            "error",
            {"error": "requires user confirmation, which is not supported in non-interactive mode."},
            "policy_denied",
        ),
    ],
)
def test_every_end_of_a_call_is_told_apart(read, status: str, said: dict[str, Any], code: str) -> None:
    found = read([HEAD, message("g", "gemini", toolCalls=[call("c", "run_shell_command", status, said)])])
    assert found.outcome.code == code
    assert found.outcome.ok is (code == "ok")


@pytest.mark.parametrize("status", ["validating", "scheduled", "executing", "awaiting_approval"])
def test_a_call_without_an_end_stays_open(read, status: str) -> None:
    found = read([HEAD, message("g", "gemini", toolCalls=[call("c", "ls", status, {})])])
    assert (len(found.of("tool.intent")), len(found.of("tool.observation"))) == (1, 0)


def test_an_edit_carries_its_diff_and_what_it_changed(read) -> None:
    shown = {"fileDiff": "Index: a\n--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n", "filePath": "/w/a", "isNewFile": False,
             "diffStat": {"model_added_lines": 1, "user_added_lines": 2, "model_removed_lines": 1}}  # fmt: skip
    edit = call("c", "replace", "success", {"output": "done"}, resultDisplay=shown)
    found = read([HEAD, message("g", "gemini", toolCalls=[edit])]).outcome
    (effect,) = found.side_effects
    assert found.inline_diff == shown["fileDiff"]
    assert (effect.kind, effect.path, effect.added, effect.removed) == ("file.changed", "/w/a", 3, 1)


def test_an_output_that_was_cut_names_the_file_that_has_it_whole(read) -> None:
    said = "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /t/out.txt\n…"
    found = read(
        [HEAD, message("g", "gemini", toolCalls=[call("c", "run_shell_command", "success", {"output": said})])]
    ).outcome
    assert (found.truncated, found.full_output_path) == (True, "/t/out.txt")


def test_messages_that_a_patch_drops_stay_told_and_are_marked_as_rolled_back(read) -> None:
    rows = [HEAD, message("u1", "user", [{"text": "one"}]), message("u2", "user", [{"text": "two"}], 2)]
    found = read([*rows, {"$set": {"messages": [rows[1]], "lastUpdated": "2026-01-10T09:00:30.000Z"}}])
    assert (found.facts.user_turns, dict(found.facts.boundaries)) == (2, {"rolled_back": 1})
    assert found.facts.last.startswith("2026-01-10T09:00:30")


def test_a_rewind_is_a_roll_back_and_what_comes_after_it_is_new(read) -> None:
    rows = [HEAD, message("u1", "user", "one"), message("g1", "gemini", "a"), message("u2", "user", "two")]
    found = read([*rows, {"$rewindTo": "g1"}, message("u3", "user", "three")])
    (boundary,) = found.of("session.boundary")
    assert (boundary.kind, boundary.text) == ("rolled_back", "2 messages were taken back, from g1 on")
    assert found.facts.user_turns == 3


def test_a_summary_in_the_place_of_the_history_is_a_compaction(read) -> None:
    summary = message("c1", "user", [{"text": "<state_snapshot>\nwhat was\n</state_snapshot>"}])
    found = read([HEAD, message("u1", "user", "one"), {"$set": {"messages": [summary]}}])
    assert dict(found.facts.boundaries) == {"compacted": 1}
    assert (found.facts.user_turns, found.facts.injected) == (1, 1)


def test_what_the_agent_puts_in_the_person_s_place_is_no_turn(read) -> None:
    said = ["<session_context>\nx", "System: Please continue.", "do it"]
    found = read([HEAD, *(message(f"u{n}", "user", [{"text": text}]) for n, text in enumerate(said))])
    assert (found.facts.user_turns, found.facts.injected) == (1, 2)


def test_a_refusal_that_only_the_answer_tells_is_told_when_the_next_message_comes(read) -> None:
    answer = [
        {"functionResponse": {"id": "c", "name": "sh", "response": {"error": 'Tool "sh" was canceled by the user.'}}}
    ]
    found = read([HEAD, message("g", "gemini", "so"), message("u", "user", answer), message("g2", "gemini", "ok")])
    assert (found.outcome.code, found.facts.denied, found.facts.user_turns) == ("user_denied", 1, 0)


def test_a_document_that_grows_and_is_rewritten_tells_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "session.json"
    rows = [message("u1", "user", "one"), message("g1", "gemini", "a", 2), message("u2", "user", "two", 3)]
    path.write_text(json.dumps({**HEAD, "messages": rows[:1]}, indent=2))
    translation = open_log(path, session="s")
    told = [[e.type for e in translation.events() if e.type.startswith(("message", "session"))]]
    for state in (rows[:2], rows, rows, rows[:1]):
        path.write_text(json.dumps({**HEAD, "messages": state}, indent=2) + " " * len(told))
        told.append([e.type for e in translation.events() if e.type.startswith(("message", "session"))])
    assert told == [
        ["session.started", "message.user"],
        ["message.assistant"],
        ["message.user"],
        [],
        ["session.boundary"],
    ]
    assert not list(all_events(translation))


def test_times_that_are_missing_or_run_backwards_are_survived(read) -> None:
    rows = [
        message("u1", "user", "a", 30),
        message("u2", "user", "b", 10),
        {**message("u3", "user", "c"), "timestamp": None},
    ]
    found = read([HEAD, *rows])
    assert (found.facts.user_turns, found.facts.last[:19]) == (3, "2026-01-10T09:00:30")


def test_its_home_lists_sessions_of_both_forms_and_sub_agents_under_their_parent(tmp_path: Path) -> None:
    chats = tmp_path / "tmp" / "app" / "chats"
    (chats / "s-1").mkdir(parents=True)
    (tmp_path / "tmp" / "app" / ".project_root").write_text("/home/dev/app")
    log = [
        HEAD,
        message("u", "user", [{"text": "find it"}]),
        message("g", "gemini", "so", toolCalls=[call("c", "ls", "executing", {})]),
    ]
    (chats / "session-a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in log))
    (chats / "session-b.json").write_text(
        json.dumps({**HEAD, "sessionId": "s-2", "messages": [message("u", "user", "old")]}, indent=2)
    )
    (chats / "session-a.json").write_text("{}")
    (chats / "s-1" / "k.jsonl").write_text(json.dumps({**HEAD, "sessionId": "k", "kind": "subagent"}) + "\n")
    home = GeminiHome(tmp_path)
    refs = {ref.session: ref for ref in home.logs()}
    assert {name: ref.parent for name, ref in refs.items()} == {"s-1": None, "s-2": None, "k": "s-1"}
    first, second = home.summary(refs["s-1"]), home.summary(refs["s-2"])
    assert (first.title, first.cwd, first.open_call) == ("find it", "/home/dev/app", "ls")
    assert second.title == "old"
    now = first.last_at + 5_000_000
    assert home.judge(refs["s-1"], first, None, max(now, refs["s-1"].mtime_ns // 1000)).status == "running"
    later = refs["s-1"].mtime_ns // 1000 + 3600 * 1_000_000
    judged = home.judge(refs["s-1"], first, None, later)
    assert (judged.status, judged.guessed) == ("gone", True)


def test_a_home_that_is_not_there_has_no_sessions(tmp_path: Path) -> None:
    assert GeminiHome(tmp_path / "none").logs() == []
