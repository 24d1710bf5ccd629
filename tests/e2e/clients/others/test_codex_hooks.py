"""The real Codex with our hooks: the way without an app-server (AG-2, AG-3)."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from interlock.runtime.gates.codex.trust import trust_our_hooks
from interlock.runtime.gates.hook_session import GIVEN_UP, UNANSWERED

CODEX = "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
MESSAGE = 'Keep the folder: "archive" it instead, Zoë.'


def call(command: str, why: str) -> dict[str, Any]:
    args = {"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}
    return {"text": f"Next: {why}", "tools": [{"name": "exec_command", "args": args}]}


TYPED = {"session_id": "seen:session ID ([0-9]+)", "chars": "rm -rf important\n", "yield_time_ms": 500}
PATCH = "*** Begin Patch\n*** Delete File: important/keep.txt\n*** End Patch\n"
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
    "patch": [{"tools": [{"name": "apply_patch", "input": PATCH}]}, {"text": "End."}],
    "typed": [
        {"tools": [{"name": "exec_command", "args": {"cmd": "bash", "tty": True, "yield_time_ms": 500}}]},
        {"tools": [{"name": "write_stdin", "args": TYPED}]},
        {"text": "End."},
    ],
    "move": [
        {"text": "Go.", "tools": [{"name": "exec_command", "args": {"cmd": "mv important gone"}}]},
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


async def begin(stage: Any, play: str, *more: str) -> Any:
    terminal = stage.terminal()
    terminal.start(["codex", *more, f"do it play:{play}"], stage.env, stage.project)
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


async def test_a_patch_is_one_ask_and_its_yes_is_seen_delivered(codex: Any, approver: Any, until: Any) -> None:
    """Codex tells it with a last line end before it runs, and without one when it asks."""
    settings = codex.home / ".codex" / "config.toml"
    settings.write_text(settings.read_text().replace("workspace-write", "read-only"))
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "patch")
    (ask,) = await approver.wait()
    assert "*** Delete File: important/keep.txt" in ask.event["shownInput"]["command"]
    await approver.answer(ask, "allow")
    await until(lambda: not (codex.project / "important" / "keep.txt").exists(), terminal.text)
    await until(lambda: codex.events("tool.permission.delivered"), "the answer delivered")
    assert len(codex.events("tool.intent")) == 1
    await until(lambda: [event["ok"] for event in codex.events("tool.observation")] == [True], "its end")


async def test_the_doctor_misses_the_program_that_holds(codex: Any) -> None:
    assert codex.run("interlock", "doctor", "codex").returncode == 0
    (codex.root / "config" / "gate-hold.sh").unlink()
    done = codex.run("interlock", "doctor", "codex")
    assert done.returncode == 1
    assert "gate-hold.sh is missing or of another version. To mend it: interlock connect codex" in done.stdout
    assert codex.run("interlock", "connect", "codex").returncode == 0
    assert codex.run("interlock", "doctor", "codex").returncode == 0


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


async def test_a_screen_that_is_killed_and_one_that_comes_later_see_the_same_ask(
    codex: Any, approver: Any, until: Any
) -> None:
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "two")
    (ask,) = await approver.wait()
    await approver.close()
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await approver.answer(again, "allow")
    await until((codex.project / "allowed.txt").exists, terminal.text)


async def test_two_at_once_are_two_asks_and_each_gets_its_own_answer(codex: Any, approver: Any, until: Any) -> None:
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    first, second = await begin(codex, "two"), await begin(codex, "plain")
    codex.policy('[[rule]]\nid = "ask-rm"\neffect = "ask"\nprogram = "rm"\nreason = "look first"\n')
    asks = await approver.wait(2)
    assert len({ask.session for ask in asks}) == 2
    by = {("rm" if "rm -rf" in str(ask.event["shownInput"]) else "touch"): ask for ask in asks}
    await approver.answer(by["rm"], "deny", MESSAGE)
    await until(lambda: "archive" in codex.heard(), second.text)
    assert not (codex.project / "allowed.txt").exists()
    await approver.answer(by["touch"], "allow")
    await until((codex.project / "allowed.txt").exists, first.text)
    assert (codex.project / "important" / "keep.txt").exists()


async def test_when_our_own_time_is_over_codexs_own_prompt_appears(codex: Any, approver: Any, until: Any) -> None:
    shorten_ours(codex)
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "two")
    await approver.wait()
    await approver.wait(0)
    await until(lambda: "Yes, proceed" in terminal.text(), terminal.text)
    assert [event["cause"] for event in codex.events("tool.permission.closed")] == ["expired"]
    assert not (codex.project / "allowed.txt").exists()
    terminal.keys("y")
    await until((codex.project / "allowed.txt").exists, terminal.text)


async def test_when_our_own_time_is_over_what_a_rule_asks_about_is_denied(
    codex: Any, approver: Any, until: Any
) -> None:
    shorten_ours(codex)
    codex.policy('[[rule]]\nid = "ask-rm"\neffect = "ask"\nprogram = "rm"\nreason = "look first"\n')
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "plain")
    await approver.wait()
    await approver.wait(0)
    await until(lambda: "Nothing was run" in codex.heard(), terminal.text)
    assert [event["cause"] for event in codex.events("tool.permission.closed")] == ["expired"]
    assert (codex.project / "important" / "keep.txt").exists()


async def test_a_permission_hook_that_codex_ends_leaves_codexs_own_prompt(
    codex: Any, approver: Any, until: Any
) -> None:
    shorten_codexs(codex)
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "two")
    await approver.wait()
    await until(lambda: "Yes, proceed" in terminal.text(), terminal.text)
    await approver.wait(0)
    assert [event["message"] for event in codex.events("tool.permission.closed")] == [GIVEN_UP]
    terminal.keys("y")
    await until((codex.project / "allowed.txt").exists, terminal.text)
    done = codex.run("interlock", "doctor", "codex")
    assert done.returncode == 1
    assert "config.toml is not as it was left" in done.stdout


async def test_a_hook_of_a_rule_that_codex_ends_lets_the_call_pass(codex: Any, approver: Any, until: Any) -> None:
    shorten_codexs(codex)
    codex.policy('[[rule]]\nid = "ask-mv"\neffect = "ask"\nprogram = "mv"\nreason = "look first"\n')
    codex.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    terminal = await begin(codex, "move", "--dangerously-bypass-approvals-and-sandbox")
    await approver.wait()
    await until((codex.project / "gone").exists, terminal.text)
    await approver.wait(0)
    (closed,) = codex.events("tool.permission.closed")
    assert (closed["cause"], closed["message"]) == ("cancelled", GIVEN_UP)
    await until(lambda: codex.events("tool.observation"), "the end on record")
    (observed,) = codex.events("tool.observation")
    assert observed["ok"]
    assert UNANSWERED in observed["summary"]


async def test_a_shell_that_codex_could_type_into_unseen_is_not_opened_unasked(codex: Any, until: Any) -> None:
    """What is typed into it comes before no hook, so that no deny rule would hold."""
    done = codex.run("codex", "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "do it play:typed")
    assert "leaves a shell open" in codex.heard(), done.stdout + done.stderr
    assert (codex.project / "important" / "keep.txt").exists()


def shorten_ours(stage: Any) -> None:
    """Have our hook program wait for 8 seconds."""
    program = stage.root / "config" / "gate-hold.sh"
    program.write_text(program.read_text().replace("86000", "8"))


def shorten_codexs(stage: Any) -> None:
    """Have Codex wait for 8 seconds for every hook of ours, and trust them so."""
    settings = stage.home / ".codex" / "config.toml"
    text = settings.read_text()
    assert "timeout = 86400" in text
    settings.write_text(text.replace("timeout = 86400", "timeout = 8"))
    assert len(trust_our_hooks(settings.parent, stage.env)) == 6
