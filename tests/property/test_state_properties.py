"""Folds do not care how often or in what portions a journal is read. (spec RT-16, EV-6)"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.events.moment import micros
from interlock.runtime.journal.envelope import EnvelopeBrief, EnvelopeUsage
from interlock.runtime.state.session import SessionState, status_of
from interlock.runtime.state.timeline import Timeline

_NAMES = (
    "session.started session.ended message.user model.request model.response tool.intent tool.permission "
    "tool.permission.answered tool.permission.closed tool.scheduled tool.invocation.started "
    "tool.invocation.completed tool.observation verification context.pruned other"
)
TYPES = st.sampled_from(_NAMES.split())
NUMBER = st.integers(0, 4)
EVENTS = st.lists(
    st.builds(
        lambda kind, n, ok, decision, phase, exit_: EnvelopeBrief(
            type=kind, session="s", intent_id=f"int_{n}", invocation_id=f"inv_{n}", ask_id=f"ask_{n}", tool="bash",
            ok=ok, decision=decision, phase=phase, exit=exit_, usage=EnvelopeUsage(1, 2), cost_usd=0.5, passed=ok,
        ),
        TYPES, NUMBER, st.booleans(), st.sampled_from(["allow", "ask", "deny"]),
        st.sampled_from(["permission", "execute", "validate"]), st.sampled_from(["ok", "error", "timeout", "cancelled"]),
    ),
    max_size=30,
)  # fmt: skip


def numbered(events: list[EnvelopeBrief]) -> list[EnvelopeBrief]:
    for seq, event in enumerate(events):
        event.seq, event.ts = seq, f"2026-01-10T09:00:{seq:02d}.000000Z"
    return events


def folded(events: list[EnvelopeBrief]) -> tuple[SessionState, list]:
    state, timeline = SessionState(), Timeline()
    for event in events:
        state.add(event)
        timeline.add(event, event.seq * 100)
    return state, [timeline.row(i) for i in range(len(timeline))]


@given(EVENTS, st.data())
@settings(max_examples=100, deadline=None)
def test_repeated_and_overlapping_portions_change_nothing(events: list[EnvelopeBrief], data: st.DataObject) -> None:
    events = numbered(events)
    cut = data.draw(st.integers(0, len(events)))
    back = data.draw(st.integers(0, cut))
    assert folded(events[:cut] + events[back:]) == folded(events)


@given(EVENTS, st.booleans())
@settings(max_examples=100, deadline=None)
def test_the_status_always_has_evidence_and_needs_a_living_writer_to_be_live(
    events: list[EnvelopeBrief], alive: bool
) -> None:
    state, _ = folded(numbered(events))
    status, evidence = status_of(state, alive)
    assert evidence
    if not alive:
        assert status in ("gone", "done", "failed")


@given(st.text(max_size=40) | st.datetimes().map(lambda d: d.isoformat() + "Z"))
@settings(max_examples=200, deadline=None)
def test_any_text_can_stand_where_a_time_should(text: str) -> None:
    assert isinstance(micros(text), int)
