"""pi, Kimi, Copilot CLI, Qwen Code, Antigravity and Visual Studio: what each says in its own way."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.runtime.sources.pi.outcome import unified

PI = {"type": "session", "version": 3, "id": "p1", "timestamp": "2026-01-10T09:00:00Z", "cwd": "/w"}


def pi(own: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "id": own, "parentId": parent, "timestamp": "2026-01-10T09:00:01Z",
            "message": {"role": role, "content": content, **more}}  # fmt: skip


def pi_call(own: str, **given: Any) -> list[dict[str, Any]]:
    return [{"type": "toolCall", "id": own, "name": "bash", "arguments": given}]


def pi_result(own: str, said: str, error: bool, **details: Any) -> dict[str, Any]:
    return pi(
        "r",
        "a",
        "toolResult",
        [{"type": "text", "text": said}],
        toolCallId=own,
        toolName="bash",
        isError=error,
        details=details,
    )


@pytest.mark.parametrize(
    ("said", "error", "code", "exit_code"),
    [
        ("fine", False, "ok", None),
        ("x\nCommand exited with code 2", True, "exit_nonzero", 2),
        ("Command timed out after 5 seconds", True, "timeout", None),
        ("Command aborted", True, "cancelled", None),
        ("Blocked by user", True, "user_denied", None),
        ("Tool execution was blocked", True, "policy_denied", None),
        ("no such file", True, "tool_error", None),
    ],
)
def test_pi_s_results_are_told_apart(read, said: str, error: bool, code: str, exit_code: int | None) -> None:
    found = read([PI, pi("a", None, "assistant", pi_call("c", command="x")), pi_result("c", said, error)])
    assert found.outcome.code == code
    assert [e.exit_code for e in found.of("tool.invocation.completed")] == ([exit_code] if exit_code else [])


def test_pi_s_cut_output_says_how_much_is_missing_and_where_it_is(read) -> None:
    cut = pi_result(
        "c", "…", False, truncation={"truncated": True, "totalBytes": 90, "outputBytes": 40}, fullOutputPath="/t/o"
    )
    found = read([PI, pi("a", None, "assistant", pi_call("c")), cut]).outcome
    assert (found.truncated, found.omitted_bytes, found.full_output_path) == (True, 50, "/t/o")


def test_pi_s_numbered_diff_becomes_a_unified_one() -> None:
    numbered = "   1 a\n-  2 b\n+  2 B\n+  3 C\n   3 d\n     ...\n  10 x\n- 11 y\n"
    assert unified(numbered, "f") == "--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+C\n d\n@@ -10,2 +11,1 @@\n x\n-y"
    assert unified("@@ -1 +1 @@\n-a\n+b", "f") == "@@ -1 +1 @@\n-a\n+b"


def test_a_pi_entry_that_goes_on_from_an_older_one_opens_a_branch(read) -> None:
    found = read([PI, pi("a", None, "user", "one"), pi("b", "a", "user", "two"), pi("c", "a", "user", "other")])
    assert (dict(found.facts.boundaries), found.facts.user_turns) == ({"branch": 1}, 3)


def test_an_aborted_request_is_an_interrupt_and_counts_nothing(read) -> None:
    zero = {"input": 0, "output": 0}
    found = read(
        [
            PI,
            pi(
                "a",
                None,
                "assistant",
                [],
                model="m",
                usage=zero,
                stopReason="aborted",
                errorMessage="Request was aborted",
            ),
        ]
    )
    assert (found.facts.interrupted, found.facts.usage, found.facts.assistant_messages) == (1, {}, 0)


def test_the_events_of_a_run_tell_each_call_once(read) -> None:
    start = {"type": "tool_execution_start", "toolCallId": "c", "toolName": "bash", "args": {"command": "x"}}
    end = {"type": "tool_execution_end", "toolCallId": "c", "toolName": "bash", "isError": True,
           "result": {"content": [{"type": "text", "text": "Command exited with code 1"}]}}  # fmt: skip
    answer = {"type": "message_end", "message": {"role": "assistant", "content": pi_call("c", command="x"), "model": "m",
                                                 "usage": {"input": 5, "output": 2}, "stopReason": "toolUse"}}  # fmt: skip
    result = {"type": "message_end", "message": pi_result("c", "Command exited with code 1", True)["message"]}
    found = read(
        [
            PI,
            {"type": "agent_start"},
            answer,
            start,
            end,
            result,
            {"type": "turn_end"},
            {"type": "agent_end", "messages": []},
        ]
    )
    assert found.kind == "pi"
    assert (found.facts.calls.total(), found.facts.failed, found.facts.ended, found.tally.unknown) == (1, 1, 1, 0)
    assert found.facts.tokens().input == 5


def kimi(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "time": 1785613809972, **more}


def kimi_call(own: str, **given: Any) -> dict[str, Any]:
    event = {"type": "tool.call", "uuid": own, "stepUuid": "s", "toolCallId": own, "name": "Bash", "args": given}
    return kimi("context.append_loop_event", event=event)


def kimi_result(own: str, said: str, error: bool | None = None) -> dict[str, Any]:
    result = {"output": said} | ({} if error is None else {"isError": error})
    return kimi("context.append_loop_event", event={"type": "tool.result", "toolCallId": own, "result": result})


KIMI = {"type": "metadata", "protocol_version": "1.4", "created_at": 1785612803281}


def test_kimi_s_approval_stands_before_its_call_and_is_told_behind_it(read) -> None:
    result = {"decision": "rejected", "feedback": "not that"}
    asked = kimi("permission.record_approval_result", toolCallId="Bash_0", toolName="Bash", result=result)
    found = read([KIMI, asked, kimi_call("Bash_0", command="rm"), kimi_result("Bash_0", "The user rejected it", True)])
    (answered,) = found.of("tool.permission.answered")
    assert (answered.answer, answered.message, answered.by.kind) == ("deny", "not that", "native_prompt")
    assert found.outcome.code == "user_denied"


def test_kimi_s_failed_command_has_its_code(read) -> None:
    found = read([KIMI, kimi_call("b", command="x"), kimi_result("b", "no\nCommand failed with exit code: 7.", True)])
    assert (found.outcome.code, found.of("tool.invocation.completed")[0].exit_code) == ("exit_nonzero", 7)


def test_kimi_s_usage_is_counted_once_where_step_and_account_tell_it_and_also_where_only_the_step_does(read) -> None:
    usage = {"inputOther": 10, "output": 2, "inputCacheRead": 5, "inputCacheCreation": 0}
    step = [
        kimi("context.append_loop_event", event={"type": t, "uuid": "s", "usage": usage})
        for t in ("step.begin", "step.end")
    ]
    account = kimi("usage.record", model="k", usage=usage)
    assert read([KIMI, *step, account]).facts.tokens().input == 10
    assert read([KIMI, kimi("llm.request", modelAlias="k"), *step]).facts.usage["k"].input == 10


def test_kimi_s_prompt_is_one_turn_though_the_log_has_it_twice(read) -> None:
    origin, said = {"kind": "user"}, [{"type": "text", "text": "hi"}]
    twice = [kimi("turn.prompt", input=said, origin=origin),
             kimi("context.append_message", message={"role": "user", "content": said, "origin": origin})]  # fmt: skip
    note = kimi("context.append_message", message={"role": "user", "content": said, "origin": {"kind": "injection"}})
    facts = read([KIMI, *twice, note]).facts
    assert (facts.user_turns, facts.injected) == (1, 1)


def test_kimi_s_sub_agent_is_linked_by_the_id_that_its_result_names(read) -> None:
    call = kimi_call("Agent_1", description="look")
    call["event"]["name"] = "Agent"
    found = read(
        [KIMI, call, kimi_result("Agent_1", "agent_id: agent-0\nactual_subagent_type: explore\nstatus: completed")]
    )
    (spawned,) = found.of("agent.spawned")
    assert (spawned.child, spawned.agent_type, spawned.description) == ("agent-0", "explore", "look")


def copilot(kind: str, own: str = "e", /, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": own, "timestamp": "2026-01-10T09:00:01.000Z", "parentId": None}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"success": True, "result": {"content": "x"}}, "ok"),
        ({"success": True, "result": {"content": "x\n<exited with exit code 1>"}}, "exit_nonzero"),
        (
            {"success": False, "error": {"message": "The user rejected this tool call.", "code": "rejected"}},
            "user_denied",
        ),
        ({"success": False, "error": {"message": "Denied by preToolUse hook", "code": "denied"}}, "policy_denied"),
        ({"success": False, "error": {"message": "boom", "code": "failure"}}, "tool_error"),
        ({"result": {"content": "x"}}, "outcome_not_recorded"),
    ],
)
def test_copilot_s_results_are_told_apart(read, data: dict[str, Any], code: str) -> None:
    start = copilot("tool.execution_start", toolCallId="c", toolName="bash", arguments='{"command": "x"}')
    found = read(
        [
            copilot("session.start", sessionId="s", copilotVersion="1"),
            start,
            copilot("tool.execution_complete", toolCallId="c", **data),
        ]
    )
    assert found.outcome.code == code
    assert found.of("tool.intent")[0].raw_input == {"command": "x"}


def test_copilot_s_account_counts_what_its_messages_did_not(read) -> None:
    said = copilot("assistant.message", messageId="m", content="x", model="g", outputTokens=12, toolRequests=[])
    usage = {"inputTokens": 100, "outputTokens": 15, "cacheReadTokens": 5}
    end = copilot("session.shutdown", modelMetrics={"g": {"usage": usage}})
    found = read([copilot("session.start", sessionId="s", producer="p"), said, end])
    tokens = found.facts.usage["g"]
    assert (tokens.input, tokens.output, tokens.cache_read) == (100, 15, 5)


def test_copilot_s_sub_agent_and_its_messages_are_not_the_person_s(read) -> None:
    rows = [copilot("session.start", sessionId="s", producer="p"), copilot("user.message", "u", content="go"),
            copilot("user.message", "v", content="sub") | {"agentId": "a"},
            copilot("user.message", "w", content="go on", isAutopilotContinuation=True),
            copilot("tool.execution_start", toolCallId="c", toolName="task", arguments={}),
            copilot("subagent.started", toolCallId="c", agentName="explore")]  # fmt: skip
    facts = read(rows).facts
    assert (facts.user_turns, facts.injected, facts.sub_agents) == (1, 2, 1)


def test_copilot_s_task_id_on_a_message_says_nothing_of_who_wrote_it(read) -> None:
    """Recorded sessions of 1.0.64 have it on every message of the person's."""
    rows = [copilot("session.start", sessionId="s", producer="p"),
            copilot("user.message", "u", content="go", parentAgentTaskId="t")]  # fmt: skip
    assert read(rows).facts.user_turns == 1


def test_copilot_s_response_without_a_word_is_one_that_thought(read) -> None:
    rows = [copilot("session.start", sessionId="s", producer="p"),
            copilot("assistant.message", messageId="m", content="", toolRequests=[], outputTokens=101)]  # fmt: skip
    found = read(rows)
    assert found.facts.assistant_messages == 1
    assert found.of("message.reasoning")[0].text == ""


@pytest.mark.parametrize(
    ("kind", "source", "by"),
    [
        ("approved", "human_response", ("native_prompt", None)),
        ("denied-interactively-by-user", "", ("native_prompt", None)),
        ("denied-by-permission-request-hook", "", ("rule", "hook")),
        ("denied-by-rules", "", ("rule", None)),
        ("approved", "host_policy", ("rule", None)),
    ],
)
def test_copilot_says_who_answered(read, kind: str, source: str, by: tuple[str, str | None]) -> None:
    found = read(
        [
            copilot("session.start", sessionId="s", producer="p"),
            copilot("tool.execution_start", toolCallId="c", toolName="bash", arguments={}),
            copilot(
                "permission.completed", requestId="r", toolCallId="c", decisionSource=source, result={"kind": kind}
            ),
        ]
    )
    (answer,) = found.of("tool.permission.answered")
    assert (answer.by.kind, answer.by.client) == by


def qwen(
    own: str, parent: str | None, kind: str, parts: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    message = {"message": {"role": kind, "parts": parts}} if parts is not None else {}
    return {"uuid": own, "parentUuid": parent, "sessionId": "s", "timestamp": "2026-01-10T09:00:01.000Z", "type": kind,
            "cwd": "/w", "version": "1", **message, **more}  # fmt: skip


@pytest.mark.parametrize(("status", "code"), [("success", "ok"), ("error", "tool_error"), ("cancelled", "cancelled")])
def test_qwen_s_result_goes_to_its_call(read, status: str, code: str) -> None:
    call = qwen("a", "u", "assistant", [{"functionCall": {"id": "c", "name": "read_file", "args": {}}}], model="q")
    response = [{"functionResponse": {"id": "c", "name": "read_file", "response": {"output": "x"}}}]
    result = qwen("t", "a", "tool_result", response, toolCallResult={"callId": "c", "status": status})
    found = read([qwen("u", None, "user", [{"text": "go"}]), call, result])
    assert (found.outcome.code, found.facts.user_turns, dict(found.facts.calls)) == (code, 1, {"read_file": 1})


def test_qwen_s_times_that_were_blanked_are_no_times(read) -> None:
    row = qwen("u", None, "user", [{"text": "go"}])
    found = read([{**row, "timestamp": "[trimmed for fixture]"}])
    assert (found.facts.user_turns, found.facts.first) == (1, "")


def test_antigravity_s_results_go_to_the_calls_in_their_order(read) -> None:
    def step(n: int, kind: str, **more: Any) -> dict[str, Any]:
        return {
            "step_index": n,
            "source": "MODEL",
            "type": kind,
            "status": "DONE",
            "created_at": "2026-06-26T21:16:17Z",
            **more,
        }

    asked = step(
        1, "PLANNER_RESPONSE", tool_calls=[{"name": "run_command", "args": {}}, {"name": "view_file", "args": {}}]
    )
    ran = step(2, "RUN_COMMAND", content="The command failed with exit code: 2\nOutput:\nx")
    found = read([asked, ran, step(3, "VIEW_FILE", content="y", status="ERROR")])
    titles = {event.title: event.code for event in found.of("tool.observation")}
    assert titles == {"run_command": "exit_nonzero", "view_file": "tool_error"}


def test_visual_studio_s_tokens_are_not_counted_twice(read) -> None:
    def span(own: str, operation: str, **told: Any) -> dict[str, Any]:
        rows = [
            {"key": k.replace("__", "."), "value": {"intValue" if isinstance(v, int) else "stringValue": str(v)}}
            for k, v in told.items()
        ]
        return {"traceId": "t", "spanId": own, "name": operation, "startTimeUnixNano": "1781296600000000000",
                "endTimeUnixNano": "1781296600500000000",
                "attributes": [*rows, {"key": "gen_ai.operation.name", "value": {"stringValue": operation}}]}  # fmt: skip

    def batch(*spans: dict[str, Any]) -> dict[str, Any]:
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "vs-copilot"}}]}
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": list(spans)}]}]}

    whole = span("a", "invoke_agent", gen_ai__usage__input_tokens=30)
    parts = [span(n, "chat", gen_ai__usage__input_tokens=15) for n in ("b", "c")]
    failed = {**span("d", "execute_tool", gen_ai__tool__name="x"), "status": {"code": 2, "message": "no"}}
    found = read([batch(whole), batch(*parts), batch(failed)])
    assert (found.facts.tokens().input, found.outcome.code) == (30, "tool_error")
    assert found.of("tool.invocation.completed")[0].duration_ms == 500
    assert read([batch(whole)]).facts.tokens().input == 30


def older(kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1768035600.5, "message": {"type": kind, "payload": payload}}


def test_the_older_kimi_s_log_is_read_too(read) -> None:
    call = older("ToolCall", type="function", id="c", function={"name": "Shell", "arguments": '{"command": "rm"}'})
    asked = older("ApprovalRequest", id="r", tool_call_id="c", action="run")
    refused = {"is_error": True, "output": "", "message": "The tool call is rejected by the user."}
    found = read(
        [
            {"type": "metadata", "protocol_version": "1.1"},
            older("TurnBegin", user_input="go"),
            older("StepBegin", n=1),
            older("ContentPart", type="think", think="hm"),
            older("ContentPart", type="text", text="so"),
            call,
            asked,
            older("ApprovalRequestResolved", request_id="r", response="reject"),
            older("ToolResult", tool_call_id="c", return_value=refused),
            older("StatusUpdate", token_usage={"input_other": 9, "output": 1}, message_id="m"),
            older("StatusUpdate", token_usage={"input_other": 9, "output": 1}, message_id="m"),
            older("StepInterrupted"),
            older("TurnEnd"),
        ]
    )
    assert (found.kind, found.facts.user_turns, found.facts.assistant_messages, found.tally.unknown) == (
        "kimi",
        1,
        1,
        0,
    )
    assert (found.outcome.code, found.facts.tokens().input, found.facts.interrupted) == ("user_denied", 9, 1)
    assert [event.answer for event in found.of("tool.permission.answered")] == ["deny"]
