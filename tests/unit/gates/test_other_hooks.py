"""Codex, Gemini CLI and opencode at the gate service: what their hooks say and what they are answered (AG-2, AG-3)."""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.gates import hook_session
from interlock.runtime.gates.codex.approval import CHANGE, COMMAND, call_of
from interlock.runtime.gates.codex.command import unwrap
from interlock.runtime.gates.codex.gate import CodexGate
from interlock.runtime.gates.gemini.gate import ASK, GeminiGate
from interlock.runtime.gates.gemini.permit import sign_of, with_sign
from interlock.runtime.gates.gemini.settings import gemini_policy
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.opencode.gate import OpencodeGate
from interlock.runtime.gates.service.config import ensure_config
from interlock.runtime.sources.gemini.sign import without_sign
from interlock.tui.hosts import Hosts

PATIENCE_S = 30
SAID = "not this one: “archive” it"


def codex(event: str, machine: Any, command: str = "make deploy", **more: Any) -> Hook:
    body = {"hook_event_name": event, "session_id": "c1", "cwd": str(machine.project), "tool_name": "Bash"}
    return Hook(
        {**body, "transcript_path": str(machine.root / "rollout.jsonl"), "tool_input": {"command": command}, **more}
    )


def gemini(event: str, machine: Any, command: str = "make deploy", **more: Any) -> Hook:
    body = {"hook_event_name": event, "session_id": "g1", "cwd": str(machine.project), "tool_name": "run_shell_command"}
    return Hook(
        {**body, "transcript_path": str(machine.root / "chat.jsonl"), "tool_input": {"command": command}, **more}
    )


def opencode(event: str, machine: Any, **more: Any) -> Hook:
    return Hook({"event": event, "directory": str(machine.project), "sessionID": "o1", **more})


def question(number: int, command: str = "make deploy") -> dict[str, Any]:
    about = {"id": f"per_{number}", "sessionID": "o1", "permission": "bash", "patterns": [command], "always": []}
    return {**about, "metadata": {"command": command}, "tool": {"messageID": "m", "callID": f"call_{number}"}}


async def answer(approver: Any, answer: str, message: str | None = None) -> None:
    ask = await approver.opened()
    await approver.client.answer(ask.ask_id, ask.input_digest, answer, message=message)


async def test_codex_hears_a_deny_of_the_policy_before_anything_else(gate_host: GateHost, machine: Any) -> None:
    machine.policy('[[rule]]\nid = "no"\neffect = "deny"\nprogram = "rm"\nreason = "we keep it"\n')
    gate = CodexGate(gate_host)
    said = await gate.hook(codex("PreToolUse", machine, "rm -rf x", tool_use_id="call_1"))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "we keep it" in said["hookSpecificOutput"]["permissionDecisionReason"]
    assert await gate.hook(codex("PreToolUse", machine, "make deploy", tool_use_id="call_2")) == {}


async def test_codex_is_left_to_its_own_prompt_when_nobody_watches(gate_host: GateHost, machine: Any) -> None:
    assert await CodexGate(gate_host).hook(codex("PermissionRequest", machine)) == {}


async def test_codex_gets_the_answer_and_the_words_of_a_person(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    gate = CodexGate(gate_host)
    for given, message, expected in (
        ("allow", None, {"behavior": "allow"}),
        ("deny", SAID, {"behavior": "deny", "message": SAID}),
    ):
        asked = asyncio.create_task(gate.hook(codex("PermissionRequest", machine)))
        await answer(approver, given, message)
        assert (await asked)["hookSpecificOutput"]["decision"] == expected


async def test_a_permission_request_without_an_id_is_tied_to_the_call_before_it(
    gate_host: GateHost, machine: Any, approver: Any, events: Any
) -> None:
    gate = CodexGate(gate_host)
    await gate.hook(codex("PreToolUse", machine, tool_use_id="call_7"))
    asked = asyncio.create_task(gate.hook(codex("PermissionRequest", machine)))
    await answer(approver, "deny", SAID)
    await asked
    ledger = gate_host.ledgers[0]
    (machine.root / "rollout.jsonl").write_text("{}\n")
    await gate.hook(codex("PreToolUse", machine, "ls", tool_use_id="call_8"))
    assert "tool.permission.delivered" not in [e["type"] for e in events(ledger)]
    line = {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "call_7", "output": SAID}}
    (machine.root / "rollout.jsonl").write_text(json.dumps(line) + "\n")
    await gate.hook(codex("Stop", machine))
    told = events(ledger)
    assert [e["type"] for e in told].count("tool.intent") == 2
    assert "tool.permission.delivered" in [e["type"] for e in told]


async def test_a_question_that_blocks_the_agent_is_given_back_when_nobody_watches_any_more(
    gate_host: GateHost, machine: Any, approver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_session, "UNWATCHED_S", 0.0)
    monkeypatch.setattr(hook_session, "_LOOK_S", 0.05)
    asked = asyncio.create_task(CodexGate(gate_host).hook(codex("PermissionRequest", machine)))
    await approver.opened()
    await approver.client.close()
    assert await asyncio.wait_for(asked, 30) == {}
    assert gate_host.broker.pending() == ()


async def test_a_question_is_withdrawn_when_the_hook_hangs_up(gate_host: GateHost, machine: Any, approver: Any) -> None:
    hook = codex("PermissionRequest", machine)
    asked = asyncio.create_task(CodexGate(gate_host).hook(hook))
    await approver.opened()
    hook.gone.set()
    assert await asyncio.wait_for(asked, 30) == {}
    assert gate_host.broker.pending() == ()


async def test_gemini_asks_by_itself_when_nobody_watches_and_never_lets_pass(gate_host: GateHost, machine: Any) -> None:
    gate = GeminiGate(gate_host)
    assert await gate.hook(gemini("BeforeTool", machine)) == ASK
    assert await gate.hook(Hook({"hook_event_name": "BeforeTool"})) == ASK
    assert await gate.hook(Hook({})) == ASK


async def test_gemini_is_told_what_policy_and_person_say(gate_host: GateHost, machine: Any, approver: Any) -> None:
    machine.policy('allow = ["make build"]\ndeny = ["rm *"]\n')
    gate = GeminiGate(gate_host)
    assert await gate.hook(gemini("BeforeTool", machine, "make build")) == {"decision": "allow"}
    assert (await gate.hook(gemini("BeforeTool", machine, "rm -rf x")))["decision"] == "deny"
    asked = asyncio.create_task(gate.hook(gemini("BeforeTool", machine)))
    await answer(approver, "deny", SAID)
    assert await asked == {"decision": "deny", "reason": SAID}


async def test_gemini_is_not_made_to_ask_about_what_it_never_asks(gate_host: GateHost, machine: Any) -> None:
    gate = GeminiGate(gate_host)
    hook = gemini("BeforeTool", machine, tool_name="read_file", tool_input={"file_path": "/etc/hosts"})
    assert await gate.hook(hook) == {}
    machine.policy('[[rule]]\nid = "no"\neffect = "deny"\ntool = "read_file"\npath = "/etc/**"\nreason = "not there"\n')
    assert (await gate.hook(hook))["decision"] == "deny"


async def test_opencodes_question_is_answered_with_words(gate_host: GateHost, machine: Any, approver: Any) -> None:
    gate = OpencodeGate(gate_host)
    asked = asyncio.create_task(gate.hook(opencode("permission.asked", machine, properties=question(1))))
    await answer(approver, "allow")
    assert await asked == {"reply": "once"}
    asked = asyncio.create_task(gate.hook(opencode("permission.asked", machine, properties=question(2))))
    await answer(approver, "deny", SAID)
    assert await asked == {"reply": "reject", "message": SAID}


async def test_a_native_answer_of_opencode_takes_the_ask_out_of_the_inbox(
    gate_host: GateHost, machine: Any, approver: Any, events: Any
) -> None:
    gate = OpencodeGate(gate_host)
    for number, reply in ((1, "always"), (2, "reject")):
        asked = asyncio.create_task(gate.hook(opencode("permission.asked", machine, properties=question(number))))
        await approver.opened()
        told = {"requestID": f"per_{number}", "sessionID": "o1", "reply": reply}
        await gate.hook(opencode("permission.replied", machine, properties=told))
        assert await asyncio.wait_for(asked, 30) == {}
    answers = [(e["answer"], e["by"]["kind"]) for e in events(gate_host.ledgers[0]) if e["type"].endswith(".answered")]
    assert answers == [("allow", "native_prompt"), ("deny", "native_prompt")]


async def test_a_reject_that_takes_others_down_says_so_for_each(
    gate_host: GateHost, machine: Any, approver: Any, events: Any
) -> None:
    gate = OpencodeGate(gate_host)
    asked = [
        asyncio.create_task(gate.hook(opencode("permission.asked", machine, properties=question(number))))
        for number in (1, 2)
    ]
    first = await approver.opened()
    await approver.opened()
    await approver.client.answer(first.ask_id, first.input_digest, "deny", message=SAID)
    assert await asked[0] == {"reply": "reject", "message": SAID}
    told = {"requestID": "per_2", "sessionID": "o1", "reply": "reject"}
    await gate.hook(opencode("permission.replied", machine, properties=told))
    assert await asyncio.wait_for(asked[1], 30) == {}
    closed = [e["message"] for e in events(gate_host.ledgers[0]) if e["type"] == "tool.permission.closed"]
    assert closed == ["opencode rejected it together with another question of this session"]


async def test_a_call_that_opencode_would_run_is_held_only_while_somebody_watches(
    gate_host: GateHost, machine: Any, request: pytest.FixtureRequest
) -> None:
    gate = OpencodeGate(gate_host)
    call = {"tool": "bash", "args": {"command": "make deploy"}, "asks": False}
    assert await gate.hook(opencode("tool.execute.before", machine, callID="a", **call)) == {}
    assert await gate.hook(opencode("tool.execute.before", machine, callID="b", **call | {"asks": True})) == {}


async def test_a_call_that_opencode_would_run_is_denied_with_words(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    gate = OpencodeGate(gate_host)
    call = {"tool": "bash", "args": {"command": "make deploy"}, "asks": False, "callID": "a"}
    asked = asyncio.create_task(gate.hook(opencode("tool.execute.before", machine, **call)))
    await answer(approver, "deny", SAID)
    assert await asked == {"decision": "deny", "message": SAID}


ASKING = '[[rule]]\nid = "careful"\neffect = "ask"\nprogram = "make"\nreason = "look first"\n'


async def test_what_a_rule_asks_about_is_asked_where_the_agent_would_not_ask(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    machine.policy(ASKING)
    gate = CodexGate(gate_host)
    before = asyncio.create_task(gate.hook(codex("PreToolUse", machine, tool_use_id="call_1")))
    await answer(approver, "allow")
    assert await before == {}
    said = await asyncio.wait_for(gate.hook(codex("PermissionRequest", machine)), 30)
    assert said["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


async def test_what_a_rule_asks_about_is_not_run_when_nobody_can_be_asked(gate_host: GateHost, machine: Any) -> None:
    machine.policy(ASKING)
    said = await CodexGate(gate_host).hook(codex("PreToolUse", machine, tool_use_id="call_1"))
    assert "look first" in said["hookSpecificOutput"]["permissionDecisionReason"]
    call = {"tool": "bash", "args": {"command": "make deploy"}, "asks": False, "callID": "a"}
    told = await OpencodeGate(gate_host).hook(opencode("tool.execute.before", machine, **call))
    assert told["decision"] == "deny"
    assert "look first" in told["message"]


@pytest.mark.parametrize("gate", [CodexGate, GeminiGate, OpencodeGate])
@pytest.mark.parametrize(
    "body", [{}, {"session_id": 7}, {"hook_event_name": "X", "session_id": "s"}, {"event": "?", "sessionID": "s"}]
)
async def test_hooks_that_nobody_knows_are_left_to_the_agent(
    gate_host: GateHost, gate: Any, body: dict[str, Any]
) -> None:
    assert await gate(gate_host).hook(Hook(body)) in ({}, ASK)


async def test_without_a_journal_denies_hold_and_nothing_is_allowed(gate_host: GateHost, machine: Any) -> None:
    machine.policy('deny = ["rm *"]\nallow = ["make build"]\n')
    place = Path(machine.root / "state" / "sessions")
    place.parent.mkdir(exist_ok=True)
    place.write_text("in the way")
    assert (await CodexGate(gate_host).hook(codex("PreToolUse", machine, "rm x")))["hookSpecificOutput"]
    assert (await GeminiGate(gate_host).hook(gemini("BeforeTool", machine, "rm x")))["decision"] == "deny"
    assert await GeminiGate(gate_host).hook(gemini("BeforeTool", machine, "make build")) == ASK
    hook = opencode("tool.execute.before", machine, tool="bash", args={"command": "rm x"})
    assert (await OpencodeGate(gate_host).hook(hook))["decision"] == "deny"


def test_codex_changes_are_shown_with_their_diff() -> None:
    item = {
        "changes": [
            {"path": "/p/a", "kind": {"type": "update", "move_path": "/p/b"}, "diff": "@@ -1 +1 @@\n-x\n+y\n"},
            {"path": "/p/new", "kind": {"type": "add"}, "diff": "one\ntwo\n"},
            {"path": "/p/old", "kind": {"type": "delete"}, "diff": "gone\n"},
        ]
    }
    call = call_of(CHANGE, {"itemId": "i", "reason": "why"}, item, "/p")
    assert call.diff is not None
    assert "--- /dev/null\n+++ /p/new\n@@ -0,0 +1,2 @@\n+one\n+two\n" in call.diff
    assert "--- /p/old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n" in call.diff
    assert "deny.message" not in call.choices
    assert call.input["changes"][0] == {"path": "/p/a", "kind": {"type": "update", "move_path": "/p/b"}}


def test_what_codex_asks_beyond_a_command_is_never_allowed_by_a_rule_about_it(
    machine: Any, gate_host: GateHost
) -> None:
    machine.policy('allow = ["make deploy"]\n')
    plain = call_of(COMMAND, {"command": "make deploy", "cwd": str(machine.project)}, None, "/p")
    more = call_of(
        COMMAND,
        {"command": "make deploy", "cwd": str(machine.project), "networkApprovalContext": {"host": "example.com"}},
        None,
        "/p",
    )
    judged = [
        gate_host.rules.decide("codex", call, (str(machine.project),), (), gate_host.now()) for call in (plain, more)
    ]
    assert [decision.effect for decision in judged] == ["allow", "ask"]


async def test_a_question_that_blocks_the_agent_is_given_back_at_once_when_the_person_leaves(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    asked = asyncio.create_task(CodexGate(gate_host).hook(codex("PermissionRequest", machine)))
    await approver.opened()
    await approver.client.unsubscribe()
    assert await asyncio.wait_for(asked, hook_session.UNWATCHED_S / 2) == {}
    assert not gate_host.is_watched
    assert gate_host.broker.pending() == ()


async def test_one_of_two_who_watch_may_leave(gate_host: GateHost, machine: Any, approver: Any) -> None:
    other = await AskClient.connect(gate_host.reply_to or "", "other screen")
    notices = other.subscribe()
    asked = asyncio.create_task(CodexGate(gate_host).hook(codex("PermissionRequest", machine)))
    await anext(notices)
    await other.unsubscribe()
    await other.close()
    await answer(approver, "allow")
    assert (await asked)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


async def test_a_question_about_another_input_under_a_known_id_is_another_call(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    gate = OpencodeGate(gate_host)
    told = {"tool": "bash", "args": {"command": "make clean"}, "callID": "call_1", "asks": True}
    await gate.hook(opencode("tool.execute.before", machine, **told))
    asked = asyncio.create_task(gate.hook(opencode("permission.asked", machine, properties=question(1))))
    view = await approver.opened()
    assert view.event["shownInput"] == {"command": "make deploy"}
    await approver.client.answer(view.ask_id, view.input_digest, "deny", message=SAID)
    assert (await asked)["reply"] == "reject"


async def test_what_opencode_refuses_with_nobody_there_is_no_persons_no(
    gate_host: GateHost, machine: Any, approver: Any, events: Any
) -> None:
    gate = OpencodeGate(gate_host)
    asked = asyncio.create_task(gate.hook(opencode("permission.asked", machine, properties=question(1))))
    await approver.opened()
    replied = {"sessionID": "o1", "requestID": "per_1", "reply": "reject"}
    await gate.hook(opencode("permission.replied", machine, headless=True, properties=replied))
    assert await asked == {}
    over = {"callID": "call_1", "status": "error", "error": "The user rejected permission to use this tool."}
    await gate.hook(opencode("tool.part", machine, **over))
    told = events(gate_host.ledgers[0])
    assert [e["cause"] for e in told if e["type"] == "tool.permission.closed"] == ["cancelled"]
    assert not [e for e in told if e["type"] == "tool.permission.answered"]
    assert [e["code"] for e in told if e["type"] == "tool.observation"] == ["policy_denied"]


def rollout(machine: Any, call_id: str, **given: Any) -> None:
    """Codex's record of a call that it is about to make."""
    payload = {"type": "function_call", "name": "exec_command", "call_id": call_id, "arguments": json.dumps(given)}
    with (machine.root / "rollout.jsonl").open("a") as file:
        file.write(json.dumps({"type": "response_item", "payload": payload}) + "\n")


async def test_a_run_outside_codexs_sandbox_is_told_and_no_rule_of_the_program_answers_it(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    machine.policy('allow = ["touch *"]\n')
    gate = CodexGate(gate_host)
    rollout(machine, "call_1", cmd="touch a", sandbox_permissions="require_escalated")
    rollout(machine, "call_2", cmd="touch b")
    for number, name in ((1, "a"), (2, "b")):
        await gate.hook(codex("PreToolUse", machine, f"touch {name}", tool_use_id=f"call_{number}"))
    asked = asyncio.create_task(gate.hook(codex("PermissionRequest", machine, "touch a")))
    view = await approver.opened()
    assert view.event["risks"][0] == "runs OUTSIDE the sandbox of Codex"
    assert view.event["facts"]["outsideSandbox"] is True
    assert "outside the sandbox of Codex" in view.event["sandbox"]["detail"]
    await approver.client.answer(view.ask_id, view.input_digest, "allow")
    assert (await asked)["hookSpecificOutput"]["decision"] == {"behavior": "allow"}
    said = await gate.hook(codex("PermissionRequest", machine, "touch b"))
    assert said["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


async def test_codexs_shell_makes_no_difference_to_what_is_shown_and_offered(
    gate_host: GateHost, machine: Any, approver: Any
) -> None:
    gate, wrapped = CodexGate(gate_host), "/bin/bash -lc 'touch a && echo made'"
    offered: list[Any] = []
    for command in ("touch a && echo made", wrapped):
        asked = asyncio.create_task(gate.hook(codex("PermissionRequest", machine, command)))
        view = await approver.opened()
        assert view.event["shownInput"] == {"command": "touch a && echo made"}
        offered.append((view.event["suggestedRules"], view.event["choices"]))
        await approver.client.answer(view.ask_id, view.input_digest, "deny")
        await asked
    assert offered[0] == offered[1]
    over_server = call_of(COMMAND, {"command": wrapped, "itemId": "i"}, None, str(machine.project))
    assert over_server.input == {"command": "touch a && echo made"}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("bash -lc 'a && b'", "a && b"),
        (["/bin/zsh", "-lc", "a 'b c'"], "a 'b c'"),
        ("bash -lc a b", "bash -lc a b"),
        ("bash -lc 'a' && rm x", "bash -lc 'a' && rm x"),
        ("/bin/bash -lc \"echo 'it is'\"", "echo 'it is'"),
        ("bash -lc 'a'\"'\"'b'", "a'b"),
        ("bash -lc ls", "ls"),
        ("bash x.sh", "bash x.sh"),
        ("bash -lc 'unclosed", "bash -lc 'unclosed"),
        ("FOO=1 bash -lc a", "FOO=1 bash -lc a"),
        ('bash -lc "$(rm x)"', 'bash -lc "$(rm x)"'),
        ("bash -lc a\\ b>f", "bash -lc a\\ b>f"),
    ],
)
def test_only_codexs_own_shell_is_taken_off(command: Any, text: Any) -> None:
    assert unwrap(command) == text


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("read_file", {"file_path": "{home}/.gemini/policies/interlock.toml"}),
        ("run_shell_command", {"command": "cat {home}/.gemini/policies/*"}),
        ("run_shell_command", {"command": "grep -r sign ~/.gemini"}),
    ],
)
async def test_no_agent_reads_the_sign_by_which_gemini_cli_knows_our_allow(
    gate_host: GateHost, machine: Any, tool: str, given: dict[str, str]
) -> None:
    machine.policy('allow = ["cat *", "grep *"]\n[[rule]]\nid = "r"\neffect = "allow"\ntool = "read_file"\n')
    place = machine.root / "home" / ".gemini" / "policies" / "interlock.toml"
    place.parent.mkdir(parents=True)
    place.write_text("secret")
    home = str(machine.root / "home")
    body = {key: value.replace("{home}", home) for key, value in given.items()}
    answer = await GeminiGate(gate_host).hook(gemini("BeforeTool", machine, tool_name=tool, tool_input=body))
    assert answer.get("decision") != "allow"
    if tool == "read_file":
        assert answer["decision"] == "deny"


async def test_what_gemini_cli_is_allowed_carries_the_sign_and_is_known_again(
    gate_host: GateHost, machine: Any, events: Any
) -> None:
    machine.policy('allow = ["make build", "echo *"]\nmode = "accept-edits"\n')
    config = ensure_config()
    sign = sign_of(config.key)
    gate = GeminiGate(gate_host)
    given = {"command": "make build && echo done", "dir_path": "sub"}
    answer = await gate.hook(gemini("BeforeTool", machine, tool_input=given))
    passed = answer["hookSpecificOutput"]["tool_input"]
    assert passed == {**given, "dir_path": f"sub/{sign}/.."}
    assert without_sign(passed) == given
    assert rules_pass(config, "run_shell_command", passed)
    assert not rules_pass(config, "run_shell_command", given)
    forged = {"command": f'echo \'"dir_path":"{"a" * 32}/..\'', "dir_path": "interlock-gate-" + "0" * 32 + "/.."}
    assert not rules_pass(config, "run_shell_command", forged)
    await gate.hook(gemini("AfterTool", machine, tool_input=passed, tool_response={"llmContent": "ok"}))
    told = events(gate_host.ledgers[0])
    assert [e["ok"] for e in told if e["type"] == "tool.observation"] == [True]
    edit = {"file_path": "a.txt", "content": "x"}
    marked = with_sign("write_file", edit, sign)
    assert rules_pass(config, "write_file", marked)
    assert not rules_pass(config, "write_file", edit)
    assert without_sign(marked) == edit


def rules_pass(config: Any, tool: str, given: dict[str, str]) -> bool:
    """Whether our policy file lets an input pass, as Gemini CLI looks at it: a zero byte around each field."""
    fields = ",".join(f"\0{json.dumps(key)}:{json.dumps(given[key])}\0" for key in sorted(given))
    rules = tomllib.loads(gemini_policy(config))["rule"]
    return any(tool in rule["toolName"] and re.search(rule["argsPattern"], f"{{{fields}}}") for rule in rules)


def test_our_policy_file_allows_nothing_without_a_sign(machine: Any) -> None:
    rules = tomllib.loads(gemini_policy(ensure_config()))["rule"]
    assert rules
    for rule in rules:
        assert "interlock-gate-" in rule["argsPattern"]
        # Gemini CLI refuses patterns in which a group is repeated, and those that are long
        assert "(" not in rule["argsPattern"]
        assert len(rule["argsPattern"]) < 2048


async def test_a_no_in_codexs_own_prompt_is_a_persons_no(gate_host: GateHost, machine: Any, events: Any) -> None:
    """FT-065"""
    gate = CodexGate(gate_host)
    await gate.hook(codex("PreToolUse", machine, tool_use_id="call_1"))
    assert await gate.hook(codex("PermissionRequest", machine)) == {}
    said = 'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'
    line = {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "call_1", "output": said}}
    (machine.root / "rollout.jsonl").write_text(json.dumps(line) + "\n")
    await gate.hook(codex("Stop", machine))
    told = [e for e in events(gate_host.ledgers[0]) if e["type"] == "tool.observation"]
    assert [(e["code"], e["summary"]) for e in told] == [("user_denied", "no in the agent's own prompt")]


async def test_a_screen_that_is_closed_says_goodbye(gate_host: GateHost, machine: Any) -> None:
    """FT-064"""
    hosts = Hosts(lambda: None)
    looking = asyncio.create_task(hosts.run())
    async with asyncio.timeout(PATIENCE_S):
        while not gate_host.is_watched:
            await asyncio.sleep(0.02)
        asked = asyncio.create_task(CodexGate(gate_host).hook(codex("PermissionRequest", machine)))
        while not hosts.asks:
            await asyncio.sleep(0.02)
        looking.cancel()
        await asyncio.wait({looking})
        assert gate_host.is_left
        assert await asked == {}
