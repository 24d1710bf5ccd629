"""Rule files: what is read, what is refused and with which place and reason, and how it fails closed. (spec, PO-1, PO-5)"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.tool import tool_kind
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.layer import Layer
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, decide

NOW = datetime(2026, 1, 10, tzinfo=UTC)


def load(text: str, **more: Any) -> Layer:
    return load_layer(text, file="rules.toml", **{"layer": "user", **more})


def judged(layer: Layer, command: str | None = None, *, now: datetime | None = NOW, **given: Any) -> Decision:
    tool = given.pop("tool", "bash")
    kind = tool_kind(tool)
    arguments = {"command": command} if command is not None else given
    call = Call(tool, arguments, "/w/proj", ("/w/proj",), "/home/u", kind.risks, kind.read_only)
    return decide(call, with_built_in([layer]), MemoryWorld(), (), now)


BAD = [
    ('effect = "deny"\ncommand = "npm publish"', "'id' is missing", "npm"),
    ('id = "x y"\neffect = "deny"\ncommand = "npm publish"', "'id' is missing", "npm"),
    ('id = "x"\neffect = "dney"\ncommand = "npm publish"', "'effect' is allow, ask or deny", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm (publish"', "has no place in a pattern", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm \'publish"', "quotes do not match", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "Bash(npm publish *)"', "another program's form", "npm"),
    ('id = "x"\neffect = "deny"\ncomand = "npm publish"', "unknown key 'comand'", "ls"),
    ('id = "x"\neffect = "deny"\ncommand = ["npm publish", 1]', "a list of texts", "npm"),
    ('id = "x"\neffect = "deny"\nprogram = "npm publish"', "more than a program", "npm"),
    ('id = "x"\neffect = "deny"\npath = "../x"', "`..` never matches", "ls"),
    ('id = "x"\neffect = "deny"\npath = "~bob/x"', "only your own home", "ls"),
    ('id = "x"\neffect = "deny"\nrisk = "danger"', "unknown risk 'danger'", "ls"),
    ('id = "x"\neffect = "deny"\ninside = "yes"', "'inside' is true or false", "ls"),
    ('id = "x"\neffect = "deny"\nuse = "execute"', "'use' is read, write or delete", "ls"),
    ('id = "x"\neffect = "deny"\ncommand = "npm"\nexpires = "soon"', "'expires' is a date", "npm"),
    ('id = "x"\neffect = "ask"\ncommand = "npm"\nwait = -1', "'wait' is a number of seconds", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm"\nwait = 5', "'wait' belongs to an ask", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm"\nguarded_too = true', "belongs to an allow", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm publish"\nmatch = ["npm test"]', "is not matched", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm *"\nnot_match = ["npm test"]', "is matched", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm *"\nmatch = [3]', "an example is a command", "npm"),
    ('id = "x"\neffect = "deny\ncommand = "npm publish"', "no TOML", "npm"),
    ('id = "x"\neffect = "deny"\ncommand = "npm publish"\nid = "y"', "no TOML", "npm"),
]


@pytest.mark.parametrize(("table", "why", "asks"), BAD)
def test_a_bad_rule_is_told_with_its_place_and_asks_instead_of_letting_pass(table: str, why: str, asks: str) -> None:
    """PO-5: the allow beside it holds for everything else."""
    text = f'allow = ["ls *", "npm *"]\n\n[[rule]]\n{table}\n\n[[rule]]\nid = "after"\neffect = "deny"\ncommand = "touch"\n'
    layer = load(text)
    (problem,) = layer.problems
    assert why in problem.what
    assert problem.file == "rules.toml"
    assert 3 <= problem.line <= 3 + table.count("\n") + 1
    assert "ask" in problem.consequence
    assert judged(layer, f"{asks} publish").effect == "ask"
    assert judged(layer, "touch x").effect == "deny"
    if asks == "npm":
        assert judged(layer, "ls").effect == "allow"


@pytest.mark.parametrize(("table", "why", "asks"), BAD)
def test_a_bad_allow_allows_nothing_and_takes_nothing_with_it(table: str, why: str, asks: str) -> None:
    bad = table.replace('"deny', '"allow').replace("dney", "allow").replace('"ask"', '"allow"')
    layer = load(f'allow = ["ls *"]\n[[rule]]\n{bad}\n')
    if layer.problems:
        assert judged(layer, "ls").effect == "allow"
        assert judged(layer, "npm publish").effect == "ask"


def test_an_allow_of_everything_is_refused() -> None:
    layer = load('[[rule]]\nid = "all"\neffect = "allow"\nreason = "why not"\n')
    assert "would allow everything" in layer.problems[0].what
    assert judged(layer, "touch x").effect == "ask"


@pytest.mark.parametrize("pattern", ["*", "* *", "?", "** --version"])
def test_a_pattern_for_every_program_is_no_allow(pattern: str) -> None:
    layer = load(f'allow = ["{pattern}"]\n')
    assert "would allow every program" in layer.problems[0].what
    assert judged(layer, "touch").effect == "ask"
    assert load(f'deny = ["{pattern}"]\n').problems == ()


def test_an_unknown_table_and_an_unknown_key_are_told() -> None:
    layer = load('bogus = 1\n[rules]\nx = 1\n[[rule]]\nid = "a"\neffect = "deny"\ncommand = "touch"\n')
    assert [(p.line, p.what) for p in layer.problems] == [(1, "unknown key 'bogus'"), (2, "unknown table [rules]")]
    assert judged(layer, "touch x").effect == "deny"


def test_a_list_that_is_no_toml_makes_all_that_it_names_ask() -> None:
    layer = load(
        'allow = ["ls *"]\ndeny = ["npm publish", "touch *"\n[[rule]]\nid = "a"\neffect = "deny"\ncommand = "rm"\n'
    )
    assert "no TOML" in layer.problems[0].what
    assert judged(layer, "touch x").effect == "ask"
    assert judged(layer, "rm x").effect == "deny"


def test_a_header_in_a_long_text_is_text() -> None:
    layer = load('[[rule]]\nid = "a"\neffect = "deny"\nreason = """\n[[rule]]\nid = "b"\n"""\ncommand = "touch"\n')
    assert layer.problems == ()
    assert [rule.id for rule in layer.rules] == ["a"]


def test_a_mode_that_is_none_locks() -> None:
    layer = load('mode = "free"\nallow = ["touch *"]\n')
    assert layer.mode == "locked"
    assert layer.problems[0].line == 1
    assert judged(layer, "npm test").effect == "deny"


def test_an_id_used_twice_is_told_and_both_rules_hold() -> None:
    rule = '[[rule]]\nid = "a"\neffect = "deny"\ncommand = "{}"\n'
    layer = load(rule.format("touch") + rule.format("npm"))
    assert "used twice" in layer.problems[0].what
    assert judged(layer, "npm x").effect == judged(layer, "touch x").effect == "deny"


def test_windows_line_ends_and_a_byte_order_mark_are_no_fault() -> None:
    layer = load('\ufeff[[rule]]\r\nid = "a"\r\neffect = "deny"\r\ncommand = "touch"\r\n')
    assert layer.problems == ()
    assert judged(layer, "touch x").effect == "deny"


@pytest.mark.parametrize("time", ["2026-01-09", "2026-01-09T12:00:00Z", '"2026-01-09"'])
def test_a_rule_ends_at_its_time(time: str) -> None:
    layer = load(f'[[rule]]\nid = "a"\neffect = "allow"\ncommand = "touch *"\nexpires = {time}\n')
    assert layer.problems == ()
    assert judged(layer, "touch x", now=datetime(2026, 1, 8, tzinfo=UTC)).effect == "allow"
    assert judged(layer, "touch x").effect == "ask"
    assert judged(layer, "touch x", now=None).effect == "ask"


def test_a_deny_with_a_time_holds_where_the_time_is_not_known() -> None:
    layer = load('[[rule]]\nid = "a"\neffect = "deny"\ncommand = "touch"\nexpires = 2026-01-09\n')
    assert judged(layer, "touch x", now=None).effect == "deny"
    assert judged(layer, "touch x").effect == "ask"


def test_how_long_an_ask_waits_is_told() -> None:
    """ASK-5: configurable per rule."""
    layer = load('[[rule]]\nid = "a"\neffect = "ask"\ncommand = "npm"\nwait = 90\n')
    assert judged(layer, "npm test").wait_seconds == 90


def test_a_projects_allows_wait_for_trust_and_its_denies_do_not() -> None:
    """PO-2."""
    text = 'mode = "accept-edits"\nallow = ["touch *"]\ndeny = ["npm publish"]\n'
    layer = load(text, layer="project", digest="d1", trusted=frozenset())
    assert [rule.id for rule in layer.waiting] == ["allow touch *"]
    assert layer.mode is None
    assert judged(layer, "touch x").effect == "ask"
    assert judged(layer, "npm publish").effect == "deny"
    trusted = load(text, layer="project", digest="d1", trusted=frozenset(("d1",)))
    assert judged(trusted, "touch x").effect == "allow"
    assert trusted.mode == "accept-edits"


def test_the_digest_of_a_policy_changes_with_every_word_that_decides() -> None:
    texts = ['allow = ["ls *"]', 'allow = ["ls"]', 'ask = ["ls *"]', 'mode = "locked"\nallow = ["ls *"]', ""]
    assert len({with_built_in([load(text)]).digest for text in texts}) == len(texts)
    assert with_built_in([load(texts[0])]).digest == with_built_in([load(texts[0])]).digest


def test_the_rule_and_the_layer_that_decided_are_named() -> None:
    """RT-5."""
    layer = load(
        '[[rule]]\nid = "no-touch"\neffect = "deny"\ncommand = "touch"\nreason = "not here"\n', layer="managed"
    )
    seen = judged(layer, "ls; touch x")
    assert (seen.effect, seen.source, seen.policy_ids) == ("deny", "managed", ("no-touch",))
    assert "not here" in seen.reason


def test_a_rule_about_a_host_catches_any_spelling_of_it() -> None:
    layer = load('[[rule]]\nid = "a"\neffect = "deny"\nhost = "*.example.net"\n')
    commands = [
        "curl https://api.example.net/x",
        "curl api.EXAMPLE.net",
        "ssh bob@h.example.net ls",
        "git clone g@x.example.net:a/b",
    ]
    commands += [
        "wget -q http://u:p@a.example.net:80/",
        "curl -s -o f https://a.example.net",
        "cat < /dev/tcp/a.example.net/80",
    ]
    for command in commands:
        assert judged(layer, command).effect == "deny", command
    assert judged(layer, "curl https://example.org/?x=a.example.net").effect == "ask"
    assert judged(layer, tool="web_fetch", url="https://a.example.net/").effect == "deny"


def test_an_allow_of_a_host_covers_that_host_alone() -> None:
    layer = load('[[rule]]\nid = "a"\neffect = "allow"\ncommand = "curl *"\nhost = "api.example.net"\n')
    assert judged(layer, "curl https://api.example.net/x").effect == "allow"
    for command in (
        "curl x",
        "curl https://api.example.net/ https://b.example/",
        "curl $URL",
        "curl -o /etc/x https://api.example.net/",
    ):
        assert judged(layer, command).effect == "ask", command


def test_a_rule_about_an_agent_is_about_that_agent() -> None:
    layer = load('[[rule]]\nid = "a"\neffect = "deny"\ncommand = "touch"\nagent = "codex*"\n')
    call = Call("bash", {"command": "touch x"}, "/w", ("/w",), "/h", frozenset(("execute",)), agent="codex-cli")
    policy = with_built_in([layer])
    assert decide(call, policy, MemoryWorld(), (), NOW).effect == "deny"
    assert judged(layer, "touch x").effect == "ask"


@pytest.mark.parametrize("tool", ["Write", "Edit", "write_file", "MultiEdit", "replace"])
def test_a_rule_about_a_tool_holds_for_what_other_agents_call_it(tool: str) -> None:
    """PO-6."""
    layer = load('[[rule]]\nid = "a"\neffect = "deny"\ntool = ["write_file", "edit_file"]\npath = "secrets/**"\n')
    assert judged(layer, tool=tool, file_path="/w/proj/secrets/a").effect == "deny"
    assert judged(layer, tool=tool, file_path="secrets/../a").effect == "ask"


def test_the_files_of_a_patch_are_its_paths() -> None:
    layer = load('[[rule]]\nid = "a"\neffect = "deny"\npath = "secrets/**"\n')
    patch = "*** Begin Patch\n*** Update File: src/a.py\n+x\n*** Add File: secrets/b\n+y\n*** End Patch\n"
    assert judged(layer, tool="apply_patch", input=patch).effect == "deny"
    diff = "--- a/src/x\n+++ b/.claude/settings.json\n@@\n-a\n+b\n"
    assert "Claude Code" in judged(layer, tool="apply_patch", patch=diff).reason
