"""Calls of Claude Code that are no shell commands: edits, questions, sub-agents."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.e2e]


def test_edit_is_shown_with_its_real_diff(terminal, screen, stage, until):
    terminal.say("do it play:edit")
    [found] = screen.wait("hello.py")
    folder = stage.root / "state" / "sessions" / found[1].session
    diff = (folder / found[1].event["diffPath"]).read_text()
    assert "-x = 1\n+x = 2" in diff
    screen.answer(found, "allow")
    until(lambda: "x = 2" in (stage.project / "hello.py").read_text(), "the edit")


def test_question_is_shown_without_a_yes_and_can_be_declined_with_words(terminal, claude, screen, until):
    terminal.say("do it play:question")
    [found] = screen.wait("AskUserQuestion")
    assert found[1].event["choices"] == ["deny", "deny.message"]
    screen.answer(found, "deny", "Take green.")
    until(lambda: "It is done" in terminal.shown(), "the end of the turn")
    assert claude.told() == ["Take green."]


def test_sub_agent_is_named_on_its_ask(terminal, claude, screen, stage, until):
    terminal.say("do it play:below")
    [found] = screen.wait("touch allowed.txt")
    assert found[1].event["facts"]["subAgent"]["type"] == "general-purpose"
    screen.answer(found, "deny", "not below")
    until(lambda: any("not below" in told for told in claude.told()), "the words at the sub-agent's model")
