"""What was said in rollouts is told once, by whom it was said."""

from __future__ import annotations

import pytest

CONTEXT = "<environment_context>\n  <cwd>/w</cwd>\n</environment_context>"


def test_a_person_s_words_count_once_though_they_stand_there_twice(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.message("developer", "<permissions instructions>…"),
            rollout.message("user", "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x</INSTRUCTIONS>", CONTEXT),
            rollout.message("user", "do it", id="m1"),
            rollout.event("user_message", message="do it"),
        ]
    )
    assert (found.facts.user_turns, found.facts.injected) == (1, 2)
    (mine,) = [m for m in found.of("message.user") if not m.injected]
    assert (mine.text, mine.message_id) == ("do it", "m1")


def test_the_event_may_come_before_the_item(read, rollout) -> None:
    found = read([rollout.meta(), rollout.event("user_message", message="go"), rollout.message("user", "go")])
    assert (found.facts.user_turns, found.facts.injected) == (1, 0)


def test_saying_the_same_again_is_another_turn(read, rollout) -> None:
    records = [rollout.meta()]
    for _ in range(3):
        records += [rollout.message("user", "go on"), rollout.event("user_message", message="go on")]
        records += [rollout.message("assistant", "yes"), rollout.event("agent_message", message="yes")]
    found = read(records)
    assert (found.facts.user_turns, found.facts.assistant_messages) == (3, 3)


def test_a_log_without_events_counts_the_messages_that_are_no_context(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.message("user", CONTEXT),
            rollout.message("user", "first"),
            rollout.message("assistant", "answer"),
            rollout.message("user", "<turn_aborted>\nthe person interrupted\n</turn_aborted>"),
            rollout.message("user", "second"),
        ]
    )
    assert (found.facts.user_turns, found.facts.injected) == (2, 2)
    assert [m.text for m in found.of("message.user") if not m.injected] == ["first", "second"]


def test_what_is_tagged_is_a_person_s_where_an_event_says_so(read, rollout) -> None:
    asked = "<task>do it</task>"
    found = read([rollout.meta(), rollout.message("user", asked), rollout.event("user_message", message=asked)])
    assert (found.facts.user_turns, found.facts.injected) == (1, 0)
    alone = read([rollout.meta(), rollout.message("user", asked), rollout.message("assistant", "ok")])
    assert (alone.facts.user_turns, alone.facts.injected) == (0, 1)


def test_a_message_with_a_picture_is_one_message(read, rollout) -> None:
    content = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:x"},
    ]
    content += [{"type": "input_text", "text": "</image>"}, {"type": "input_text", "text": "what is this?"}]
    found = read(
        [
            rollout.meta(),
            rollout.item("message", role="user", content=content),
            rollout.event("user_message", message="what is this?", images=["data:x"]),
        ]
    )
    assert (found.facts.user_turns, found.facts.injected) == (1, 0)


def test_the_newest_form_tells_messages_as_completed_items(read, rollout) -> None:
    found = read(
        [
            rollout.meta(history_mode="paginated"),
            rollout.message("user", "go", id="u1"),
            rollout.completed("UserMessage", "item-1", content=[{"type": "text", "text": "go", "text_elements": []}]),
            rollout.completed("Reasoning", "r1", summary_text=["**Thinking**"], raw_content=[]),
            rollout.item(
                "reasoning", id="r1", summary=[{"type": "summary_text", "text": "**Thinking**"}], encrypted_content="x"
            ),
            rollout.completed("AgentMessage", "msg_1", content=[{"type": "Text", "text": "done"}]),
            rollout.message("assistant", "done", id="msg_1"),
        ]
    )
    assert (found.facts.user_turns, found.facts.assistant_messages) == (1, 1)
    assert [r.text for r in found.of("message.reasoning")] == ["**Thinking**"]


def test_the_reply_without_its_citations_is_the_same_reply(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.event("agent_message", message="done"),
            rollout.message("assistant", "done\n<oai-mem-citation>a|b</oai-mem-citation>", id="m"),
        ]
    )
    assert found.facts.assistant_messages == 1


def test_two_reviews_under_one_id_are_two_messages(read, rollout) -> None:
    records = [rollout.meta()]
    for words in ("first finding", "second finding"):
        records += [rollout.message("assistant", words, id="review_rollout_assistant")]
        records += [rollout.event("agent_message", message=words)]
    found = read(records)
    assert [m.text for m in found.of("message.assistant")] == ["first finding", "second finding"]
    assert found.facts.assistant_messages == 2


def test_thoughts_are_told_once_and_closed_ones_are_marked(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.event("agent_reasoning", text="**One**"),
            rollout.event("agent_reasoning", text="**Two**"),
            rollout.item("reasoning", summary=[{"type": "summary_text", "text": t} for t in ("**One**", "**Two**")]),
            rollout.item("reasoning", summary=[], encrypted_content="gAAA"),
        ]
    )
    assert [(r.text, r.encrypted) for r in found.of("message.reasoning")] == [
        ("**One**", None),
        ("**Two**", None),
        ("", True),
    ]


def test_a_plan_is_told_once(read, rollout) -> None:
    text = "Here it is.\n<proposed_plan>\n1. test\n</proposed_plan>"
    found = read(
        [
            rollout.meta(),
            rollout.event("agent_message", message="Here it is."),
            rollout.completed("Plan", "p", text="1. test"),
            rollout.message("assistant", text),
        ]
    )
    assert [m.text for m in found.of("message.assistant")] == ["Here it is.", "1. test"]


def test_what_another_agent_says_is_no_turn_of_the_person(read, rollout) -> None:
    found = read(
        [
            rollout.meta(),
            rollout.record("inter_agent_communication_metadata", {"trigger_turn": True}),
            rollout.item(
                "agent_message", author="/root", recipient="/root/x", content=[{"type": "input_text", "text": "begin"}]
            ),
        ]
    )
    (message,) = found.of("message.user")
    assert message.injected
    assert message.text == "/root to /root/x: begin"


@pytest.mark.parametrize(
    "records", [[{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}]]
)
def test_records_without_an_envelope_are_read_too(read, records) -> None:
    head = {"id": "0198", "timestamp": "2025-07-01T10:00:00.000Z", "instructions": None, "git": {"branch": "main"}}
    found = read([head, {"record_type": "state"}, *records])
    assert found.facts.sessions == ["0198"]
    assert found.facts.user_turns == 1
    assert found.tally.unknown == 0
