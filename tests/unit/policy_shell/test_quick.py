"""The short way of reading a text gives what the long way gives, and takes nothing that it should not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.policy.syntax.budget import Budget
from interlock.runtime.policy.syntax.grammar import Grammar
from interlock.runtime.policy.syntax.quick import quick_sequence
from interlock.runtime.policy.syntax.syntax import CapReachedError, Sequence, ShellSyntaxError

DATA = Path(__file__).parents[2] / "data"


def long_way(text: str) -> Sequence | None:
    reader = Grammar(text, Budget())
    try:
        found = reader.whole()
    except (ShellSyntaxError, CapReachedError):
        return None
    return None if reader.doubts else found


def agree(text: str) -> bool:
    """Compare; True when the short way took the text."""
    quick = quick_sequence(text)
    if quick is not None:
        assert quick == long_way(text), text
    return quick is not None


_ATOMS = st.sampled_from(
    [*"abz019_./,:=+@%^-", *" \t\n;|&'\"", *"$`\\(){}[]<>#!~*?", "ls", "rm", "time", "if", "fi", "do", "x=1", "&&", "||", ";;",
     "|&", "''", '""', "'a b'", '"c d"', " ", " ", " ", "\r", "é", "\u00a0", "2", "!", "coproc", "function", "a=", "]]", "[["]
)  # fmt: skip


@settings(max_examples=1_000, deadline=None)
@given(st.lists(_ATOMS, max_size=14).map("".join))
def test_any_text_is_read_alike_or_left_to_the_long_way(text: str) -> None:
    agree(text)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(["git", "-m", "'a b'", '"x"', "a'b'\"c\"", "--o='v w'", "''", "a.py", "x=1"]), min_size=1),
            st.sampled_from([" | ", "&&", " ||", "; ", " ;", "|"]),
        ),
        min_size=1,
        max_size=5,
    )
)  # fmt: skip
def test_plain_commands_are_read_alike(commands: list[tuple[list[str], str]]) -> None:
    text = "".join(" ".join(words) + operator for words, operator in commands)
    agree(text)
    agree(text.rstrip(" |&;"))


def test_the_everyday_commands_take_the_short_way() -> None:
    for text in (
        "ls -la tests", "cat README.md | head -20", 'grep -rn "TODO" tests | sort | uniq -c', "git status;", " cd tests && ls ",
        "find . -name '*.py'", "git commit -m 'a; b | c'", "a || b",
    ):  # fmt: skip
        assert agree(text), text


@pytest.mark.parametrize(
    "text",
    ["", " ", "a &", "a &&", "a |", "| a", "a ;; b", "a |& b", "x=1 ls", "time ls", "if a", "a 'b", "a\nb", "a\\ b", "a $b",
     "a `b`", "a > b", "a *", "~/x", "{a,b}", "a # b", "a ()", "! a", "a & b", "; a",
     "a;;", "done", 'a "$b"', 'a "b\\c"', "a" * 401],
)  # fmt: skip
def test_what_is_not_plain_goes_the_long_way(text: str) -> None:
    assert quick_sequence(text) is None


def test_every_public_case_is_read_alike() -> None:
    rows = [json.loads(line) for line in (DATA / "cases" / "attack-cases.jsonl").read_text().splitlines() if line]
    own = [json.loads(line) for line in (DATA / "policy" / "must-deny.jsonl").read_text().splitlines() if line]
    taken = [agree(text) for row in [*(r["input"] for r in rows), *own] if isinstance(text := row.get("command"), str)]
    assert any(taken)
    assert not all(taken)


def test_a_text_that_does_not_fit_is_left_quickly() -> None:
    """Words are taken whole, never tried again in pieces; else a text of 400 characters would take years."""
    assert quick_sequence("a" * 399 + "$") is None
    assert quick_sequence("'a'" * 130 + "(") is None
