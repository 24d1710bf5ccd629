"""What bash ignores changes no verdict: quotes, spaces, joined lines, comments, brackets around the whole."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)
STRICT = {"allow": 0, "ask": 1, "deny": 2}
RULES = """
allow = ["git commit *", "npm run lint", "touch *"]
ask = ["npm test"]
deny = ["rm -rf", "git reset --hard"]
[[rule]]
id = "reads"
effect = "allow"
read_only = true
inside = true
"""
LAYER = load_layer(RULES, file="r.toml", layer="user")
COMMANDS = [
    ["ls", "-la", "src"], ["rm", "-rf", "x"],
    ["rm", "-r", "--force", "x"], ["git", "reset", "--hard"], ["git", "commit", "-m", "x"],
    ["npm", "run", "lint"], ["npm", "test"],
    ["touch", "a"], ["touch", "../a"], ["cat", "/etc/passwd"], ["cat", "a"], ["curl", "x"],
    ["git", "status"], ["sort", "-o", "a", "b"], ["find", ".", "-delete"], ["cp", "a", ".git/hooks/x"],
]  # fmt: skip
commands = st.sampled_from(COMMANDS)


def verdict(command: str) -> str:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(call, with_built_in([LAYER]), MemoryWorld(), (), NOW).effect


@st.composite
def respelled(draw: st.DrawFn, words: list[str]) -> str:
    """The same words with other quotes."""
    shown: list[str] = []
    for word in words:
        at = draw(st.integers(0, len(word)))
        style = draw(st.sampled_from(["plain", "single", "double", "split", "empty", "joined", "ansi", "escape"]))
        head, tail = word[:at], word[at:]
        shown.append(
            {
                "plain": word,
                "single": f"'{word}'",
                "double": f'"{word}"',
                "split": f"'{head}'\"{tail}\"",
                "empty": f"{head}''{tail}" if word else "''",
                "joined": f"{head}\\\n{tail}",
                "ansi": "$'" + "".join(f"\\x{ord(c):02x}" for c in word) + "'",
                "escape": "".join("\\" + c for c in word),
            }[style]
        )
    gap = draw(st.sampled_from([" ", "  ", "\t", " \\\n "]))
    return gap.join(shown)


@settings(deadline=None)
@given(commands.flatmap(lambda words: st.tuples(st.just(words), respelled(words))))
def test_quotes_and_blanks_that_bash_ignores_change_no_verdict(pair: tuple[list[str], str]) -> None:
    words, text = pair
    assert verdict(text) == verdict(shlex.join(words))


@settings(deadline=None)
@given(
    commands,
    st.sampled_from(["", " ", "\n", "\t", "\n\n  "]),
    st.sampled_from(["", " ", "\n", " # x; y", ";", " ;\n", "\n#c\n"]),
)
def test_blanks_line_ends_and_comments_around_a_command_change_no_verdict(
    words: list[str], head: str, tail: str
) -> None:
    command = shlex.join(words)
    assert verdict(head + command + tail) == verdict(command)


@settings(deadline=None)
@given(
    commands,
    st.sampled_from(
        ["( {} )", "{{ {}; }}", "! {}", "time {}", "sh -c {!r}", "command {}", "env {}", "if true; then {}; fi"]
    ),
)
def test_nothing_around_a_command_makes_it_milder(words: list[str], frame: str) -> None:
    command = shlex.join(words)
    assert STRICT[verdict(frame.format(command))] >= STRICT[verdict(command)]


@settings(deadline=None)
@given(st.permutations(["-r", "-f", "x", "-v"]))
def test_the_order_of_options_changes_no_deny(words: list[str]) -> None:
    assert verdict("rm " + " ".join(words)) == "deny"
