"""How calls ended, in every wording of versions 1.0.51 to 2.1.332; their diffs, outputs and agents."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.adapter import ClaudeAdapter
from interlock.runtime.sources.foreign.record import ForeignRecord

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file)."
)


def told(*records: dict[str, Any]) -> list[AnyEvent]:
    adapter = ClaudeAdapter()
    events = [e for n, r in enumerate(records) for e in adapter.take(ForeignRecord(r, n, 1))]
    return [*events, *adapter.end()]


def asked(tool: str = "Bash", call_id: str = "t1", message: str = "msg_1", **given: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": tool, "input": given}
    return {
        "type": "assistant", "uuid": f"a-{call_id}", "parentUuid": None, "sessionId": "s", "version": "2.1.332",
        "cwd": "/w", "timestamp": "2026-01-10T09:00:00.000Z",
        "message": {"id": message, "role": "assistant", "model": "m", "content": [block]},
    }  # fmt: skip


def ended(
    content: Any, kept: Any = None, *, failed: bool | None = None, call_id: str = "t1", **more: Any
) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    if failed is not None:
        block["is_error"] = failed
    record = {
        "type": "user", "uuid": f"u-{call_id}", "parentUuid": f"a-{call_id}", "sessionId": "s", "version": "2.1.332",
        "timestamp": "2026-01-10T09:00:02.000Z", "message": {"role": "user", "content": [block]}, **more,
    }  # fmt: skip
    return record if kept is None else {**record, "toolUseResult": kept}


def observed(*records: dict[str, Any]) -> Any:
    (found,) = [e for e in told(*records) if e.type == "tool.observation"]
    return found


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (f"{REJECTED} STOP what you are doing and wait for the user to tell you how to proceed.", "user_denied"),
        (f"{REJECTED} To tell you how to proceed, the user said:\nno", "user_denied"),
        ("The user doesn't want to take this action right now. STOP what you are doing", "user_denied"),
        ("The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode", "user_denied"),
        ("Permission for this tool use was denied. The tool use was rejected (eg. if it was", "user_denied"),
        ("Permission prompt was aborted.", "cancelled"),
        ("Tool permission request failed: Error: Stream closed", "ask_cancelled"),
        ("Permission to use Bash with command rm -rf / has been denied.", "policy_denied"),
        ("Permission to use Bash has been denied because Claude Code is running in don't ask mode.", "policy_denied"),
        ("Permission for this action has been denied. Reason: it deletes", "policy_denied"),
        ("PreToolUse:Bash hook error: not today", "policy_denied"),
        ("PreToolUse:Bash hook error: [python3 gate.py]: not today", "policy_denied"),
        ("PreToolUse:Bash [python3 gate.py] hook blocked: x", "policy_denied"),
        ("Hook PreToolUse:Bash denied this tool", "policy_denied"),
        ("Bash operation blocked by hook:\n- no", "policy_denied"),
        ("Claude requested permissions to use Bash, but you haven't granted it yet.", "policy_denied"),
        ("Claude requested permissions to write to /etc/x, but you haven't granted it yet.", "policy_denied"),
        ("<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>",
         "policy_denied"),
        ("cd in '/tmp' was blocked. For security, Claude Code may only change directories", "policy_denied"),
        ("touch in '/x' needs approval because it writes", "policy_denied"),
        ("This command requires approval", "policy_denied"),
    ],
)  # fmt: skip
def test_a_denial_is_told_apart_from_a_failure_by_its_sentence(words: str, code: str) -> None:
    end = observed(asked(), ended(words, f"Error: {words}", failed=True))
    assert (end.ok, end.phase, end.code) == (False, "permission", code)


def test_the_words_of_the_person_stand_with_the_denial() -> None:
    words = f"{REJECTED} To tell you how to proceed, the user said:\nuse the other file"
    (answer,) = [e for e in told(asked(), ended(words, failed=True)) if e.type == "tool.permission.answered"]
    assert (answer.answer, answer.by.kind, answer.message) == ("deny", "native_prompt", "use the other file")


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"toolDenialKind": "user-rejected", "toolDenialBeforeRun": True}, "user_denied"),
        ({"toolDenialKind": "permission-rule"}, "policy_denied"),
        ({"toolDenialKind": "interrupted"}, "cancelled"),
        ({"toolDenialKind": "user-rejected", "toolDenialBeforeRun": False}, "cancelled"),
        ({"permissionDecision": {"decision": "reject", "source": "hook"}}, "policy_denied"),
        (
            {"permissionDecision": {"decision": "reject", "source": "config"}, "toolDenialKind": "user-rejected"},
            "policy_denied",
        ),
        ({"permissionDecision": {"decision": "reject", "source": "config"}}, "policy_denied"),
        ({"permissionDecision": {"decision": "reject", "source": "user"}}, "user_denied"),
        ({"permissionDecision": {"decision": "accept", "source": "config"}}, "tool_error"),
    ],
)
def test_what_the_record_says_of_a_denial_goes_before_the_sentence(more: dict[str, Any], code: str) -> None:
    assert observed(asked(), ended("any words at all", failed=True, **more)).code == code


def test_the_decision_of_a_hook_is_on_record_and_makes_any_words_a_denial() -> None:
    decision = {
        "type": "hook_permission_decision",
        "decision": "deny",
        "toolUseID": "t1",
        "hookEvent": "PermissionRequest",
    }
    events = told(asked(), {"type": "attachment", "attachment": decision}, ended("not on my watch", failed=True))
    answers = [e for e in events if e.type == "tool.permission.answered"]
    assert [(a.answer, a.by.kind, a.by.client) for a in answers] == [("deny", "rule", "hook")]
    assert [e.code for e in events if e.type == "tool.observation"] == ["policy_denied"]


@pytest.mark.parametrize(
    "words", [REJECTED, "Permission to use Bash has been denied.", "PreToolUse:Bash hook error: x"]
)
def test_what_a_command_printed_is_no_denial(words: str) -> None:
    kept = {"stdout": words, "stderr": "", "interrupted": False}
    assert observed(asked(), ended(words, kept)).ok
    failed = observed(asked(), ended(f"Exit code 3\n{words}", f"Error: Exit code 3\n{words}", failed=True))
    assert (failed.code, failed.phase) == ("exit_nonzero", "execute")


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        ("Exit code 3\nboom", "exit_nonzero", 3),
        ("Exit code 143\nCommand timed out after 2m 0s", "timeout", 143),
        ("Exit code 143\nhalf of it\nCommand timed out after 2m 0.0s", "timeout", 143),
        ("Command timed out after 2m 0.0s", "timeout", None),
        ("boom", "tool_error", None),
        (
            "<tool_use_error>File has not been read yet. Read it first</tool_use_error>",
            "runtime_precondition_failed",
            None,
        ),
        ("<tool_use_error>InputValidationError: Bash failed</tool_use_error>", "schema_invalid", None),
        ("<tool_use_error>Error: No such tool available: Foo</tool_use_error>", "unknown_tool", None),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", "sibling_failed", None),
        ("[Request interrupted by user for tool use]", "cancelled", None),
        ("out\n<error>Command was aborted before completion</error>", "cancelled", None),
    ],
)
def test_a_failure_says_what_failed(words: str, code: str, exit_code: int | None) -> None:
    events = told(asked(), ended(words, f"Error: {words}", failed=True))
    assert [e.code for e in events if e.type == "tool.observation"] == [code]
    assert [e.exit_code for e in events if e.type == "tool.invocation.completed"] == ([exit_code] if exit_code else [])


def test_an_interrupted_command_and_its_notice_are_one_interrupt() -> None:
    kept = {"stdout": "half", "stderr": "", "interrupted": True}
    notice = {
        "type": "user",
        "uuid": "n",
        "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]},
    }
    events = told(
        asked(), ended("half", kept), notice, {**notice, "uuid": "n2"} | {"message": {"content": "go on"}}, notice
    )
    assert [e.code for e in events if e.type == "tool.observation"] == ["cancelled"]
    assert [e.kind for e in events if e.type == "session.boundary"] == ["interrupted"]


def test_nothing_is_invented_for_a_command_that_went_well() -> None:
    events = told(asked(), ended("fine", {"stdout": "fine", "stderr": "", "interrupted": False, "isImage": False}))
    assert not [e for e in events if e.type == "tool.invocation.completed"]
    (end,) = [e for e in events if e.type == "tool.observation"]
    assert (end.ok, end.metrics.duration_ms, end.truncated, end.full_output_path) == (True, None, False, None)


def test_an_edit_carries_its_diff_and_what_it_did_to_the_file() -> None:
    patch = [{"oldStart": 3, "oldLines": 2, "newStart": 3, "newLines": 2, "lines": [" a", "--- b", "+++ c"]}]
    kept = {"filePath": "/w/x.py", "oldString": "b", "newString": "c", "structuredPatch": patch, "originalFile": "a"}
    end = observed(asked("Edit"), ended("updated", kept))
    assert end.inline_diff == "--- /w/x.py\n+++ /w/x.py\n@@ -3,2 +3,2 @@\n a\n--- b\n+++ c\n"
    (effect,) = end.side_effects
    assert (effect.kind, effect.path, effect.added, effect.removed) == ("file.changed", "/w/x.py", 1, 1)


def test_a_new_file_is_a_diff_from_nothing() -> None:
    kept = {"type": "create", "filePath": "/w/n", "content": "a\nb", "structuredPatch": [], "originalFile": None}
    end = observed(asked("Write"), ended("created", kept))
    assert end.inline_diff == "--- /dev/null\n+++ /w/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
    assert [(e.kind, e.added, e.removed) for e in end.side_effects] == [("file.created", 2, 0)]


@pytest.mark.parametrize(
    ("decision", "kind", "scope"),
    [
        ({"source": "user_temporary", "grantScope": "session"}, "native_prompt", "session"),
        ({"source": "user_permanent"}, "native_prompt", "rule"),
        ({"source": "user"}, "native_prompt", "once"),
        ({"source": "hook"}, "rule", "once"),
        ({"source": "config"}, None, None),
    ],
)
def test_who_allowed_a_call_is_told_where_somebody_was_asked(
    decision: dict[str, Any], kind: str | None, scope: str | None
) -> None:
    events = told(asked(), ended("fine", permissionDecision={"decision": "accept", **decision}))
    answers = [(e.answer, e.by.kind, e.scope) for e in events if e.type == "tool.permission.answered"]
    assert answers == ([("allow", kind, scope)] if kind else [])


def test_a_command_carries_what_it_did_to_files() -> None:
    """Seen in 2.1.332"""
    hunk = {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}
    files = [{"filePath": "/w/n", "hunks": [], "created": True}, {"filePath": "/w/x", "hunks": [hunk]}]
    end = observed(asked(), ended("ok", {"stdout": "ok", "bashEditDiff": {"files": files, "moreFiles": 0}}))
    assert [(e.kind, e.path, e.added) for e in end.side_effects] == [
        ("file.created", "/w/n", None),
        ("file.changed", "/w/x", 1),
    ]
    assert end.inline_diff == "--- /w/x\n+++ /w/x\n@@ -1,1 +1,1 @@\n-a\n+b\n"


def test_a_refused_edit_changed_nothing() -> None:
    kept = {"filePath": "/w/x", "structuredPatch": [], "newString": "c"}
    end = observed(asked("Edit"), ended(REJECTED, kept, failed=True, toolDenialKind="user-rejected"))
    assert (end.inline_diff, end.side_effects) == (None, ())


def test_an_output_that_was_too_long_says_where_it_is_and_how_much_the_model_was_not_given() -> None:
    preview = "x" * 100
    words = (
        "<persisted-output>\nOutput too large (164.9KB). Full output saved to: /c/tool-results/b1.txt\n\n"
        f"Preview (first 2KB):\n{preview}\n...\n</persisted-output>"
    )
    kept = {"stdout": "x" * 30_000, "persistedOutputPath": "/c/tool-results/b1.txt", "persistedOutputSize": 168_894}
    end = observed(asked(), ended(words, kept))
    assert (end.truncated, end.omitted_bytes) == (True, 168_894 - 100)
    assert end.full_output_path == "/c/tool-results/b1.txt"
    bare = observed(asked("mcp__x"), ended(words))
    assert end.summary.startswith("Output too large (164.9KB)")
    assert (bare.truncated, bare.omitted_bytes, bare.full_output_path) == (True, 0, "/c/tool-results/b1.txt")


def test_an_early_agent_has_its_totals_and_is_told_once() -> None:
    kept = {"status": "completed", "agentId": "a1", "totalDurationMs": 1200, "totalTokens": 5, "content": []}
    progress = {"type": "progress", "parentToolUseID": "t1", "data": {"type": "agent_progress", "agentId": "a1"}}
    events = told(asked("Task", subagent_type="Explore", description="look"), progress, progress, ended("found", kept))
    (spawned,) = [e for e in events if e.type == "agent.spawned"]
    assert (spawned.child, spawned.agent_type, spawned.description) == ("a1", "Explore", "look")
    assert [e.duration_ms for e in events if e.type == "tool.invocation.completed"] == [1200]


NOTICE = (
    "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>{call}</tool-use-id>\n<output-file>/t/a1.output"
    "</output-file>\n<status>{status}</status>\n<summary>Agent ended (exit code {code})</summary>\n"
    "<usage><duration_ms>900</duration_ms></usage></task-notification>"
)
LAUNCHED = {"isAsync": True, "status": "async_launched", "agentId": "a1", "outputFile": "/t/a1.output"}


@pytest.mark.parametrize(("call", "status", "exit_name"), [("t1", "completed", "ok"), ("REDACTED", "failed", "error"),
                                                           ("", "killed", "cancelled")])  # fmt: skip
def test_the_end_of_a_background_agent_is_tied_to_its_call_once(call: str, status: str, exit_name: str) -> None:
    words = NOTICE.format(call=call, status=status, code=7)
    enqueued = {"type": "queue-operation", "operation": "enqueue", "content": words, "sessionId": "s"}
    delivered = {"type": "user", "uuid": "n", "origin": {"kind": "task-notification"}, "message": {"content": words}}
    events = told(asked("Agent"), ended("Async agent launched", LAUNCHED), enqueued, delivered)
    (spawned,) = [e for e in events if e.type == "agent.spawned"]
    assert (spawned.child, spawned.log) == ("a1", "/t/a1.output")
    (intent,) = [e for e in events if e.type == "tool.intent"]
    (end,) = [e for e in events if e.type == "tool.invocation.completed"]
    assert (end.intent_id, end.exit, end.exit_code, end.duration_ms) == (intent.intent_id, exit_name, 7, 900)
    assert [e.injected for e in events if e.type == "message.user"] == [True]


def test_a_command_in_the_background_ends_with_its_notice() -> None:
    kept = {"stdout": "", "backgroundTaskId": "b1"}
    words = "Command running in background with ID: b1. Output is being written to: /t/b1.output"
    notice = {"type": "attachment", "attachment": {"type": "task_status", "taskId": "b1", "status": "completed"}}
    events = told(asked(), ended(words, kept), notice, notice)
    assert [e.exit for e in events if e.type == "tool.invocation.completed"] == ["ok"]
    assert [e.full_output_path for e in events if e.type == "tool.observation"] == ["/t/b1.output"]


def test_an_agent_that_was_refused_was_not_started_and_one_without_a_result_was() -> None:
    refused = told(asked("Agent"), ended(REJECTED, failed=True))
    assert not [e for e in refused if e.type == "agent.spawned"]
    left = told(asked("Task", description="look"))
    assert [(e.child, e.description) for e in left if e.type == "agent.spawned"] == [("", "look")]


def test_parallel_calls_and_their_results_are_matched_by_id() -> None:
    events = told(asked(call_id="t1"), asked(call_id="t2"), ended("two", call_id="t2"), ended("one", call_id="t1"))
    intents = {e.call_id: e.intent_id for e in events if e.type == "tool.intent"}
    assert [(e.intent_id, e.content) for e in events if e.type == "tool.observation"] == [
        (intents["t2"], "two"),
        (intents["t1"], "one"),
    ]


def test_a_picture_is_named_and_not_carried() -> None:
    picture = [{"type": "image", "source": {"type": "base64", "data": "A" * 1000, "media_type": "image/png"}}]
    end = observed(asked("Read"), ended(picture, {"type": "image", "file": {"base64": "A" * 1000}}))
    assert (end.format, end.content) == ("image", "[image]")
