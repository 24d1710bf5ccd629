"""A rule that cannot match is refused, one that hardly means what it says gets a hint, one cause has one reason. (spec PO-5)"""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.policy.call import MemoryWorld
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.facts.foreign_table import ANY
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.policy.verdict.decision import Decision

NOW = datetime(2026, 1, 10, tzinfo=UTC)
WORLD = MemoryWorld(kinds={"/w": "folder", "/w/a": "file", "/w/kept": "folder", "/w/kept/a": "file"})
READS = '[[rule]]\nid = "r"\neffect = "allow"\nread_only = true\ninside = true\n'


def judge(rules: str, tool: str, given: dict[str, Any], agent: str = "") -> Decision:
    layer = load_layer(rules, file="p.toml", layer="user")
    assert not layer.problems, layer.problems
    call = make_call(agent, tool, given, cwd="/w", workspace=("/w",), home="/home/u", form="" if agent else ANY)
    return decide(call, with_built_in([layer]), WORLD, (), NOW)


NEVER = [
    ('effect = "deny"\ntool = "write_file"\ncommand = "rm *"', "runs none"),
    ('effect = "allow"\ntool = "mcp__browser__navigate"\nprogram = "x"', "runs none"),
    ('effect = "deny"\ntool = "read_file"\nuse = "write"', "only reads"),
    ('effect = "deny"\ntool = ["Grep", "glob"]\nuse = "delete"', "only reads"),
    ('effect = "allow"\ntool = "write_file"\nread_only = true', "only changes files"),
    ('effect = "deny"\ntool = "WebFetch"\npath = "a/**"', "is given no path"),
    ('effect = "deny"\ntool = "edit_file"\nhost = "x.example"', "is given no host"),
    ('effect = "deny"\nhost = "https://x.example"', "more than a host"),
    ('effect = "deny"\nhost = "x.example:443"', "more than a host"),
    ('effect = "deny"\nrisk = "network"\nwithout_risk = "network"', "leaves out every risk"),
    ('effect = "deny"\npath = "$HOME/x"', "nothing is expanded"),
    ('effect = "deny"\npath = "secrets/**"\ninside = false', "leaves the workspace out"),
    ('effect = "deny"\ntool = "Bash(rm *)"', "no name of a tool"),
    ('effect = "deny"\nread_only = true\nuse = "write"', "what only reads"),
    ('effect = "allow"\ncommand = "CI=1 make"', "is no program"),
    ('effect = "allow"\ncommand = "make"\nvariables = "CI=1"', "no name of a variable"),
    ('effect = "ask"\ncommand = "x"\nwait = 0.5', "from 1 to 86400"),
    ('effect = "ask"\ncommand = "x"\nwait = 0', "from 1 to 86400"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "why"), NEVER)
def test_a_rule_that_can_never_match_is_a_fault(table: str, why: str) -> None:
    layer = load_layer(f'[[rule]]\nid = "x"\n{table}\n', file="p.toml", layer="user")
    (problem,) = layer.problems
    assert why in problem.what


@pytest.mark.parametrize(
    "table",
    [
        'effect = "ask"\ncommand = "x"\nwait = 1',
        'effect = "deny"\ntool = ["Bash", "write_file"]\ncommand = "rm *"',
        'effect = "deny"\ntool = "*"\ncommand = "rm *"',
        'effect = "deny"\ntool = "exec_command"\ncommand = "rm *"',
        'effect = "deny"\nhost = ["::1", "*.example"]',
        'effect = "deny"\npath = "./secrets/**"',
        'effect = "deny"\nuse = "delete"\npath = "a/**"',
    ],
)
def test_a_rule_that_may_match_is_none(table: str) -> None:
    assert not load_layer(f'[[rule]]\nid = "x"\n{table}\n', file="p.toml", layer="user").problems


def test_a_path_that_begins_with_a_dot_matches_what_it_names() -> None:
    assert (
        judge('[[rule]]\nid = "x"\neffect = "deny"\npath = "./kept/./**"\n', "read_file", {"path": "kept/a"}).effect
        == "deny"
    )


@pytest.mark.parametrize(
    ("text", "hints"),
    [
        ('allow = ["git", "*dd *"]', ["`git *` allows it with any", "whose name ends with 'dd'"]),
        ('deny = ["rm*"]', ["whose name begins with 'rm'"]),
        ('deny = ["*rm -rf*"]', ["whose name ends with 'rm'"]),
        ('deny = ["rm"]\nallow = ["git log *"]', []),
        ('[[rule]]\nid = "x"\neffect = "deny"\ntool = "mcp__tracker"', ["`mcp__tracker__*` are all tools"]),
        ('[[rule]]\nid = "x"\neffect = "deny"\ntool = "Writes"', ["no agent that is known here"]),
        ('[[rule]]\nid = "x"\neffect = "deny"\ntool = ["WRITE_FILE", "Write"]', ["`write_file` is what every agent's"]),
        ('[[rule]]\nid = "x"\neffect = "allow"\ncommand = "make"\nmatch = ["make"]', []),
    ],
)
def test_what_may_not_be_meant_gets_one_hint(text: str, hints: list[str]) -> None:
    layer = load_layer(text, file="p.toml", layer="user")
    assert not layer.problems
    assert len(layer.hints) == len(hints)
    assert all(hint in told.what for hint, told in zip(hints, layer.hints, strict=True)), layer.hints


def test_hints_are_listed_and_are_no_fault(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('allow = ["git", "*dd *"]\n')
    done = interlock(tmp_path, "policy", "list", "--policy", "p.toml")
    assert (done.returncode, done.stderr.count("hint: p.toml:1:")) == (0, 2), done.stderr


def interlock(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    places = {"PATH": "/usr/bin:/bin", "HOME": str(home), "INTERLOCK_RUN_DIR": str(home / "run")}
    return subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", *words],
        capture_output=True, text=True, timeout=60, cwd=home, env=places, check=False,
    )  # fmt: skip


TOOL = '[[rule]]\nid = "local"\neffect = "allow"\ntool = "mcp__browser__navigate"\nargument = "http://localhost:*"\n'


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"url": "http://localhost:3000/x"}, "allow"),
        ({"url": "http://a.example"}, "ask"),
        ({"url": "http://localhost:1", "also": {"deep": ["http://a.example"]}}, "ask"),
        ({"url": "http://localhost:1", "force": True}, "ask"),
        ({}, "ask"),
    ],
)
def test_an_allow_by_argument_covers_every_text_that_a_tool_is_given(given: dict[str, Any], want: str) -> None:
    assert judge(TOOL, "mcp__browser__navigate", given, "claude").effect == want


def test_a_deny_by_argument_holds_however_deep_it_stands() -> None:
    rules = TOOL.replace("allow", "deny")
    deep = {"steps": [{"go": "http://localhost:1"}, {"go": "x"}]}
    assert judge(rules, "mcp__browser__navigate", deep, "claude").effect == "deny"
    assert judge(rules, "mcp__browser__navigate", {"go": "x"}, "claude").effect == "ask"
    assert judge(rules, "mcp__other__navigate", deep, "claude").effect == "ask"


def test_a_tool_is_judged_by_its_name_alone(tmp_path: Path) -> None:
    done = interlock(tmp_path, "policy", "check", "--tool", "mcp__browser__navigate")
    assert (done.returncode, done.stdout[:4]) == (0, "ask:")
    (tmp_path / "p.toml").write_text(TOOL)
    words = [
        "policy",
        "check",
        "--policy",
        "p.toml",
        "--agent",
        "claude",
        "--tool",
        "mcp__browser__navigate",
        "--input",
    ]
    assert interlock(tmp_path, *words, '{"url": "http://localhost:1"}').stdout.startswith("allow:")
    assert interlock(tmp_path, *words, '{"url": "http://x"}').stdout.startswith("ask:")
    assert interlock(tmp_path, *words, "[]").returncode == 2
    assert interlock(tmp_path, "policy", "check").returncode == 2


def test_a_line_may_say_what_it_is_and_may_not_say_what_it_does(tmp_path: Path) -> None:
    (tmp_path / "rows.toml").write_text(
        f"""policy = "p.toml"
[[case]]
command = "ls"
comment = "harmless"
id = "7"
want = "allow"
[[case]]
command = "ls"
env = {{ LD_PRELOAD = "./x.so" }}
want = "ask"
[[case]]
agent = "gemini"
tool = "run_shell_command"
input = {{ command = "cat passwd", directory = "/etc" }}
want = "ask"
[[case]]
agent = "codex"
tool = "shell"
input = {{ command = ["cat", "a; rm -rf x"], workdir = "{tmp_path}" }}
want = "allow"
"""
    )
    (tmp_path / "p.toml").write_text(READS)
    done = interlock(tmp_path, "policy", "test", "rows.toml")
    assert (done.returncode, "4 of 4" in done.stdout) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("env | grep PATH", "it shows variables"),
        ("printenv TOKEN", "it shows variables"),
        ("cat /etc/hosts", "outside the workspace"),
        ("cat .env", "credentials"),
        ("$X", "not fully understood"),
    ],
)
def test_each_cause_has_a_reason_of_its_own(command: str, why: str) -> None:
    decision = judge(READS, "bash", {"command": command})
    assert (decision.effect, why in decision.reason) == ("ask", True), decision.reason


def test_where_it_writes_is_only_said_of_what_writes() -> None:
    decision = judge('allow = ["npm run lint *"]\n', "bash", {"command": "npm run lint > a"})
    assert "does not cover where it writes" in decision.reason


PATCH = "*** Begin Patch\n*** {} File: kept/a\n@@\n-a\n+b\n*** End Patch"
MOVE = "*** Begin Patch\n*** Update File: kept/a\n*** Move to: b\n*** End Patch"


@pytest.mark.parametrize(
    ("use", "given", "want"),
    [
        ("delete", {"input": PATCH.format("Delete")}, "deny"),
        ("delete", {"input": PATCH.format("Update")}, "allow"),
        ("delete", {"input": MOVE}, "deny"),
        ("delete", {"changes": {"kept/a": {"type": "delete"}}}, "deny"),
        ("delete", {"changes": {"kept/a": {"type": "update"}}}, "allow"),
        ("write", {"input": PATCH.format("Delete")}, "deny"),
        ("write", {"input": PATCH.format("Update")}, "deny"),
        ("read", {"input": PATCH.format("Delete")}, "allow"),
    ],
)
def test_a_rule_of_delete_speaks_of_deletes_and_one_of_write_of_both(
    use: str, given: dict[str, Any], want: str
) -> None:
    rules = f'mode = "accept-edits"\n[[rule]]\nid = "k"\neffect = "deny"\npath = "kept/**"\nuse = "{use}"\n'
    assert judge(rules, "apply_patch", given, "codex").effect == want
    narrow = f'[[rule]]\nid = "k"\neffect = "allow"\npath = "kept/**"\nuse = "{use}"\n'
    is_covered = (use == "delete" and want == "deny" and "Move" not in str(given)) or (
        use == "write" and "Move" not in str(given)
    )
    assert judge(narrow, "apply_patch", given, "codex").effect == ("allow" if is_covered else "ask")
