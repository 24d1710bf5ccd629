"""A session is read whatever its journal went through. (spec UI-6, UI-7, EV-5; the public cases named in each test)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.runtime.events.message import AssistantMessage, Evidence, FinalAnswer, UserMessage
from interlock.runtime.events.permission import Approver, PermissionAnswered, ToolPermission
from interlock.runtime.events.session import Agent, SandboxState, SessionEnded, SessionStarted
from interlock.runtime.events.tool import (
    InvocationCompleted,
    InvocationStarted,
    Metrics,
    SideEffect,
    ToolIntent,
    ToolObservation,
    ToolScheduled,
)
from interlock.runtime.journal.writer import JournalWriter

pytestmark = pytest.mark.tui


class Ticking:
    def __init__(self) -> None:
        from datetime import UTC, datetime

        self.now = datetime(2026, 1, 10, 9, tzinfo=UTC)

    def __call__(self):
        from datetime import timedelta

        self.now += timedelta(seconds=1)
        return self.now


def begin(session: str = "20260110-090000-demo-aaaaaa") -> JournalWriter:
    journal = JournalWriter.create(session, Ticking())
    journal.append(
        SessionStarted(
            agent=Agent(name="demo", version="1"), cwd="/home/dev/app", workspace=("/home/dev/app",), host="box", pid=1,
            user="dev", sandbox=SandboxState(), runtime_version="0", title="mend the shop", branch="main",
        )
    )  # fmt: skip
    return journal


def call(journal: JournalWriter, number: int, command: str, *, asked: bool = False, denied: bool = False, ok: bool = True,
         content: str = "fine", artifact: str = "", diff: str = "") -> None:  # fmt: skip
    intent, invocation = f"int_{number}", f"inv_{number}"
    journal.append(ToolIntent(intent_id=intent, tool="bash", raw_input={"command": command}))
    if asked or denied:
        journal.append(
            ToolPermission(intent_id=intent, decision="ask", reason="shell commands ask", source="built-in",
                           ask_id=f"ask_{number}", input_digest="d", tool="bash")
        )  # fmt: skip
        journal.append(
            PermissionAnswered(ask_id=f"ask_{number}", intent_id=intent, answer="deny" if denied else "allow",
                               by=Approver(kind="person", pid=7, client="me"), input_digest="d",
                               message="not now" if denied else None)
        )  # fmt: skip
    if not denied:
        journal.append(ToolScheduled(invocation_id=invocation, intent_id=intent, concurrency="exclusive", timeout_ms=1))
        journal.append(
            InvocationStarted(invocation_id=invocation, intent_id=intent, executor="built in/bash@1", cwd="/home/dev/app",
                              sandbox=SandboxState())
        )  # fmt: skip
        journal.append(
            InvocationCompleted(
                invocation_id=invocation, exit="ok" if ok else "error", exit_code=0 if ok else 1, duration_ms=4800
            )
        )
    refs = []
    if artifact:
        refs.append(journal.artifacts.put_bytes(artifact.encode(), "output"))
    if diff:
        refs.append(journal.artifacts.put_bytes(diff.encode(), "diff", "text/x-diff"))
    journal.append(
        ToolObservation(
            observation_id=f"obs_{number}", intent_id=intent, invocation_id=None if denied else invocation, ok=ok and not denied,
            phase="permission" if denied else "execute", code="user_denied" if denied else "ok" if ok else "exit_nonzero",
            title=f"Run {command}", summary=f"{command} summary", content=content, user_text=f"{command} told to the person",
            truncated=bool(artifact), omitted_bytes=84231 if artifact else 0, artifacts=tuple(refs),
            side_effects=(SideEffect(kind="file.changed", path="a.py", added=1, removed=1),) if diff else (), metrics=Metrics(),
        )
    )  # fmt: skip


def whole(journal: JournalWriter) -> None:
    journal.append(UserMessage(message_id="msg_1", text="mend it"))
    call(journal, 1, "npm test", asked=True, ok=False, artifact="the whole output\nlast line")
    call(journal, 2, "git push", denied=True)
    call(journal, 3, "npm test again", diff="--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-old words\n+new words\n")
    journal.append(AssistantMessage(message_id="msg_2", text="mended"))
    journal.append(FinalAnswer(message_id="msg_2", evidence=Evidence(verdict="passed")))
    journal.append(SessionEnded(reason="completed"))
    journal.close()


async def opened(person, session: str = "20260110-090000-demo-aaaaaa") -> None:
    person.app.open_session(session)
    await person.until(
        lambda: person.app.screen.__class__.__name__ == "SessionScreen" and person.app.screen.feed is not None
    )
    await person.until(lambda: person.app.screen.feed.complete, "the whole journal")


@pytest.mark.parametrize("size", [(80, 24), (140, 40)])
async def test_a_session_looks_as_drawn(live, golden, fixed_now, size) -> None:
    whole(begin())
    async with live(size=size, now=fixed_now) as person:
        await opened(person)
        await person.press("left_square_bracket")
        golden(person.app, f"screen-session-{size[0]}x{size[1]}")


async def test_errors_denials_and_waits_stand_out_in_words(live) -> None:
    whole(begin())
    async with live() as person:
        await opened(person)
        assert "exit 1" in person.text
        assert "denied" in person.text
        assert "░" in person.text
        assert "▓" in person.text
        assert "evidence: passed" in person.text


async def test_every_tab_tells_its_side_of_a_call(live) -> None:
    whole(begin())
    async with live() as person:
        await opened(person)
        await person.press("g", "right_square_bracket")
        await person.until(lambda: "exit_nonzero" in person.text)
        assert "84,231 bytes dropped" in person.text
        assert "allowed once by me (process 7)" in person.text
        await person.press("right_square_bracket")
        await person.until(lambda: "user_denied" in person.text)
        assert "not now" in person.text
        await person.press("right_square_bracket")
        await person.until(lambda: "file.changed" in person.text)
        await person.press("tab", "right", "right")
        await person.until(lambda: "new words" in person.text, "the diff")
        await person.press("right", "right")
        await person.until(lambda: "tool_output_untrusted" in person.text, "what the model saw")
        await person.press("right")
        await person.until(lambda: "byte " in person.text and "tool.intent" in person.text, "the record")


async def test_the_whole_output_opens_in_the_pager(live) -> None:
    whole(begin())
    async with live() as person:
        await opened(person)
        await person.press("g", "right_square_bracket")
        await person.until(lambda: "bytes dropped" in person.text)
        await person.press("o")
        await person.until(lambda: "the whole output" in person.text)
        await person.press("escape")
        await person.until(lambda: "exit_nonzero" in person.text)


async def test_new_rows_come_in_at_the_end_and_move_nothing_that_is_read(live) -> None:
    journal = begin()
    for number in range(1, 60):
        call(journal, number, f"echo {number}")
    async with live() as person:
        await opened(person)
        assert "echo 59" in person.text
        call(journal, 60, "echo 60")
        await person.until(lambda: "echo 60" in person.text, "the new row, followed")
        await person.press("g")
        assert "echo 1 " in person.text
        call(journal, 61, "echo 61")
        await person.until(lambda: person.app.screen.feed.state.calls == 61)
        assert "echo 1 " in person.text
        assert "echo 61" not in person.text
        assert person.app.screen.timeline.index == 0
    journal.close()


async def test_a_journal_that_is_cut_and_written_again_gets_a_divider(live) -> None:
    """BC-052."""
    journal = begin()
    call(journal, 1, "echo one")
    journal.close()
    path = journal.path
    first = path.read_bytes().split(b"\n")[0]
    async with live() as person:
        await opened(person)
        assert "echo one" in person.text
        path.write_bytes(first.replace(b"mend the shop", b"another matter") + b"\n")
        await person.until(lambda: "another matter" in person.text, "the new content")
        assert "echo one" in person.text
        assert "the journal was cut" in person.text
        assert "new file" in person.text, person.text


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("empty", b"", "empty"),
        ("garbage", os.urandom(3000).replace(b"\n", b"x") + b"\nnot json\n\x00\x00\n", "damaged"),
        ("half", b'{"v":1,"seq":0,"type":"session.sta', "empty"),
    ],
)
async def test_a_journal_that_is_none_is_said_and_the_screen_lives(live, places: Path, name, data, words) -> None:
    folder = places / "sessions" / f"20260110-090000-{name}-bbbbbb"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(data)
    async with live() as person:
        await opened(person, folder.name)
        assert words in person.text
        await person.press("escape")
        assert person.app.is_running


async def test_a_missing_journal_is_said(live, places: Path) -> None:
    journal = begin()
    journal.close()
    async with live() as person:
        await opened(person)
        journal.path.unlink()
        await person.until(lambda: "missing" in person.text or "not there" in person.text)
        assert "mend the shop" in person.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
async def test_an_unreadable_journal_is_said(live) -> None:
    journal = begin()
    journal.close()
    journal.path.chmod(0)
    async with live() as person:
        person.app.open_session(journal.session)
        await person.until(lambda: "cannot be read" in person.text)


async def test_a_damaged_line_is_a_row_among_the_others(live) -> None:
    journal = begin()
    call(journal, 1, "echo one")
    journal.path.write_bytes(journal.path.read_bytes() + b"this is no event\n")
    journal.close()
    async with live() as person:
        await opened(person)
        assert "damaged" in person.text
        assert "1 line is no event" in person.text
        assert "echo one" in person.text


async def test_a_thousand_sessions_are_listed_and_the_last_can_be_opened(live, places: Path) -> None:
    journal = begin("20260110-090000-demo-cccccc")
    whole(journal)
    data = journal.path.read_bytes()
    for number in range(1000):
        folder = places / "sessions" / f"20260109-{number:06}-old-dddddd"
        folder.mkdir(parents=True)
        (folder / "events.jsonl").write_bytes(data.replace(b"20260110-090000-demo-cccccc", folder.name.encode()))
    async with live() as person:
        await person.press("3")
        await person.until(lambda: len(person.app.screen.list.items) == 1001)
        await person.press("G", "enter")
        await person.until(lambda: person.app.screen.__class__.__name__ == "SessionScreen")
        await person.until(lambda: "npm test" in person.text)


async def test_a_large_session_shows_its_end_first(live, places: Path) -> None:
    journal = begin()
    for number in range(1, 4001):
        call(journal, number, f"echo {number}")
    journal.close()
    assert journal.path.stat().st_size > 4 * 1024 * 1024
    async with live() as person:
        person.app.open_session(journal.session)
        partial = []
        await person.until(
            lambda: (
                partial.append(person.app.screen.feed.is_partial) or "echo 4000" in person.text
                if getattr(person.app.screen, "feed", None)
                else False
            )
        )
        await person.until(lambda: person.app.screen.feed.complete)
        await person.press("g")
        await person.until(lambda: "mend the shop" in person.text)
        assert any(partial)
