"""When keys answer, and which keys are none. (spec UI-4; BC-059, PR-027)"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.tui.model.guard import Guard
from interlock.tui.model.reply import ReplyStripper


def test_a_card_arms_after_a_quiet_guard_time_and_not_before() -> None:
    guard = Guard()
    guard.show("ask", 10.0)
    assert not guard.press("a", 10.49)
    guard.show("ask", 10.5)
    assert not guard.is_armed(10.98)
    assert guard.is_armed(10.99)


def test_a_changed_card_and_a_hidden_one_are_not_armed() -> None:
    guard = Guard()
    guard.show("ask", 0.0)
    assert guard.is_armed(0.5)
    guard.show("ask with a fresh diff", 1.0)
    assert not guard.is_armed(1.4)
    guard.show(None, 2.0)
    assert not guard.is_armed(99.0)


def test_the_key_that_answered_needs_a_longer_quiet_than_others() -> None:
    guard = Guard()
    guard.show("one", 0.0)
    assert guard.press("a", 1.0)
    guard.show("two", 1.0)
    assert guard.is_armed(1.6, "d")
    assert not guard.is_armed(1.6, "a")
    assert guard.is_armed(1.76, "a")


@given(st.lists(st.floats(0.001, 0.499), min_size=1, max_size=60), st.floats(0.0, 0.74))
def test_no_run_of_keys_without_a_quiet_time_ever_answers_twice(pauses: list[float], first: float) -> None:
    guard, now, answered = Guard(), 1.0, 0
    guard.show(0, 0.0)
    for number, pause in enumerate([0.0, first, *pauses]):
        now += pause
        if guard.press("a", now):
            answered += 1
            guard.show(number + 1, now)
    assert answered == 1


REPLIES = (
    "\x1b[?62;4;22c",
    "\x1b[>0;276;0c",
    "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
    "\x1b]11;rgb:1e1e/1e1e/2e2e\x07",
    "\x1b[?997;1n",
    "\x1bP>|tmux 3.5a\x1b\\",
    "\x1b[?1u",
)
KEYS = (
    "a",
    "\x1b",
    "\x1b[A",
    "\x1b[1;5C",
    "\x1bOP",
    "\x1b[<0;3;4M",
    "\x1b[?2026;2$y",
    "\x1b[I",
    "\x1b[200~y\x1b[?1cn\x1b[201~",
)


@given(st.sampled_from(REPLIES), st.integers(0, 30))
def test_a_reply_is_taken_out_wherever_it_is_split(reply: str, cut: int) -> None:
    if cut == 1:
        cut = 2  # Esc alone is a key, and the parser itself waits for what follows it
    stripper = ReplyStripper()
    assert stripper.strip(reply[:cut], 0.0) + stripper.strip(reply[cut:] + "j", 0.6) == "j"


@given(st.lists(st.sampled_from(KEYS), max_size=6))
def test_keys_mouse_and_paste_pass_unchanged(keys: list[str]) -> None:
    stripper = ReplyStripper()
    assert [stripper.strip(key, 0.0) for key in keys] == keys


def test_half_a_position_report_is_joined_and_handed_on_whole() -> None:
    stripper = ReplyStripper()
    assert stripper.strip("\x1b[", 0.0) == ""
    assert stripper.strip("1;1R", 0.6) == "\x1b[1;1R"


def test_half_a_sequence_that_never_ends_is_dropped() -> None:
    stripper = ReplyStripper()
    assert stripper.strip("\x1b]11;rgb", 0.0) == ""
    assert stripper.strip("a", 9.0) == "a"


@given(
    st.sampled_from("]P_^X"), st.text("abcxyzGP]_ \r", max_size=12), st.sampled_from(["", "\x1b[D", "\x1b[A", "\x7f"])
)
def test_keys_that_follow_alt_and_a_key_all_pass(alt: str, typed: str, then: str) -> None:
    stripper = ReplyStripper()
    keys = [f"\x1b{alt}", *(key for key in typed.lower()), then, "j"]
    passed = "".join(stripper.strip(key, at / 10) for at, key in enumerate(keys) if key)
    assert passed == "".join(keys)


def test_a_reply_that_is_cut_short_takes_no_later_key_with_it() -> None:
    stripper = ReplyStripper()
    assert stripper.strip("\x1b]11;rgb:1e1e", 0.0) == ""
    assert stripper.strip("\x1b[A", 0.1) == "\x1b[A"
    assert stripper.strip("\x1b]11;rgb", 1.0) == ""
    assert [stripper.strip(key, at) for key, at in (("d", 1.9), ("e", 2.9), ("f", 3.1))] == ["", "", "f"]


@given(st.text(max_size=60))
def test_what_has_no_escape_in_it_always_passes(text: str) -> None:
    plain = text.replace("\x1b", "")
    assert ReplyStripper().strip(plain, 0.0) == plain
