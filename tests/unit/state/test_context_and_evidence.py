"""What the model is told, and what its claims are worth. (spec RT-11, RT-15, RT-16, RT-17, RT-18)"""

from __future__ import annotations

import pytest

from interlock.runtime.events.message import AssistantMessage, ContextPruned, UserMessage
from interlock.runtime.events.tool import SideEffect, ToolIntent, ToolObservation, Verification
from interlock.runtime.state.context import ContextFold, build, model_text, prunable, tokens_freed
from interlock.runtime.state.evidence import exit_is_masked, goal_of, verdict


def observation(number: int, **fields) -> ToolObservation:
    base = {"observation_id": f"obs_{number}", "intent_id": f"int_{number}", "ok": True, "phase": "execute"}
    return ToolObservation(
        **{**base, "code": "ok", "title": "t", "summary": f"sum {number}", "user_text": "", **fields}
    )


def turn(number: int, content: str | None) -> list:
    return [
        AssistantMessage(message_id=f"msg_{number}", text=f"turn {number}"),
        ToolIntent(intent_id=f"int_{number}", tool="bash", raw_input={"command": "ls"}, call_id=f"call_{number}"),
        observation(number, content=content),
    ]


def test_the_history_keeps_calls_results_and_the_trust_boundary() -> None:
    messages = build([UserMessage(message_id="m", text="go"), *turn(1, "a\nb")])
    assert [m.role for m in messages] == ["user", "assistant", "tool"]
    assert messages[1].calls[0].call_id == messages[2].call_id == "call_1"
    assert messages[2].text == "sum 1\na\nb"
    assert (messages[2].trust, messages[2].format) == ("tool_output_untrusted", "text")


def test_pruning_drops_the_content_and_keeps_the_summary_in_this_projection_alone() -> None:
    events = [*turn(1, "long é"), *turn(2, "more"), ContextPruned(observation_ids=("obs_1",), tokens_freed=1)]
    first, second = [m for m in build(events) if m.role == "tool"]
    assert (first.text, first.content, first.summary) == ("sum 1", None, "sum 1")
    assert second.text == "sum 2\nmore"
    assert events[2].content == "long é"
    assert build([*events, ContextPruned(observation_ids=("obs_1", "gone"), tokens_freed=0)]) == build(events)


def test_what_pruning_frees_is_the_bytes_of_the_content_by_four() -> None:
    assert tokens_freed(["é" * 8, "abcd"]) == 5


def test_only_results_older_than_the_kept_turns_can_be_pruned() -> None:
    messages = build([*turn(1, "one"), *turn(2, None), *turn(3, "three")])
    assert [m.message_id for m in prunable(messages, keep_turns=1)] == ["obs_1"]
    assert [m.message_id for m in prunable(messages, keep_turns=0)] == ["obs_1", "obs_3"]
    assert prunable(messages, keep_turns=9) == []


def test_the_fold_of_a_replay_is_the_fold_of_the_live_stream() -> None:
    events, live = [*turn(1, "one"), *turn(2, "two"), ContextPruned(observation_ids=("obs_1",), tokens_freed=0)], []
    fold = ContextFold()
    for event in events:
        fold.add(event)
        live = list(fold.messages)
    assert live == build(events)


def test_a_refusal_names_its_code_and_what_to_do() -> None:
    refused = observation(1, ok=False, phase="permission", code="user_denied", summary="not now", next_step="ask me")
    assert model_text(refused) == "user_denied: not now\nask me"


@pytest.mark.parametrize(
    ("command", "goal"),
    [
        ("pytest -q", "tests"), ("python -m pytest tests", "tests"), ("cd app && npm test", "tests"),
        ("CI=1 timeout 60 cargo test", "tests"), ("uv run pytest", "tests"), ("go test ./...", "tests"),
        ("make", "build"), ("tsc --noEmit", "build"), ("ruff check .", "lint"), ("mypy src", "types"),
        ("echo pytest", None), ("cat pytest.ini", None), ("grep -r 'go test' .", None), ("ls", None),
    ],
)  # fmt: skip
def test_a_check_is_recognised_by_what_is_run(command: str, goal: str | None) -> None:
    assert goal_of(command) == goal


@pytest.mark.parametrize("command", ["pytest | tail -5", "pytest; echo done", "pytest || true", "pytest &"])
def test_an_exit_code_that_may_be_that_of_another_part_is_called_masked(command: str) -> None:
    assert exit_is_masked(command)


@pytest.mark.parametrize("command", ["pytest -q", "cd app && pytest", "pytest 2>&1", "pytest > out.txt"])
def test_an_exit_code_of_the_check_itself_is_not(command: str) -> None:
    assert not exit_is_masked(command)


def check(number: int, passed: bool, digest: str = "d1", goal: str = "tests") -> Verification:
    return Verification(
        observation_id=f"obs_{number}", goal=goal, command="pytest", passed=passed, workspace_digest=digest
    )


EDIT = observation(9, side_effects=(SideEffect(kind="file.changed", path="a.py"),))


@pytest.mark.parametrize(
    ("events", "digest", "verdict_"),
    [
        ([], "", "none"),
        ([check(1, True)], "d1", "passed"),
        ([check(1, False)], "d1", "failed"),
        ([check(1, False), EDIT, check(2, True)], "d1", "passed"),
        ([check(1, True), EDIT], "", "stale"),
        ([check(1, True)], "d2", "stale"),
        ([check(1, True), check(2, False, goal="lint")], "d1", "failed"),
        ([check(1, True), EDIT, check(2, True, goal="lint")], "", "stale"),
    ],
)
def test_the_verdict_is_that_of_the_record(events: list, digest: str, verdict_: str) -> None:
    assert verdict(events, digest).verdict == verdict_


def test_a_cut_result_tells_the_model_what_to_do_next() -> None:
    cut = observation(1, content="part", truncated=True, omitted_bytes=9, next_step="use read_artifact")
    assert model_text(cut) == "sum 1\nuse read_artifact\npart"
    assert model_text(observation(1, content="all", next_step="use read_artifact")) == "sum 1\nall"
