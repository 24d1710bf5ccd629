"""Calls of Claude Code that are no shell commands: edits, questions, sub-agents."""

from __future__ import annotations

import asyncio
import json
import sys

import pytest

from interlock.runtime.asks.client import AskClient

pytestmark = [pytest.mark.e2e]

MCP = """
import sys, json
for line in sys.stdin:
    told = json.loads(line)
    if "id" not in told:
        continue
    tool = {"name": "destroy", "inputSchema": {"type": "object", "properties": {"what": {"type": "string"}}}}
    begun = {"capabilities": {"tools": {}}, "serverInfo": {"name": "demo", "version": "1"}}
    result = {
        "initialize": lambda: begun | {"protocolVersion": told["params"]["protocolVersion"]},
        "tools/list": lambda: {"tools": [tool]},
        "tools/call": lambda: {"content": [{"type": "text", "text": "destroyed"}]},
    }.get(told["method"], dict)()
    print(json.dumps({"jsonrpc": "2.0", "id": told["id"], "result": result}), flush=True)
"""


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


def test_session_that_moves_into_a_worktree_is_followed(claude, screen, stage, watch, until):
    """Claude Code moves its transcript with it."""
    claude.watched(watch)
    into = {"tools": [{"name": "EnterWorktree", "args": {"name": "w"}}]}
    stage.plays({"tree": [into, claude.bash("touch allowed.txt"), claude.bash("rm -rf important"), {"text": "Done."}]})
    run = claude.headless("tree")
    [first] = screen.wait("touch allowed.txt")
    screen.answer(first, "allow")
    [second] = screen.wait("rm -rf important")
    screen.answer(second, "deny", "Keep the folder.")
    run.wait(90)
    tree = stage.project / ".claude" / "worktrees" / "w"
    assert (tree / "allowed.txt").exists()
    assert (tree / "important" / "keep.txt").exists()
    until(lambda: len(stage.events("tool.permission.delivered")) == 2, "both answers delivered")
    until(lambda: len(stage.events("tool.observation")) == 3, "the ends of the calls")
    assert [e["code"] for e in stage.events("tool.observation")] == ["ok", "ok", "user_denied"]


async def whole(socket, ask_id):
    async with await AskClient.connect(socket, "test screen") as client:
        return await client.read(ask_id)


def test_write_of_five_megabytes_is_held_and_can_be_read_whole(claude, screen, stage, watch, until):
    claude.watched(watch)
    content = ("z" * 79 + "\n") * 65_536
    step = {"tools": [{"name": "Write", "args": {"file_path": "big.txt", "content": content}}]}
    stage.plays({"big": [step, {"text": "Done."}]})
    run = claude.headless("big")
    [(socket, ask)] = screen.wait("big.txt")
    assert ask.omitted == ("shownInput",)
    assert asyncio.run(whole(socket, ask.ask_id))["shownInput"]["content"] == content
    screen.answer((socket, ask), "allow")
    run.wait(90)
    assert (stage.project / "big.txt").read_text() == content


def test_control_characters_and_an_mcp_tool_are_shown_as_they_are(claude, screen, stage, watch, until):
    claude.watched(watch)
    server = stage.root / "mcp.py"
    server.write_text(MCP)
    config = stage.root / "mcp.json"
    told = {"mcpServers": {"demo": {"command": sys.executable, "args": [str(server)]}}}
    config.write_text(json.dumps(told))
    odd = "a\x1b[31m\u202eb\x00c"
    steps = [
        {"tools": [{"name": "Write", "args": {"file_path": "odd.txt", "content": odd}}]},
        {"tools": [{"name": "mcp__demo__destroy", "args": {"what": odd}}]},
        {"text": "Done."},
    ]
    stage.plays({"odd": steps})
    stage.rules('[[rule]]\nid = "no-demo"\neffect = "deny"\ntool = "mcp__demo__*"\nreason = "not this"\n')
    run = claude.headless("odd", "--mcp-config", str(config))
    [found] = screen.wait("odd.txt")
    assert found[1].event["shownInput"]["content"] == odd
    screen.answer(found, "allow")
    run.wait(90)
    assert (stage.project / "odd.txt").read_text() == odd
    assert "not this" in claude.told()[1]
