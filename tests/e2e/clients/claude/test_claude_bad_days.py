"""Screens, services and time that run out while Claude Code waits."""

from __future__ import annotations

import json
import os
import signal

import pytest

from interlock.runtime.gates.service.start import answers

pytestmark = [pytest.mark.e2e]


def test_screen_that_is_killed_and_one_that_comes_later_see_the_same_ask(terminal, screen, stage, watch, until):
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


def test_service_that_is_killed_leaves_the_dialog_and_its_asks_are_closed(terminal, claude, screen, stage, until):
    terminal.say("do it play:two")
    [(_, ask)] = screen.wait("touch allowed.txt")
    terminal.dialog()
    os.kill(claude.service_pid(), signal.SIGKILL)
    until(lambda: answers(claude.config) is None, "the end of the service")
    terminal.dialog()
    terminal.accept(lambda: (stage.project / "allowed.txt").exists())
    # the next call starts another service, which closes what the first one left open
    [second] = screen.wait("rm -rf important")
    assert (stage.project / "allowed.txt").exists()
    [closed] = stage.events("tool.permission.closed")
    assert (closed["askId"], closed["cause"]) == (ask.ask_id, "runtime_restarted")
    screen.answer(second, "deny", "Keep the folder.")
    until(lambda: "It is done" in terminal.shown(), "the end of the turn")
    assert claude.told()[1] == "Keep the folder."


def test_ask_that_nobody_answers_in_time_is_a_time_out_and_the_dialog_stays(claude, terminals, screen, stage, until):
    claude.settings(ask_timeout=8)
    terminal = terminals()
    terminal.say("do it play:one")
    screen.wait("touch allowed.txt")
    until(lambda: stage.events("tool.permission.closed"), "the time-out")
    assert [e["cause"] for e in stage.events("tool.permission.closed")] == ["expired"]
    terminal.dialog()
    terminal.accept(lambda: (stage.project / "allowed.txt").exists())


def test_hook_that_claude_code_ends_leaves_the_dialog_and_the_ask_goes(claude, terminals, screen, stage, until):
    claude.settings()
    settings = stage.root / "settings.json"
    told = json.loads(settings.read_text())
    told["hooks"]["PermissionRequest"][0]["hooks"][0]["timeout"] = 8
    settings.write_text(json.dumps(told))
    terminal = terminals()
    terminal.say("do it play:one")
    screen.wait("touch allowed.txt")
    screen.wait_empty()
    assert [e["cause"] for e in stage.events("tool.permission.closed")] == ["cancelled"]
    terminal.dialog()
    assert not (stage.project / "allowed.txt").exists()
    terminal.key("Enter")
    until(lambda: (stage.project / "allowed.txt").exists(), "the file")


def test_service_that_hangs_lets_no_call_pass_even_in_bypass_mode(claude, stage, until):
    """The hook gives up before Claude Code does, which would let the call pass."""
    claude.serve()
    service = claude.service_pid()
    os.kill(service, signal.SIGSTOP)
    try:
        claude.headless("one", "--permission-mode", "bypassPermissions").wait(180)
        assert not (stage.project / "allowed.txt").exists()
        assert "did not answer, so this call was not run" in claude.told()[0]
    finally:
        os.kill(service, signal.SIGCONT)
