"""Modes: how far a session goes. (spec, PO-3; case PA-015)"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.tool import tool_kind
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.layer import Layer, Mode, joined, strictest
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)


def judged(mode: Mode, tool: str, *grants: Grant, rules: str = "", **given: Any) -> Decision:
    kind = tool_kind(tool)
    call = Call(tool, given, "/w/proj", ("/w/proj",), "/home/u", kind.risks, kind.read_only)
    layer = load_layer(rules, file="r.toml", layer="user")
    return decide(call, with_built_in([layer], mode=mode), MemoryWorld(), grants, NOW)


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
def test_accepted_edits_are_those_of_plain_files_inside_the_workspace(tool: str) -> None:
    seen = judged("accept-edits", tool, path="src/a.py")
    assert (seen.effect, seen.source) == ("allow", "mode")
    for path in (
        "../x",
        "/etc/x",
        ".git/hooks/pre-commit",
        ".claude/settings.json",
        "AGENTS.md",
        ".github/workflows/a.yml",
        ".env",
    ):
        assert judged("accept-edits", tool, path=path).effect == "ask", path


def test_accepted_edits_are_no_commands_and_stand_below_every_rule() -> None:
    assert judged("accept-edits", "bash", command="touch x").effect == "ask"
    assert judged("accept-edits", "apply_patch", text="no known field").effect == "ask"
    for effect in ("ask", "deny"):
        rules = f'[[rule]]\nid = "a"\neffect = "{effect}"\npath = "src/**"\n'
        assert judged("accept-edits", "edit_file", rules=rules, path="src/a").effect == effect


def test_a_session_that_may_only_read_denies_the_rest_whatever_is_allowed() -> None:
    rules = 'allow = ["touch *", "ls *"]\n'
    seen = judged("read-only", "bash", rules=rules, command="touch x")
    assert (seen.effect, seen.source) == ("deny", "mode")
    assert judged("read-only", "bash", rules=rules, command="ls").effect == "allow"
    assert judged("read-only", "bash", command="cat a").effect == "allow"
    assert judged("read-only", "write_file", path="a").effect == "deny"
    assert judged("read-only", "read_file", path="a").effect == "allow"
    assert judged("read-only", "bash", command="ls $(touch x)").effect == "deny"


def test_a_locked_session_denies_what_would_ask_and_lets_pass_what_is_allowed() -> None:
    rules = 'allow = ["touch *"]\n'
    assert judged("locked", "bash", rules=rules, command="touch x").effect == "allow"
    assert judged("locked", "bash", rules=rules, command="npm test").effect == "deny"
    assert judged("locked", "bash", rules=rules, command="$X").effect == "deny"
    assert judged("locked", "read_file", path="/etc/x").effect == "deny"


def test_a_fault_in_a_locked_session_denies() -> None:
    class Broken(MemoryWorld):
        def resolve(self, path: str) -> Any:
            raise RuntimeError("no")

    call = Call("read_file", {"path": "a"}, "/w", ("/w",), "/h", frozenset(("read",)), True)
    assert decide(call, with_built_in([], mode="locked"), Broken(), (), NOW).effect == "deny"


def test_the_strictest_mode_of_all_layers_holds() -> None:
    assert strictest([]) == strictest([None]) == "ask"
    assert strictest(["accept-edits"]) == "accept-edits"
    assert strictest(["accept-edits", None, "read-only", "ask"]) == "read-only"
    layers = [Layer("managed", mode="read-only"), Layer("user", mode="accept-edits")]
    assert joined(layers, mode="accept-edits").mode == "read-only"
