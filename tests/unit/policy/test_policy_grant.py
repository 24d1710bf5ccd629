"""Standing permissions at work. (spec, ASK-4, RT-5)"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)
TEN = NOW + timedelta(minutes=10)


def shell(command: str, cwd: str = "/w/proj") -> Call:
    return Call("bash", {"command": command}, cwd, ("/w/proj",), "/home/u", frozenset(("execute",)))


def edit(path: str) -> Call:
    return Call("edit_file", {"path": path}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("write",)))


def effect(
    call: Call, *grants: Grant, rules: str = "", layer: Any = "user", world: MemoryWorld | None = None, now: Any = NOW
) -> str:
    policy = with_built_in([load_layer(rules, file="r.toml", layer=layer)])
    return decide(call, policy, world or MemoryWorld(), grants, now).effect


def test_a_pattern_covers_every_command_of_its_form_and_no_other_part() -> None:
    grant = Grant("grant_1", "bash", "pattern", "git commit *\nnpm run lint", "/w/proj", TEN)
    assert effect(shell("git commit -m x"), grant) == "allow"
    assert effect(shell("npm run lint && git commit -am y", "/w/proj/sub"), grant) == "allow"
    for command in (
        "git push",
        "git commit -m x; touch y",
        "git commit -m $(touch y)",
        "git commit > out",
        "GIT_DIR=x git commit",
        "npm run lint x",
    ):
        assert effect(shell(command), grant) == "ask", command
    assert effect(shell("git commit -m x"), grant, now=TEN) == "ask"


def test_a_folder_covers_the_plain_files_in_it() -> None:
    grant = Grant("grant_1", "edit_file", "folder", "/w/proj/src", "/w/proj")
    assert effect(edit("src/a.py"), grant) == effect(edit("src/deep/b.py"), grant) == "allow"
    for path in ("src/../x", "srcs/a", "src/.claude/settings.json", "src/.git/hooks/x", "../src/a"):
        assert effect(edit(path), grant) == "ask", path
    assert effect(replace(edit("src/a.py"), tool="write_file"), grant) == "ask"


def test_a_folder_with_signs_of_a_pattern_in_its_name_is_that_folder() -> None:
    grant = Grant("grant_1", "edit_file", "folder", "/w/proj/[a]*", "/w/proj")
    assert effect(edit("[a]*/x"), grant) == "allow"
    assert effect(edit("a/x"), grant) == effect(edit("ab/x"), grant) == "ask"


@pytest.mark.parametrize("kind", [("command", "npm publish"), ("pattern", "npm publish")])
def test_a_grant_never_stands_above_a_deny(kind: Any) -> None:
    grant = Grant("grant_1", "bash", *kind, "/w/proj")
    for layer in ("managed", "user", "project"):
        assert effect(shell("npm publish"), grant, rules='deny = ["npm publish"]', layer=layer) == "deny"


def test_an_answer_is_carried_on_over_a_users_ask_and_never_over_a_managed_one() -> None:
    grant = Grant("grant_1", "bash", "command", "npm publish", "/w/proj")
    assert effect(shell("npm publish"), grant, rules='ask = ["npm publish"]') == "allow"
    assert effect(shell("npm publish"), grant, rules='ask = ["npm publish"]', layer="managed") == "ask"
    wide = Grant("grant_2", "bash", "pattern", "npm *", "/w/proj")
    assert effect(shell("npm publish"), wide, rules='ask = ["npm publish"]') == "ask"


def test_a_grant_does_not_cover_a_file_that_has_become_guarded() -> None:
    grant = Grant("grant_1", "edit_file", "path", "/w/proj/h", "/w/proj")
    assert effect(edit("h"), grant) == "allow"
    linked = MemoryWorld(kinds={"/w/proj/h": "file"}, names={"/w/proj/h": 2})
    assert effect(edit("h"), grant, world=linked) == "ask"


@pytest.mark.parametrize("value", ["", "a;b", "'", "touch $X", "Bash(touch *)"])
def test_a_grant_that_is_no_pattern_covers_nothing(value: str) -> None:
    assert effect(shell("touch x"), Grant("grant_1", "bash", "pattern", value, "/w")) == "ask"
