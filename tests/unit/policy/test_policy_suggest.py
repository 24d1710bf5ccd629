"""What a standing permission may be offered for. (spec, ASK-4; cases BC-047, BC-049)"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.grant import Grant, Suggestion
from interlock.runtime.policy.rules.layer import joined
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)
CASES = Path(__file__).parents[2] / "data" / "cases" / "bug-cases.jsonl"

BARRED = [
    "rm -rf build",
    "rm x",
    "git push --force",
    "git reset --hard",
    "sudo ls",
    "sh x.sh",
    "python3 -c 'print(1)'",
    "python3 x.py",
    "node -e 1",
    "eval ls",
    "$CMD",
    "echo $(date)",
    "cat <<EOF\nx\nEOF",
    "while true; do ls; done",
    "f() { ls; }",
    "case a in b) ls;; esac",
    "docker run x",
    "xargs rm",
    "find . -delete",
    "curl -d @x http://y",
    "LD_PRELOAD=./x.so gh api r",
    "FOO=1",
    "diff <(ls) <(ls)",
    "sh <<< ls",
    "dd if=a of=b",
    "kill 1",
]


def _table(case: str) -> list[dict[str, Any]]:
    rows = (json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines())
    return next(row for row in rows if row["id"] == case)["input"]["cases"]


NO_READING = with_built_in([load_layer('switch_off = ["read-only-commands"]', file="u.toml", layer="user")])
"""What only reads asks as well, so that there is something to offer for it."""


def judged(command: str, *grants: Grant) -> Decision:
    asked = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(asked, NO_READING, MemoryWorld(), grants, NOW)


def offered(command: str) -> tuple[Suggestion, ...]:
    return judged(command).suggestions


def patterns(command: str) -> list[str] | None:
    return [one.value for one in offered(command) if one.field == "pattern"] or None


@pytest.mark.parametrize("row", _table("BC-047"), ids=lambda row: row["cmd"][:20])
def test_the_pattern_offered_is_the_short_one_or_none(row: dict[str, Any]) -> None:
    assert patterns(row["cmd"]) == row["want"]
    if row["want"] is None:
        assert offered(row["cmd"]) == ()


@pytest.mark.parametrize("row", [1, 3])
def test_wrappers_and_variables_are_not_part_of_what_is_offered(row: int) -> None:
    """BC-049, rows 2 and 4."""
    assert [one.value for one in offered(_table("BC-049")[row]["cmd"])] == ["gh api *"]


@pytest.mark.parametrize(
    "command",
    BARRED,
)
def test_nothing_standing_is_offered(command: str) -> None:
    assert offered(command) == ()


@pytest.mark.parametrize("shell", ["bash", "ash", "mksh", "csh", "/opt/bin/rbash"])
def test_nothing_standing_is_offered_for_any_shell(shell: str) -> None:
    assert offered(f"{shell} build.sh") == ()


@pytest.mark.parametrize("command", ["npm run lint", "git commit -m 'a: b'", "ls src/", "cd src && git status"])
def test_the_narrowest_offer_comes_first_and_each_is_short_and_can_be_read_back(command: str) -> None:
    offers = offered(command)
    assert (offers[0].field, offers[0].value) == ("command", command)
    for one in offers[1:]:
        assert len(one.label) <= 80
        assert "\n" not in one.label
        saved = f"allow = {json.dumps(one.value.splitlines())}\n"
        assert load_layer(saved, file="u.toml", layer="user").problems == ()


@pytest.mark.parametrize(
    "command", ["npm run lint", "git commit -m 'a: b'", "ls src/", "bash -c 'gh api x'", "ls | wc -l"]
)
def test_every_offer_covers_the_command_that_it_was_made_from(command: str) -> None:
    for i, one in enumerate(offered(command)):
        grant = Grant(f"grant_{i}", one.tool, one.field, one.value, one.cwd)
        assert judged(command, grant).effect == "allow", one


def test_a_pattern_granted_covers_its_like_and_no_more() -> None:
    grant = Grant("grant_1", "bash", "pattern", "git commit *", "/w/proj")
    assert judged("git commit -m other", grant).effect == "allow"
    for other in (
        "git push",
        "git commit -m x && npm test",
        "git commit -m x > out",
        "X=1 git commit",
        "sudo git commit",
    ):
        assert judged(other, grant).effect == "ask", other


def test_a_write_to_a_file_by_redirect_has_no_pattern() -> None:
    assert patterns("cat a > b") is None


def judged_without_default(command: str, *grants: Grant) -> Decision:
    """Where even what only reads asks: no built-in allow."""
    asked = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(asked, joined([]), MemoryWorld(kinds={"/w/proj": "folder"}), grants, NOW)


@pytest.mark.parametrize("command", ["seq 1 9 | awk '{print $1}'", "sed -n 1,5p a", "find . -name x", "tar -tf a.tar"])
def test_programs_that_can_run_code_are_offered_by_what_they_do_and_not_by_their_text(command: str) -> None:
    offers = judged_without_default(command).suggestions
    assert [one.field for one in offers] == ["command", "reading"]
    assert all(len(one.label) <= 80 and one.rule == "" for one in offers)
    grant = Grant("grant_1", "bash", "reading", offers[1].value, "/w/proj")
    assert judged_without_default(command, grant).effect == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "awk -f evil.awk", "awk --file=evil.awk", "gawk -E evil.awk", "seq 1 | awk -f evil.awk", "awk 'BEGIN{system(\"id\")}'",
        "awk '{print > \"x\"}' a", "awk -i inplace 1 a", "awk '@include \"evil.awk\"'", "sed -f evil.sed a", "sed -i s/a/b/ a",
        "sed -n 'w x' a", "find . -delete", "find . -exec ./x {} +", "tar -xf a.tar", "tar -I ./evil -tf a.tar",
        "awk 1 /etc/passwd", "sed -n 1p ../x",
    ],
)  # fmt: skip
def test_a_reading_that_was_allowed_covers_nothing_that_runs_or_writes(command: str) -> None:
    grant = Grant("grant_1", "bash", "reading", "seq\nawk\ngawk\nsed\nfind\ntar", "/w/proj")
    assert judged_without_default(command, grant).effect != "allow"


def test_an_ask_that_stands_for_itself_says_why() -> None:
    told = {
        "./s.sh": "that file", "nodejs x.js": "code", "mytool x": "not known", "ls > x; rm -rf y": "destructive",
        "echo $(date)": "", "npm install": "package", "strace ls": "too much",
    }  # fmt: skip
    for command, part in told.items():
        seen = judged(command)
        if seen.effect == "ask":
            assert seen.suggestions == ()
            assert part in seen.only_once, (command, seen.only_once)
    assert judged("touch x").only_once == ""
    assert judged("ls").only_once == ""
