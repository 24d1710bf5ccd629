"""A real Claude Code and a real Codex at work side by side, seen on the screen with nothing configured."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("tmux")]

INTERLOCK = Path(sys.executable).parent / "interlock"
COMMAND = "sleep 12; echo watched"
PLAYS: dict[str, list[dict[str, Any]]] = {
    "claude": [
        {"tools": [{"name": "Bash", "args": {"command": COMMAND, "description": "a step"}}]},
        {"text": "Claude has watched."},
    ],
    "codex": [
        {"tools": [{"name": "exec_command", "args": {"cmd": COMMAND, "yield_time_ms": 30_000}}]},
        {"text": "Codex has watched."},
    ],
}


def rows(screen: str, agent: str) -> list[str]:
    """The rows of the board that name an agent."""
    return [line for line in screen.splitlines() if agent in line and "interlock-" not in line]


async def test_both_are_seen_at_work_and_then_done_and_their_calls_can_be_read(stage: Any, until: Any) -> None:
    stage.play(PLAYS)
    stage.codex_settings("danger-full-access")
    claude = stage.program("claude", "cc/node_modules/@anthropic-ai/claude-code/bin/claude.exe")
    codex = stage.program("codex", "codex/node_modules/@openai/codex/bin/codex.js")
    stage.env |= {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{stage.port}",
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    screen = stage.terminal()
    screen.start([str(INTERLOCK)], stage.env, stage.project)
    await until(lambda: "Nothing waits for you" in screen.text(), lambda: screen.text())
    screen.keys("2")
    words = ["-p", "do it play:claude", "--permission-mode", "bypassPermissions"]
    stage.terminal().start([str(claude), *words], stage.env, stage.project)
    stage.terminal().start(["sh", "-c", f"{codex} exec 'do it play:codex' </dev/null"], stage.env, stage.project)

    def both_run() -> bool:
        _, _, running = screen.text().partition("RUNNING")
        return bool(rows(running, "Claude Code") and rows(running, "Codex"))

    await until(both_run, lambda: f"both agents under RUNNING\n{screen.text()}")
    await until(lambda: "2 running" in screen.text().splitlines()[0], lambda: screen.text())
    screen.keys("Down", "Enter")
    await until(lambda: COMMAND[:8] in screen.text(), lambda: f"the call of an open session\n{screen.text()}")
    screen.keys("Escape")
    for agent, said in (("Claude Code", "Claude has watched."), ("Codex", "Codex has watched.")):
        await until(lambda agent=agent, said=said: said in replayed(stage, agent), f"the last words of {agent}")
    screen.keys("3")
    for agent in ("Claude Code", "Codex"):
        done = lambda agent=agent: "[3 History]" in screen.text() and rows(screen.text(), agent)  # noqa: E731
        # without a registry entry a headless Claude counts as running until its log has been still for a minute
        await until(done, lambda: f"both agents under History\n{screen.text()}", patience=120)


def replayed(stage: Any, agent: str) -> str:
    """The story of the one session of an agent."""
    found = json.loads(stage.run(str(INTERLOCK), "sessions", "--json").stdout)
    session = next(row["id"] for row in found if row["agent"] == agent)
    return stage.run(str(INTERLOCK), "replay", session).stdout
