"""Paths that a command itself leads elsewhere, folders of a cd that failed, files that are no folders. (spec, PO-4, PO-7)"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.reading import read_call
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

_ALL = '[[rule]]\nid = "tools"\neffect = "allow"\nprogram = ["?*"]\n'
_KEYS = '[[rule]]\nid = "keys"\neffect = "deny"\npath = "**/*.pem"\n'
_WORLD = MemoryWorld(
    {"/w/proj/link": "/srv/x", "/w/proj/docs/up": "/srv/x"},
    {
        **dict.fromkeys(("/w", "/w/proj", "/w/proj/docs", "/w/proj/src", "/srv"), "folder"),
        **dict.fromkeys(("/w/proj/a", "/w/proj/b", "/w/proj/docs/one", "/srv/x"), "file"),
    },  # type: ignore[arg-type]
)


def _judged(command: str, rules: str = _ALL) -> Decision:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    policy = with_built_in([load_layer(rules, file="t.toml", layer="user")])
    return decide(call, policy, _WORLD, (), datetime(2026, 1, 10, tzinfo=UTC))


@pytest.mark.parametrize(
    "command",
    [
        "ln -sf b a; cat a",
        "ln -s docs new && cat new/one",
        "ln -sf b a && (cat a)",
        "mv link new; cat new",
        "mv docs new && cat new/up",
        "mv link docs/ && head docs/link",
        "cp -P link new; cat new",
        "ln -s b docs/two; cat docs/t*",
        "tar xf t.tar && cat docs/one",
        "unzip t.zip; cat src/x",
        "for i in 1 2; do cat a; ln -sf b a; done",
        "cat a & ln -sf b a",
        "f() { cat a; }; ln -sf b a; f",
        "ln -s docs new; cd new && cat one",
    ],
)
def test_what_a_command_may_lead_elsewhere_asks(command: str) -> None:
    assert _judged(command).effect == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "ln -sf b a; cat b",
        "cat a; ln -sf b a",
        "cat a && mv a c",
        "mv a c && cat docs/one",
        "touch c; cat c",
        "mkdir new && touch new/x",
        "tar xf t.tar && ls",
    ],
)
def test_what_stays_where_it_is_passes_as_before(command: str) -> None:
    assert _judged(command).effect == "allow"


def test_the_reason_names_the_path() -> None:
    assert "where a leads is not known" in _judged("ln -sf b a; cat a").reason


@pytest.mark.parametrize("command", ["touch src/x", "cp a src/x", "tee new", "ln -s a new"])
def test_a_file_that_is_to_be_made_is_no_folder(command: str) -> None:
    decision = _judged(command, _ALL + _KEYS)
    assert (decision.effect, decision.reason) == ("allow", "allowed by rule tools"), command


@pytest.mark.parametrize("command", ["touch x.pem", "cp a src/k.pem", "mkdir -p k.pem"])
def test_a_file_that_a_deny_names_is_denied(command: str) -> None:
    assert _judged(command, _ALL + _KEYS).effect == "deny"


@pytest.mark.parametrize(
    "command",
    ["git clone https://h.invalid/r new", "cp -r src new", "tar xf t.tar -C new", "unzip t.zip -d new", "rsync -r src/ new",
     "frobnicate ./new"],
)  # fmt: skip
def test_a_folder_that_is_to_be_made_may_hold_it(command: str) -> None:
    assert _judged(command, _ALL + _KEYS).effect == "ask", command


@pytest.mark.parametrize(
    ("command", "places"),
    [
        ("cd no; cd docs; cat one", {"/w/proj/no/docs/one", "/w/proj/docs/one", "/w/proj/no/one", "/w/proj/one"}),
        ("cd no; cd no2; cat a", {"/w/proj/no/no2/a", "/w/proj/no2/a", "/w/proj/no/a", "/w/proj/a"}),
    ],
)
def test_a_cd_behind_one_that_failed_leads_elsewhere(command: str, places: set[str]) -> None:
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    last = read_call(call, _WORLD).subjects[-1]
    assert {fact.resolved for fact in last.paths} == places
