"""What a gate that was killed left open is closed in the gate's words, and our own runtime's sessions in its own."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime

import pytest

from interlock.runtime.cli.late import fate
from interlock.runtime.engine.recover import NOTHING, recover_session
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, Foreign, SandboxState, SessionStarted
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.gates.recovery import recover, recover_gates
from interlock.runtime.journal.writer import JournalWriter
from interlock.tui.store import Store

ASK = "ask_0123456789"
PATIENCE_TENTHS = 300


def left_open(session: str, agent: Agent) -> JournalWriter:
    """A journal with an open ask whose writer is gone."""
    journal = JournalWriter.create(session, lambda: datetime(2026, 1, 10, tzinfo=UTC))
    journal.append(
        SessionStarted(
            agent=agent, cwd="/w", workspace=("/w",), host="h", pid=1, user="u",
            sandbox=SandboxState(), runtime_version="0",
            foreign=Foreign(session="their own id") if agent.kind == "claude_code" else None,
        )
    )  # fmt: skip
    journal.append(ToolIntent(intent_id="int_1", tool="Bash", raw_input={"command": "make"}))
    ask = ToolPermission(
        intent_id="int_1", decision="ask", reason="asks", source="default", ask_id=ASK, input_digest="d", tool="Bash",
        cwd="/w", choices=("allow.once", "deny"),
    )  # fmt: skip
    journal.append(ask, durable=True)
    journal.close()
    return journal


def written(journal: JournalWriter) -> list[dict]:
    return [json.loads(line) for line in journal.path.read_text().splitlines()]


CLAUDE = Agent(name="Claude Code", kind="claude_code")
OURS = Agent(name="demo")


@pytest.mark.parametrize("close", [lambda s: recover(s), lambda _: recover_gates(), lambda _: fate(ASK, [])])
def test_a_dead_gate_is_closed_without_a_word_about_what_was_run(machine, close):
    journal = left_open("20260110-000000-gate-claude-code-aaaaaa", CLAUDE)
    assert close(journal.session)
    *_, closed, observed, ended = written(journal)
    assert closed["cause"] == "runtime_restarted"
    assert "own prompt decides" in closed["message"]
    assert "nothing was run" not in json.dumps(observed)
    assert (observed["code"], ended["type"]) == ("not_recorded", "session.ended")
    assert not recover(journal.session)


def test_our_runtimes_recovery_leaves_a_gates_journal_alone(machine):
    journal = left_open("20260110-000000-gate-claude-code-aaaaaa", CLAUDE)
    before = journal.path.read_bytes()
    assert recover_session(journal.session) == NOTHING
    assert journal.path.read_bytes() == before


def test_a_session_of_our_runtime_with_a_gate_in_its_title_is_closed_in_its_own_words(machine):
    journal = left_open("20260110-000000-mend-the-gate-now-bbbbbb", OURS)
    assert recover_gates() == []
    assert recover(journal.session)
    assert "nothing was run" in json.dumps(written(journal))


def test_a_late_answer_hears_who_decides_now(machine):
    left_open("20260110-000000-gate-claude-code-aaaaaa", CLAUDE)
    told = fate(ASK, [])
    assert told is not None
    assert "its agent's own prompt decides" in told
    assert "was run" not in told
    assert "its agent's own prompt decides" in (fate(ASK, []) or "")


def test_a_late_answer_to_our_runtime_hears_that_nothing_was_run(machine):
    left_open("20260110-000000-work-bbbbbb", OURS)
    assert "nothing was run" in (fate(ASK, []) or "")


async def test_a_screen_that_is_opened_closes_what_a_dead_gate_left(machine):
    journal = left_open("20260110-000000-gate-claude-code-aaaaaa", CLAUDE)
    store = Store(lambda: None)
    await store.start()
    try:
        for _ in range(PATIENCE_TENTHS):
            if written(journal)[-1]["type"] == "session.ended":
                break
            await asyncio.sleep(0.1)
    finally:
        await store.close()
    assert "own prompt decides" in written(journal)[-3]["message"]
    assert store.problems == ()
