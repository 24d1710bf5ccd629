"""When keys answer, and which keys are none. (spec UI-4; BC-059, PR-027)"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from interlock.tui.model.guard import Guard
from interlock.tui.model.reply import ReplyFilter


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


def typed(*keys: tuple[str, str | None], pause: float = 0.0, start: float = 0.0) -> list[str]:
    replies, now, passed = ReplyFilter(), start, []
    for key, character in keys:
        now += pause
        if not replies.swallows(key, character, now):
            passed.append(key)
    return passed


def plain(text: str) -> list[tuple[str, str]]:
    return [(c, c) for c in text]


def test_a_control_sequence_handed_on_by_letters_is_swallowed_to_its_end() -> None:
    assert typed(("alt+left_square_bracket", "["), *plain("?62;4;22c"), ("j", "j")) == ["j"]


def test_a_reply_that_comes_in_two_parts_is_swallowed_too() -> None:
    replies = ReplyFilter()
    assert replies.swallows("alt+left_square_bracket", "[", 0.0)
    assert all(replies.swallows(c, c, 0.6) for c in "1;1R")
    assert not replies.swallows("a", "a", 0.6)


def test_a_colour_report_is_swallowed_with_its_letters() -> None:
    keys = [("circumflex_accent", "^"), ("right_square_bracket", "]"), *plain("11;rgb:1e1e/1e1e/2e2e")]
    assert typed(*keys, ("alt+backslash", "\\"), ("d", "d")) == ["circumflex_accent", "d"]


def test_a_sequence_that_never_ends_gives_the_keys_back_after_a_pause() -> None:
    replies = ReplyFilter()
    assert replies.swallows("alt+right_square_bracket", "]", 0.0)
    assert replies.swallows("1", "1", 0.1)
    assert not replies.swallows("a", "a", 5.0)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30))
def test_what_a_person_types_always_passes(text: str) -> None:
    assert typed(*plain(text), pause=0.1) == list(text)
