"""Texts that are made to cost much: what is read of them stays small, and what is not read is said to be unknown."""

from __future__ import annotations

import pytest

from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.shell.assign import set_array
from interlock.runtime.policy.shell.expand import MAX_VALUE, MAX_WORDS
from interlock.runtime.policy.shell.filters import likely
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.value import transformed

_RUNS = [
    ("screen -S n -X stuff 'rm -rf x\\n", "\\n", "'"),
    ("screen -S n -X stuff 'rm -rf x", "\n", "'"),
    ("ed <<< '", " ", "!rm -rf x'"),
]
_RUNS_NOT = [("screen -X stuff '", "\n", "x'"), ("ed <<< '", " ", "x'"), ("dc -e '", " ", "x'")]


@pytest.mark.parametrize(("front", "filler", "end"), _RUNS)
def test_what_is_typed_is_found_behind_any_number_of_blanks(front: str, filler: str, end: str) -> None:
    assert "rm" in [one.program for one in parse_command(front + filler * 20_000 + end).commands]


@pytest.mark.parametrize(("front", "filler", "end"), _RUNS_NOT)
def test_a_long_run_of_blanks_is_read_in_one_pass(front: str, filler: str, end: str) -> None:
    """ours: three repeats side by side tried every way of sharing them out, which never ended for a text of this size."""
    assert parse_command(front + filler * 20_000 + end).commands


def test_a_long_awk_program_is_not_understood() -> None:
    """ours: what it runs may stand behind the part that is looked at, so that an allow for awk must not stand for it."""
    program = " " * 5_000 + 'BEGIN{system("touch M")}'
    assert not parse_command(f"awk '{program}'").understood


def test_a_replacement_that_makes_too_much_is_no_guess() -> None:
    assert likely("sed", [f"s/a/{'b' * 1_000}/g"], "a" * 10_000) is None
    assert likely("sed", [f"s/^/{'b' * 1_000}/"], "a\n" * 5_000) is None
    assert likely("sed", ["s/a\\/b/c/"], "a/b") == "c"


def test_a_long_value_is_not_cut_by_a_pattern() -> None:
    assert transformed("a" * 300 + "/b", "#", "##*/") == "b"
    assert transformed("a" * 1_900 + "/b", "#", "##*/") is None


def test_an_array_grows_only_as_far_as_a_value() -> None:
    state = State("/home/u")
    set_array("a", ["x" * 60_000], state)
    set_array("a", ["x" * 60_000], state, more=True)
    assert state.values["a[@]"] is None
    whole = parse_command("x=" + "a" * 30_000 + "; " + "".join(f"a[{i}]=$x; " for i in range(5)) + 'echo "${a[@]}"')
    assert all(len(word) < MAX_VALUE for one in whole.commands for word in one.argv)


def test_a_value_that_makes_too_many_words_is_a_cap() -> None:
    found = parse_command(f"x='{'a ' * (MAX_WORDS + 1)}'; echo $x")
    assert not found.understood
    assert f"a value makes more than {MAX_WORDS} words" in found.notes
    assert parse_command(f"x='{'a ' * MAX_WORDS}'; echo $x").notes == ()


@pytest.mark.parametrize("file", ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
@pytest.mark.parametrize(("front", "fed"), [("sed -f", "e rm -rf x"), ("make -f", "a:;rm -rf x"), ("bash", "rm -rf x")])
def test_every_name_of_the_standard_input_is_known(front: str, fed: str, file: str) -> None:
    found = parse_command(f"{front} {file} <<< '{fed}'")
    assert "rm" in [one.program for one in found.commands]


@pytest.mark.parametrize("shell", ["bash", "ash", "mksh", "fish", "csh"])
def test_every_shell_inside_a_compound_may_read_a_pipe(shell: str) -> None:
    assert parse_command(f"cat a | ({shell})").notes
