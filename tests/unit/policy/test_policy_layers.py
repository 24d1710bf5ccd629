"""Layers from files, trust by digest, modes, and what happens to files that cannot be read. (spec, PO-1 to PO-3, PO-5)"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.rules.layer import Mode, Policy
from interlock.runtime.policy.verdict.decide import decide
from interlock.runtime.tools.policy_files import TrustError, is_trusted, load_policy, read_layer, trust
from interlock.runtime.tools.world import PosixWorld

NOW = datetime(2026, 1, 10, tzinfo=UTC)
ALLOW = '[[rule]]\nid = "lint"\neffect = "allow"\ncommand = "npm run lint"\n'
DENY = '[[rule]]\nid = "no-touch"\neffect = "deny"\ncommand = "touch *"\n'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace `proj`, with a configuration folder of its own beside it."""
    monkeypatch.setenv("INTERLOCK_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    (tmp_path / "proj" / ".interlock").mkdir(parents=True)
    return tmp_path


def loaded(place: Path, mode: Mode | None = None) -> Policy:
    return load_policy([place / "proj"], mode=mode, managed=place / "managed.toml")


def effect(place: Path, policy: Policy, tool: str = "bash", risks: str = "execute", **arguments: object) -> str:
    root = str(place / "proj")
    asked = Call(tool, arguments, root, (root,), "/home/u", frozenset((risks,)), read_only=risks == "read")
    return decide(asked, policy, PosixWorld(), (), NOW).effect


def test_without_any_file_the_built_in_policy_holds(place: Path) -> None:
    policy = loaded(place)
    assert effect(place, policy, command="touch a") == "ask"
    assert effect(place, policy, command="ls") == "allow"
    assert effect(place, policy, "read_file", "read", path="a") == "allow"


@pytest.mark.parametrize("file", ["managed.toml", "config/policy.toml", "proj/interlock-policy.toml"])
def test_a_deny_of_any_layer_wins(place: Path, file: str) -> None:
    (place / "config" / "policy.toml").write_text('allow = ["touch *"]\n')
    (place / file).write_text(DENY)
    assert effect(place, loaded(place), command="touch x") == "deny"


def test_a_projects_allow_counts_only_after_trust_in_exactly_that_content(place: Path) -> None:
    file = place / "proj" / ".interlock" / "policy.toml"
    file.write_text(ALLOW + DENY)
    assert effect(place, loaded(place), command="npm run lint") == "ask"
    assert effect(place, loaded(place), command="touch x") == "deny"
    trust(file, read_layer(file, "project").digest)
    assert effect(place, loaded(place), command="npm run lint") == "allow"
    file.write_text(ALLOW + DENY + "\n")
    assert effect(place, loaded(place), command="npm run lint") == "ask"


def test_trust_is_of_one_path(place: Path) -> None:
    file, other = place / "proj" / "interlock-policy.toml", place / "copy.toml"
    file.write_text(ALLOW)
    other.write_text(ALLOW)
    digest = read_layer(file, "project").digest
    trust(file, digest)
    assert is_trusted(file, digest)
    assert not is_trusted(other, digest)


def test_a_damaged_list_of_trust_trusts_nothing_and_is_not_written_over(place: Path) -> None:
    kept = place / "config" / "trusted-policies.json"
    kept.write_text("{")
    assert not is_trusted(place / "x", "0" * 64)
    with pytest.raises(TrustError, match="trusted-policies"):
        trust(place / "x", "0" * 64)
    assert kept.read_text() == "{"


@pytest.mark.parametrize("broken", [b"\xff\xfe", b"[[rule]\nid=", b"a" * 1_000_001])
def test_a_file_that_cannot_be_read_makes_everything_ask(place: Path, broken: bytes) -> None:
    (place / "managed.toml").write_bytes(broken)
    (place / "config" / "policy.toml").write_text(ALLOW)
    policy = loaded(place)
    assert policy.problems
    assert effect(place, policy, command="npm run lint") == "ask"


def test_a_folder_in_place_of_a_file_makes_everything_ask(place: Path) -> None:
    (place / "managed.toml").mkdir()
    assert effect(place, loaded(place), "read_file", "read", path="a") == "ask"


@pytest.mark.parametrize(
    ("mode", "command", "edit", "guarded"),
    [
        ("ask", "ask", "ask", "ask"),
        ("accept-edits", "ask", "allow", "ask"),
        ("read-only", "deny", "deny", "deny"),
        ("locked", "deny", "deny", "deny"),
    ],
)
def test_a_mode_sets_how_far_a_session_goes(place: Path, mode: Mode, command: str, edit: str, guarded: str) -> None:
    policy = loaded(place, mode)
    assert effect(place, policy, command="npm test") == command
    assert effect(place, policy, "edit_file", "write", path="a.py") == edit
    assert effect(place, policy, "write_file", "write", path=".git/hooks/pre-commit") == guarded
    assert effect(place, policy, "write_file", "write", path="../out") == guarded


def test_the_stricter_mode_holds_and_a_project_can_loosen_none(place: Path) -> None:
    (place / "managed.toml").write_text('mode = "read-only"\n')
    assert loaded(place, "accept-edits").mode == "read-only"
    (place / "managed.toml").unlink()
    (place / "proj" / "interlock-policy.toml").write_text('mode = "accept-edits"\n')
    assert loaded(place).mode == "ask"
    (place / "proj" / "interlock-policy.toml").write_text('mode = "locked"\n')
    assert loaded(place, "accept-edits").mode == "locked"


def test_a_rule_ends_at_its_time(place: Path) -> None:
    (place / "config" / "policy.toml").write_text(ALLOW + "expires = 2026-01-10\n")
    policy = loaded(place)
    assert effect(place, policy, command="npm run lint") == "ask"
    (place / "config" / "policy.toml").write_text(ALLOW + "expires = 2026-01-11\n")
    assert effect(place, loaded(place), command="npm run lint") == "allow"


def test_the_digest_is_of_all_that_decides(place: Path) -> None:
    (place / "config" / "policy.toml").write_text(ALLOW)
    first = loaded(place)
    assert first.digest == loaded(place).digest
    assert replace(first, mode="locked").digest != first.digest
    (place / "config" / "policy.toml").write_text(ALLOW.replace("lint", "build"))
    assert loaded(place).digest != first.digest


def _interlock(place: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "interlock.runtime.cli", "policy", *words],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=place / "proj",
        env={"PATH": "/usr/bin:/bin", "HOME": str(place), "INTERLOCK_CONFIG_DIR": str(place / "config")},
    )


def test_the_command_trust_shows_what_would_count_and_asks_first(place: Path) -> None:
    (place / "proj" / "interlock-policy.toml").write_text(ALLOW)
    no = _interlock(place, "trust", text="n\n")
    assert no.returncode == 1
    assert "lint" in no.stdout
    assert _interlock(place, "check", "npm run lint").stdout.startswith("ask")
    assert _interlock(place, "trust", text="y\n").returncode == 0
    assert _interlock(place, "check", "npm run lint").stdout.startswith("allow")


def test_the_command_list_names_each_fault_with_file_and_line(place: Path) -> None:
    (place / "config" / "policy.toml").write_text(ALLOW + '[[rule]]\nid = "bad"\neffect = "deny"\ncomand = "x"\n')
    done = _interlock(place, "list")
    assert done.returncode == 1
    assert "lint" in done.stdout
    assert "policy.toml:" in done.stderr
    assert "comand" in done.stderr


def test_every_line_gets_an_answer_and_one_that_is_no_call_ends_with_one(place: Path) -> None:
    lines = ['{"tool": "bash", "command": "ls"}', "no json", "[]", '{"tool": "bash"}', '{"tool": "read", "path": "a"}']
    done = _interlock(place, "check", "--jsonl", text="\n".join(lines) + "\n")
    rows = [json.loads(row) for row in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [row["decision"] for row in rows] == ["allow", "ask", "ask", "ask", "allow"]
    assert ["error" in row for row in rows] == [False, True, True, True, False]


def test_a_mode_or_file_that_is_not_there_is_a_mistake_that_says_so(place: Path) -> None:
    assert _interlock(place, "check", "ls", "--mode", "free").returncode == 2
    done = _interlock(place, "check", "ls", "--policy", "none.toml")
    assert done.returncode == 2
    assert "none.toml" in done.stderr


def test_a_built_in_allow_can_be_switched_off_by_any_layer(place: Path) -> None:
    """spec: PO-8, the rule is visible and can be switched off."""
    (place / "config" / "policy.toml").write_text('switch_off = ["read-only-commands"]\n')
    assert effect(place, loaded(place), command="ls") == "ask"
    (place / "config" / "policy.toml").write_text('switch_off = ["nothing-of-that-name"]\n')
    assert effect(place, loaded(place), command="ls") == "allow"
    assert "nothing-of-that-name" in str(loaded(place).problems[0])
