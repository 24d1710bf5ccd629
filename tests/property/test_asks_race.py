"""Whatever is done in whatever order: one outcome an ask, and only a recorded allow lets a call run."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.asks.broker import AskNotRecorded, Broker
from interlock.runtime.asks.frame import Frames, parse
from interlock.runtime.asks.protocol import AskAnswer, Fault
from interlock.runtime.events.permission import Approver, ToolPermission

NAMES = ("a0", "a1", "a2")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("answer", "cancel", "time", "break", "mend", "shown")),
        st.sampled_from(NAMES),
        st.sampled_from(("allow", "deny")),
        st.booleans(),
    ),
    max_size=25,
)


@given(STEPS)
@settings(deadline=None, max_examples=150)
def test_every_ask_has_at_most_one_end_and_only_a_recorded_allow_runs(steps):
    asyncio.run(play(steps))


async def play(steps):
    events, state = [], {"now": datetime(2026, 1, 10, tzinfo=UTC), "broken": False}

    def record(event, durable):
        if state["broken"]:
            raise OSError("disk full")
        events.append(event)
        return event

    broker = Broker(record, lambda: state["now"])
    waiting = {}
    for name in NAMES:
        due = (state["now"] + timedelta(seconds=5)).isoformat() if name == "a2" else None
        ask = ToolPermission(
            ask_id=name,
            intent_id=name,
            decision="ask",
            reason="",
            source="tool",
            input_digest=f"d{name}",
            expires_at=due,
        )
        waiting[name] = broker.open(ask)
    for what, name, said, right in steps:
        match what:
            case "answer":
                answer = AskAnswer(ask_id=name, input_digest=f"d{name}" if right else "x", answer=said)
                accepted = broker.resolve(answer, Approver(kind="person")).status == "accepted"
                assert not (accepted and not right)
            case "cancel":
                broker.cancel(name)
            case "shown":
                broker.shown(name, Approver(kind="person"))
            case "time":
                state["now"] += timedelta(seconds=2)
            case _:
                state["broken"] = what == "break"
    broker.close_all()
    for name, pending in waiting.items():
        ends = [
            e for e in events if e.type in ("tool.permission.answered", "tool.permission.closed") and e.ask_id == name
        ]
        assert len(ends) <= 1
        try:
            outcome = await pending.wait()
        except AskNotRecorded:
            continue
        assert outcome.allowed == any(getattr(e, "answer", None) == "allow" for e in ends)


@given(st.lists(st.binary(max_size=40), max_size=8), st.data())
def test_any_cutting_of_the_stream_gives_the_same_lines(chunks, data):
    whole = b"".join(chunks)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    frames, got = Frames(), []
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        got += frames.feed(whole[start:end])
    assert got == whole.split(b"\n")[:-1]


@given(st.binary(max_size=200))
def test_parsing_never_raises_anything_but_a_fault(line):
    try:
        parse(line)
    except Fault:
        pass
