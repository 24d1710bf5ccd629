"""The gate with the real Claude Code: headless, in its terminal screen, with people, screens and services that come and go."""

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

from interlock.runtime.gates.claude_settings import AGENT_MARK, ASK_TIMEOUT_S, claude_hooks
from interlock.runtime.gates.service_config import ServiceConfig, ensure_config
from interlock.runtime.gates.service_hook import install_hook
from interlock.runtime.gates.service_start import answers

pytestmark = [pytest.mark.e2e]

KEY = "sk-ant-dummy"
PATIENCE_S = 90.0


def bash(command: str) -> dict[str, Any]:
    return {"tools": [{"name": "Bash", "args": {"command": command, "description": "a step"}}]}


PLAYS = {
    "one": [bash("touch allowed.txt"), {"text": "It is done."}],
    "again": [bash("touch one.txt"), bash("touch two.txt"), {"text": "It is done."}],
    "two": [bash("touch allowed.txt"), bash("rm -rf important"), {"text": "It is done."}],
    "long": [bash("touch begun.txt; sleep 30; touch slept.txt"), {"text": "It is done."}],
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
NO_RM = '[[rule]]\nid = "keep-things"\neffect = "deny"\ncommand = "rm -rf *"\nreason = "archive it instead"\n'
TOUCH = '[[rule]]\nid = "touching"\neffect = "allow"\ncommand = "touch *"\nreason = "harmless here"\n'


def until(look: Callable[[], Any], what: str, patience: float = PATIENCE_S) -> Any:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        seen = look()
        if seen:
            return seen
        time.sleep(0.05)
    raise AssertionError(f"waited {patience:.0f} s for: {what}")


@dataclass
class Claude:
    """The real program, connected to a gate service of the test's own."""

    stage: Any
    program: Path
    config: ServiceConfig

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
        self.stage.start(command, env=self.stage.environment).wait(PATIENCE_S)

    def service_pid(self) -> int:
        """The process of the gate service."""
        return int(until(lambda: answers(self.config), "the gate service")["pid"])


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or [])


@pytest.fixture
def claude(stage: Any, clients: Path) -> Iterator[Claude]:
    """Claude Code with our hooks in its settings, and a model that plays to it."""
    program = clients / "cc" / "node_modules" / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe"
    if not program.exists():
        pytest.skip(f"Claude Code is not installed at {program}")
    config = ensure_config()
    install_hook(config)
    made = Claude(stage, program, config)
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
        until(lambda: "manual" in self.shown() or "? for shortcuts" in self.shown(), "the prompt of Claude Code")

    def shown(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", "c")

    def say(self, text: str) -> None:
        """Type a prompt and send it."""
        self.tmux("send-keys", "-t", "c", "-l", text)
        until(lambda: text in self.shown(), "the typed prompt")
        self.tmux("send-keys", "-t", "c", "Enter")

    def key(self, *names: str) -> None:
        self.tmux("send-keys", "-t", "c", *names)

    def dialog(self) -> None:
        """Wait for the native dialog."""
        until(lambda: re.search(r"Do you want|1\. Yes", self.shown()), "the native dialog")

    def pid(self) -> int:
        return int(self.tmux("display-message", "-p", "-t", "c", "#{pane_pid}"))


@pytest.fixture
def terminal(claude: Claude, tmp_path: Path) -> Iterator[Terminal]:
    """Claude Code in its own screen, asking for everything."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    made = Terminal(claude, f"interlock-test-{os.getpid()}-{tmp_path.name}"[:60])
    made.open("--permission-mode", "manual")
    yield made
    made.tmux("kill-server")


def test_headless_call_is_held_and_allowed_and_another_is_denied_with_words(claude, screen, stage, watch):
    claude.serve()
    [host] = until(lambda: _hosts(), "the host of the service")
    watch(host.socket)
    until(lambda: answers(claude.config)["watched"], "a watching screen")
    run = claude.headless("two")
    [first] = screen.wait("touch allowed.txt")
    assert first[1].event["shownInput"]["command"] == "touch allowed.txt"
    assert not (stage.project / "allowed.txt").exists()
    screen.answer(first, "allow")
    [second] = screen.wait("rm -rf important")
    assert (stage.project / "allowed.txt").exists()
    screen.answer(second, "deny", "Keep the folder: *archive* it instead.")
    run.wait(PATIENCE_S)
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
    claude.serve()
    [host] = until(lambda: _hosts(), "the host of the service")
    watch(host.socket)
    until(lambda: answers(claude.config)["watched"], "a watching screen")
    run = claude.headless("again")
    [ask] = screen.wait("touch one.txt")
    assert "allow.rule" in ask[1].event["choices"]
    rule = next(one for one in ask[1].event["suggestedRules"] if "rule" in one["scopes"])
    screen.answer(ask, "allow", scope="rule", suggestion=rule["digest"])
    run.wait(PATIENCE_S)
    assert (stage.project / "one.txt").exists()
    assert (stage.project / "two.txt").exists()
    assert rule["rule"] in (stage.root / "config" / "policy.toml").read_text()
    first, second = stage.events("tool.permission")[0], stage.events("tool.permission")[-1]
    assert (first["decision"], second["decision"], second["source"]) == ("ask", "allow", "user")
    assert len(stage.events("tool.permission.answered")) == 1


def test_headless_call_with_nobody_watching_is_left_to_claude_at_once(claude, stage):
    run = claude.headless("one")
    run.wait(PATIENCE_S)
    assert "approval" in claude.told()[0]
    assert stage.events("tool.permission") == []


def test_policy_allows_without_asking_and_denies_with_its_reason(claude, stage, screen):
    stage.rules(NO_RM + TOUCH)
    claude.headless("two").wait(PATIENCE_S)
    assert (stage.project / "allowed.txt").exists()
    assert (stage.project / "important" / "keep.txt").exists()
    assert "archive it instead" in claude.told()[1]
    assert [e["decision"] for e in stage.events("tool.permission")] == ["allow", "deny"]


def test_deny_rule_holds_in_bypass_mode(claude, stage):
    stage.rules(NO_RM)
    claude.headless("two", "--permission-mode", "bypassPermissions").wait(PATIENCE_S)
    assert (stage.project / "allowed.txt").exists()
    assert (stage.project / "important" / "keep.txt").exists()
    assert "archive it instead" in claude.told()[1]


def test_calls_are_blocked_when_the_service_cannot_be_reached_even_in_bypass_mode(claude, stage):
    """A program that is no Interlock stands where the hook would start it."""
    from interlock.runtime.gates.service_hook import hook_file, program

    text = hook_file().read_text()
    hook_file().write_text(text.replace(program(), "false"))
    claude.headless("one", "--permission-mode", "bypassPermissions").wait(PATIENCE_S)
    assert not (stage.project / "allowed.txt").exists()
    assert "did not answer, so this call was not run" in claude.told()[0]


def test_dialog_is_answered_from_the_screen_and_goes(terminal, claude, screen, stage):
    terminal.say("do it play:two")
    [first] = screen.wait("touch allowed.txt")
    terminal.dialog()
    screen.answer(first, "allow")
    [second] = screen.wait("rm -rf important")
    assert (stage.project / "allowed.txt").exists()
    screen.answer(second, "deny", "Keep the folder.")
    until(lambda: "It is done" in terminal.shown(), "the end of the turn")
    assert claude.told()[1] == "Keep the folder."
    assert (stage.project / "important").exists()


def test_rule_that_asks_holds_also_for_what_claude_code_would_let_through(claude, tmp_path, screen, stage):
    stage.rules(TOUCH.replace('"allow"', '"ask"'))
    claude.settings(permissions={"allow": ["Bash(touch *)"]})
    made = Terminal(claude, f"interlock-test-{os.getpid()}-{tmp_path.name}"[:60])
    try:
        made.open("--permission-mode", "manual")
        made.say("do it play:one")
        [found] = screen.wait("touch allowed.txt")
        made.dialog()
        assert not (stage.project / "allowed.txt").exists()
        screen.answer(found, "allow")
        until(lambda: (stage.project / "allowed.txt").exists(), "the file")
    finally:
        made.tmux("kill-server")


def test_native_yes_takes_the_ask_from_the_inbox(terminal, screen, stage):
    terminal.say("do it play:one")
    screen.wait("touch allowed.txt")
    terminal.dialog()
    terminal.key("Enter")
    screen.wait_empty()
    until(lambda: (stage.project / "allowed.txt").exists(), "the file")
    until(lambda: stage.events("tool.observation"), "the end of the call")
    by = [e["by"]["kind"] for e in stage.events("tool.permission.answered")]
    closed = [e["message"] for e in stage.events("tool.permission.closed")]
    assert by == ["native_prompt"] or "answered in the agent's terminal" in closed[0]


def test_native_yes_to_a_long_call_takes_the_ask_away_while_it_runs(terminal, screen, stage):
    terminal.say("do it play:long")
    screen.wait("sleep 30")
    terminal.dialog()
    terminal.key("Enter")
    until(lambda: (stage.project / "begun.txt").exists(), "the begin of the call")
    screen.wait_empty()
    assert not (stage.project / "slept.txt").exists()


def test_native_no_takes_the_ask_from_the_inbox(terminal, screen, stage):
    terminal.say("do it play:one")
    screen.wait("touch allowed.txt")
    terminal.dialog()
    terminal.key("Escape")
    screen.wait_empty()
    until(lambda: stage.events("tool.observation"), "the native no on record")
    [observed] = stage.events("tool.observation")
    assert (observed["code"], observed["summary"]) == ("user_denied", "no in the agent's own prompt")
    # on a slow machine Claude Code's transcript tells of the no only after the ask was closed
    assert [e["by"]["kind"] for e in stage.events("tool.permission.answered")] in (["native_prompt"], [])
    assert not (stage.project / "allowed.txt").exists()


def test_screen_that_is_killed_and_one_that_comes_later_see_the_same_ask(terminal, screen, stage, watch):
    terminal.say("do it play:one")
    [(socket, ask)] = screen.wait("touch allowed.txt")
    watching = watch(socket)
    until(lambda: "OpenedNotice" in (stage.root / "watched.txt").read_text(), "the ask on the screen")
    os.killpg(watching.pid, signal.SIGKILL)
    watching.wait(10)
    [again] = screen.wait("touch allowed.txt")
    assert again[1].ask_id == ask.ask_id
    screen.answer(again, "allow")
    until(lambda: (stage.project / "allowed.txt").exists(), "the file")


def test_service_that_is_killed_leaves_the_dialog_and_its_asks_are_closed(terminal, claude, screen, stage):
    terminal.say("do it play:two")
    [(_, ask)] = screen.wait("touch allowed.txt")
    terminal.dialog()
    os.kill(claude.service_pid(), signal.SIGKILL)
    until(lambda: answers(claude.config) is None, "the end of the service")
    terminal.dialog()
    terminal.key("Enter")
    # the next call starts another service, which closes what the first one left open
    [second] = screen.wait("rm -rf important")
    assert (stage.project / "allowed.txt").exists()
    [closed] = stage.events("tool.permission.closed")
    assert (closed["askId"], closed["cause"]) == (ask.ask_id, "runtime_restarted")
    screen.answer(second, "deny", "Keep the folder.")
    until(lambda: "It is done" in terminal.shown(), "the end of the turn")
    assert claude.told()[1] == "Keep the folder."


def test_ask_that_nobody_answers_in_time_is_a_time_out_and_the_dialog_stays(claude, tmp_path, screen, stage):
    claude.settings(ask_timeout=8)
    made = Terminal(claude, f"interlock-test-{os.getpid()}-{tmp_path.name}"[:60])
    try:
        made.open("--permission-mode", "manual")
        made.say("do it play:one")
        screen.wait("touch allowed.txt")
        until(lambda: stage.events("tool.permission.closed"), "the time-out")
        assert [e["cause"] for e in stage.events("tool.permission.closed")] == ["expired"]
        made.dialog()
        made.key("Enter")
        until(lambda: (stage.project / "allowed.txt").exists(), "the file")
    finally:
        made.tmux("kill-server")


def test_two_agents_ask_at_once_and_each_gets_its_own_answer(terminal, claude, screen, stage, tmp_path, watch):
    terminal.say("do it play:one")
    [(socket, first)] = screen.wait("touch allowed.txt")
    watch(socket)
    until(lambda: answers(claude.config)["watched"], "a watching screen")
    run = claude.headless("one")
    both = screen.wait("touch allowed.txt", count=2)
    assert len({ask.session for _, ask in both}) == 2
    [second] = [found for found in both if found[1].ask_id != first.ask_id]
    screen.answer(second, "deny", "not you")
    run.wait(PATIENCE_S)
    assert not (stage.project / "allowed.txt").exists()
    screen.answer((socket, first), "allow")
    until(lambda: (stage.project / "allowed.txt").exists(), "the file")
    assert "not you" in claude.told()


def test_edit_is_shown_with_its_real_diff(terminal, screen, stage):
    terminal.say("do it play:edit")
    [found] = screen.wait("hello.py")
    folder = stage.root / "state" / "sessions" / found[1].session
    diff = (folder / found[1].event["diffPath"]).read_text()
    assert "-x = 1\n+x = 2" in diff
    screen.answer(found, "allow")
    until(lambda: "x = 2" in (stage.project / "hello.py").read_text(), "the edit")


def test_question_is_shown_without_a_yes_and_can_be_declined_with_words(terminal, claude, screen):
    terminal.say("do it play:question")
    [found] = screen.wait("AskUserQuestion")
    assert found[1].event["choices"] == ["deny", "deny.message"]
    screen.answer(found, "deny", "Take green.")
    until(lambda: "It is done" in terminal.shown(), "the end of the turn")
    assert claude.told() == ["Take green."]


def test_sub_agent_is_named_on_its_ask(terminal, claude, screen, stage):
    terminal.say("do it play:below")
    [found] = screen.wait("touch allowed.txt")
    assert found[1].event["facts"]["subAgent"]["type"] == "general-purpose"
    screen.answer(found, "deny", "not below")
    until(lambda: any("not below" in told for told in claude.told()), "the words at the sub-agent's model")


def test_what_claude_code_starts_cannot_look_at_the_inbox(claude, stage, watch):
    """It carries our mark and descends from the agent, whatever mode it runs in."""
    claude.serve()
    look = f"{sys.executable} -P -m interlock.runtime.cli asks > seen.txt 2>&1; echo ended $? >> seen.txt"
    again = f"setsid sh -c '{sys.executable} -P -m interlock.runtime.cli asks > orphan.txt 2>&1; echo ended $? >> orphan.txt'"
    stage.plays({"look": [bash(look), bash(again), {"text": "It is done."}]})
    claude.headless("look", "--permission-mode", "bypassPermissions").wait(PATIENCE_S)
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
    claude.headless("two", settings=False).wait(PATIENCE_S)
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


def _hosts() -> list[Any]:
    from interlock.runtime.asks.discovery import hosts

    return hosts()
