"""Claude Code without a terminal of its own, and what its settings make of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e]

NO_RM = '[[rule]]\nid = "keep-things"\neffect = "deny"\ncommand = "rm -rf *"\nreason = "archive it instead"\n'
TOUCH = '[[rule]]\nid = "touching"\neffect = "allow"\ncommand = "touch *"\nreason = "harmless here"\n'


def test_headless_call_is_held_and_allowed_and_another_is_denied_with_words(claude, screen, stage, watch):
    claude.watched(watch)
    run = claude.headless("two")
    [first] = screen.wait("touch allowed.txt")
    assert first[1].event["shownInput"]["command"] == "touch allowed.txt"
    assert not (stage.project / "allowed.txt").exists()
    screen.answer(first, "allow")
    [second] = screen.wait("rm -rf important")
    assert (stage.project / "allowed.txt").exists()
    screen.answer(second, "deny", "Keep the folder: *archive* it instead.")
    run.wait(90)
    assert (stage.project / "important" / "keep.txt").exists()
    assert claude.told()[1] == "Keep the folder: *archive* it instead."
    assert len(stage.events("tool.permission.delivered")) == 2
    assert [e["code"] for e in stage.events("tool.observation")] == ["ok", "user_denied"]
    [first_event] = stage.events("session.started")
    assert first_event["agent"]["version"] == "2.1.332"
    assert Path(first_event["foreign"]["log"]).exists()


def test_call_allowed_by_rule_is_kept_in_the_policy_file_and_the_next_like_it_is_not_asked(
    claude, screen, stage, watch
):
    claude.watched(watch)
    run = claude.headless("again")
    [ask] = screen.wait("touch one.txt")
    assert "allow.rule" in ask[1].event["choices"]
    rule = next(one for one in ask[1].event["suggestedRules"] if "rule" in one["scopes"])
    screen.answer(ask, "allow", scope="rule", suggestion=rule["digest"])
    run.wait(90)
    assert (stage.project / "one.txt").exists()
    assert (stage.project / "two.txt").exists()
    assert rule["rule"] in (stage.root / "config" / "policy.toml").read_text()
    first, second = stage.events("tool.permission")[0], stage.events("tool.permission")[-1]
    assert (first["decision"], second["decision"], second["source"]) == ("ask", "allow", "user")
    assert len(stage.events("tool.permission.answered")) == 1


def test_headless_call_with_nobody_watching_is_left_to_claude_at_once(claude, stage):
    run = claude.headless("one")
    run.wait(90)
    assert "approval" in claude.told()[0]
    assert stage.events("tool.permission") == []


def test_policy_allows_without_asking_and_denies_with_its_reason(claude, stage, screen):
    stage.rules(NO_RM + TOUCH)
    claude.headless("two").wait(90)
    assert (stage.project / "allowed.txt").exists()
    assert (stage.project / "important" / "keep.txt").exists()
    assert "archive it instead" in claude.told()[1]
    assert [e["decision"] for e in stage.events("tool.permission")] == ["allow", "deny"]


def test_deny_rule_holds_in_bypass_mode(claude, stage):
    stage.rules(NO_RM)
    claude.headless("two", "--permission-mode", "bypassPermissions").wait(90)
    assert (stage.project / "allowed.txt").exists()
    assert (stage.project / "important" / "keep.txt").exists()
    assert "archive it instead" in claude.told()[1]


def test_calls_are_blocked_when_the_service_cannot_be_reached_even_in_bypass_mode(claude, stage):
    """A program that is no Interlock stands where the hook would start it."""
    from interlock.runtime.gates.service.tell_hook import hook_file, program

    text = hook_file().read_text()
    hook_file().write_text(text.replace(program(), "false"))
    claude.headless("one", "--permission-mode", "bypassPermissions").wait(90)
    assert not (stage.project / "allowed.txt").exists()
    assert "did not answer, so this call was not run" in claude.told()[0]


def test_what_claude_code_starts_cannot_look_at_the_inbox(claude, stage, watch):
    """It carries our mark and descends from the agent, whatever mode it runs in."""
    claude.serve()
    look = f"{sys.executable} -P -m interlock.runtime.cli asks > seen.txt 2>&1; echo ended $? >> seen.txt"
    again = f"setsid sh -c '{sys.executable} -P -m interlock.runtime.cli asks > orphan.txt 2>&1; echo ended $? >> orphan.txt'"
    stage.plays({"look": [claude.bash(look), claude.bash(again), {"text": "It is done."}]})
    claude.headless("look", "--permission-mode", "bypassPermissions").wait(90)
    for name in ("seen.txt", "orphan.txt"):
        told = (stage.project / name).read_text()
        assert "ended 1" in told, told
        assert "may not connect" in told, told


def test_connected_by_connect_and_given_back_by_disconnect(claude, stage):
    """The settings that `interlock connect` writes are those that Claude Code obeys."""
    stage.rules(NO_RM + TOUCH)
    settings = stage.home / ".claude" / "settings.json"
    cli = [sys.executable, "-m", "interlock.runtime.cli"]
    done = subprocess.run(
        [*cli, "connect", "claude", "--yes"],
        env=stage.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "PermissionRequest" in settings.read_text()
    claude.headless("two", settings=False).wait(90)
    assert (stage.project / "allowed.txt").exists()
    assert "archive it instead" in claude.told()[1]
    doctor = subprocess.run(
        [*cli, "doctor", "claude", "--json"],
        env=stage.environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    assert json.loads(doctor.stdout)["connected"]
    done = subprocess.run(
        [*cli, "disconnect", "claude"], env=stage.environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not settings.exists()
