"""The real Claude Code, headless and in its own screen, connected to a gate service of the test's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.discovery import hosts
from interlock.runtime.gates.claude.settings import AGENT_MARK, ASK_TIMEOUT_S, claude_hooks
from interlock.runtime.gates.service.config import ServiceConfig, ensure_config
from interlock.runtime.gates.service.start import answers
from interlock.runtime.gates.service.tell_hook import install_hook

KEY = "sk-ant-dummy"
_PATIENCE_S = 90.0


def _bash(command: str) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "args": {"command": command, "description": "a step"}}]}


PLAYS = {
    "one": [_bash("touch allowed.txt"), {"text": "It is done."}],
    "again": [_bash("touch one.txt"), _bash("touch two.txt"), {"text": "It is done."}],
    "two": [_bash("touch allowed.txt"), _bash("rm -rf important"), {"text": "It is done."}],
    "long": [_bash("touch begun.txt; sleep 30; touch slept.txt"), {"text": "It is done."}],
    "edit": [
        {"tools": [{"name": "Read", "args": {"file_path": "hello.py"}}]},
        {"tools": [{"name": "Edit", "args": {"file_path": "hello.py", "old_string": "x = 1", "new_string": "x = 2"}}]},
        {"text": "It is done."},
    ],
    "question": [
        {
            "tools": [
                {
                    "name": "AskUserQuestion",
                    "args": {
                        "questions": [
                            {
                                "question": "Which colour?",
                                "header": "Colour",
                                "multiSelect": False,
                                "options": [
                                    {"label": "Red", "description": "warm"},
                                    {"label": "Blue", "description": "cold"},
                                ],
                            }
                        ]
                    },
                }
            ]
        },
        {"text": "It is done."},
    ],
    "below": [
        {
            "tools": [
                {
                    "name": "Agent",
                    "args": {
                        "description": "small job",
                        "prompt": "do it play:one",
                        "subagent_type": "general-purpose",
                        "run_in_background": False,
                    },
                }
            ]
        },
        {"text": "It is done."},
    ],
}


@dataclass
class Claude:
    """The real program, connected to a gate service of the test's own."""

    stage: Any
    program: Path
    config: ServiceConfig
    until: Callable[..., Any]

    def settings(self, *, ask_timeout: int = ASK_TIMEOUT_S, permissions: dict[str, Any] | None = None) -> None:
        """Write what connect would write."""
        told = {
            "env": dict(AGENT_MARK),
            "hooks": claude_hooks(ask_timeout=ask_timeout),
        }
        told |= {"permissions": permissions} if permissions else {}
        (self.stage.root / "settings.json").write_text(json.dumps(told))

    @property
    def environment(self) -> dict[str, str]:
        return self.stage.environment | {
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.stage.port}",
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "IS_SANDBOX": "1",
        }

    def headless(self, play: str, *words: str, settings: bool = True) -> subprocess.Popen[Any]:
        """`claude -p`; without `settings` those of the home folder alone."""
        command = [str(self.program), "-p", f"do it play:{play}"]
        command += ["--settings", str(self.stage.root / "settings.json")] if settings else []
        out = (self.stage.root / "out.jsonl").open("ab")
        shape = ["--output-format", "stream-json", "--verbose"]
        return self.stage.start([*command, *shape, *words], env=self.environment, stdout=out, stderr=out)

    def bash(self, command: str) -> dict[str, Any]:
        """A step of a play that runs a command."""
        return _bash(command)

    def told(self) -> list[str]:
        """What the model was told of its calls, in order."""
        newest: dict[str, str] = {}
        for request in self.stage.requests():
            for message in (request["body"] or {}).get("messages", []):
                content = message.get("content")
                for block in content if isinstance(content, list) else ():
                    if block.get("type") == "tool_result":
                        newest[block["tool_use_id"]] = _text(block.get("content"))
        return list(newest.values())

    def serve(self) -> None:
        """Start the service before any agent does, so that a screen can watch from the first call on."""
        command = [sys.executable, "-m", "interlock.runtime.cli", "gate", "serve", "--detach"]
        self.stage.start(command, env=self.stage.environment).wait(_PATIENCE_S)

    def watched(self, watch: Callable[[str], Any]) -> None:
        """Start the service, and a screen that watches it."""
        self.serve()
        [host] = self.until(hosts, "the host of the service")
        watch(host.socket)
        self.until(lambda: (answers(self.config) or {}).get("watched"), "a watching screen")

    def service_pid(self) -> int:
        """The process of the gate service."""
        return int(self.until(lambda: answers(self.config), "the gate service")["pid"])


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or [])


@pytest.fixture
def claude(stage: Any, clients: Path, until: Any) -> Iterator[Claude]:
    """Claude Code with our hooks in its settings, and a model that plays to it."""
    program = clients / "cc" / "node_modules" / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe"
    if not program.exists():
        pytest.skip(f"Claude Code is not installed at {program}")
    config = ensure_config()
    install_hook(config)
    made = Claude(stage, program, config, until)
    made.settings()
    stage.play(PLAYS)
    yield made
    stage.end()
    while (told := answers(config)) is not None:
        os.kill(told["pid"], signal.SIGTERM)
        until(lambda: answers(config) is None, "the end of the gate service", 20)


@dataclass
class Terminal:
    """Claude Code's own screen in a tmux of the test's own."""

    claude: Claude
    name: str

    def tmux(self, *words: str) -> str:
        # its own server, so that ending it touches nobody else's
        done = subprocess.run(
            ["tmux", "-L", self.name, "-f", "/dev/null", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
            env=self.claude.environment,
        )
        return done.stdout

    def open(self, *words: str) -> None:
        """Start it and wait for its prompt."""
        stage = self.claude.stage
        known = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "numStartups": 5,
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
            "projects": {str(stage.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (stage.home / ".claude.json").write_text(json.dumps(known))
        program = [str(self.claude.program), "--settings", str(stage.root / "settings.json"), *words]
        self.tmux("new-session", "-d", "-s", "c", "-x", "130", "-y", "45", "-c", str(stage.project), *program)
        self.claude.until(
            lambda: "manual" in self.shown() or "? for shortcuts" in self.shown(), "the prompt of Claude Code"
        )

    def shown(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "c")

    def say(self, text: str) -> None:
        """Type a prompt and send it."""
        self.tmux("send-keys", "-t", "c", "-l", text)
        self.claude.until(lambda: text in self.shown(), "the typed prompt")
        self.tmux("send-keys", "-t", "c", "Enter")

    def key(self, *names: str) -> None:
        self.tmux("send-keys", "-t", "c", *names)

    def dialog(self) -> None:
        """Wait for the native dialog."""
        self.claude.until(lambda: re.search(r"Do you want|1\. Yes", self.shown()), "the native dialog")

    def accept(self, done: Callable[[], Any]) -> None:
        """Say yes in the native dialog. A key that comes right after the dialog was drawn is not taken, so it is said again."""
        for _ in range(10):
            self.key("Enter")
            end = time.monotonic() + 3
            while time.monotonic() < end:
                if done():
                    return
                time.sleep(0.05)
        raise AssertionError(f"the native dialog takes no yes:\n{self.shown()}")

    def pid(self) -> int:
        return int(self.tmux("display-message", "-p", "-t", "c", "#{pane_pid}"))


@pytest.fixture
def terminals(claude: Claude, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Opens screens of Claude Code, in its mode that asks for everything when nothing else is said."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    opened: list[Terminal] = []

    def begun(*words: str) -> Terminal:
        made = Terminal(claude, f"interlock-test-{os.getpid()}-{len(opened)}-{tmp_path.name}"[:60])
        opened.append(made)
        made.open(*(words or ("--permission-mode", "manual")))
        return made

    yield begun
    for made in opened:
        made.tmux("kill-server")


@pytest.fixture
def terminal(terminals: Callable[..., Terminal]) -> Terminal:
    """Claude Code in its own screen, asking for everything."""
    return terminals()
