"""Properties of the shell reading: quotes and line ends that bash ignores change nothing, nothing raises, nothing is cut."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.policy.shell import SimpleCommand, is_read_only, parse_command

_COMMANDS = st.sampled_from(
    [
        "ls -la src", "rm -rf x", "git reset --hard HEAD", "sort -o a a", "cat a b", "grep -rn foo src", "find . -delete",
        "sudo rm -rf x", "bash -c ls", "cd a && rm b", "echo hi | sh", "git log --oneline", "xargs rm", "env A=1 ls",
    ]
)  # fmt: skip
_TEXT = st.text(alphabet=string.printable + "\u00a0\u202e\u0000é\ud800", max_size=80)


def _facts(command: str) -> list[tuple[object, ...]]:
    def key(c: SimpleCommand) -> tuple[object, ...]:
        return c.program, c.argv, c.known, c.cwd, c.depth, c.understood, is_read_only(c).ok

    return [key(c) for c in parse_command(command, home="/home/u").commands]


@given(_COMMANDS, st.data())
@settings(max_examples=200, deadline=None)
def test_quotes_that_bash_removes_change_nothing(command: str, data: st.DataObject) -> None:
    """ours: `rm` is `r''m` is `"rm"` is `\\rm`."""
    words = command.split(" ")
    at = data.draw(st.integers(0, len(words) - 1))
    word = words[at]
    if word in ("|", "&&") or "=" in word:
        return
    cut = data.draw(st.integers(0, len(word)))
    made = data.draw(
        st.sampled_from(
            [f"{word[:cut]}''{word[cut:]}", f'"{word}"', f"'{word}'", f'{word[:cut]}""{word[cut:]}', "\\" + word]
        )
    )
    words[at] = made
    assert _facts(" ".join(words)) == _facts(command)


@given(_COMMANDS, st.data())
@settings(max_examples=200, deadline=None)
def test_joined_lines_and_more_blanks_change_nothing(command: str, data: st.DataObject) -> None:
    """ours: a backslash before a line end is nothing, anywhere outside single quotes."""
    at = data.draw(st.integers(0, len(command)))
    assert _facts(command[:at] + "\\\n" + command[at:]) == _facts(command)
    assert _facts("  " + command.replace(" ", " \t ") + "  # done") == _facts(command)


@given(_TEXT)
@settings(max_examples=400, deadline=None)
def test_no_text_makes_the_reader_raise(text: str) -> None:
    """ours: `parse_command` never raises."""
    facts = parse_command(text, home="/home/u")
    assert facts.understood <= (not facts.notes)
    for command in facts.commands:
        assert len(command.argv) == len(command.known)
        is_read_only(command)


@given(st.lists(_COMMANDS, min_size=1, max_size=6), st.sampled_from(["; ", " && ", " || ", "\n", " & "]))
@settings(max_examples=100, deadline=None)
def test_a_compound_lists_every_part(commands: list[str], joint: str) -> None:
    """ours: joining commands hides none of them."""
    together = [c.program for c in parse_command(joint.join(commands)).commands]
    apart = [c.program for one in commands for c in parse_command(one).commands]
    assert together == apart


@given(_COMMANDS)
@settings(max_examples=50, deadline=None)
def test_a_part_in_brackets_is_the_same_part(command: str) -> None:
    """ours: subshells, groups and substitutions show what they hold."""
    programs = [c.program for c in parse_command(command).commands]
    for shape in ("({})", "{{ {}; }}", "if {}; then :; fi", "true; {}", "cat <({})", "echo $({})", "eval '{}'"):
        inside = [c.program for c in parse_command(shape.format(command)).commands]
        assert all(inside.count(p) >= programs.count(p) for p in programs)
