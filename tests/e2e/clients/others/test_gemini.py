"""The real Gemini CLI with our BeforeTool hook and policy file (AG-2, AG-3)."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import pytest

MESSAGE = 'Keep the folder: "archive" it instead, Zoë.'


def call(command: str) -> dict[str, Any]:
    return {
        "text": "Next.",
        "tools": [{"name": "run_shell_command", "args": {"command": command, "description": "Why not"}}],
    }


EDIT = {"file_path": "hello.py", "instruction": "say y", "old_string": "x", "new_string": "y"}
PLAYS = {
    "two": [call("touch allowed.txt && echo made"), call("rm -rf important"), {"text": "End."}],
    "edit": [{"text": "Edit.", "tools": [{"name": "replace", "args": EDIT}]}, {"text": "End."}],
}


@pytest.fixture
def gemini(stage: Any) -> Any:
    """The stage with Gemini CLI connected."""
    stage.play(PLAYS)
    stage.before = stage.gemini_settings().read_bytes()
    done = stage.run("interlock", "connect", "gemini", "--yes")
    assert done.returncode == 0, done.stderr
    return stage


def begin(stage: Any, *more: str) -> Any:
    terminal = stage.terminal()
    terminal.start(["gemini", "-m", "gemini-2.5-flash", "--skip-trust", *more], stage.env, stage.project)
    return terminal


async def test_headless_a_call_is_held_and_allowed_and_another_denied_with_words(
    gemini: Any, approver: Any, until: Any
) -> None:
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-p", "do it play:two")
    (ask,) = await approver.wait()
    assert ask.event["agent"] == "Gemini CLI"
    assert ask.event["shownInput"]["command"] == "touch allowed.txt && echo made"
    assert not (gemini.project / "allowed.txt").exists()
    await approver.answer(ask, "allow")
    await until((gemini.project / "allowed.txt").exists, terminal.text)
    (second,) = await approver.wait()
    await approver.answer(second, "deny", MESSAGE)
    await until(lambda: "Tool execution blocked" in gemini.heard(), terminal.text)
    assert (
        MESSAGE.encode().decode()
        in json.loads(gemini.heard().splitlines()[-1])["body"]["contents"][-1]["parts"][0]["functionResponse"][
            "response"
        ]["error"]
    )
    assert (gemini.project / "important" / "keep.txt").exists()
    await until(lambda: "ended with 0" in terminal.text(), terminal.text)


async def test_an_edit_is_shown_with_its_diff(gemini: Any, approver: Any, until: Any) -> None:
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-p", "do it play:edit")
    (ask,) = await approver.wait()
    journal = next((gemini.root / "state" / "sessions").glob("*/events.jsonl"))
    assert "-x\n+y" in (journal.parent / ask.event["diffPath"]).read_text()
    await approver.answer(ask, "allow")
    await until(lambda: (gemini.project / "hello.py").read_text() == "y\n", terminal.text)


async def test_with_nobody_watching_its_own_prompt_appears_at_once(gemini: Any, until: Any) -> None:
    terminal = begin(gemini, "-i", "do it play:two")
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()
    terminal.keys("Enter")
    await until((gemini.project / "allowed.txt").exists, terminal.text)


async def test_headless_with_nobody_watching_nothing_is_run(gemini: Any, until: Any) -> None:
    terminal = begin(gemini, "-p", "do it play:two")
    await until(lambda: "ended with 0" in terminal.text(), terminal.text)
    assert "Nobody is there to allow this" in gemini.heard()
    assert not (gemini.project / "allowed.txt").exists()
    assert (gemini.project / "important" / "keep.txt").exists()


async def test_when_the_service_is_killed_its_own_prompt_appears(gemini: Any, approver: Any, until: Any) -> None:
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-i", "do it play:two")
    (ask,) = await approver.wait()
    await approver.close()  # the screen is killed, and started again
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await approver.close()
    os.kill(gemini.service_pid(), signal.SIGKILL)
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    terminal.keys("Escape")
    await until(lambda: "Allow once" not in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()


async def test_headless_when_the_service_is_killed_nothing_is_run(gemini: Any, approver: Any, until: Any) -> None:
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-p", "do it play:two")
    await approver.wait()
    await approver.close()
    os.kill(gemini.service_pid(), signal.SIGKILL)
    await until(lambda: "ended with 0" in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()
    assert (gemini.project / "important" / "keep.txt").exists()


async def test_a_call_that_was_interrupted_while_it_was_held_is_not_run_by_a_late_yes(
    gemini: Any, approver: Any, until: Any
) -> None:
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-i", "do it play:two")
    (ask,) = await approver.wait()
    terminal.keys("Escape")
    await until(lambda: "Request cancelled" in terminal.text(), terminal.text)
    assert [again.ask_id for again in await approver.wait()] == [ask.ask_id]
    await approver.answer(ask, "allow")
    await until(lambda: not held(gemini), "the end of the hook")
    await until(lambda: "Executing Hook" not in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()
    assert not gemini.events("tool.permission.delivered")


async def test_without_a_service_and_without_our_program_nothing_runs_unasked(gemini: Any, until: Any) -> None:
    for name in ("gate-hold.sh", "gate-hook.sh", "gate.json"):
        (gemini.root / "config" / name).unlink()
    terminal = begin(gemini, "-i", "do it play:two")
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()


async def test_a_deny_rule_holds_in_yolo_mode(gemini: Any, until: Any) -> None:
    gemini.policy(
        'allow = ["touch *", "echo *"]\n[[rule]]\nid = "no-rm"\neffect = "deny"\nprogram = "rm"\nreason = "we keep it"\n'
    )
    terminal = begin(gemini, "--approval-mode", "yolo", "-p", "do it play:two")
    await until(lambda: "ended with 0" in terminal.text(), terminal.text)
    assert "we keep it" in gemini.heard()
    assert (gemini.project / "allowed.txt").exists()
    assert (gemini.project / "important" / "keep.txt").exists()


async def test_disconnecting_leaves_the_settings_as_they_were(gemini: Any) -> None:
    done = gemini.run("interlock", "disconnect", "gemini")
    assert done.returncode == 0, done.stderr
    assert (gemini.home / ".gemini" / "settings.json").read_bytes() == gemini.before
    assert not (gemini.home / ".gemini" / "policies").exists()


async def test_two_at_once_are_two_asks_and_each_gets_its_own_answer(gemini: Any, approver: Any, until: Any) -> None:
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    first = begin(gemini, "-i", "do it play:two")
    (one,) = await approver.wait()
    second = begin(gemini, "-p", "do it play:two")
    both = await approver.wait(2)
    (other,) = [ask for ask in both if ask.ask_id != one.ask_id]
    assert other.session != one.session
    await approver.answer(other, "deny", MESSAGE)
    await until(lambda: "Tool execution blocked" in gemini.heard(), second.text)
    assert not (gemini.project / "allowed.txt").exists()
    await approver.answer(one, "allow")
    await until((gemini.project / "allowed.txt").exists, first.text)


async def test_when_our_own_time_is_over_its_own_prompt_appears(gemini: Any, approver: Any, until: Any) -> None:
    shorten_ours(gemini)
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-i", "do it play:two")
    await approver.wait()
    await approver.wait(0)
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    assert [event["cause"] for event in gemini.events("tool.permission.closed")] == ["expired"]
    assert not (gemini.project / "allowed.txt").exists()


async def test_headless_when_our_own_time_is_over_nothing_is_run(gemini: Any, approver: Any, until: Any) -> None:
    shorten_ours(gemini)
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, "-p", "do it play:two")
    await approver.wait()
    await until(lambda: "ended with 0" in terminal.text(), terminal.text)
    assert "Nobody is there to allow this" in gemini.heard()
    assert {event["cause"] for event in gemini.events("tool.permission.closed")} == {"expired"}
    assert not (gemini.project / "allowed.txt").exists()


@pytest.mark.parametrize("way", ["-i", "-p"])
async def test_a_hook_that_gemini_cli_gives_up_lets_nothing_pass(
    gemini: Any, approver: Any, until: Any, way: str
) -> None:
    shorten_geminis(gemini)
    gemini.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = begin(gemini, way, "do it play:two")
    await approver.wait()
    await approver.wait(0)
    sign = "Allow once" if way == "-i" else "ended with"
    await until(lambda: sign in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()
    assert {event["cause"] for event in gemini.events("tool.permission.closed")} == {"cancelled"}
    await until(lambda: way == "-p" or not held(gemini), "the end of the hook")
    done = gemini.run("interlock", "doctor", "gemini")
    assert done.returncode == 1
    assert "settings.json is not as it was left" in done.stdout


def shorten_geminis(stage: Any) -> None:
    """Have Gemini CLI wait for 8 seconds for the hook that is held."""
    settings = stage.home / ".gemini" / "settings.json"
    text = settings.read_text()
    assert "86400000" in text
    settings.write_text(text.replace("86400000", "8000"))


def held(stage: Any) -> list[int]:
    """The hook programs that wait."""
    return [pid for pid, words in stage.processes() if words[:1] == ["sh"] and "gate-hold.sh" in words[1]]


def shorten_ours(stage: Any) -> None:
    """Have our hook program wait for 8 seconds."""
    program = stage.root / "config" / "gate-hold.sh"
    program.write_text(program.read_text().replace("86000", "8"))


OFF = {"hooksConfig": {"enabled": False}}


def switch_off(stage: Any, where: str) -> None:
    """Turn Gemini CLI's hooks off in a file of the project or of the user."""
    place = (stage.project if where == "project" else stage.home) / ".gemini" / "settings.json"
    place.parent.mkdir(exist_ok=True)
    told = json.loads(place.read_text()) if place.exists() else {}
    place.write_text(json.dumps({**told, **OFF}))


@pytest.mark.parametrize("where", ["project", "user"])
async def test_with_the_hooks_off_nothing_runs_without_a_terminal(gemini: Any, until: Any, where: str) -> None:
    switch_off(gemini, where)
    terminal = begin(gemini, "-p", "do it play:two")
    await until(lambda: "ended with" in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()
    assert (gemini.project / "important" / "keep.txt").exists()


@pytest.mark.parametrize("where", ["project", "user"])
async def test_with_the_hooks_off_its_own_prompt_appears(gemini: Any, until: Any, where: str) -> None:
    switch_off(gemini, where)
    terminal = begin(gemini, "-i", "do it play:two")
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()


async def test_with_our_hook_disabled_in_the_screen_its_own_prompt_appears(gemini: Any, until: Any) -> None:
    terminal = begin(gemini)
    await until(lambda: "Type your message" in terminal.text(), terminal.text)
    await typed(terminal, until, "/hooks disable interlock-gate", "isabled hook")
    await typed(terminal, until, "do it play:two", "Next.")
    await until(lambda: "Allow once" in terminal.text(), terminal.text)
    assert not (gemini.project / "allowed.txt").exists()


async def typed(terminal: Any, until: Any, words: str, sign: str) -> None:
    """Type a line; Gemini CLI takes an Enter that comes at once for a part of what was pasted."""
    terminal.keys(words)
    await until(lambda: words in terminal.text(), terminal.text)

    def entered() -> bool:
        terminal.keys("Enter")
        return sign in terminal.text()

    await until(entered, terminal.text)
