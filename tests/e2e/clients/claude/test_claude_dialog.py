"""Claude Code's own dialog and our inbox at the same time: whoever answers first."""

from __future__ import annotations

import pytest

from interlock.runtime.gates.service.start import answers

pytestmark = [pytest.mark.e2e]

TOUCH = '[[rule]]\nid = "touching"\neffect = "allow"\ncommand = "touch *"\nreason = "harmless here"\n'


def test_dialog_is_answered_from_the_screen_and_goes(terminal, claude, screen, stage, until):
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


def test_rule_that_asks_holds_also_for_what_claude_code_would_let_through(claude, terminals, screen, stage, until):
    stage.rules(TOUCH.replace('"allow"', '"ask"'))
    claude.settings(permissions={"allow": ["Bash(touch *)"]})
    terminal = terminals()
    terminal.say("do it play:one")
    [found] = screen.wait("touch allowed.txt")
    terminal.dialog()
    assert not (stage.project / "allowed.txt").exists()
    screen.answer(found, "allow")
    until(lambda: (stage.project / "allowed.txt").exists(), "the file")


def test_native_yes_takes_the_ask_from_the_inbox(terminal, screen, stage, until):
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


def test_native_yes_to_a_long_call_takes_the_ask_away_while_it_runs(terminal, screen, stage, until):
    terminal.say("do it play:long")
    screen.wait("sleep 30")
    terminal.dialog()
    terminal.key("Enter")
    until(lambda: (stage.project / "begun.txt").exists(), "the begin of the call")
    screen.wait_empty()
    assert not (stage.project / "slept.txt").exists()


def test_native_no_takes_the_ask_from_the_inbox(terminal, screen, stage, until):
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


def test_two_agents_ask_at_once_and_each_gets_its_own_answer(terminal, claude, screen, stage, tmp_path, watch, until):
    terminal.say("do it play:one")
    [(socket, first)] = screen.wait("touch allowed.txt")
    watch(socket)
    until(lambda: answers(claude.config)["watched"], "a watching screen")
    run = claude.headless("one")
    both = screen.wait("touch allowed.txt", count=2)
    assert len({ask.session for _, ask in both}) == 2
    [second] = [found for found in both if found[1].ask_id != first.ask_id]
    screen.answer(second, "deny", "not you")
    run.wait(90)
    assert not (stage.project / "allowed.txt").exists()
    screen.answer((socket, first), "allow")
    until(lambda: (stage.project / "allowed.txt").exists(), "the file")
    assert "not you" in claude.told()
