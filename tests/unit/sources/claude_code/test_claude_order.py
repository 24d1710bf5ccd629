"""What stands in a transcript in another order than it happened: results before calls, messages that waited in a queue."""

from __future__ import annotations

from typing import Any

from interlock.runtime.events.message import UserMessage
from interlock.runtime.events.tool import ToolIntent, ToolObservation
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.adapter import ClaudeAdapter
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.narrator import UNRECORDED
from interlock.runtime.sources.foreign.record import ForeignRecord

COMMON = {"sessionId": "s", "version": "2.1.161", "cwd": "/w"}
TASK = '{"task_id":"b1","tool_use_id":"t","description":"Run all tests","task_type":"local_bash"}'
NOTICE = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"


def told(*records: dict[str, Any]) -> list[AnyEvent]:
    adapter = ClaudeAdapter()
    events = [e for n, r in enumerate(records) for e in adapter.take(ForeignRecord(r, n, 1))]
    return [*events, *adapter.end()]


def said(*records: dict[str, Any]) -> list[str]:
    return [e.text for e in told(*records) if isinstance(e, UserMessage) and not e.injected]


def call(call_id: str, message: str = "m1", stamp: str = "2026-01-10T09:00:01.000Z") -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": "Write", "input": {"n": call_id}}
    body = {"id": message, "role": "assistant", "model": "m", "content": [block]}
    return {
        **COMMON,
        "type": "assistant",
        "uuid": f"a-{call_id}",
        "parentUuid": "p",
        "timestamp": stamp,
        "message": body,
    }


def result(call_id: str, stamp: str = "2026-01-10T09:00:02.000Z") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "done"}
    body = {"role": "user", "content": [block]}
    return {**COMMON, "type": "user", "uuid": f"u-{call_id}", "parentUuid": "p", "timestamp": stamp, "message": body}


def user(words: str) -> dict[str, Any]:
    return {**COMMON, "type": "user", "uuid": words, "parentUuid": None, "message": {"role": "user", "content": words}}


def queued(operation: str, content: str | None = None) -> dict[str, Any]:
    more = {} if content is None else {"content": content}
    return {"type": "queue-operation", "operation": operation, "sessionId": "s", **more}


def other() -> dict[str, Any]:
    return {"type": "mode", "mode": "normal", "sessionId": "s"}


def test_a_result_that_was_written_before_its_call_is_its_result() -> None:
    events = told(call("t1"), result("t1"), result("t2"), call("t2"))
    intents = [e for e in events if isinstance(e, ToolIntent)]
    observations = [e for e in events if isinstance(e, ToolObservation)]
    assert [(e.tool, e.reason) for e in intents] == [("Write", None), ("Write", None)]
    assert [(e.title, e.intent_id, e.ok) for e in observations] == [
        ("Write", intents[0].intent_id, True),
        ("Write", intents[1].intent_id, True),
    ]
    early = observations[1]
    assert early.origin is not None
    assert early.origin.offset == 2
    assert early.ts == "2026-01-10T09:00:02.000000Z"


def test_a_result_whose_call_does_not_come_is_told_without_it() -> None:
    for records in ([result("t1")], [result("t1"), *([other()] * 9)]):
        (intent,) = [e for e in told(*records) if isinstance(e, ToolIntent)]
        assert (intent.tool, intent.reason) == ("?", UNRECORDED)
    later = told(result("t1"), *([other()] * 9), call("t1"))
    assert sum(isinstance(e, ToolObservation) for e in later) == 1


def test_a_second_early_result_of_a_call_changes_nothing() -> None:
    events = told(result("t1"), result("t1"), call("t1"))
    assert sum(isinstance(e, ToolObservation) for e in events) == 1


def test_a_notice_that_waits_in_either_form_is_no_turn() -> None:
    records = [user("go"), queued("enqueue", TASK), queued("enqueue", NOTICE), *([queued("remove")] * 2), other()]
    assert said(*records) == ["go"]


def test_removals_just_before_a_prompt_took_the_notices_and_not_the_prompt() -> None:
    records = [user("go"), queued("enqueue", TASK), queued("enqueue", "fix it"), queued("enqueue", TASK)]
    records += [queued("remove"), queued("remove"), queued("dequeue"), user("fix it")]
    assert said(*records) == ["go", "fix it"]


def test_a_removal_that_no_prompt_follows_gave_the_model_what_the_person_wrote() -> None:
    records = [user("go"), queued("enqueue", TASK), queued("enqueue", "and this"), queued("remove"), call("t1")]
    assert said(*records) == ["go", "and this"]
    behind = [queued("remove"), queued("dequeue"), user("next")]
    assert said(*records, queued("enqueue", "next"), *behind) == ["go", "and this", "next"]


def test_what_the_person_took_back_into_the_prompt_was_not_said() -> None:
    records = [user("go"), queued("enqueue", "wait"), queued("popAll", "wait"), queued("remove"), call("t1")]
    assert said(*records) == ["go"]


def test_a_removal_stands_where_its_record_does_though_it_is_told_later() -> None:
    events = told(user("go"), queued("enqueue", "and this"), queued("remove"), call("t1"))
    (taken,) = [e for e in events if isinstance(e, UserMessage) and e.text == "and this"]
    assert taken.origin is not None
    assert taken.origin.offset == 2
    assert {e.origin.offset for e in events if e.origin is not None} == {0, 1, 2, 3}


def test_an_end_of_the_log_settles_what_was_removed() -> None:
    facts = SessionFacts()
    for event in told(user("go"), queued("enqueue", "and this"), queued("remove")):
        facts.add(event)
    assert facts.user_turns == 2


def test_no_more_removals_are_kept_than_messages_wait() -> None:
    adapter = ClaudeAdapter()
    records = [queued("enqueue", "one"), queued("dequeue"), *[queued("remove")] * 1000]
    for number, record in enumerate(records):
        list(adapter.take(ForeignRecord(record, number, 1)))
    assert len(adapter._queue._removed) == 1
