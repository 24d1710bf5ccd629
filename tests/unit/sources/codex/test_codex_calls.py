"""Calls of rollouts: one intent and one observation each, told as far as Codex recorded them and no further."""

from __future__ import annotations

import pytest

HEAD = "Chunk ID: 71cd1b\nWall time: 1.2500 seconds\n"


def test_a_command_that_succeeds_has_its_exit_code_and_its_time_from_the_text(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.call("c1", "exec_command", {"cmd": "ls", "justification": "to see"}),
            rollout.output("c1", HEAD + "Process exited with code 0\nOriginal token count: 3\nOutput:\na.txt\n"),
        ]
    )
    (intent,) = found.of("tool.intent")
    (done,) = found.of("tool.invocation.completed")
    assert (intent.tool, intent.raw_input["cmd"], intent.reason) == ("exec_command", "ls", "to see")
    assert (done.exit, done.exit_code, done.duration_ms) == ("ok", 0, 1250)
    assert found.outcome.ok
    assert found.outcome.summary == "a.txt"


def test_a_command_that_said_nothing_is_summed_up_as_that(read, rollout) -> None:
    quiet = HEAD + "Process exited with code 0\nOriginal token count: 0\nOutput:\n"
    found = read([rollout.meta(), rollout.call("c1", "exec_command", {"cmd": "true"}), rollout.output("c1", quiet)])
    assert found.outcome.summary == "no output"


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (HEAD + "Process exited with code 127\nOutput:\nsh: x: not found\n", 127),
        ("Exit code: 2\nWall time: 1 seconds\nTotal output lines: 9\nOutput:\nboom", 2),
        ('{"output":"boom\\n","metadata":{"exit_code":3,"duration_seconds":0.5}}', 3),
    ],
)
def test_a_command_that_fails_is_a_failure_with_its_code(read, rollout, output: str, code: int) -> None:
    found = read([rollout.meta(), rollout.call("c1", "shell", {"command": ["x"]}), rollout.output("c1", output)])
    assert (found.outcome.ok, found.outcome.code, found.facts.failed) == (False, "exit_nonzero", 1)
    assert found.of("tool.invocation.completed")[0].exit_code == code


@pytest.mark.parametrize(
    ("output", "code"),
    [
        (
            'exec_command failed for `/bin/sh -c x`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
            "user_denied",
        ),
        ("patch rejected by user", "user_denied"),
        ("exec command rejected by user", "user_denied"),
        ("user rejected MCP tool call", "user_denied"),
        ("Command blocked by PreToolUse hook: no network. Command: curl x", "policy_denied"),
        ("approval policy is Never; reject command — you should not ask for escalated permissions", "policy_denied"),
        (
            'exec_command failed for `/bin/sh -c x`: CreateProcess { message: "Rejected(\\"use make\\")" }',
            "policy_denied",
        ),
        ("patch rejected: writing outside of the project; rejected by user approval settings", "policy_denied"),
    ],
)
def test_a_refusal_is_no_failure_and_says_whose_it_is(read, rollout, output: str, code: str) -> None:
    found = read([rollout.meta(), rollout.call("c1", "exec_command", {"cmd": "x"}), rollout.output("c1", output)])
    assert (found.outcome.code, found.outcome.phase) == (code, "permission")
    assert (found.facts.denied, found.facts.failed) == (1, 0)
    assert len(found.of("tool.permission.answered")) == (code == "user_denied")


def test_output_that_talks_about_a_refusal_is_output(read, rollout) -> None:
    said = HEAD + "Process exited with code 0\nOutput:\npatch rejected by user\nCommand blocked by PreToolUse hook: x"
    found = read([rollout.meta(), rollout.call("c1", "exec_command", {"cmd": "cat log"}), rollout.output("c1", said)])
    assert found.outcome.ok
    assert found.facts.denied == 0


@pytest.mark.parametrize("output", ["aborted by user after 5.3s", "Wall time: 5.3 seconds\naborted by user", "aborted"])
def test_an_interrupted_call_and_its_turn_count_as_one_interrupt(read, rollout, output: str) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.call("c1", "exec_command", {"cmd": "sleep 9"}),
            rollout.output("c1", output),
            rollout.event("turn_aborted", reason="interrupted"),
        ]
    )
    assert found.outcome.code == "cancelled"
    assert (found.facts.interrupted, found.facts.failed, found.facts.denied) == (1, 0, 0)


def test_a_call_that_an_interrupt_left_without_a_result_is_closed_as_not_recorded(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.call("c1", "exec_command", {"cmd": "sleep 9"}),
            rollout.event("turn_aborted", reason="interrupted"),
            rollout.event("task_started", turn_id="t2"),
        ]
    )
    assert found.outcome.code == "outcome_not_recorded"
    assert found.facts.interrupted == 1
    assert found.facts.failed == 0
    assert [b.kind for b in found.of("session.boundary")] == ["interrupted"]


def test_a_result_that_comes_after_the_interrupt_is_still_the_result(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.call("c1", "exec_command", {"cmd": "ls"}),
            rollout.event("turn_aborted", reason="interrupted"),
            rollout.output("c1", HEAD + "Process exited with code 0\nOutput:\nok"),
        ]
    )
    assert found.outcome.ok


def test_an_old_command_that_timed_out_is_told_as_such(read, rollout) -> None:
    text = (
        '{"output":"command timed out after 1000 milliseconds\\n","metadata":{"exit_code":124,"duration_seconds":1.0}}'
    )
    found = read([rollout.meta(), rollout.call("c1", "shell", {"command": ["sleep", "9"]}), rollout.output("c1", text)])
    assert found.outcome.code == "timeout"


def test_a_process_that_goes_on_is_neither_failed_nor_without_result(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.call("c1", "exec_command", {"cmd": "npm run dev"}),
            rollout.output("c1", HEAD + "Process running with session ID 42755\nOriginal token count: 0\nOutput:\n"),
            rollout.call("c2", "write_stdin", {"session_id": 42755, "chars": ""}),
            rollout.output("c2", HEAD + "Process exited with code 1\nOutput:\nstopped"),
        ]
    )
    first, second = found.of("tool.observation")
    assert first.ok
    assert "42755" in first.summary
    assert not second.ok
    assert found.facts.failed == 1


def test_the_end_of_a_command_is_told_with_the_call_and_not_as_another(read, rollout) -> None:
    end = rollout.event(
        "exec_command_end",
        call_id="c1",
        stdout="",
        stderr="no",
        aggregated_output="no",
        exit_code=4,
        duration={"secs": 2, "nanos": 500_000_000},
        status="failed",
    )
    found = read([rollout.meta(), rollout.call("c1", "exec_command", {"cmd": "x"}), end, rollout.output("c1", "no")])
    (done,) = found.of("tool.invocation.completed")
    assert (done.exit_code, done.duration_ms, done.exit) == (4, 2500, "error")
    assert found.facts.calls.total() == 1
    assert found.facts.failed == 1


def test_a_declined_command_is_denied_whatever_the_model_was_told(read, rollout) -> None:
    declined = rollout.completed(
        "CommandExecution", "c1", command=["rm"], status="declined", exit_code=-1, duration={"secs": 0, "nanos": 0}
    )
    found = read(
        [rollout.meta(), rollout.call("c1", "exec_command", {"cmd": "rm x"}), declined, rollout.output("c1", "no")]
    )
    assert found.outcome.code == "user_denied"
    assert found.facts.denied == 1


def test_a_command_that_the_person_typed_is_a_call_of_its_own(read, rollout) -> None:
    end = rollout.event(
        "exec_command_end",
        call_id="u1",
        source="user_shell",
        command=["ls"],
        aggregated_output="a",
        exit_code=0,
        cwd="/x",
    )
    found = read([rollout.meta(), end])
    assert dict(found.facts.calls) == {"user_shell": 1}
    assert found.outcome.ok
    assert found.outcome.content == "a"


def test_the_changes_of_a_patch_are_a_diff_and_the_files_it_touched(read, rollout) -> None:
    changes = {
        "/w/a.txt": {"type": "update", "unified_diff": "@@ -1 +1,2 @@\n-a\n+b\n+c\n", "move_path": None},
        "/w/new.txt": {"type": "add", "content": "x\ny\n"},
        "/w/old.txt": {"delete": {"content": "z\n"}},
    }
    found = read(
        [
            rollout.meta(),
            rollout.script("p1", "*** Begin Patch\n*** Add File: /w/new.txt\n+x\n+y\n*** End Patch", "apply_patch"),
            rollout.event("patch_apply_end", call_id="p1", success=True, stdout="", stderr="", changes=changes),
            rollout.script_output("p1", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."),
        ]
    )
    kinds = {e.path: (e.kind, e.added, e.removed) for e in found.outcome.side_effects}
    assert kinds == {
        "/w/a.txt": ("file.changed", 2, 1),
        "/w/new.txt": ("file.created", 2, 0),
        "/w/old.txt": ("file.deleted", 0, 1),
    }
    assert "--- /w/a.txt\n+++ /w/a.txt\n@@ -1 +1,2 @@\n-a\n+b\n+c\n" in found.outcome.inline_diff
    assert "--- /dev/null\n+++ /w/new.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n" in found.outcome.inline_diff


def test_a_patch_without_recorded_changes_is_shown_as_the_model_wrote_it(read, rollout) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@ def f():\n-  x\n+  y\n"
    patch += "*** Delete File: c.py\n*** End Patch"
    found = read(
        [
            rollout.meta(),
            rollout.call("c1", "shell", {"command": ["apply_patch", patch]}),
            rollout.output("c1", '{"output":"Success","metadata":{"exit_code":0,"duration_seconds":0.0}}'),
        ]
    )
    assert [(e.kind, e.path) for e in found.outcome.side_effects] == [
        ("file.changed", "b.py"),
        ("file.deleted", "c.py"),
    ]
    assert "--- a.py\n+++ b.py\n@@ def f():\n-  x\n+  y\n" in found.outcome.inline_diff


def test_a_patch_that_failed_changed_nothing(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.script("p1", "*** Begin Patch\n*** Delete File: a\n*** End Patch", "apply_patch"),
            rollout.script_output(
                "p1", "apply_patch verification failed: Failed to read file to update a: No such file"
            ),
        ]
    )
    assert not found.outcome.ok
    assert found.outcome.inline_diff is None
    assert found.outcome.side_effects == ()


def parts(*texts: str) -> list[dict[str, str]]:
    return [{"type": "input_text", "text": text} for text in texts]


DONE = "Script completed\nWall time 0.3 seconds\nOutput:\n"


@pytest.mark.parametrize(
    ("printed", "failed", "code"),
    [
        (['{"chunk_id":"x","wall_time_seconds":0,"exit_code":1,"output":"boom"}'], True, 1),
        (['{"exit_code":0,"output":"{\\"exit_code\\":1}"}'], False, 0),
        (['{"output":"","exit_code":0}', '{"output":"","exit_code":2}'], True, None),
        (['[{"status":"fulfilled","value":{"exit_code":3,"output":""}}]'], True, 3),
        (['the file says "exit_code":1'], False, None),
        (["RESULT 1 exit=1"], False, None),
        (
            ['Warning: truncated output (original token count: 9)\n\n{"chunk_id":"x","exit_code":1,"output":"cut'],
            True,
            1,
        ),
    ],
)
def test_a_script_failed_when_a_result_it_printed_says_so(
    read, rollout, printed, failed: bool, code: int | None
) -> None:
    found = read([rollout.meta(), rollout.script("s1", "…"), rollout.script_output("s1", parts(DONE, *printed))])
    assert found.outcome.ok is not failed
    done = found.of("tool.invocation.completed")[0]
    assert (done.exit_code, done.duration_ms) == (code, 300)


def test_what_a_script_patched_is_told_with_the_script(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.script("s1", "await tools.apply_patch(p)"),
            rollout.event(
                "patch_apply_end", call_id="exec-1", success=True, changes={"/w/a": {"type": "add", "content": "x\n"}}
            ),
            rollout.completed(
                "FileChange", "exec-2", status="completed", changes={"/w/b": {"type": "add", "content": "y\n"}}
            ),
            rollout.script_output("s1", parts(DONE, "{}")),
        ]
    )
    assert dict(found.facts.calls) == {"exec": 1}
    assert [e.path for e in found.outcome.side_effects] == ["/w/a", "/w/b"]


def test_a_script_that_goes_on_and_one_that_fails_are_told_apart(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.script("s1", "…"),
            rollout.script_output("s1", "Script running with cell ID 12\nWall time 11.0 seconds\nOutput:\n"),
            rollout.call("w1", "wait", {"cell_id": "12"}),
            rollout.output(
                "w1", parts("Script failed\nWall time 0.0 seconds\nOutput:\n", "Script error:\nSyntaxError: x")
            ),
            rollout.script("s2", "…"),
            rollout.script_output(
                "s2", "Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\npatch rejected by user"
            ),
        ]
    )
    assert [o.code for o in found.of("tool.observation")] == ["ok", "tool_error", "user_denied"]


@pytest.mark.parametrize(
    ("output", "cut"),
    [
        (
            "Warning: truncated output (original token count: 42224)\nTotal output lines: 30000\n\n1\n9",
            True,
        ),
        (HEAD + "Process exited with code 0\nOutput:\n1\n[... omitted 200 of 456 lines ...]\n9", True),
        (HEAD + "Process exited with code 0\nOutput:\n1\n…1234 chars truncated…\n9", True),
        (HEAD + "Process exited with code 0\nOutput:\nThe word truncated [... ] stands here", False),
    ],
)
def test_an_output_that_was_cut_says_so(read, rollout, output: str, cut: bool) -> None:
    found = read([rollout.meta(), rollout.call("c1", "exec_command", {"cmd": "seq"}), rollout.output("c1", output)])
    assert found.outcome.truncated is cut


def test_a_call_of_an_mcp_server_is_told_once_with_its_time_and_its_error(read, rollout) -> None:
    end = rollout.event(
        "mcp_tool_call_end",
        call_id="m1",
        duration={"secs": 0, "nanos": 4_000_000},
        invocation={"server": "github", "tool": "search", "arguments": {"q": "x"}},
        result={"Ok": {"content": [{"type": "text", "text": "no such repository"}], "isError": True}},
    )
    call = rollout.call("m1", "search", {"q": "x"}, namespace="mcp__github__")
    found = read(
        [rollout.meta(), call, end, rollout.output("m1", "Wall time: 0.0040 seconds\nOutput:\nno such repository")]
    )
    assert dict(found.facts.calls) == {"mcp__github__search": 1}
    assert found.facts.failed == 1
    assert found.of("tool.invocation.completed")[0].duration_ms == 4


def test_a_search_of_the_web_is_one_call_whichever_records_tell_of_it(read, rollout) -> None:
    action = {"type": "search", "query": "rust", "queries": ["rust"]}
    found = read(
        [
            rollout.meta(),
            rollout.event("web_search_end", call_id="ws_1", query="rust", action=action),
            rollout.item("web_search_call", status="completed", action=action),
            rollout.completed("WebSearch", "ws_1", query="rust", action=action),
            rollout.item(
                "web_search_call", status="completed", action={"type": "open_page", "url": "https://serde.rs"}
            ),
            rollout.item("web_search_call", status="in_progress", action={"type": "search", "query": "go"}),
        ]
    )
    assert dict(found.facts.calls) == {"web_search": 3}
    assert [o.code for o in found.of("tool.observation")] == ["ok", "ok", "outcome_not_recorded"]


def test_an_id_that_is_used_again_is_another_call(read, rollout) -> None:
    records = [rollout.meta()]
    for code in (0, 1):
        records += [rollout.call("call_0", "exec_command", {"cmd": str(code)})]
        records += [rollout.output("call_0", f"{HEAD}Process exited with code {code}\nOutput:\n")]
    found = read(records)
    assert found.facts.calls["exec_command"] == 2
    assert found.facts.failed == 1


def test_a_result_without_its_call_makes_the_call_and_says_so(read, rollout) -> None:
    found = read([rollout.meta(), rollout.output("c1", "text")])
    (intent,) = found.of("tool.intent")
    assert intent.tool == "?"
    assert "not in the log" in intent.reason


def test_an_agent_that_was_started_is_linked_to_the_call(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.call(
                "a1",
                "spawn_agent",
                {"message": "Look at the tests", "agent_type": "explorer"},
                namespace="collaboration",
            ),
            rollout.event(
                "collab_agent_spawn_end", call_id="a1", new_thread_id="t-9", new_agent_role="explorer", prompt="Look"
            ),
            rollout.output("a1", '{"agent_id":"t-9","nickname":"Ada"}'),
            rollout.call("a2", "spawn_agent", {"task_name": "review", "message": "Review"}, namespace="multi_agent_v1"),
            rollout.output("a2", '{"task_name":"/root/review"}'),
            rollout.call("a3", "wait_agent", {"timeout_ms": 1}),
            rollout.output("a3", "{}"),
            rollout.call("a4", "spawn_agent", {"message": "x"}),
            rollout.output("a4", "collab spawn failed: agent thread limit reached"),
        ]
    )
    assert [(s.child, s.agent_type) for s in found.of("agent.spawned")] == [("t-9", "explorer"), ("/root/review", None)]
    assert found.facts.sub_agents == 2
    assert found.facts.failed == 1
    assert found.facts.calls == {"spawn_agent": 3, "wait_agent": 1}


def test_an_agent_that_a_script_started_is_linked_to_the_script(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.script("s1", "await tools.spawn_agent({…})"),
            rollout.event(
                "sub_agent_activity", kind="started", event_id="exec-7", agent_thread_id="t-3", agent_path="/root/x"
            ),
            rollout.event(
                "sub_agent_activity", kind="interacted", event_id="e", agent_thread_id="t-3", agent_path="/root/x"
            ),
            rollout.script_output("s1", parts(DONE)),
        ]
    )
    (spawned,) = found.of("agent.spawned")
    assert (spawned.child, spawned.intent_id) == ("t-3", found.of("tool.intent")[0].intent_id)


def test_what_a_reviewer_ran_stands_in_its_own_log(read, rollout) -> None:
    def ran(call_id: str) -> dict:
        return rollout.completed("CommandExecution", call_id, command=["ls"], source="user_shell", status="completed")

    found = read(
        [
            rollout.meta(),
            rollout.completed("EnteredReviewMode", "r1", target={"type": "uncommittedChanges"}),
            rollout.completed("UserMessage", "u", content=[{"type": "text", "text": "Review the changes"}]),
            ran("c1"),
            rollout.message("user", "<user_action>\n  <action>review</action>\n</user_action>"),
            rollout.completed("ExitedReviewMode", "r2", review_output={"findings": []}),
            rollout.message("assistant", "All done."),
            ran("c2"),
        ]
    )
    assert dict(found.facts.calls) == {"user_shell": 1}
    assert found.tally.unknown == 0
    assert found.facts.user_turns == 1
