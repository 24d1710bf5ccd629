"""Rules over generated policies and commands: deny wins, adding a deny never weakens, no whole is milder than a part."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.layer import Layer, LayerName, Mode
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)
STRICT = {"allow": 0, "ask": 1, "deny": 2}
PATTERNS = ["git *", "git commit *", "rm -rf *", "npm test", "npm *", "ls *", "cat *", "touch *", "echo *", "gh api *"]
COMMANDS = ["ls", "cat a", "touch x", "npm test", "rm -rf b", "git commit -m x", "git status", "echo hi > out", "$X"]
COMMANDS += ["gh api x", "cat /etc/hosts", "rm -r -f b", "X=1 npm test", "sh -c 'touch y'", "mkfs /dev/x", "git push"]
NAMES: list[LayerName] = ["managed", "user", "project"]
MODES: list[Mode] = ["ask", "accept-edits", "read-only", "locked"]
rules = st.lists(st.tuples(st.sampled_from(["allow", "ask", "deny"]), st.sampled_from(PATTERNS)), max_size=6)
commands = st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=4)
joints = st.sampled_from([" && ", " || ", "; ", " | ", "\n", " & "])
modes = st.sampled_from(MODES)


def layer(found: list[tuple[str, str]], name: LayerName = "user") -> Layer:
    tables = [
        f'[[rule]]\nid = "r{i}"\neffect = "{effect}"\ncommand = {json.dumps(pattern)}\n'
        for i, (effect, pattern) in enumerate(found)
    ]
    read = load_layer("".join(tables), file=f"{name}.toml", layer=name)
    assert read.problems == ()
    return read


def verdict(command: str, *layers: Layer, mode: Mode = "ask") -> str:
    asked = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(asked, with_built_in(list(layers), mode=mode), MemoryWorld(), (), NOW).effect


@settings(deadline=None)
@given(rules, st.randoms(use_true_random=False), commands, joints, modes)
def test_the_order_of_rules_changes_no_verdict(found, random, parts, joint, mode) -> None:
    other = list(found)
    random.shuffle(other)
    command = joint.join(parts)
    assert verdict(command, layer(found), mode=mode) == verdict(command, layer(other), mode=mode)


@settings(deadline=None)
@given(rules, st.permutations(NAMES), commands, joints)
def test_the_layer_of_a_rule_changes_no_verdict(found, names, parts, joint) -> None:
    command = joint.join(parts)
    thirds = [found[i::3] for i in range(3)]
    spread = [layer(some, name) for some, name in zip(thirds, names, strict=True)]
    assert verdict(command, layer(found)) == verdict(command, *spread)


@settings(deadline=None)
@given(rules, st.sampled_from(PATTERNS), st.sampled_from(NAMES), commands, joints, modes)
def test_one_more_deny_never_makes_anything_milder(found, pattern, name, parts, joint, mode) -> None:
    command = joint.join(parts)
    before = verdict(command, layer(found), mode=mode)
    after = verdict(command, layer(found), layer([("deny", pattern)], name), mode=mode)
    assert STRICT[after] >= STRICT[before]


@settings(deadline=None)
@given(rules, st.sampled_from(["ask", "deny"]), st.text(max_size=40), commands, joints)
def test_one_more_rule_that_may_be_broken_never_makes_anything_milder(found, effect, text, parts, joint) -> None:
    command = joint.join(parts)
    extra = load_layer(f"{effect} = [{json.dumps(text)}]\n", file="x.toml", layer="project")
    assert STRICT[verdict(command, layer(found), extra)] >= STRICT[verdict(command, layer(found))]


@settings(deadline=None)
@given(rules, commands, joints)
def test_a_compound_is_never_judged_more_mildly_than_a_part(found, parts, joint) -> None:
    whole = verdict(joint.join(parts), layer(found))
    assert all(STRICT[whole] >= STRICT[verdict(part, layer(found))] for part in parts)


@settings(deadline=None)
@given(rules, commands, joints)
def test_a_denied_part_denies_the_whole(found, parts, joint) -> None:
    if any(verdict(part, layer(found)) == "deny" for part in parts):
        assert verdict(joint.join(parts), layer(found)) == "deny"


@settings(deadline=None)
@given(st.sampled_from(COMMANDS), rules)
def test_a_locked_session_asks_nothing_and_a_stricter_mode_is_never_milder(command, found) -> None:
    seen = {mode: verdict(command, layer(found), mode=mode) for mode in MODES}
    assert seen["locked"] != "ask"
    assert STRICT[seen["locked"]] >= STRICT[seen["ask"]]
    assert STRICT[seen["read-only"]] >= STRICT[seen["ask"]]


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_read_as_a_policy_without_an_exception(text) -> None:
    read = load_layer(text, file="x.toml", layer="user")
    assert all(problem.line >= 1 for problem in read.problems)
