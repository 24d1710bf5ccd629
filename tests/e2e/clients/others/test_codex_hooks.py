"""The real Codex with our hooks: the way without an app-server (AG-2, AG-3)."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

CODEX = "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
MESSAGE = 'Keep the folder: "archive" it instead, Zoë.'


def call(command: str, why: str) -> dict[str, Any]:
    args = {"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}
    return {"text": f"Next: {why}", "tools": [{"name": "exec_command", "args": args}]}


PLAYS = {
    "two": [
        call("touch allowed.txt && echo made", "May I make a file?"),
        call("rm -rf important", "May I?"),
        {"text": "End."},
    ],
    "plain": [
        {"text": "Go.", "tools": [{"name": "exec_command", "args": {"cmd": "rm -rf important"}}]},
        {"text": "End."},
    ],
}


@pytest.fixture
def codex(stage: Any) -> Any:
    """The stage with Codex connected, its hooks trusted."""
    stage.program("codex", CODEX)
    stage.play(PLAYS)
    stage.codex_settings()
    stage.before = (stage.home / ".codex" / "config.toml").read_bytes()
    done = stage.run("interlock", "connect", "codex", "--yes")
    assert done.returncode == 0, done.stderr
    assert "Codex trusts our 6 hooks now" in done.stdout, done.stdout
    return stage


async def begin(stage: Any, play: str) -> Any:
    terminal = stage.terminal()
    terminal.start(["codex", f"do it play:{play}"], stage.env, stage.project)
    return terminal


async def test_a_call_is_held_and_allowed_and_another_denied_with_words(codex: Any, approver: Any, until: Any) -> None:
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "two")
    (ask,) = await approver.wait()
    assert ask.event["agent"] == "Codex"
    assert ask.event["toolVersion"] == "0.171.0"
    await approver.answer(ask, "allow")
    await until((codex.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    assert "rm -rf important" in second.event["shownInput"]["command"]
    await approver.answer(second, "deny", MESSAGE)
    await until(lambda: "archive" in codex.heard(), terminal.text)
    assert "Zo\\u00eb" in codex.heard()
    assert (codex.project / "important" / "keep.txt").exists()
    await until(lambda: len(codex.events("tool.permission.delivered")) == 2, "both delivered")


async def test_with_nobody_watching_codexs_own_prompt_appears_at_once(codex: Any, until: Any) -> None:
    terminal = await begin(codex, "two")
    await until(lambda: "Yes, proceed" in terminal.text(), terminal.text)
    terminal.keys("y")
    await until((codex.project / "allowed.txt").exists, terminal.text)


async def test_when_the_service_is_killed_codexs_own_prompt_appears(codex: Any, approver: Any, until: Any) -> None:
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "two")
    await approver.wait()
    os.kill(codex.service_pid(), signal.SIGKILL)
    await approver.close()
    await until(lambda: "Yes, proceed" in terminal.text(), terminal.text)
    terminal.keys("y")
    await until((codex.project / "allowed.txt").exists, terminal.text)


async def test_a_deny_rule_holds_where_codex_asks_nobody(codex: Any) -> None:
    codex.policy('[[rule]]\nid = "no-rm"\neffect = "deny"\nprogram = "rm"\nreason = "we keep what we have"\n')
    done = codex.run("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "do it play:plain")
    assert "we keep what we have" in codex.heard(), done.stdout + done.stderr
    assert (codex.project / "important" / "keep.txt").exists()


async def test_disconnecting_leaves_the_settings_as_they_were(codex: Any) -> None:
    settings = codex.home / ".codex" / "config.toml"
    assert b"trusted_hash" in settings.read_bytes()
    done = codex.run("interlock", "disconnect", "codex")
    assert done.returncode == 0, done.stderr
    assert settings.read_bytes() == codex.before


async def test_disconnecting_after_codex_has_written_its_settings_takes_out_ours_alone(codex: Any) -> None:
    settings = codex.home / ".codex" / "config.toml"
    settings.write_bytes(settings.read_bytes() + b'\n[projects."/else"]\ntrust_level = "trusted"\n')
    done = codex.run("interlock", "disconnect", "codex")
    assert done.returncode == 0, done.stderr
    left = settings.read_text()
    assert "gate-h" not in left
    assert "trusted_hash" not in left
    assert '[projects."/else"]' in left
