"""Where a rollout comes from, what it took over, how it was resumed, rolled back and made shorter."""

from __future__ import annotations

import json

OLD_TURN = "01980000-0000-7000-8000-00000000aaaa"
NEW_TURN = "019a0000-0000-7000-8000-00000000bbbb"


def boundaries(found) -> list[str]:
    return [b.kind for b in found.of("session.boundary")]


def test_a_resume_writes_another_head_and_the_session_stays_the_first(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.event("user_message", message="one"),
            rollout.meta(cli_version="0.145.0"),
            rollout.event("user_message", message="two"),
            rollout.meta(cli_version="0.145.0"),
        ]
    )
    assert found.facts.sessions == [rollout.parent]
    assert found.facts.versions == ["0.144.3", "0.145.0"]
    assert boundaries(found) == ["resumed", "version_changed", "resumed"]
    assert found.facts.user_turns == 2


def copied_from_parent(rollout, head) -> list[dict]:
    """What stands at the beginning of a fork, every record within some milliseconds."""
    records = [
        head,
        rollout.meta(rollout.parent),
        rollout.event("task_started", turn_id=OLD_TURN),
        rollout.event("user_message", message="asked the parent"),
        rollout.call("c1", "exec_command", {"cmd": "ls"}),
        rollout.output("c1", "Process exited with code 1\nOutput:\n"),
        rollout.message("assistant", "the parent's reply"),
        rollout.tokens((1000, 100), (1000, 100)),
    ]
    for number, record in enumerate(records):
        record["timestamp"] = f"2026-06-01T10:00:00.{number:03}Z"
    return records


def own_of_child(rollout) -> list[dict]:
    rollout.second = 300
    return [
        rollout.event("task_started", turn_id=NEW_TURN),
        rollout.event("user_message", message="asked the child"),
        rollout.call("c2", "exec_command", {"cmd": "pwd"}),
        rollout.output("c2", "Process exited with code 0\nOutput:\n/"),
        rollout.message("assistant", "the child's reply"),
        rollout.tokens((1637, 163), (637, 63)),
    ]


def check_child(found, rollout) -> None:
    assert found.facts.sessions[0] == rollout.child
    assert found.facts.parent == rollout.parent
    assert (found.facts.user_turns, found.facts.assistant_messages, found.facts.inherited) == (1, 1, 2)
    assert found.facts.calls == {"exec_command": 1}
    assert found.facts.failed == 0
    assert (found.facts.tokens().input, found.facts.tokens().output) == (637, 63)
    assert boundaries(found).count("forked") == 1
    assert [m.text for m in found.of("message.user") if m.inherited] == ["asked the parent"]


def test_a_fork_owns_what_came_behind_the_copy(read, rollout) -> None:
    copied = copied_from_parent(rollout, rollout.meta(rollout.child))
    check_child(read([*copied, *own_of_child(rollout)]), rollout)


def test_a_copy_without_ids_of_turns_ends_where_the_log_pauses(read, rollout) -> None:
    records = [*copied_from_parent(rollout, rollout.meta(rollout.child)), *own_of_child(rollout)]
    for record in records:
        record["payload"].pop("turn_id", None)
    check_child(read(records), rollout)


def test_a_sub_agent_that_goes_on_at_once_is_told_apart_by_its_turn(read, rollout) -> None:
    records = [*copied_from_parent(rollout, rollout.meta(rollout.child)), *own_of_child(rollout)]
    for number, record in enumerate(records):
        record["timestamp"] = f"2026-06-01T10:00:00.{number:03}Z"
    check_child(read(records), rollout)


def test_the_ordinal_in_the_head_says_where_a_sub_agent_begins(read, rollout) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": rollout.parent, "depth": 1}}}
    head = rollout.meta(rollout.child, source=spawn, subagent_history_start_ordinal=8)
    records = [*copied_from_parent(rollout, head), *own_of_child(rollout)]
    for number, record in enumerate(records):
        record["ordinal"] = number
        record["timestamp"] = "2026-06-01T10:00:00.000Z"
        record["payload"].pop("turn_id", None)
    found = read(records)
    assert found.facts.parent == rollout.parent
    assert (found.facts.user_turns, found.facts.assistant_messages) == (1, 1)
    assert (found.facts.tokens().input, found.facts.tokens().output) == (637, 63)


def test_the_last_words_of_a_copy_are_the_parent_s(read, rollout) -> None:
    head = rollout.meta(rollout.child, subagent_history_start_ordinal=3, parent_thread_id=rollout.parent)
    records = [head, rollout.meta(rollout.parent), rollout.message("user", "spawn one"), rollout.event("task_started")]
    records += [
        rollout.item("agent_message", author="/root", recipient="/root/x", content=[]),
        rollout.message("assistant", "ok"),
    ]
    for number, record in enumerate(records):
        record["ordinal"] = number
    found = read(records)
    assert (found.facts.user_turns, found.facts.inherited, found.facts.assistant_messages) == (0, 1, 1)


def test_a_sub_agent_without_a_copy_owns_all_of_its_log(read, rollout) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": rollout.parent, "depth": 1, "agent_role": "explorer"}}}
    found = read([rollout.meta(rollout.child, source=spawn), *own_of_child(rollout)])
    assert found.facts.parent == rollout.parent
    assert found.facts.inherited == 0
    assert found.facts.user_turns == 1
    assert found.facts.calls.total() == 1
    assert found.facts.tokens().input == 637, "the first total went on from the parent's"


def test_a_fork_whose_history_stays_in_the_other_log_owns_all_of_its_own(read, rollout) -> None:
    base = {"thread_id": rollout.parent, "end_ordinal_exclusive": 40, "end_byte_offset": 67787}
    head = rollout.meta(
        rollout.child, forked_from_id=rollout.parent, forked_from_ordinal_exclusive=40, history_base=base
    )
    records = [head, *own_of_child(rollout)]
    for number, record in enumerate(records):
        record["ordinal"] = number
    found = read(records)
    assert found.facts.parent == rollout.parent
    assert (found.facts.user_turns, found.facts.calls.total(), found.facts.inherited) == (1, 1, 0)
    assert found.facts.tokens().input == 637
    assert boundaries(found) == ["forked"]


def test_a_total_that_begins_anew_counts_from_nothing(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.tokens((1000, 100), (1000, 100)),
            rollout.tokens((3000, 300), (2000, 200)),
            rollout.meta(),
            rollout.tokens((500, 50), (500, 50)),
            rollout.tokens((4000, 400), (3500, 350)),
            rollout.meta(),
            rollout.tokens((9000, 900), (9000, 900)),
        ]
    )
    assert (found.facts.tokens().input, found.facts.tokens().output) == (16000, 1600)


def test_what_has_no_total_counts_and_null_counts_nothing(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.event("token_count", info=None, rate_limits={}),
            rollout.event("token_count", info={"last_token_usage": {"input_tokens": 19, "output_tokens": 7}}),
        ]
    )
    assert (found.facts.tokens().input, found.facts.tokens().output) == (19, 7)


def test_a_usage_record_and_the_total_behind_it_are_one_response(read, rollout) -> None:
    def record(response: str, given: int, made: int) -> dict:
        usage = {"input_tokens": given, "cached_input_tokens": 10, "output_tokens": made, "reasoning_output_tokens": 1}
        return rollout.record("token_usage_record", {"turn_id": "t", "response_id": response, "usage": usage})

    def total(given: int, cached: int, made: int, thought: int) -> dict:
        usage = {
            "input_tokens": given,
            "cached_input_tokens": cached,
            "output_tokens": made,
            "reasoning_output_tokens": thought,
        }
        return rollout.event("token_count", info={"total_token_usage": usage})

    context = rollout.record("turn_context", {"model": "gpt-6"})
    for order in (lambda a, b: [a, b], lambda a, b: [b, a]):
        pairs = [
            *order(record("r1", 100, 5), total(100, 10, 5, 1)),
            *order(record("r2", 200, 6), total(300, 20, 11, 2)),
        ]
        found = read([rollout.meta(), context, *pairs, total(300, 20, 11, 2)])
        told = found.facts.usage["gpt-6"]
        assert (told.input, told.cache_read, told.output, told.reasoning) == (300, 20, 11, 2)
        assert len(found.of("model.response")) == 2


def test_tokens_belong_to_the_model_that_answered(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.record("turn_context", {"model": "gpt-5.5"}),
            rollout.tokens((10, 1)),
            rollout.record("turn_context", {"model": "gpt-6-sol"}),
            rollout.tokens((30, 3)),
        ]
    )
    assert {name: usage.input for name, usage in found.facts.usage.items()} == {"gpt-5.5": 10, "gpt-6-sol": 20}
    assert boundaries(found) == ["model_changed"]


def test_turns_that_were_rolled_back_stay_and_are_marked(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.event("user_message", message="wrong"),
            rollout.event("thread_rolled_back", num_turns=1),
            rollout.event("user_message", message="right"),
        ]
    )
    assert boundaries(found) == ["rolled_back"]
    assert found.facts.user_turns == 2


def test_one_compaction_is_told_once_and_each_is_told(read, rollout) -> None:
    shorter = rollout.record("compacted", {"message": "summary", "replacement_history": [{"type": "message"}]})
    records = [rollout.meta()]
    for _ in range(2):
        records += [shorter, rollout.event("context_compacted"), rollout.event("agent_message", message="on")]
    assert boundaries(read(records)) == ["compacted", "compacted"]


def test_a_compaction_that_three_records_tell_of_is_one(read, rollout) -> None:
    records = [
        rollout.meta(),
        rollout.tokens((10, 1)),
        rollout.record("compacted", {"message": "summary"}),
        rollout.tokens((10, 1)),
        rollout.item("context_compaction"),
        rollout.completed("ContextCompaction", "x"),
        rollout.tokens((20, 2)),
        rollout.completed("ContextCompaction", "y"),
    ]
    assert boundaries(read(records)) == ["compacted", "compacted"]


def test_a_name_that_the_person_gave_is_the_title(read, rollout) -> None:
    found = read([rollout.meta(), rollout.event("thread_name_updated", thread_name="Fix the build")])
    assert found.facts.title == "Fix the build"


def test_times_may_be_missing_and_run_backwards(read, rollout) -> None:
    records = [rollout.meta(), rollout.event("user_message", message="a"), rollout.event("user_message", message="b")]
    records[1]["timestamp"] = "[trimmed for fixture]"
    records[2]["timestamp"] = "2026-01-01T00:00:00.000Z"
    found = read(records)
    assert found.facts.user_turns == 2
    assert found.facts.first == "2026-01-01T00:00:00.000000Z"


def test_unknown_kinds_are_kept_and_named(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.event("quantum_flux"),
            rollout.item("hologram"),
            rollout.record("new_kind", {"a": 1}),
            {"timestamp": "2026-06-01T10:00:00.000Z", "type": "event_msg"},
            rollout.event("task_complete"),
        ]
    )
    assert [u.record for u in found.of("foreign.unknown")] == [
        "event_msg/quantum_flux",
        "response_item/hologram",
        "new_kind",
        "event_msg",
    ]
    assert [r.record for r in found.of("foreign.record")] == ["event_msg/task_complete"]
    assert (found.tally.records, found.tally.unknown, found.tally.kept, found.tally.eventful) == (6, 4, 1, 1)


def test_documents_over_many_lines_are_read_as_the_same_session(tmp_path, read_path, rollout) -> None:
    records = [rollout.meta(), rollout.message("user", "go"), rollout.event("user_message", message="go")]
    path = tmp_path / "pretty.jsonl"
    path.write_text("\n".join(json.dumps(record, indent=2) for record in records))
    found = read_path(path, "document")
    assert found.facts.user_turns == 1
    assert found.facts.sessions == [rollout.parent]
