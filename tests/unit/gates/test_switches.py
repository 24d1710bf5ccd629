"""What turns an agent's hooks off is read as the agent reads it (AG-6). What the agents do was seen in tests/e2e/clients."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.gates.claude import switches as claude
from interlock.runtime.gates.codex import switches as codex
from interlock.runtime.gates.codex.report import CodexHook
from interlock.runtime.gates.codex.settings import codex_hooks
from interlock.runtime.gates.connect.probe import ask_program
from interlock.runtime.gates.doctor.check import Check
from interlock.runtime.gates.gemini import switches as gemini
from interlock.runtime.gates.opencode import switches as opencode

OFF, ON = {"disableAllHooks": True}, {"disableAllHooks": False}
GEMINI_OFF, GEMINI_ON = {"hooksConfig": {"enabled": False}}, {"hooksConfig": {"enabled": True}}


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a repository that has a folder in it, and a system without managed settings."""
    (tmp_path / "home" / "project" / "sub").mkdir(parents=True)
    (tmp_path / "home" / "project" / ".git").mkdir()
    monkeypatch.setattr(claude, "MANAGED", tmp_path / "managed")
    monkeypatch.setattr(gemini, "SYSTEM", tmp_path / "system")
    return tmp_path


def write(ground: Path, files: dict[str, Any]) -> None:
    """`home/…` and the like, each with a JSON value, or a text as it is."""
    for name, value in files.items():
        place = ground / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(value if isinstance(value, str) else json.dumps(value))


def problems(checks: list[Check]) -> list[str]:
    return [check.text for check in checks if check.state == "problem"]


USER, PROJECT, LOCAL = (
    "home/.claude/settings.json",
    "home/project/.claude/settings.json",
    "home/project/.claude/settings.local.json",
)
CLAUDE = [
    ({}, "", ""),
    ({USER: OFF}, "", USER),
    ({PROJECT: OFF}, "", PROJECT),
    ({LOCAL: OFF}, "", LOCAL),
    ({USER: OFF, PROJECT: ON}, "", ""),
    ({PROJECT: OFF, LOCAL: ON}, "", ""),
    ({PROJECT: OFF}, "sub", ""),
    ({LOCAL: OFF}, "sub", LOCAL),
    ({"home/project/sub/.claude/settings.json": OFF}, "sub", "sub/.claude/settings.json"),
    ({"home/project/sub/.claude/settings.local.json": OFF}, "sub", "sub/.claude/settings.local.json"),
    ({LOCAL: ON, "home/project/sub/.claude/settings.local.json": OFF}, "sub", ""),
    ({LOCAL: OFF, "home/project/sub/.claude/settings.local.json": ON}, "sub", LOCAL),
    ({"home/.claude/settings.local.json": OFF}, "", ""),
    ({"managed/managed-settings.json": {"allowManagedHooksOnly": True}}, "", "allowManagedHooksOnly"),
    ({PROJECT: {"allowManagedHooksOnly": True}}, "", ""),
    ({"managed/managed-settings.json": OFF}, "", "managed-settings.json"),
    ({"managed/managed-settings.d/a.json": OFF}, "", "managed-settings.d/a.json"),
    ({PROJECT: OFF, "managed/managed-settings.json": ON}, "", ""),
    ({USER: {"disableAllHooks": "true"}}, "", "passes over the whole file"),
    ({PROJECT: "{ no json"}, "", ""),
    ({USER: {"env": {"CLAUDE_CODE_SIMPLE": "1"}}}, "", "CLAUDE_CODE_SIMPLE=1 in `env`"),
]


@pytest.mark.parametrize(("files", "folder", "named"), CLAUDE)
def test_claude_codes_hooks_are_off_where_it_says_so(
    ground: Path, files: dict[str, Any], folder: str, named: str
) -> None:
    write(ground, {USER: {}, **files})
    found = problems(claude.find_switches({}, ground / "home" / "project" / folder, ground / USER))
    assert [named in text for text in found] == ([True] if named else [])
    assert all("deny rules of your policy do not hold" in text for text in found)


def test_a_linked_worktree_takes_the_local_settings_of_its_repository(ground: Path) -> None:
    project, tree = ground / "home" / "project", ground / "home" / "tree"
    (project / ".git").rmdir()
    git = ["git", "-C", str(project), "-c", "user.email=a@b", "-c", "user.name=n"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", str(tree)]):
        subprocess.run([*git, *words], check=True)
    write(ground, {LOCAL: OFF})
    assert len(problems(claude.find_switches({}, tree, ground / USER))) == 1


@pytest.mark.parametrize("name", ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"])
@pytest.mark.parametrize(("value", "is_off"), [("1", True), ("true", True), ("0", False), ("", False)])
def test_a_variable_turns_claude_codes_hooks_off(ground: Path, name: str, value: str, is_off: bool) -> None:
    found = problems(claude.find_switches({name: value}, ground / "home", ground / USER))
    assert bool(found) is is_off


SETTINGS, FOLDER = "home/.gemini/settings.json", "home/project/.gemini/settings.json"
TRUSTING = {"security": {"folderTrust": {"enabled": False}}}
GEMINI = [
    ({SETTINGS: TRUSTING}, ""),
    ({SETTINGS: TRUSTING | GEMINI_OFF}, SETTINGS),
    ({SETTINGS: TRUSTING, FOLDER: GEMINI_OFF}, FOLDER),
    ({SETTINGS: TRUSTING | GEMINI_OFF, FOLDER: GEMINI_ON}, ""),
    ({SETTINGS: TRUSTING, FOLDER: GEMINI_ON, "system/settings.json": GEMINI_OFF}, "system/settings.json"),
    ({SETTINGS: TRUSTING | GEMINI_ON, "system/system-defaults.json": GEMINI_OFF}, ""),
    ({SETTINGS: TRUSTING, "system/system-defaults.json": GEMINI_OFF}, "system-defaults.json"),
    ({SETTINGS: TRUSTING, FOLDER: {"hooksConfig": {"disabled": ["interlock-gate"]}}}, "as `/hooks disable` writes it"),
    ({SETTINGS: TRUSTING | {"hooksConfig": {"disabled": ["other"]}}}, ""),
    ({SETTINGS: TRUSTING, FOLDER: '// of the team\n{"hooksConfig": {"enabled": false,},}'}, FOLDER),
    ({SETTINGS: {}, "home/.gemini/trustedFolders.json": "DO_NOT_TRUST"}, "not to trust"),
    ({SETTINGS: {}, FOLDER: GEMINI_OFF, "home/.gemini/trustedFolders.json": "TRUST_FOLDER"}, FOLDER),
]


@pytest.mark.parametrize(("files", "named"), GEMINI)
def test_gemini_clis_hooks_are_off_where_it_says_so(ground: Path, files: dict[str, Any], named: str) -> None:
    cwd = ground / "home" / "project"
    trusted = files.get("home/.gemini/trustedFolders.json")
    write(ground, files | ({"home/.gemini/trustedFolders.json": {str(cwd): trusted}} if trusted else {}))
    found = problems(gemini.find_switches({}, cwd, ground / SETTINGS))
    assert [named in text for text in found] == ([True] if named else [])


def test_a_folder_that_gemini_cli_would_ask_about_is_told(ground: Path) -> None:
    checks = gemini.find_switches({}, ground / "home" / "project", ground / SETTINGS)
    assert [check.name for check in checks if check.state == "unknown"] == ["trust"]
    named = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
    assert all(check.state == "ok" for check in gemini.find_switches(named, ground / "home", ground / SETTINGS))


def listed(*, is_trusted: bool = True, is_enabled: bool = True) -> list[CodexHook]:
    names = [event[0].lower() + event[1:] for event in codex_hooks()]
    return [CodexHook(f"f:{name}", "sha256:1", name, is_trusted, is_enabled) for name in names]


def test_codexs_own_report_is_judged(tmp_path: Path) -> None:
    assert problems(codex.judge_report(listed(), tmp_path, None)) == []
    (none,) = problems(codex.judge_report([], tmp_path, tmp_path / "config.toml"))
    assert f"`[features] hooks = false` in {tmp_path / 'config.toml'}" in none
    assert "does not trust our hooks" in problems(codex.judge_report(listed(is_trusted=False), tmp_path, None))[0]
    assert "switched off" in problems(codex.judge_report(listed(is_enabled=False), tmp_path, None))[0]
    assert (
        "PreToolUse"
        in problems(codex.judge_report([h for h in listed() if h.event != "preToolUse"], tmp_path, None))[0]
    )


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ("[hooks.state.k]\ntrusted_hash = 'x'\n", ""),
        ("[features]\nhooks = false\n[hooks.state.k]\ntrusted_hash = 'x'\n", "[features] hooks = false"),
        ("", "the trust in 1 hooks of ours is gone"),
        ("[hooks.state.k]\ntrusted_hash = 'x'\nenabled = false\n", "switched off"),
    ],
)
def test_codexs_settings_are_read_where_codex_cannot_be_asked(ground: Path, settings: str, named: str) -> None:
    write(ground, {"home/.codex/config.toml": settings})
    found = codex.find_switches({"PATH": ""}, ground, ground / "home/.codex/config.toml", ["k"])
    assert [named in text for text in problems(found)] == ([True] if named else [])
    assert found[-1].state == "unknown"


def test_a_plugin_that_opencode_does_not_look_for_is_told(ground: Path) -> None:
    env = {"HOME": str(ground / "home"), "PATH": ""}
    usual, other = (ground / place / opencode.PLUGIN for place in ("home/.config/opencode", "x"))
    assert problems(opencode.find_switches(env, ground, usual)) == []
    assert "is not in a folder that opencode reads" in problems(opencode.find_switches(env, ground, other))[0]
    assert "load no plugin" in problems(opencode.find_switches({**env, "OPENCODE_PURE": "1"}, ground, usual))[0]


def test_a_program_that_hangs_with_a_child_is_given_up_and_ended(tmp_path: Path) -> None:
    stub = tmp_path / "hangs"
    stub.write_text(f"#!/bin/sh\nsleep 600 &\necho $! > {tmp_path}/child\nwait\n")
    stub.chmod(0o755)
    told = ask_program("hangs", ("--version",), {"PATH": f"{tmp_path}:{os.environ['PATH']}"}, patience_s=1.0)
    assert told.fault == "hangs did not answer within 1 s"
    child = int((tmp_path / "child").read_text())
    state = Path(f"/proc/{child}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"
