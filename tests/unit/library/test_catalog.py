"""All sessions in a list, cheaply; one found by the beginning of its id. (spec HI-1, HI-2)"""

from __future__ import annotations

import pytest

from interlock.runtime.events.message import UserMessage
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, SandboxState, SessionEnded, SessionStarted, Totals
from interlock.runtime.events.tool import ToolIntent
from interlock.runtime.journal import place
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.library.catalog import SessionNotFound, find, list_sessions


def begin(session: str, clock) -> JournalWriter:
    writer = JournalWriter.create(session, clock)
    writer.append(
        SessionStarted(
            agent=Agent(name="demo"), cwd="/w", workspace=("/w",), host="h", pid=1, user="u", sandbox=SandboxState(),
            runtime_version="0", title="fix the test", branch="main",
        )
    )  # fmt: skip
    return writer


def test_an_ended_session_is_summed_up_by_its_last_line_whatever_its_size(clock) -> None:
    writer = begin("done", clock)
    for _ in range(40):
        writer.append(UserMessage(message_id="m", text="x" * 20_000))
    writer.append(SessionEnded(reason="completed", totals=Totals(calls=12, denied=1, input_tokens=900, cost_usd=0.5)))
    writer.close()
    (seen,) = list_sessions(place.sessions_home(), {})
    assert (seen.id, seen.status, seen.agent, seen.title, seen.cwd) == ("done", "done", "demo", "fix the test", "/w")
    assert (seen.calls, seen.denied, seen.input_tokens, seen.cost_usd, seen.partial) == (12, 1, 900, 0.5, False)


def test_totals_from_the_end_alone_are_marked_partial(clock) -> None:
    writer = begin("long", clock)
    for n in range(40):
        writer.append(ToolIntent(intent_id=f"int_{n}", tool="bash", raw_input="x" * 20_000))
    writer.close()
    (seen,) = list_sessions(place.sessions_home(), {})
    assert (seen.partial, seen.status, seen.branch) == (True, "gone", "main")
    assert 0 < seen.calls < 40


def test_a_live_session_shows_its_open_ask_and_its_end_is_seen_through_the_cache(clock) -> None:
    writer, cache = begin("live", clock), {}
    writer.append(ToolIntent(intent_id="int_1", tool="bash"))
    writer.append(ToolPermission(intent_id="int_1", decision="ask", reason="r", source="built-in", ask_id="ask_1"))
    assert [(s.status, s.waiting) for s in list_sessions(place.sessions_home(), cache)] == [("waiting", 1)]
    assert list_sessions(place.sessions_home(), cache)[0].writer_alive
    writer.close()
    assert [s.status for s in list_sessions(place.sessions_home(), cache)] == ["gone"]


def test_an_empty_or_damaged_journal_is_in_the_list(clock) -> None:
    JournalWriter.create("empty", clock).close()
    writer = begin("damaged", clock)
    writer.close()
    writer.path.write_bytes(b"\x00\xffgarbage\n" * 3 + b"torn")
    assert {s.id for s in list_sessions(place.sessions_home(), {})} == {"empty", "damaged"}


def test_a_session_is_found_by_its_id_or_the_beginning_of_it(clock) -> None:
    for name in ("20260110-demo-aa", "20260110-demo-ab", "20260111-task-b"):
        JournalWriter.create(name, clock).close()
    home = place.sessions_home()
    assert find("20260110-demo-aa", home) == home / "20260110-demo-aa/events.jsonl"
    assert find("20260111", home).parent.name == "20260111-task-b"
    assert find("task", home).parent.name == "20260111-task-b"
    with pytest.raises(SessionNotFound, match="fits 2 sessions"):
        find("20260110", home)
    for name in ("nobody", "", "../sessions/20260111-task-b"):
        with pytest.raises(SessionNotFound, match="there is no session"):
            find(name, home)
