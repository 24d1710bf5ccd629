"""Agents whose hooks are switched off: nothing runs that the agent itself would not let run, and the doctor says so (AG-6).

Each case is held against the real client: our gate has heard nothing of its session, so the switch did what the doctor says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CODEX = "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
CLAUDE = "cc/node_modules/@anthropic-ai/claude-code-linux-x64/claude"
OPENCODE = "opencode/node_modules/opencode-linux-x64/bin/opencode"
DENY = '[[rule]]\nid = "no-touch"\neffect = "deny"\nprogram = "touch"\nreason = "not here"\n'
TOUCH = "touch made.txt"


def play(stage: Any, tool: str, **given: Any) -> None:
    stage.play({"one": [{"text": "Go.", "tools": [{"name": tool, "args": given}]}, {"text": "End."}]})


def doctor(stage: Any, *words: str) -> tuple[int, str]:
    done = stage.run("interlock", "doctor", *words)
    return done.returncode, done.stdout


def merge(place: Path, value: dict[str, Any]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    told = json.loads(place.read_text()) if place.exists() else {}
    place.write_text(json.dumps({**told, **value}))


@pytest.fixture
def codex(stage: Any) -> Any:
    stage.program("codex", CODEX)
    play(stage, "exec_command", cmd=TOUCH)
    stage.codex_settings("danger-full-access")
    assert stage.run("interlock", "connect", "codex", "--yes").returncode == 0
    stage.policy(DENY)
    return stage


def without_trust(stage: Any) -> None:
    place = stage.home / ".codex" / "config.toml"
    text = re.sub(r"(?ms)^\[hooks\.state[^\n]*\n(?:[^\[]*\n)?(?=\[|\Z)", "", place.read_text())
    assert "trusted_hash" not in text
    place.write_text(text)


def feature_off(stage: Any) -> None:
    with (stage.home / ".codex" / "config.toml").open("a") as file:
        file.write("\n[features]\nhooks = false\n")


def feature_off_in_the_project(stage: Any) -> None:
    place = stage.project / ".codex" / "config.toml"
    place.parent.mkdir()
    place.write_text("[features]\nhooks = false\n")


def one_off(stage: Any) -> None:
    place = stage.home / ".codex" / "config.toml"
    place.write_text(re.sub(r"(?m)^(trusted_hash = .*)$", r"\1\nenabled = false", place.read_text()))


async def test_a_deny_rule_holds_in_codex_while_nothing_is_switched_off(codex: Any) -> None:
    code, told = doctor(codex, "codex")
    assert code == 0, told
    assert "hooks of ours as trusted and on" in told
    codex.run("codex", "exec", "do it play:one")
    assert not (codex.project / "made.txt").exists()


@pytest.mark.parametrize(
    ("switch", "named"),
    [
        (without_trust, "does not trust our hooks"),
        (feature_off, "`[features] hooks = false` in"),
        (feature_off_in_the_project, ".codex/config.toml"),
        (one_off, "switched off in [hooks.state]"),
    ],
)
async def test_the_doctor_tells_what_has_codex_pass_over_our_hooks(
    codex: Any, switch: Callable[[Any], None], named: str
) -> None:
    switch(codex)
    code, told = doctor(codex, "codex")
    assert code == 1, told
    assert named in told
    assert "deny rules of your policy do not hold" in told
    codex.run("codex", "exec", "do it play:one")
    assert codex.events("tool.intent") == []


async def test_connecting_again_trusts_again(codex: Any) -> None:
    without_trust(codex)
    assert doctor(codex, "codex")[0] == 1
    assert codex.run("interlock", "connect", "codex", "--yes").returncode == 0
    assert doctor(codex, "codex")[0] == 0


async def test_codex_warns_of_nothing_in_our_hooks(codex: Any) -> None:
    done = codex.run("codex", "exec", "do it play:one")
    assert "clamping" not in done.stdout + done.stderr


@pytest.fixture
def claude(stage: Any) -> Any:
    stage.program("claude", CLAUDE)
    play(stage, "Bash", command=TOUCH, description="a step")
    stage.env |= {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{stage.port}",
        "ANTHROPIC_API_KEY": "sk-ant-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    assert stage.run("interlock", "connect", "claude", "--yes").returncode == 0
    return stage


OFF = {"disableAllHooks": True}


async def test_claude_codes_gate_hears_of_a_call_while_nothing_is_switched_off(claude: Any) -> None:
    assert doctor(claude, "claude")[0] == 0
    claude.run("claude", "-p", "do it play:one")
    assert len(claude.events("tool.intent")) == 1
    assert not (claude.project / "made.txt").exists()


@pytest.mark.parametrize(
    "place",
    ["home/.claude/settings.json", "home/project/.claude/settings.json", "home/project/.claude/settings.local.json"],
)
async def test_the_doctor_tells_what_turns_claude_codes_hooks_off(claude: Any, place: str) -> None:
    merge(claude.root / place, OFF)
    code, told = doctor(claude, "claude")
    assert code == 1, told
    assert f"disableAllHooks in {claude.root / place}" in told
    claude.run("claude", "-p", "do it play:one")
    assert claude.events("tool.intent") == []
    assert not (claude.project / "made.txt").exists()


async def test_a_stronger_file_turns_claude_codes_hooks_on_again(claude: Any) -> None:
    merge(claude.home / ".claude" / "settings.json", OFF)
    merge(claude.project / ".claude" / "settings.json", {"disableAllHooks": False})
    assert doctor(claude, "claude")[0] == 0
    claude.run("claude", "-p", "do it play:one")
    assert len(claude.events("tool.intent")) == 1


async def test_another_settings_file_is_known_to_the_doctor(claude: Any) -> None:
    other = claude.root / "other.json"
    other.write_text("{}")
    assert claude.run("interlock", "connect", "claude", "--yes", "--config", str(other)).returncode == 0
    assert claude.run("interlock", "disconnect", "claude").returncode == 0
    code, told = doctor(claude, "claude")
    assert code == 0
    assert f"claude --settings {other}" in told
    assert doctor(claude, "claude", "--config", str(other))[0] == 0
    claude.run("claude", "--settings", str(other), "-p", "do it play:one")
    assert len(claude.events("tool.intent")) == 1
    merge(other, OFF)
    assert doctor(claude, "claude", "--config", str(other))[0] == 1


@pytest.fixture
def gemini(stage: Any) -> Any:
    play(stage, "run_shell_command", command=TOUCH)
    stage.gemini_settings()
    assert stage.run("interlock", "connect", "gemini", "--yes").returncode == 0
    stage.policy(DENY)
    return stage


GEMINI_OFF = {"hooksConfig": {"enabled": False}}
DISABLED = {"hooksConfig": {"disabled": ["interlock-gate"]}}


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("home/.gemini/settings.json", GEMINI_OFF),
        ("home/project/.gemini/settings.json", GEMINI_OFF),
        ("home/project/.gemini/settings.json", DISABLED),
    ],
)
async def test_the_doctor_tells_what_turns_gemini_clis_hook_off(gemini: Any, place: str, value: dict[str, Any]) -> None:
    assert doctor(gemini, "gemini")[0] == 0
    merge(gemini.root / place, value)
    code, told = doctor(gemini, "gemini")
    assert code == 1, told
    assert str(gemini.root / place) in told
    gemini.run("gemini", "-m", "gemini-2.5-flash", "--skip-trust", "-p", "do it play:one")
    assert gemini.events("tool.intent") == []
    assert not (gemini.project / "made.txt").exists()


async def test_the_doctor_asks_opencode_what_it_loads(stage: Any) -> None:
    stage.program("opencode", OPENCODE)
    stage.env |= {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    assert stage.run("interlock", "connect", "opencode", "--yes").returncode == 0
    stage.run("opencode", "debug", "config")  # the first start takes its time
    code, told = doctor(stage, "opencode")
    assert code == 0, told
    assert "says `opencode debug config`" in told
    assert "curl" not in told
    assert "plugin/interlock.js" in told
    stage.env["OPENCODE_PURE"] = "1"
    assert doctor(stage, "opencode")[0] == 1
