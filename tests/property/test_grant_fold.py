"""What stands is the fold of the journal, whichever way it is read. (spec EV-6, ASK-4)"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.events.message import AssistantMessage, FinalAnswer, UserMessage
from interlock.runtime.events.permission import Approver, GrantMade, GrantRevoked
from interlock.runtime.events.session import SessionEnded
from interlock.runtime.events.tool import InvocationStarted
from interlock.runtime.journal.codec import decode_line, encode
from interlock.runtime.state.grants import GrantFold

ME = Approver(kind="person", uid=1)
NAMES = ("grant_1", "grant_2", "grant_3", "grant_4")


def made(name: str, scope: str) -> GrantMade:
    expires = "2026-01-10T09:10:00.000000Z" if scope == "ten_minutes" else None
    more = {"rule_id": "r", "rule": "[[rule]]"} if scope == "rule" else {}
    return GrantMade(
        grant_id=name,
        ask_id="a",
        intent_id=f"int_{name}",
        scope=scope,
        tool="bash",
        matches={},
        expires_at=expires,
        **more,
    )  # type: ignore[arg-type]


def started(name: str) -> InvocationStarted:
    return InvocationStarted.model_validate(
        {"invocationId": "i", "intentId": f"int_{name}", "executor": "x", "cwd": "/", "sandbox": {}}
    )


EVENTS = st.one_of(
    st.builds(made, st.sampled_from(NAMES), st.sampled_from(("turn", "session", "ten_minutes", "rule"))),
    st.builds(lambda name: GrantRevoked(grant_id=name, by=ME), st.sampled_from(NAMES)),
    st.builds(started, st.sampled_from(NAMES)),
    st.just(UserMessage(message_id="m", text="go")),
    st.just(AssistantMessage(message_id="m", text="hm")),
    st.just(FinalAnswer.model_validate({"messageId": "m", "evidence": {"verdict": "none"}})),
    st.just(SessionEnded(reason="completed")),
)  # fmt: skip


def lines(events: list) -> list[bytes]:
    stamp = "2026-01-10T09:00:00.000001Z"
    return [encode(e, session="s", seq=n, ts=stamp, prev="0" * 64) for n, e in enumerate(events)]


def fold(raw: list[bytes], onto: GrantFold | None = None) -> GrantFold:
    found = onto or GrantFold()
    for line in raw:
        found.add(decode_line(line.rstrip(b"\n")))
    return found


@settings(max_examples=200, deadline=None)
@given(events=st.lists(EVENTS, max_size=20), cut=st.integers(0, 20), again=st.integers(0, 20))
def test_a_replay_a_resumed_and_an_overlapping_fold_are_equal(events: list, cut: int, again: int) -> None:
    raw = lines(events)
    whole = fold(raw)
    resumed = fold(raw[max(cut - again, 0) :], fold(raw[:cut]))
    assert (resumed.made, resumed.revoked, resumed.ended) == (whole.made, whole.revoked, whole.ended)


@settings(max_examples=200, deadline=None)
@given(events=st.lists(EVENTS, max_size=20))
def test_nothing_stands_that_was_not_made_or_whose_end_is_on_record(events: list) -> None:
    found = fold(lines(events))
    for name, grant in found.made.items():
        last = max(n for n, e in enumerate(events) if isinstance(e, GrantMade) and e.grant_id == name)
        after = events[last + 1 :]
        assert not any(isinstance(e, GrantRevoked) and e.grant_id == name for e in after)
        assert grant.scope != "turn" or not any(isinstance(e, UserMessage | FinalAnswer) for e in after)
        assert grant.scope == "rule" or not any(isinstance(e, SessionEnded) for e in after)
    late = 10**18
    assert not any(grant.scope == "ten_minutes" for grant in found.standing(late))
