"""Standing permissions of a real session, given and taken back over its real socket. (spec ASK-3 to ASK-5, RT-5)"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient, AskRefused
from interlock.runtime.asks.protocol import AskView, OpenedNotice
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.message import FinalAnswer
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.state.grants import GrantFold
from interlock.runtime.tools.policy_files import load_policy, user_file

pytestmark = pytest.mark.e2e


class Clock:
    """Real time, and what the test adds to it."""

    def __init__(self) -> None:
        self.more = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.more


class Desk:
    """A session and a screen at its socket."""

    def __init__(self, session: RuntimeSession, client: AskClient, clock: Clock, folder: Path) -> None:
        self.session, self.client, self.clock, self.folder = session, client, clock, folder
        self.opened: asyncio.Queue[AskView] = asyncio.Queue()
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async for notice in self.client.subscribe():
            if isinstance(notice, OpenedNotice):
                self.opened.put_nowait(notice.ask)

    def begin(self, command: str) -> asyncio.Task[Any]:
        return asyncio.create_task(self.session.pipeline.run(Intent("bash", {"command": command})))

    def begin_write(self, path: str) -> asyncio.Task[Any]:
        return asyncio.create_task(self.session.pipeline.run(Intent("write_file", {"path": path, "content": "x\n"})))

    async def ask(self) -> AskView:
        return await asyncio.wait_for(self.opened.get(), 20)

    async def answer(self, ask: AskView, scope: str = "once", pick: int | None = None, **more: Any) -> Any:
        if pick is not None:
            more["suggestion"] = offers(ask)[pick]["digest"]
        return await self.client.answer(ask.ask_id, ask.input_digest, more.pop("answer", "allow"), scope=scope, **more)  # type: ignore[arg-type]

    async def allowed(self, command: str, scope: str, pick: int = 0, **more: Any) -> Any:
        """Run a command that asks, and allow it for this scope."""
        running = self.begin(command)
        reply = await self.answer(await self.ask(), scope, pick, **more)
        assert (await asyncio.wait_for(running, 20)).ok
        return reply

    async def passes(self, command: str) -> bool:
        """Whether the command runs without a question; one that is asked is denied."""
        running = self.begin(command)
        asked = asyncio.create_task(self.opened.get())
        await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED, timeout=20)
        if not asked.done():
            asked.cancel()
            return running.result().ok
        await self.answer(asked.result(), answer="deny")
        assert (await asyncio.wait_for(running, 20)).code == "user_denied"
        return False

    def events(self, kind: str) -> list[dict[str, Any]]:
        lines = self.session.journal.path.read_bytes().split(b"\n")[:-1]
        return [event for event in map(json.loads, lines) if event["type"] == kind]

    async def close(self) -> None:
        self._task.cancel()
        await self.client.close()


def offers(ask: AskView) -> list[dict[str, Any]]:
    return ask.event["suggestedRules"]


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("STATE", "RUN", "CONFIG"):
        monkeypatch.setenv(f"INTERLOCK_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))


@asynccontextmanager
async def desk(tmp_path: Path, rules: str = "") -> AsyncIterator[Desk]:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    if rules:
        user_file().parent.mkdir(parents=True, exist_ok=True)
        user_file().write_text(rules)
    clock = Clock()
    async with RuntimeSession.start(folder, agent="test", clock=clock, policy=load_policy([folder])) as session:
        client = await AskClient.connect(session.setting.reply_to or "", "test screen")
        one = Desk(session, client, clock, folder)
        try:
            yield one
        finally:
            await one.close()


async def test_an_allow_for_the_turn_ends_with_the_final_answer_and_with_the_next_message(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        d.session.say_user("go")
        await d.allowed("touch a", "turn")
        assert await d.passes("touch a")
        d.session.record(FinalAnswer(message_id="msg_9", evidence={"verdict": "none"}))  # type: ignore[arg-type]
        assert not await d.passes("touch a")
        await d.allowed("touch a", "turn")
        assert await d.passes("touch a")
        d.session.say_user("and now something else")
        assert not await d.passes("touch a")
        assert await d.client.grants() == ()


async def test_an_allow_for_ten_minutes_ends_after_ten_minutes(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.allowed("touch a", "ten_minutes")
        d.clock.more = timedelta(minutes=9, seconds=30)
        assert await d.passes("touch a")
        d.clock.more = timedelta(minutes=10, seconds=1)
        assert not await d.passes("touch a")


async def test_the_wider_suggestion_is_granted_only_when_its_digest_was_answered_with(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        await d.allowed("touch a", "session", pick=0)
        assert not await d.passes("touch b")
        await d.allowed("touch a1", "session", pick=1)
        assert await d.passes("touch b")
        assert [view.matches["field"] for view in await d.client.grants()] == ["command", "pattern"]


async def test_a_suggestion_that_was_not_shown_has_no_effect(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        for wrong, name in (
            ({"scope": "session", "suggestion": "0" * 64}, "digest_mismatch"),
            ({"scope": "rule"}, "choice_not_offered"),
            ({"scope": "rule", "pick": 0}, "choice_not_offered"),  # the exact text is no rule
            ({"scope": "once", "pick": 0}, "choice_not_offered"),
            ({"scope": "session", "pick": 1, "rule": offers(ask)[1]["rule"]}, "choice_not_offered"),
        ):
            with pytest.raises(AskRefused) as refused:
                await d.answer(ask, **wrong)
            assert refused.value.name == name
        assert not (d.folder / "a").exists()
        await d.answer(ask, answer="deny")
        assert (await running).code == "user_denied"
        assert d.events("grant.made") == []


async def test_an_approver_that_knows_nothing_of_suggestions_is_served_as_before(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        assert (await d.answer(await d.ask(), "session")).grant_id == "grant_1"
        assert (await running).ok
        assert await d.passes("touch a")
        assert not await d.passes("touch b")


async def test_a_rule_holds_at_once_and_in_later_sessions_until_it_is_revoked(tmp_path: Path) -> None:
    before = '# mine\nmode = "ask"\n\n[[rule]]\nid = "x" # why\neffect = "deny"\ncommand = "npm publish *"\n'
    async with desk(tmp_path, before) as d:
        reply = await d.allowed("touch a", "rule", pick=1)
        assert user_file().read_text().startswith(before)
        assert await d.passes("touch b")
        async with RuntimeSession.start(d.folder, agent="later", server=False) as later:
            assert (await later.pipeline.run(Intent("bash", {"command": "touch c"}))).ok
        done = await d.client.revoke(reply.grant_id)
        assert (done.scope, done.rule_removed, done.call_started, done.problem) == ("rule", True, True, None)
        assert user_file().read_text() == before
        assert not await d.passes("touch b")
        with pytest.raises(AskRefused) as refused:
            await d.client.revoke(reply.grant_id)
        assert refused.value.name == "unknown_grant"


async def test_an_edited_rule_may_be_narrower_and_never_broader(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        text = offers(ask)[1]["rule"]
        for edited in (
            text.replace("touch *", "* *"),
            text.replace('"touch *"', '["touch *", "python3 *"]'),
            text.replace('"touch *"', '["touch *", "bash -c *"]'),
            text.replace('"touch *"', '["touch *", "rm -rf *"]'),
            text.replace('"touch *"', '["touch *", "git *"]'),
            text.replace('"touch *"', '["touch *", "git status"]'),
            text.replace('"touch *"', '["touch *", "/tmp/touch *"]'),
            text.replace('"touch *"', '["touch *", "t\u043euch *"]'),
            text.replace('id = "', 'id = "' + "x" * 3_000),
            "\ufeff" + text,
            text.replace('"touch *"', '["touch *", "$X *"]'),
            text.replace("touch *", "touch b"),
            text.replace('effect = "allow"', 'effect = "deny"'),
            text + "outside_too = true\n",
            text + 'program = "touch"\n',
            text + f'path = ["/etc/**", "{os.path.realpath(d.folder)}/**"]\n',
            text + text,
            text + "[other]\n",
            text.replace('tool = "bash"', 'tool = ["bash", "write_file"]'),
            text + 'expires = "2001-01-01"\n',
            "rubbish",
        ):
            with pytest.raises(AskRefused) as refused:
                await d.answer(ask, "rule", 1, rule=edited)
            assert refused.value.name == "rule_refused", edited
            assert len(refused.value.message) < 500
        assert not user_file().exists()
        await d.answer(ask, "rule", 1, rule=text.replace("touch *", "touch a*"))
        assert (await running).ok
        assert await d.passes("touch ab")
        assert not await d.passes("touch b")
        assert '"touch a*"' in user_file().read_text()


async def test_a_rule_for_files_stays_in_the_suggested_folder(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        (d.folder / "sub").mkdir()
        running = d.begin_write("sub/one.txt")
        ask = await d.ask()
        folder = offers(ask)[-1]
        assert folder["field"] == "folder"
        where = os.path.realpath(d.folder)
        for wider in (
            "/**",
            f"{tmp_path}/**",
            "**",
            f"{{{where},/etc}}/**",
            f"{where}*/**",
            f"{where}/**",
            f"{where}/sub*/**",
        ):
            with pytest.raises(AskRefused) as refused:
                await d.answer(ask, "rule", -1, rule=folder["rule"].replace(f"{where}/sub/**", wider))
            assert refused.value.name == "rule_refused", wider
        await d.answer(ask, "rule", -1, rule=folder["rule"].replace(f"{where}/sub/**", f"{where}/sub/**/*.txt"))
        assert (await running).ok
        assert (await asyncio.wait_for(d.begin_write("sub/two.txt"), 20)).ok
        running = d.begin_write("sub/two.py")
        await d.answer(await d.ask(), answer="deny")
        assert (await running).code == "user_denied"


async def test_a_policy_file_that_cannot_be_written_is_told_and_the_call_runs_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        user_file().mkdir(parents=True)
        reply = await d.allowed("touch a", "rule", pick=1)
        assert reply.grant_id is None
        assert str(user_file()) in (reply.grant_fault or "")
        assert not await d.passes("touch b")
        assert [e["by"]["kind"] for e in d.events("grant.revoked")] == ["runtime"]


async def test_a_revoked_grant_covers_nothing_and_asks_about_what_has_not_begun(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        grant = (await d.allowed("touch later", "session")).grant_id
        (d.folder / "later").unlink()
        os.mkfifo(d.folder / "pipe")
        blocking = d.begin("cat pipe")
        await d.answer(await d.ask())
        queued = d.begin("touch later")
        while len(d.events("tool.scheduled")) < 3:
            await asyncio.sleep(0.01)
        assert (await d.client.revoke(grant or "")).call_started
        (d.folder / "pipe").open("w").close()
        assert (await asyncio.wait_for(blocking, 20)).ok
        ask = await d.ask()
        assert "holds no longer" in ask.event["reason"]
        assert not (d.folder / "later").exists()
        await d.answer(ask, answer="deny")
        assert (await queued).code == "user_denied"


async def test_an_undone_answer_asks_again_when_its_call_has_not_begun(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        os.mkfifo(d.folder / "pipe")
        blocking = d.begin("cat pipe")
        await d.answer(await d.ask())
        queued = d.begin("touch later")
        first = await d.ask()
        reply = await d.answer(first, "session", 0)
        done = await d.client.revoke(reply.grant_id or "")
        assert not done.call_started
        (d.folder / "pipe").open("w").close()
        assert (await asyncio.wait_for(blocking, 20)).ok
        ask = await d.ask()
        assert "taken back" in ask.event["reason"]
        assert ask.event["supersedes"] == first.ask_id
        await d.answer(ask)
        assert (await queued).ok


async def test_a_deny_stands_above_every_grant(tmp_path: Path) -> None:
    rules = '[[rule]]\nid = "no-b"\neffect = "deny"\ncommand = "touch b"\n'
    async with desk(tmp_path, rules) as d:
        await d.allowed("touch a", "rule", pick=1)
        assert await d.passes("touch c")
        denied = await asyncio.wait_for(d.begin("touch b"), 20)
        assert (denied.ok, denied.code) == (False, "policy_denied")


@pytest.mark.parametrize("command", ["python3 -c 'print(1)'", "bash run.sh", "rm -rf a", "$X a", "git push -f"])
async def test_nothing_that_stands_is_offered_for_what_runs_code_destroys_or_is_not_understood(
    tmp_path: Path, command: str
) -> None:
    async with desk(tmp_path) as d:
        running = d.begin(command)
        ask = await d.ask()
        assert ask.event["suggestedRules"] == []
        assert ask.event["choices"] == ["allow.once", "deny", "deny.message"]
        with pytest.raises(AskRefused):
            await d.answer(ask, "session")
        await d.answer(ask, answer="deny")
        await running


async def test_an_ask_of_a_rule_is_never_lifted_by_a_rule_of_an_answer(tmp_path: Path) -> None:
    rules = '[[rule]]\nid = "asks"\neffect = "ask"\ncommand = "touch *"\n'
    async with desk(tmp_path, rules) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        assert "allow.rule" not in ask.event["choices"]
        await d.answer(ask, answer="deny")
        await running


async def test_a_rule_with_a_wait_times_out_as_a_time_out(tmp_path: Path) -> None:
    rules = '[[rule]]\nid = "soon"\neffect = "ask"\ncommand = "touch *"\nwait = 0.2\n'
    async with desk(tmp_path, rules) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        assert ask.event["expiresAt"] > ask.event["ts"]
        seen = await asyncio.wait_for(running, 20)
        assert (seen.phase, seen.code) == ("permission", "ask_timed_out")
        assert not (d.folder / "a").exists()
        assert [e["cause"] for e in d.events("tool.permission.closed")] == ["expired"]


async def test_an_ask_without_a_wait_has_no_end(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        running = d.begin("touch a")
        ask = await d.ask()
        assert "expiresAt" not in ask.event
        d.clock.more = timedelta(days=40)
        await d.answer(ask)
        assert (await running).ok


async def test_a_preview_tells_what_would_have_been_covered_and_what_nearly(tmp_path: Path) -> None:
    async with desk(tmp_path) as d:
        for command in ("touch a", "touch b", "touch b", "mkdir c", "touch d > e"):
            await asyncio.wait_for(_once(d, command), 20)
        running = d.begin("touch a")
        ask = await d.ask()
        narrow, wide = [await d.client.preview(ask.ask_id, one["digest"]) for one in offers(ask)]
        assert (narrow.calls, narrow.sessions, narrow.whole) == (5, 1, True)
        assert (narrow.covered, narrow.covered_examples) == (1, ("touch a",))
        assert set(narrow.near_misses) == {"touch b", "touch d > e"}
        assert (wide.covered, wide.still_asks) == (3, 2)
        assert wide.near_misses == ("touch d > e",)
        edited = await d.client.preview(
            ask.ask_id, offers(ask)[1]["digest"], offers(ask)[1]["rule"].replace("touch *", "touch a")
        )
        assert edited.covered == 1
        with pytest.raises(AskRefused) as refused:
            await d.client.preview(ask.ask_id, offers(ask)[1]["digest"], "rubbish")
        assert refused.value.name == "rule_refused"
        await d.answer(ask, answer="deny")
        await running


async def _once(d: Desk, command: str) -> None:
    running = d.begin(command)
    await d.answer(await d.ask())
    await running


HOST = """
import asyncio, sys
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession

async def main():
    async with RuntimeSession.start(sys.argv[1], agent="killed") as session:
        print(session.setting.reply_to, session.journal.path, flush=True)
        for command in ("touch a", "touch b", "touch c", "touch d"):
            await session.pipeline.run(Intent("bash", {"command": command}))
asyncio.run(main())
"""


def start_host(folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HOST, str(folder)], stdout=subprocess.PIPE, text=True)


async def test_after_a_kill_the_journal_folds_to_the_grants_that_the_host_had(tmp_path: Path) -> None:
    from interlock.runtime.engine.grants import view_of
    from interlock.runtime.engine.recover import recover_session

    (tmp_path / "work").mkdir()
    host = start_host(tmp_path / "work")
    try:
        assert host.stdout is not None
        socket, journal = (await asyncio.to_thread(host.stdout.readline)).split()
        async with await AskClient.connect(socket) as client:
            scopes = iter(("session", "turn", "ten_minutes"))
            async for notice in client.subscribe():
                scope = next(scopes, None) if isinstance(notice, OpenedNotice) else ""
                if scope is None:
                    break
                if isinstance(notice, OpenedNotice):
                    digest = offers(notice.ask)[0]["digest"]
                    await client.answer(
                        notice.ask.ask_id, notice.ask.input_digest, "allow", scope=scope, suggestion=digest
                    )  # type: ignore[arg-type]
            await client.revoke("grant_2")
            told = await client.grants()
            host.send_signal(signal.SIGKILL)
            host.wait()
    finally:
        host.kill()
        host.wait()
    lines = Path(journal).read_bytes().split(b"\n")[:-1]
    fold = GrantFold()
    for line in lines:
        fold.add(decode_line(line))
    assert tuple(view_of(grant) for grant in fold.made.values()) == told
    assert [view.scope for view in told] == ["session", "ten_minutes"]
    recover_session(Path(journal).parent.name)
    for line in Path(journal).read_bytes().split(b"\n")[:-1]:
        fold.add(decode_line(line))
    assert fold.ended
    assert fold.made == {}
