"""Who answered is told as it was, in every view (ASK-6, FT-025, FT-026)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.cli.main import run
from interlock.runtime.events.permission import Approver, PermissionAnswered, ToolPermission
from interlock.runtime.events.session import Agent, Foreign, SandboxState, SessionStarted
from interlock.runtime.events.tool import ToolIntent, ToolObservation
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.sources.foreign.gated import GateRecord
from interlock.tui.model.ask import answered_words, who
from interlock.tui.model.rules import maker


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "RUN", "CONFIG"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))


def test_an_option_that_answers_is_recorded_as_that_and_told_so_everywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """FT-025 (b)."""
    (tmp_path / "w").mkdir()
    call = ["call", "bash", '{"command": "touch x"}', "-w", str(tmp_path / "w"), "--answer", "allow"]
    assert run(call) == 0
    (folder,) = (tmp_path / "state" / "sessions").iterdir()
    lines = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    (answered,) = [line for line in lines if line["type"] == "tool.permission.answered"]
    assert answered["by"]["kind"] == "flag"
    for command in ("show", "replay"):
        capsys.readouterr()
        assert run([command, folder.name]) == 0
        told = capsys.readouterr().out
        assert "by the option --answer" in told, command
        assert "by person" not in told, command


async def test_a_client_is_a_person_unless_it_says_that_it_is_a_flag(bench, server) -> None:
    bench.ask("a1")
    bench.ask("a2")
    async with await AskClient.connect(server.path, "somebody") as client:
        await client.answer("a1", "d-a1", "deny")
    async with await AskClient.connect(server.path, "something", kind="flag") as client:
        await client.answer("a2", "d-a2", "allow")
    assert [event.by.kind for event in bench.of("tool.permission.answered")] == ["person", "flag"]


def test_the_screen_never_calls_a_flag_a_person() -> None:
    by = {"kind": "flag", "uid": 0, "pid": 7, "client": "interlock, answering by option"}
    assert who(by) == "the option --answer (process 7)"
    assert answered_words("allow", "once", by, False) == "allowed once by the option --answer (process 7)"
    assert maker(Approver(kind="flag", uid=0, pid=7)) == "the option --answer"
    assert maker(Approver(kind="native_prompt", client="Claude Code")) == "the agent's own prompt"


def gate_journal(by: Approver) -> Path:
    """A gate's journal in which somebody denied the agent's call `toolu_1`."""
    journal = JournalWriter.create("20260110-000000-gate-aaaaaa", lambda: datetime(2026, 1, 10, tzinfo=UTC))
    journal.append(
        SessionStarted(
            agent=Agent(name="Claude Code", kind="claude_code"), cwd="/w", workspace=("/w",), host="h", pid=1, user="u",
            sandbox=SandboxState(), runtime_version="0", foreign=Foreign(session="main"),
        )
    )  # fmt: skip
    journal.append(ToolIntent(intent_id="int_1", call_id="toolu_1", tool="Bash", raw_input={"command": "make"}))
    ask = ToolPermission(
        intent_id="int_1",
        decision="ask",
        reason="asks",
        source="default",
        ask_id="ask_1",
        input_digest="d",
        tool="Bash",
    )
    journal.append(ask)
    journal.append(PermissionAnswered(ask_id="ask_1", intent_id="int_1", answer="deny", by=by, input_digest="d"))
    journal.close()
    return journal.path


def denied(intent: str) -> ToolObservation:
    return ToolObservation(
        observation_id="o", intent_id=intent, ok=False, phase="permission", code="policy_denied", title="", summary="",
        user_text="",
    )  # fmt: skip


@pytest.mark.parametrize(("kind", "code"), [("person", "user_denied"), ("rule", "policy_denied")])
def test_a_denial_in_a_transcript_gets_the_answer_and_the_code_of_the_gate(kind, code) -> None:
    """FT-025 (a), FT-026: to the agent every denial of a hook is one of a rule."""
    record = GateRecord()
    record.attach(gate_journal(Approver(kind=kind, client="interlock answer" if kind == "person" else None)))
    hook = PermissionAnswered(
        ask_id="", intent_id="i9", answer="deny", by=Approver(kind="rule", client="hook"), input_digest=""
    )
    transcript = [
        ToolIntent(intent_id="i9", call_id="toolu_1", tool="Bash", raw_input={"command": "make"}),
        hook,
        denied("i9"),
    ]
    told = [event for one in transcript for event in record.merged(one)]
    record.close()
    (answered,) = [event for event in told if isinstance(event, PermissionAnswered)]
    (observed,) = [event for event in told if isinstance(event, ToolObservation)]
    assert (answered.by.kind, answered.intent_id) == (kind, "i9")
    assert observed.code == code


def test_a_denial_that_no_gate_knows_keeps_the_code_of_the_transcript() -> None:
    record = GateRecord()
    record.attach(gate_journal(Approver(kind="person")))
    observed = denied("i1")
    intent = ToolIntent(intent_id="i1", call_id="toolu_2", tool="Bash", raw_input={"command": "make"})
    told = [event for one in (intent, observed) for event in record.merged(one)]
    record.close()
    assert told == [intent, observed]


def test_a_person_who_answers_a_sub_agent_is_told_in_the_sub_agents_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """FT-025 (a): the gate knows the session that the sub-agent works for."""
    monkeypatch.setenv("INTERLOCK_AGENTS", "claude_code")
    gate_journal(Approver(kind="person", client="interlock answer"))
    project = tmp_path / ".claude" / "projects" / "-w"
    log = project / "main" / "subagents" / "agent-sub1.jsonl"
    log.parent.mkdir(parents=True)
    common = {"sessionId": "main", "agentId": "sub1", "isSidechain": True, "cwd": "/w", "version": "2.1.332"}
    common |= {"timestamp": "2026-01-10T00:00:00.000Z", "userType": "external"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True, "content": "not this"}
    records = [
        {"type": "user", "uuid": "u0", "parentUuid": None, "message": {"role": "user", "content": "go"}},
        {"type": "assistant", "uuid": "u1", "parentUuid": "u0",
         "message": {"id": "m1", "role": "assistant", "model": "m", "content": [use]}},
        {"type": "user", "uuid": "u2", "parentUuid": "u1", "toolDenialKind": "permission-rule",
         "message": {"role": "user", "content": [result]}, "toolUseResult": "Error: not this"},
    ]  # fmt: skip
    log.write_text("".join(json.dumps({**record, **common}) + "\n" for record in records))
    (project / "main.jsonl").write_text(
        json.dumps({**records[0], **common, "isSidechain": False, "agentId": None}) + "\n"
    )
    assert run(["show", "claude_code:sub1"]) in (0,), capsys.readouterr()
    told = capsys.readouterr().out
    assert "user_denied  deny by person" in told, told
