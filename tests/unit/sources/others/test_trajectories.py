"""Trajectories and archives: mini-swe-agent, SWE-agent, ATIF, Inspect."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.sources.foreign.reading import open_log


def mini(*messages: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": info, "messages": list(messages), "trajectory_format": "mini-swe-agent-1.1", "instance_id": "i"}


def test_a_trajectory_of_tool_calls_has_times_tokens_and_exit_codes(read) -> None:
    response = {
        "model": "m",
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
    }
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    found = read(
        mini(
            {"role": "system", "content": "s"},
            {"role": "user", "content": "task"},
            {
                "role": "assistant",
                "content": "look",
                "tool_calls": [call],
                "extra": {"response": response, "cost": 0.5, "timestamp": 1768035600.5},
            },
            {
                "role": "tool",
                "tool_call_id": "c",
                "content": "<returncode>2</returncode>",
                "extra": {"returncode": 2, "timestamp": 1768035601.5},
            },
            {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded"}},
            model_stats={"instance_cost": 0.5},
            mini_version="2.1.0",
        )
    )
    assert found.kind == "mini_swe_agent"
    assert (found.outcome.code, found.of("tool.intent")[0].raw_input) == ("exit_nonzero", {"command": "ls"})
    assert (found.facts.cost_usd, found.facts.usage["m"].cache_read, found.facts.versions) == (0.5, 4, ["2.1.0"])
    assert (dict(found.facts.boundaries), found.facts.first) == ({"error": 1}, "2026-01-10T09:00:00.500000Z")


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("<returncode>0</returncode>\n<output>x</output>", "ok"),
        ("The last command <command>x</command> timed out and has been killed.", "timeout"),
        ("Command not executed. The user rejected your command with the following message: no", "user_denied"),
        ("diff --git a b", "outcome_not_recorded"),
    ],
)
def test_an_observation_in_the_user_s_place_is_the_result_of_the_command(read, said: str, code: str) -> None:
    asked = {"role": "assistant", "content": "THOUGHT\n```mswea_bash_command\nls\n```"}
    found = read(mini({"role": "user", "content": "task"}, asked, {"role": "user", "content": said}))
    assert (found.outcome.code, found.facts.user_turns) == (code, 1)


def test_what_the_harness_says_is_no_turn_and_no_result(read) -> None:
    asked = {"role": "assistant", "content": "no command"}
    found = read(
        mini({"role": "user", "content": "task"}, asked, {"role": "user", "content": "Please give EXACTLY ONE action"})
    )
    assert (found.facts.user_turns, found.facts.injected, found.facts.ended) == (1, 1, 0)


def test_a_swe_agent_s_steps_carry_time_and_the_words_that_say_that_nothing_ran(read) -> None:
    def step(said: str) -> dict[str, Any]:
        return {"action": "x\n", "observation": said, "response": "r", "thought": "t", "execution_time": 0.25}

    words = [
        "fine",
        "Your bash command contained syntax errors and was NOT executed",
        "Operation 'vim' is not supported by this environment.",
        "The command 'x' was cancelled because it took more than 30 seconds",
    ]
    found = read(
        {
            "trajectory": [step(w) for w in words],
            "history": [{"role": "user", "content": "task"}],
            "info": {
                "model_stats": {"tokens_sent": 5, "tokens_received": 2, "instance_cost": 0.1},
                "exit_status": "exit_cost",
            },
        }
    )
    codes = [event.code for event in found.of("tool.observation")]
    assert codes == ["outcome_not_recorded", "tool_error", "policy_denied", "timeout"]
    assert found.facts.tokens().input == 5
    assert dict(found.facts.boundaries) == {"error": 1}


def atif(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    rows = [{"step_id": n + 1, "timestamp": f"2026-01-10T09:00:{n:02}Z", **step} for n, step in enumerate(steps)]
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": "x", "version": "2", "model_name": "m"},
        "steps": rows,
        **more,
    }


def test_an_atif_trajectory_is_read_with_calls_results_and_tokens(read) -> None:
    asked = {
        "source": "agent",
        "message": "so",
        "reasoning_content": "hm",
        "model_name": "n",
        "tool_calls": [{"tool_call_id": c, "function_name": "bash", "arguments": {"command": c}} for c in ("a", "b")],
        "observation": {
            "results": [
                {"source_call_id": "a", "content": "x"},
                {
                    "source_call_id": "b",
                    "content": [{"type": "text", "text": "y"}],
                    "extra": {"exit_code": 3},
                    "subagent_trajectory_ref": [{"session_id": "k", "trajectory_path": "k.json"}],
                },
            ]
        },
        "metrics": {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 3, "cost_usd": 0.2},
    }
    found = read(
        atif(
            {"source": "system", "message": "sys"},
            {"source": "user", "message": "go"},
            asked,
            final_metrics={"total_prompt_tokens": 99},
        )
    )
    assert (found.kind, found.facts.agent, found.facts.versions) == ("atif", "x", ["2"])
    assert [event.code for event in found.of("tool.observation")] == ["outcome_not_recorded", "exit_nonzero"]
    assert (found.facts.usage["n"].input, found.facts.cost_usd, found.facts.sub_agents) == (9, 0.2, 1)
    assert (found.facts.user_turns, found.facts.assistant_messages) == (1, 1)


def test_atif_s_sum_counts_where_no_step_tells_tokens_and_copied_steps_do_not(read) -> None:
    copied = {"source": "user", "message": "old", "is_copied_context": True}
    found = read(
        atif(
            copied, {"source": "agent", "message": "x"}, final_metrics={"total_prompt_tokens": 9, "total_cost_usd": 0.3}
        )
    )
    assert (found.facts.tokens().input, found.facts.cost_usd, found.facts.inherited, found.facts.user_turns) == (
        9,
        0.3,
        1,
        0,
    )


def test_answers_of_the_provider_s_other_interface_are_messages_with_their_calls(read) -> None:
    """The form of mini-swe-agent 2.4.6, made by a run of it."""

    def answer(n: int, said: str, command: str) -> dict[str, Any]:
        rows: list[dict[str, Any]] = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}]
        rows += [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}]
        rows += [
            {"type": "function_call", "call_id": f"c{n}", "name": "bash", "arguments": json.dumps({"command": command})}
        ]
        usage = {"input_tokens": 10, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
        extra = {"actions": [{"command": command, "tool_call_id": f"c{n}"}], "cost": 0.5, "timestamp": 1796042558.2 + n}
        return {"object": "response", "output": rows, "usage": usage, "extra": extra}

    def output(n: int, code: int) -> dict[str, Any]:
        extra = {"raw_output": "", "returncode": code, "timestamp": 1796042559.2 + n, "exception_info": ""}
        text = f"<returncode>{code}</returncode>\n<output>\n</output>"
        return {"type": "function_call_output", "call_id": f"c{n}", "output": text, "extra": extra}

    task = {"role": "user", "content": [{"type": "input_text", "text": "do it"}]}
    found = read(
        {
            "info": {"mini_version": "2.4.6", "config": {"model": {"model_name": "m"}}},
            "messages": [task, answer(1, "one", "ls"), output(1, 0), answer(2, "two", "exit 3"), output(2, 3)],
            "trajectory_format": "mini-swe-agent-1.1",
        }
    )
    facts = found.facts
    assert (facts.user_turns, facts.assistant_messages, dict(facts.calls)) == (1, 2, {"bash": 2})
    assert (facts.ended, facts.failed, facts.cost_usd) == (2, 1, 1.0)
    assert (facts.usage["m"].input, facts.usage["m"].cache_read) == (20, 8)
    assert [event.text for event in found.of("message.assistant")] == ["one", "two"]
    assert [event.text for event in found.of("message.reasoning")] == ["hm", "hm"]


def archive(path: Path, **members: Any) -> Path:
    with zipfile.ZipFile(path, "w") as made:
        for name, value in members.items():
            made.writestr(name.replace("__", "/") + ".json", value if isinstance(value, str) else json.dumps(value))
    return path


def test_an_evaluation_tells_each_sample_s_calls_with_their_times_and_approvals(tmp_path: Path, read_path) -> None:
    call = {"id": "c", "function": "bash", "arguments": {"cmd": "ls"}}
    sample = {
        "id": 1,
        "epoch": 1,
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "attachment://a", "source": "input"},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "so"}],
                "tool_calls": [call],
            },
            {
                "role": "tool",
                "tool_call_id": "c",
                "function": "bash",
                "content": "",
                "error": {"type": "timeout", "message": "late"},
            },
        ],
        "events": [
            {"event": "model", "timestamp": "2026-01-10T09:00:01+00:00"},
            {
                "event": "approval",
                "call": call,
                "decision": "reject",
                "approver": "human",
                "timestamp": "2026-01-10T09:00:02+00:00",
            },
            {
                "event": "tool",
                "id": "c",
                "timestamp": "2026-01-10T09:00:03+00:00",
                "completed": "2026-01-10T09:00:05+00:00",
                "working_time": 1.5,
            },
        ],
        "attachments": {"a": "the task"},
        "model_usage": {"m": {"input_tokens": 7, "output_tokens": 1}},
        "limit": {"type": "time"},
    }
    head = {
        "version": 2,
        "status": "success",
        "eval": {"run_id": "r", "task": "t", "model": "m", "packages": {"inspect_ai": "0.3"}},
    }
    found = read_path(archive(tmp_path / "x", header=head, samples__1_epoch_1=sample, summaries=[]))
    assert found.kind == "inspect_eval"
    assert [event.text for event in found.of("message.user")] == ["the task"]
    assert (found.outcome.code, found.outcome.ts, found.outcome.metrics.duration_ms) == (
        "timeout",
        "2026-01-10T09:00:05.000000Z",
        1500,
    )
    assert [event.answer for event in found.of("tool.permission.answered")] == ["deny"]
    assert (found.facts.tokens().input, dict(found.facts.boundaries)) == (7, {"error": 1})


def test_an_evaluation_s_solver_speaks_for_nobody_and_a_file_s_no_is_no_denial(tmp_path: Path, read_path) -> None:
    """As 0.3.285 writes it: what the person gave has a source, and what the solver puts behind it has none."""
    sample = {
        "id": 1,
        "epoch": 1,
        "messages": [
            {"role": "user", "content": "go", "source": "input"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": "read", "arguments": {}}]},
            {"role": "tool", "tool_call_id": "c", "content": "", "error": {"type": "permission", "message": "no"}},
            {"role": "user", "content": "Please proceed."},
        ],
    }
    facts = read_path(archive(tmp_path / "x", samples__1_epoch_1=sample)).facts
    assert (facts.user_turns, facts.injected, facts.failed, facts.denied) == (1, 1, 1, 0)
    for message in sample["messages"]:
        message.pop("source", None)
    assert read_path(archive(tmp_path / "y", samples__1_epoch_1=sample)).facts.user_turns == 2


def test_a_member_that_is_no_json_is_damaged_and_the_others_are_read(tmp_path: Path, read_path) -> None:
    sample = {"id": 1, "epoch": 1, "messages": [{"role": "user", "content": "go", "source": "input"}]}
    found = read_path(archive(tmp_path / "x", samples__1_epoch_1=sample, samples__2_epoch_1='{"id": 2, "mess'))
    assert (found.facts.user_turns, found.tally.damaged) == (1, 1)


def cline(*rows: tuple[str, str, str], partial: bool = False) -> list[dict[str, Any]]:
    made = [
        {"ts": 1768035600000 + n, "type": kind, kind: what, "text": said} for n, (kind, what, said) in enumerate(rows)
    ]
    if partial:
        made[-1]["partial"] = True
    return made


STARTED = json.dumps({"request": "…", "tokensIn": 10, "tokensOut": 2, "cacheReads": 3, "cost": 0.1})
CLINE = [
    ("say", "task", "do it"),
    ("say", "api_req_started", STARTED),
    ("say", "text", "so"),
    ("ask", "tool", '{"tool": "readFile", "path": "a"}'),
    ("say", "tool", '{"tool": "readFile", "path": "a"}'),
    ("say", "api_req_started", STARTED),
    ("ask", "command", "ls"),
    ("say", "command_output", "x"),
    ("say", "command_output", "y"),
    ("say", "user_feedback", "more"),
]


def test_cline_s_screen_is_read_with_turns_calls_outputs_and_tokens(tmp_path: Path, read_path) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps(cline(*CLINE)))
    found = read_path(path)
    assert (found.kind, dict(found.facts.calls)) == ("cline", {"readFile": 1, "command": 1})
    assert (found.facts.user_turns, found.facts.assistant_messages, found.facts.tokens().input) == (2, 2, 20)
    assert (found.facts.cost_usd, [e.content for e in found.of("tool.observation")]) == (0.2, [None, "x\ny"])


def test_cline_s_first_message_is_the_task_whatever_it_is_called(tmp_path: Path, read_path) -> None:
    """Recorded sessions of older versions begin with `text`."""
    path = tmp_path / "ui_messages.json"
    path.write_text(json.dumps(cline(("say", "text", "do it"), ("say", "text", "I will"))))
    facts = read_path(path).facts
    assert (facts.user_turns, facts.assistant_messages) == (1, 1)


def test_cline_s_file_that_is_rewritten_tells_what_is_whole_and_new_and_what_was_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_text(json.dumps(cline(*CLINE[:3], partial=True)))
    translation = open_log(path, session="s")
    told = [[e.type for e in translation.events()]]
    for rows in (cline(*CLINE[:3]), cline(*CLINE[:3]), cline(CLINE[0])):
        path.write_text(json.dumps(rows) + " " * len(told))
        told.append([e.type for e in translation.events()])
    assert told == [
        ["session.started", "message.user", "model.response"],
        ["message.assistant"],
        [],
        ["session.boundary"],
    ]
