"""The real opencode with our plugin, and with `interlock opencode` (AG-2, AG-3)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
from typing import Any

import pytest

OPENCODE = "opencode/node_modules/opencode-linux-x64/bin/opencode"
MESSAGE = 'Keep the folder: "archive" it instead, Zoë.'


def call(*commands: str) -> dict[str, Any]:
    return {
        "text": "Next.",
        "tools": [{"name": "bash", "args": {"command": c, "description": "Why not"}} for c in commands],
    }


TASK = {"description": "small", "prompt": "do it play:one", "subagent_type": "general"}
PLAYS = {
    "two": [call("touch allowed.txt && echo made"), call("rm -rf important"), {"text": "End."}],
    "one": [call("touch allowed.txt"), {"text": "End."}],
    "many": [
        {"tools": [{"name": "read", "args": {"filePath": "hello.py"}}]},
        {"tools": [{"name": "edit", "args": {"filePath": "hello.py", "oldString": "x", "newString": "y"}}]},
        {"tools": [{"name": "task", "args": TASK}]},
        {"tools": [{"name": "webfetch", "args": {"url": "http://127.0.0.1:9/", "format": "text"}}]},
        {"text": "End."},
    ],
    "both": [call("touch one.txt", "touch two.txt"), {"text": "End."}],
    "edit": [
        {"text": "Look.", "tools": [{"name": "read", "args": {"filePath": "hello.py"}}]},
        {
            "text": "Edit.",
            "tools": [{"name": "edit", "args": {"filePath": "hello.py", "oldString": "x", "newString": "y"}}],
        },
        {"text": "End."},
    ],
}


@pytest.fixture
def opencode(stage: Any) -> Any:
    """The stage with opencode installed and the model playing."""
    stage.program("opencode", OPENCODE)
    stage.play(PLAYS)
    settings = stage.home / ".config" / "opencode" / "opencode.json"
    seed = stage.clients / "opencode-home"
    if seed.exists():  # what opencode fetches at its first start, which takes it minutes
        shutil.copytree(seed, stage.home, dirs_exist_ok=True)
    settings.parent.mkdir(parents=True, exist_ok=True)
    model = {"name": "fake", "tool_call": True, "limit": {"context": 100000, "output": 4096}}
    options = {"baseURL": f"http://127.0.0.1:{stage.port}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake-1": model}}
    told = {"autoupdate": False, "share": "disabled", "model": "fake/fake-1", "small_model": "fake/fake-1"}
    settings.write_text(json.dumps(told | {"provider": {"fake": provider}, "enabled_providers": ["fake"]}, indent=2))
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"):
        stage.env[f"OPENCODE_DISABLE_{name}"] = "1"
    stage.before = settings.read_bytes()
    return stage


def connect(stage: Any, *more: str) -> None:
    done = stage.run("interlock", "connect", "opencode", "--yes", *more)
    assert done.returncode == 0, done.stderr
    stage.run("interlock", "gate", "serve", "--detach")


def begin(stage: Any, *words: str) -> Any:
    terminal = stage.terminal()
    terminal.start(list(words), stage.env, stage.project)
    return terminal


async def test_headless_a_call_is_held_and_allowed_and_another_denied_with_words(
    opencode: Any, approver: Any, until: Any
) -> None:
    connect(opencode)
    await approver.asks()
    terminal = begin(opencode, "opencode", "run", "do it play:two")
    (ask,) = await approver.wait()
    assert ask.event["agent"] == "opencode"
    assert not (opencode.project / "allowed.txt").exists()
    await approver.answer(ask, "allow")
    await until((opencode.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    await approver.answer(second, "deny", MESSAGE)
    await until(lambda: "archive" in opencode.heard(), terminal.text)
    assert (opencode.project / "important" / "keep.txt").exists()
    await until(lambda: len(opencode.events("tool.permission.delivered")) >= 1, "delivered")


async def test_its_own_question_races_with_the_inbox(opencode: Any, approver: Any, until: Any) -> None:
    connect(opencode, "--ask-first")
    await approver.asks()
    terminal = begin(opencode, "opencode", "--prompt", "do it play:two")
    await until(lambda: "play:two" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    (ask,) = await approver.wait()
    await until(lambda: "Permission required" in terminal.text() or "Allow once" in terminal.text(), terminal.text)
    await approver.answer(ask, "allow")
    await until((opencode.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    await until(lambda: "rm -rf important" in terminal.text() and "Allow once" in terminal.text(), terminal.text)
    terminal.keys("Enter")  # yes, in opencode's own prompt
    await until(lambda: not (opencode.project / "important").exists(), terminal.text)
    await approver.wait(0)
    assert second.ask_id != ask.ask_id
    answers = [(e["answer"], e["by"]["kind"]) for e in opencode.events("tool.permission.answered")]
    assert answers == [("allow", "person"), ("allow", "native_prompt")]


async def test_a_reject_that_takes_another_question_down_is_told(opencode: Any, approver: Any, until: Any) -> None:
    connect(opencode, "--ask-first")
    await approver.asks()
    terminal = begin(opencode, "opencode", "--prompt", "do it play:both")
    await until(lambda: "play:both" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    asks = await approver.wait(2)
    await approver.answer(asks[0], "deny", MESSAGE)
    await approver.wait(0)
    closed = [event["message"] for event in opencode.events("tool.permission.closed")]
    assert closed == ["opencode rejected it together with another question of this session"], terminal.text()
    assert not (opencode.project / "one.txt").exists()
    assert not (opencode.project / "two.txt").exists()


async def test_an_edit_is_asked_with_its_diff_and_survives_a_killed_screen(
    opencode: Any, approver: Any, until: Any
) -> None:
    connect(opencode, "--ask-first")
    await approver.asks()
    terminal = begin(opencode, "opencode", "--prompt", "do it play:edit")
    await until(lambda: "play:edit" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    (ask,) = await approver.wait()
    journal = next((opencode.root / "state" / "sessions").glob("*/events.jsonl"))
    assert "-x\n+y" in (journal.parent / ask.event["diffPath"]).read_text()
    await approver.close()
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await approver.answer(again, "allow")
    await until(lambda: (opencode.project / "hello.py").read_text() == "y\n", terminal.text)


async def test_when_the_service_is_killed_its_own_question_stays(opencode: Any, approver: Any, until: Any) -> None:
    connect(opencode, "--ask-first")
    await approver.asks()
    terminal = begin(opencode, "opencode", "--prompt", "do it play:two")
    await until(lambda: "play:two" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    await approver.wait()
    os.kill(opencode.service_pid(), signal.SIGKILL)
    await approver.close()
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    await until((opencode.project / "allowed.txt").exists, terminal.text)


async def test_headless_a_sub_agents_call_and_a_fetch_are_held_and_an_edit_has_its_diff(
    opencode: Any, approver: Any, until: Any
) -> None:
    opencode.policy(
        'allow = ["echo *"]\n[[rule]]\nid = "no-net"\neffect = "deny"\ntool = "webfetch"\nreason = "stay"\n'
    )
    connect(opencode)
    await approver.asks()
    terminal = begin(opencode, "opencode", "run", "do it play:many")
    (edit,) = await approver.wait()
    journal = next((opencode.root / "state" / "sessions").glob("*/events.jsonl"))
    assert "-x\n+y" in (journal.parent / edit.event["diffPath"]).read_text()
    await approver.answer(edit, "allow")
    (task,) = await another(approver, edit)
    assert task.event["shownInput"]["subagent_type"] == "general"
    await approver.answer(task, "allow")
    (below,) = await another(approver, task)
    assert below.event["shownInput"]["command"] == "touch allowed.txt"
    assert below.session != task.session
    await approver.answer(below, "deny", MESSAGE)
    await until(lambda: "Denied by Interlock policy, user: stay" in opencode.heard(), terminal.text)
    assert "archive" in opencode.heard()
    assert not (opencode.project / "allowed.txt").exists()


async def another(approver: Any, before: Any) -> Any:
    """The one open ask, when it is another one."""
    for _ in range(600):
        asks = await approver.wait()
        if asks[0].ask_id != before.ask_id:
            return asks
        await asyncio.sleep(0.1)
    raise AssertionError(f"the same ask stays open: {before.event['prompt']}")


async def test_a_deny_rule_holds_where_opencode_asks_nobody(opencode: Any, until: Any) -> None:
    opencode.policy('[[rule]]\nid = "no-rm"\neffect = "deny"\nprogram = "rm"\nreason = "we keep it"\n')
    connect(opencode)
    terminal = begin(opencode, "opencode", "run", "do it play:two")
    await until(lambda: "we keep it" in opencode.heard(), terminal.text)
    assert (opencode.project / "allowed.txt").exists()
    assert (opencode.project / "important" / "keep.txt").exists()


def test_disconnecting_leaves_the_settings_as_they_were(opencode: Any) -> None:
    connect(opencode, "--ask-first")
    settings = opencode.home / ".config" / "opencode" / "opencode.json"
    assert json.loads(settings.read_text())["permission"]
    done = opencode.run("interlock", "disconnect", "opencode")
    assert done.returncode == 0, done.stderr
    assert settings.read_bytes() == opencode.before
    assert not (settings.parent / "plugin").exists()


async def test_beside_its_own_screen_over_its_server(opencode: Any, approver: Any, until: Any) -> None:
    settings = opencode.home / ".config" / "opencode" / "opencode.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"permission": {"bash": "ask"}}))
    terminal = begin(opencode, "interlock", "opencode", "--prompt", "do it play:two")
    await until(lambda: "play:two" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    (ask,) = await approver.wait()
    await approver.answer(ask, "allow")
    await until((opencode.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    await approver.answer(second, "deny", MESSAGE)
    await until(lambda: "archive" in opencode.heard(), terminal.text)
    assert (opencode.project / "important" / "keep.txt").exists()
    await until(lambda: len(opencode.events("tool.permission.delivered")) == 2, "both delivered")


async def test_headless_a_screen_that_comes_later_sees_the_same_ask(opencode: Any, approver: Any, until: Any) -> None:
    connect(opencode)
    await approver.asks()
    terminal = begin(opencode, "opencode", "run", "do it play:two")
    (ask,) = await approver.wait()
    await approver.close()
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await approver.answer(again, "allow")
    await until((opencode.project / "allowed.txt").exists, terminal.text)


async def test_headless_a_held_call_is_not_run_when_the_service_is_killed(
    opencode: Any, approver: Any, until: Any
) -> None:
    connect(opencode)
    await approver.asks()
    terminal = begin(opencode, "opencode", "run", "do it play:one")
    (ask,) = await approver.wait()
    os.kill(opencode.service_pid(), signal.SIGKILL)
    await approver.close()
    await until(lambda: "did not answer, so this call was not run" in opencode.heard(), terminal.text)
    await until(lambda: "ended with 0" in terminal.text(), terminal.text)
    assert not (opencode.project / "allowed.txt").exists()
    opencode.run("interlock", "gate", "serve", "--detach")
    (closed,) = opencode.events("tool.permission.closed")
    assert (closed["askId"], closed["cause"]) == (ask.ask_id, "runtime_restarted")


async def test_headless_nothing_is_run_when_the_service_cannot_be_started(opencode: Any, until: Any) -> None:
    connect(opencode)
    os.kill(opencode.service_pid(), signal.SIGTERM)
    await until(lambda: opencode.service_pid() is None, "the end of the service")
    plugin = opencode.home / ".config" / "opencode" / "plugin" / "interlock.js"
    plugin.write_text(plugin.read_text().replace("interlock.runtime.cli", "interlock.runtime.none"))
    terminal = begin(opencode, "opencode", "run", "do it play:one")
    await until(lambda: "did not answer, so this call was not run" in opencode.heard(), terminal.text)
    assert not (opencode.project / "allowed.txt").exists()


async def test_headless_two_at_once_are_two_asks_and_each_gets_its_own_answer(
    opencode: Any, approver: Any, until: Any
) -> None:
    connect(opencode)
    await approver.asks()
    first = begin(opencode, "opencode", "run", "do it play:one")
    (one,) = await approver.wait()
    second = begin(opencode, "opencode", "run", "do it play:one")
    (other,) = [ask for ask in await approver.wait(2) if ask.ask_id != one.ask_id]
    assert other.session != one.session
    await approver.answer(other, "deny", MESSAGE)
    await until(lambda: "archive" in opencode.heard(), second.text)
    assert not (opencode.project / "allowed.txt").exists()
    await approver.answer(one, "allow")
    await until((opencode.project / "allowed.txt").exists, first.text)


async def test_over_its_server_an_answer_in_its_own_prompt_takes_the_ask_away(
    opencode: Any, approver: Any, until: Any
) -> None:
    terminal = await over_the_server(opencode, until)
    (first,) = await approver.wait()
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    await until((opencode.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    assert second.ask_id != first.ask_id
    await until(lambda: "rm -rf important" in terminal.text() and "Allow once" in terminal.text(), terminal.text)
    terminal.keys("Escape")
    await until(lambda: "Reject permission" in terminal.text() or not opencode_asks(terminal), terminal.text)
    terminal.keys("Enter")
    await approver.wait(0)
    assert (opencode.project / "important" / "keep.txt").exists()
    answers = [(e["answer"], e["by"]["kind"]) for e in opencode.events("tool.permission.answered")]
    assert answers == [("allow", "native_prompt"), ("deny", "native_prompt")]


async def test_over_its_server_the_ask_survives_a_screen_and_opencode_its_gate(
    opencode: Any, approver: Any, until: Any
) -> None:
    terminal = await over_the_server(opencode, until)
    (ask,) = await approver.wait()
    await approver.close()
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    pid = next(pid for pid, words in opencode.processes() if words[2:3] == ["opencode"] and "interlock" in words[1])
    os.kill(pid, signal.SIGKILL)
    terminal.keys("Enter")
    await until((opencode.project / "allowed.txt").exists, terminal.text)


async def test_over_two_servers_two_asks_get_each_its_own_answer(opencode: Any, approver: Any, until: Any) -> None:
    first = await over_the_server(opencode, until)
    (one,) = await approver.wait()
    second = await over_the_server(opencode, until)
    (other,) = [ask for ask in await approver.wait(2) if ask.ask_id != one.ask_id]
    assert other.session != one.session
    await approver.answer(other, "deny", MESSAGE)
    await until(lambda: "archive" in opencode.heard(), second.text)
    assert not (opencode.project / "allowed.txt").exists()
    await approver.answer(one, "allow")
    await until((opencode.project / "allowed.txt").exists, first.text)


async def over_the_server(stage: Any, until: Any) -> Any:
    """opencode's own screen, asking before commands, with our client on its server."""
    settings = stage.home / ".config" / "opencode" / "opencode.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"permission": {"bash": "ask"}}))
    terminal = begin(stage, "interlock", "opencode", "--prompt", "do it play:two")
    await until(lambda: "play:two" in terminal.text(), terminal.text)
    terminal.keys("Enter")
    return terminal


def opencode_asks(terminal: Any) -> bool:
    return "Allow once" in terminal.text()
