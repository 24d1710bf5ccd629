"""The gate of Claude Code, hook by hook, without Claude Code: which call is meant, who answers, what the transcript adds."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from interlock.runtime.gates.claude.diff import diff_of
from interlock.runtime.gates.claude.gate import ClaudeGate, permission_answer
from interlock.runtime.gates.claude.record import Transcript, version_in
from interlock.runtime.gates.claude.registry import folder_of, live_session
from interlock.runtime.gates.hook import Hook

PATIENCE_S = 30
DENY = '[[rule]]\nid = "no-push"\neffect = "deny"\ncommand = "git push"\nreason = "pushing is for people"\n'
ALLOW = '[[rule]]\nid = "tests"\neffect = "allow"\ncommand = "make test"\nreason = "harmless"\n'


class Agent:
    """Posts hooks as Claude Code does, and writes its transcript and its list of live sessions."""

    def __init__(self, gate: ClaudeGate, machine) -> None:
        self.gate = gate
        self.folder = machine.root / "home" / ".claude"
        self.transcript = self.folder / "projects" / "-project" / "s1.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_text(json.dumps({"type": "user", "version": "2.1.332"}) + "\n")
        self.common = {"session_id": "s1", "transcript_path": str(self.transcript), "cwd": str(machine.project)}
        self.gone = asyncio.Event()

    async def hook(self, event: str, **more) -> dict:
        body = {**self.common, "hook_event_name": event, **more}
        return dict(await asyncio.wait_for(self.gate.hook(Hook(body, gone=self.gone)), PATIENCE_S))

    async def before(self, call_id: str, command: str = "make deploy", **more) -> dict:
        return await self.hook(
            "PreToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id=call_id, **more
        )

    def asks(self, command: str = "make deploy", **more) -> asyncio.Task[dict]:
        work = self.hook("PermissionRequest", tool_name="Bash", tool_input={"command": command}, **more)
        return asyncio.ensure_future(work)

    def status(self, status: str, entrypoint: str = "cli", changed_ms: int = 0) -> None:
        """Its entry in the list of live sessions."""
        place = self.folder / "sessions" / f"{os.getpid()}.json"
        place.parent.mkdir(exist_ok=True)
        told = {"pid": os.getpid(), "sessionId": "s1", "status": status, "version": "2.1.332"}
        new = place.with_suffix(".new")
        new.write_text(json.dumps(told | {"entrypoint": entrypoint, "statusUpdatedAt": changed_ms}))
        new.replace(place)

    def writes(self, call_id: str, *, is_error: bool = False, text: str = "done", **more) -> None:
        """A tool result in the transcript."""
        block = {"type": "tool_result", "tool_use_id": call_id, "is_error": is_error, "content": text}
        record = {"type": "user", "message": {"role": "user", "content": [block]}, **more}
        with self.transcript.open("a") as file:
            file.write(json.dumps(record) + "\n")


@pytest.fixture
def agent(gate_host, machine):
    return Agent(ClaudeGate(gate_host), machine)


@pytest.fixture
def kinds(gate_host, events):
    return lambda: [e["type"] for e in events(gate_host.ledgers[0])]


async def test_deny_rule_is_answered_before_anything_else_in_every_mode(machine, agent):
    machine.policy(DENY)
    answer = await agent.before("t1", "git push", permission_mode="bypassPermissions")
    told = answer["hookSpecificOutput"]
    assert (told["hookEventName"], told["permissionDecision"]) == ("PreToolUse", "deny")
    assert "pushing is for people" in told["permissionDecisionReason"]


@pytest.mark.parametrize(("entrypoint", "answered"), [("cli", "ask"), ("sdk-cli", None)])
async def test_rule_that_asks_opens_the_dialog_where_there_is_one(machine, agent, entrypoint, answered):
    machine.policy(DENY.replace('"deny"', '"ask"'))
    agent.status("busy", entrypoint=entrypoint)
    told = await agent.before("t1", "git push")
    assert told.get("hookSpecificOutput", {}).get("permissionDecision") == answered


async def test_call_that_no_rule_denies_is_left_to_claude_code(agent, kinds):
    assert await agent.before("t1") == {}
    assert kinds() == ["session.started", "tool.intent"]


async def test_allow_rule_answers_the_dialog_without_a_person(machine, agent):
    machine.policy(ALLOW)
    await agent.before("t1", "make test")
    answer = await agent.asks("make test")
    assert answer["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


async def test_headless_run_with_nobody_watching_is_not_held(agent):
    agent.status("busy", entrypoint="sdk-cli")
    await agent.before("t1")
    assert await agent.asks() == {}


async def test_ask_in_a_terminal_is_held_and_takes_the_persons_words(agent, gate_host, approver, events):
    agent.status("waiting")
    await agent.before("t1")
    asked = agent.asks(permission_mode="default")
    ask = await approver.opened()
    assert ask.event["facts"]["agentMode"] == "default"
    await approver.client.answer(ask.ask_id, ask.input_digest, "deny", message="use *staging*")
    told = (await asked)["hookSpecificOutput"]
    assert told == {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "use *staging*"}}
    agent.writes("t1", is_error=True, text="use *staging*")
    await agent.hook("Stop")
    written = events(gate_host.ledgers[0])
    assert [e["type"] for e in written][-2:] == ["tool.permission.delivered", "tool.observation"]
    assert written[-1]["code"] == "user_denied"


async def test_decision_in_the_transcript_counts_as_delivered_before_the_call_has_ended(agent, approver, kinds):
    await agent.before("t1")
    asked = agent.asks()
    ask = await approver.opened()
    await approver.client.answer(ask.ask_id, ask.input_digest, "allow")
    await asked
    attached = {"type": "hook_permission_decision", "decision": "allow", "toolUseID": "t1"}
    line = json.dumps({"type": "attachment", "attachment": attached | {"hookEvent": "PermissionRequest"}})
    with agent.transcript.open("a") as file:
        file.write(line[:20])
        file.flush()
        await agent.hook("Notification")
        assert kinds()[-1] == "tool.permission.answered"
        file.write(line[20:] + "\n")
    await agent.hook("Notification")
    assert kinds()[-1] == "tool.permission.delivered"


async def test_like_calls_are_told_apart_by_their_order(agent, approver, gate_host, events):
    agent.status("waiting")
    await agent.before("t1")
    await agent.before("t2")
    first, second = agent.asks(), agent.asks()
    one, two = await approver.opened(), await approver.opened()
    assert (one.event["intentId"], two.event["intentId"]) == ("int_1", "int_2")
    await agent.hook("PostToolUse", tool_use_id="t2", tool_response={}, duration_ms=5)
    assert await second == {
        "hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    }
    await approver.client.answer(one.ask_id, one.input_digest, "deny")
    assert (await first)["hookSpecificOutput"]["decision"]["behavior"] == "deny"


async def test_call_of_a_sub_agent_is_not_taken_for_a_like_call_of_the_session(agent, approver):
    agent.status("waiting")
    await agent.before("t1")
    await agent.before("t2", agent_id="a7", agent_type="Explore")
    asked = agent.asks(agent_id="a7", agent_type="Explore")
    ask = await approver.opened()
    assert ask.event["intentId"] == "int_2"
    assert ask.event["facts"]["subAgent"] == {"id": "a7", "type": "Explore"}
    agent.gone.set()
    await asked


async def test_native_yes_is_seen_when_the_call_has_run(agent, approver, gate_host, events):
    agent.status("waiting")
    await agent.before("t1")
    asked = agent.asks()
    await approver.opened()
    await agent.hook("PostToolUse", tool_use_id="t1", tool_response={"stdout": "x"}, duration_ms=7)
    await asked
    answered = next(e for e in events(gate_host.ledgers[0]) if e["type"] == "tool.permission.answered")
    assert (answered["answer"], answered["by"]["kind"]) == ("allow", "native_prompt")
    assert events(gate_host.ledgers[0])[-1]["metrics"]["durationMs"] == 7


async def test_native_no_is_seen_when_the_agent_hangs_up(agent, approver, gate_host, events):
    agent.status("waiting")
    await agent.before("t1")
    asked = agent.asks()
    await approver.opened()
    agent.writes("t1", is_error=True, text="rejected", toolDenialKind="user-rejected")
    agent.gone.set()
    await asked
    answered = next(e for e in events(gate_host.ledgers[0]) if e["type"] == "tool.permission.answered")
    assert (answered["answer"], answered["by"]["kind"]) == ("deny", "native_prompt")


async def test_dialog_that_is_closed_without_a_record_takes_the_ask_away_and_is_no_yes(agent, approver):
    agent.status("waiting")
    await agent.before("t1")
    asked = agent.asks()
    await approver.opened()
    await asyncio.sleep(0)
    agent.status("busy", changed_ms=2_000_000_000_000)
    assert await asked == {}
    closed = await approver.next()
    assert (closed.cause, "answered in the agent's terminal" in closed.message) == ("cancelled", True)


async def test_time_of_the_settings_ends_the_ask_as_a_time_out(agent, approver):
    agent.status("waiting")
    await agent.before("t1")
    body = {**agent.common, "hook_event_name": "PermissionRequest", "tool_name": "Bash"}
    hook = Hook(body | {"tool_input": {"command": "make deploy"}}, wait_s=1.0)
    assert await agent.gate.hook(hook) == {}
    await approver.opened()
    assert (await approver.next()).cause == "expired"


async def test_session_that_ends_takes_its_asks_with_it(agent, approver, gate_host):
    agent.status("waiting")
    await agent.before("t1")
    asked = agent.asks()
    await approver.opened()
    await agent.hook("SessionEnd", reason="other")
    assert await asked == {}
    assert (await approver.next()).cause == "session_closed"
    assert gate_host.ledgers == ()


async def test_session_without_a_call_leaves_no_journal(agent, gate_host):
    for event in ("SessionStart", "Stop", "PostToolUse", "SessionEnd"):
        assert await agent.hook(event) == {}
    assert gate_host.ledgers == ()


@pytest.mark.parametrize(
    "body",
    [{}, {"hook_event_name": "PreToolUse"}, {"session_id": 5, "hook_event_name": "PreToolUse"}, {"session_id": "s"}],
)
async def test_hook_that_is_not_understood_is_left_to_claude_code(agent, body):
    assert await agent.gate.hook(Hook(body)) == {}


async def test_input_that_is_no_object_is_asked_about_and_not_lost(agent, approver):
    agent.status("waiting")
    body = {**agent.common, "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": ["x"]}
    asked = asyncio.ensure_future(agent.gate.hook(Hook(body, gone=agent.gone)))
    assert (await approver.opened()).event["shownInput"] == {"input": ["x"]}
    agent.gone.set()
    await asked


async def test_denies_hold_where_no_journal_can_be_written(machine, agent, gate_host):
    machine.policy(DENY)
    (machine.root / "state").mkdir()
    (machine.root / "state" / "sessions").write_text("in the way")
    assert (await agent.before("t1", "git push"))["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert await agent.before("t2", "make test") == {}
    assert await agent.asks("make test") == {}


async def test_plan_is_a_question_and_a_locked_mode_does_not_swallow_it(machine, agent, approver):
    machine.policy('mode = "locked"\n')
    agent.status("waiting")
    plan = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "do it"}}
    assert await agent.hook("PreToolUse", tool_use_id="t1", **plan) == {}
    asked = asyncio.ensure_future(agent.hook("PermissionRequest", **plan))
    ask = await approver.opened()
    assert ask.event["choices"] == ["deny", "deny.message"]
    await approver.client.answer(ask.ask_id, ask.input_digest, "deny", message="smaller steps")
    assert (await asked)["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "smaller steps"}


def test_deny_without_words_says_that_a_person_denied():
    from interlock.runtime.gates.call import Verdict

    told = permission_answer(Verdict("deny"))["hookSpecificOutput"]["decision"]
    assert "person" in told["message"]


def test_transcript_is_read_on_from_where_it_was_and_survives_damage(tmp_path):
    place = tmp_path / "s.jsonl"
    place.write_bytes(b'{"tool_result": "old"}\n')
    tail = Transcript(str(place), from_end=True)
    block = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "yes"}]}
    good = json.dumps({"message": {"content": [block, 5, {"type": "tool_result"}]}}).encode()
    with place.open("ab") as file:
        file.write(b'\xff"tool_result"\n[]"tool_result"\n{"message": "tool_result"}\n' + good)
        file.flush()
        assert tail.look() == []
        file.write(b"\n")
    assert [(told.call_id, told.text) for told in tail.look()] == [("t1", "yes")]
    assert tail.look() == []
    place.write_bytes(good + b"\n")
    assert len(tail.look()) == 1
    assert Transcript(str(tmp_path / "none.jsonl"), from_end=True).look() == []


def test_version_and_live_session_are_read_where_they_are_and_nothing_else_is(tmp_path):
    transcript = tmp_path / "projects" / "-p" / "s1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text('{"type":"mode"}\n{"version":"2.1.332"}\n')
    assert version_in(str(transcript)) == "2.1.332"
    folder = folder_of(str(transcript))
    assert folder == tmp_path / "sessions"
    assert live_session(folder, "s1") is None
    folder.mkdir()
    (folder / "7.key").write_text("a secret")
    (folder / "8.json").write_text("no json")
    (folder / "9.json").write_text('{"pid": 9, "sessionId": "s1", "status": "waiting", "entrypoint": "cli"}')
    found = live_session(folder, "s1")
    assert found is not None
    assert (found.pid, found.is_waiting, found.has_dialog) == (9, True, True)
    assert folder_of("/x.jsonl") is None


def test_diff_is_of_the_file_as_it_lies_there(tmp_path: Path):
    (tmp_path / "a.py").write_text("one\ntwo\n")
    cwd = str(tmp_path)
    edit = {"file_path": "a.py", "old_string": "two", "new_string": "three"}
    assert "-two\n+three" in (diff_of("Edit", edit, cwd) or "")
    assert diff_of("Edit", edit | {"old_string": "absent"}, cwd) is None
    assert "+++ b/new.txt" in (diff_of("Write", {"file_path": f"{cwd}/new.txt", "content": "x\n"}, cwd) or "")
    both = [{"old_string": "one", "new_string": "1"}, {"old_string": "two", "new_string": "2"}]
    assert "+1\n+2" in (diff_of("MultiEdit", {"file_path": "a.py", "edits": both}, cwd) or "")
    os.mkfifo(tmp_path / "pipe")
    assert diff_of("Write", {"file_path": "pipe", "content": "x"}, cwd) is None
    assert diff_of("Bash", {"command": "x"}, cwd) is None


@pytest.mark.parametrize("changed", [{"command": "git push"}, {"tool_name": "WebFetch"}, {"cwd": "/"}])
async def test_an_id_that_comes_again_with_another_call_is_judged_anew(machine, agent, changed):
    machine.policy(
        DENY
        + '[[rule]]\nid = "f"\neffect = "deny"\ntool = "WebFetch"\n[[rule]]\nid = "r"\neffect = "deny"\npath = "/x"\n'
    )
    assert await agent.before("t1", "cat x") == {}
    body = {"tool_name": "Bash", "tool_input": {"command": changed.get("command", "cat x")}, "tool_use_id": "t1"}
    more = {key: value for key, value in changed.items() if key != "command"}
    answer = await agent.hook("PreToolUse", **{**body, **more})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


async def test_the_same_call_told_twice_is_one_call(agent, gate_host, kinds):
    for _ in range(2):
        assert await agent.before("t1", "make deploy") == {}
    assert kinds().count("tool.intent") == 1


async def test_an_ask_says_which_sub_agent_asks(agent, approver):
    asked = agent.asks(agent_id="agent-a77", agent_type="Explore")
    ask = await approver.opened()
    assert ask.event["agent"] == "Explore (agent-a77) of Claude Code"
    assert ask.event["facts"]["subAgent"] == {"id": "agent-a77", "type": "Explore"}
    await approver.client.answer(ask.ask_id, ask.input_digest, "deny")
    await asked


async def test_a_persons_no_and_a_rules_no_have_each_its_own_code(machine, agent, approver, gate_host, events):
    machine.policy(DENY)
    await agent.before("t1", "git push")
    agent.writes("t1", is_error=True, text="denied")
    await agent.before("t2")
    asked = agent.asks()
    ask = await approver.opened()
    await approver.client.answer(ask.ask_id, ask.input_digest, "deny", message="not today")
    await asked
    agent.writes("t2", is_error=True, text="not today")
    await agent.hook("Stop")
    codes = [e["code"] for e in events(gate_host.ledgers[0]) if e["type"] == "tool.observation"]
    assert codes == ["policy_denied", "user_denied"]
