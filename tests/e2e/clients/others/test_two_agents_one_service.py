"""A real Codex and a real Gemini CLI behind one gate service: their asks do not touch each other, nor does its death."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

CODEX = "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
ESCAPE = {"sandbox_permissions": "require_escalated", "justification": "May I?"}
PLAYS: dict[str, list[dict[str, Any]]] = {
    "codex": [{"tools": [{"name": "exec_command", "args": {"cmd": "touch codex.txt", **ESCAPE}}]}, {"text": "End."}],
    "gemini": [
        {"text": "Next.", "tools": [{"name": "run_shell_command", "args": {"command": "touch gemini.txt"}}]},
        {"text": "End."},
    ],
}


@pytest.fixture
def both(stage: Any) -> Any:
    """The stage with both connected to one service."""
    stage.program("codex", CODEX)
    stage.play(PLAYS)
    stage.codex_settings()
    stage.gemini_settings()
    for agent in ("codex", "gemini"):
        done = stage.run("interlock", "connect", agent, "--yes")
        assert done.returncode == 0, done.stderr
    stage.run("interlock", "gate", "serve", "--detach")
    return stage


async def begin(stage: Any, approver: Any) -> tuple[Any, Any, dict[str, Any]]:
    await approver.asks()
    codex, gemini = stage.terminal(), stage.terminal()
    codex.start(["codex", "do it play:codex"], stage.env, stage.project)
    gemini.start(
        ["gemini", "-m", "gemini-2.5-flash", "--skip-trust", "-p", "do it play:gemini"], stage.env, stage.project
    )
    asks = await approver.wait(2)
    return codex, gemini, {ask.event["agent"]: ask for ask in asks}


async def test_each_answer_reaches_its_own_agent(both: Any, approver: Any, until: Any) -> None:
    codex, gemini, asks = await begin(both, approver)
    await approver.answer(asks["Gemini CLI"], "deny", "Not by you.")
    await until(lambda: "Not by you." in both.heard(), gemini.text)
    assert not (both.project / "codex.txt").exists()
    await approver.answer(asks["Codex"], "allow")
    await until((both.project / "codex.txt").exists, codex.text)
    assert not (both.project / "gemini.txt").exists()


async def test_when_it_is_killed_each_agent_falls_back_in_its_own_way(both: Any, approver: Any, until: Any) -> None:
    codex, gemini, asks = await begin(both, approver)
    os.kill(both.service_pid(), signal.SIGKILL)
    await approver.close()
    await until(lambda: "ended with 0" in gemini.text(), gemini.text)
    await until(lambda: "Yes, proceed" in codex.text(), codex.text)
    assert not (both.project / "gemini.txt").exists()
    assert not (both.project / "codex.txt").exists()
    both.run("interlock", "gate", "serve", "--detach")
    closed = {event["askId"]: event["cause"] for event in both.events("tool.permission.closed")}
    assert closed == {ask.ask_id: "runtime_restarted" for ask in asks.values()}
    codex.keys("y")
    await until((both.project / "codex.txt").exists, codex.text)
