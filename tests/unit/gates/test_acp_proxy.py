"""`interlock acp` as a process: a scripted agent on one side, this test as the editor on the other, and a screen (AG-5)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.discovery import survey
from interlock.runtime.asks.protocol import AskView

AGENT = Path(__file__).with_name("scripted_acp_agent.py")
PATIENCE_S = 60
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "ever", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def ask(command: str, number: Any = 0, options: Any = OPTIONS, session: str = "s1") -> str:
    call = {"toolCallId": f"t{number}", "title": command, "kind": "execute", "rawInput": {"command": command}}
    params = {"sessionId": session, "toolCall": call, "options": options}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "session/request_permission", "params": params}) + "\n"


def chosen(option: str, number: Any = 0) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {"outcome": {"outcome": "selected", "optionId": option}}}


class Editor:
    """The client's side of a running proxy."""

    def __init__(self, process: asyncio.subprocess.Process, heard: Path) -> None:
        self.process = process
        self._heard = heard

    async def read(self) -> bytes:
        assert self.process.stdout is not None
        return await asyncio.wait_for(self.process.stdout.readline(), PATIENCE_S)

    async def say(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n")
        await self.process.stdin.drain()

    async def end(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)

    def heard(self) -> list[Any]:
        """What the agent has read, line by line."""
        return [json.loads(line) for line in self._heard.read_text().splitlines()]

    async def screen(self) -> AskClient:
        """A screen that has found the proxy."""
        async with asyncio.timeout(PATIENCE_S):
            while not (hosts := [h for h in survey().hosts if h.pid == self.process.pid]):
                await asyncio.sleep(0.02)
        return await AskClient.connect(hosts[0].socket, "test screen")


async def asks_of(screen: AskClient, count: int) -> list[AskView]:
    async with asyncio.timeout(PATIENCE_S):
        while len(found := await screen.list()) != count:
            await asyncio.sleep(0.02)
    return found


Start = Callable[..., Awaitable[Editor]]


@pytest.fixture
async def start(machine: Any, tmp_path: Path) -> AsyncIterator[Start]:
    editors: list[Editor] = []

    async def started(*steps: dict[str, Any]) -> Editor:
        heard = tmp_path / f"heard-{len(editors)}.jsonl"
        heard.touch()
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "interlock.runtime.cli", "acp", "--", sys.executable, str(AGENT),
            json.dumps(steps), str(heard),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True, limit=1 << 28,
            cwd=machine.project,
        )  # fmt: skip
        editors.append(Editor(process, heard))
        return editors[-1]

    yield started
    for editor in editors:
        with suppress(ProcessLookupError):
            os.killpg(editor.process.pid, signal.SIGTERM)
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(editor.process.wait(), 20)
        with suppress(ProcessLookupError):
            os.killpg(editor.process.pid, signal.SIGKILL)


def journal(machine: Any) -> list[dict[str, Any]]:
    found = sorted((machine.root / "state" / "sessions").glob("*/events.jsonl"))
    return [json.loads(line) for path in found for line in path.read_text().splitlines()]


async def test_bytes_pass_in_both_directions_and_the_exit_code_comes_through(start: Start) -> None:
    odd = 'garbage \udcff\x00\n{"jsonrpc" : "2.0",  "method":"x"}\r\n'
    editor = await start({"say": odd}, {"wait": 2}, {"say": "no line end"}, {"exit": 7})
    assert await editor.read() == b"garbage \xff\x00\n"
    assert await editor.read() == b'{"jsonrpc" : "2.0",  "method":"x"}\r\n'
    await editor.say(b'{"jsonrpc":"2.0",   "id":1}\n')
    await editor.say(b"not json at all\r\n")
    assert await editor.read() == b"no line end"
    assert await asyncio.wait_for(editor.process.wait(), PATIENCE_S) == 7
    assert editor.heard() == ['{"jsonrpc":"2.0",   "id":1}\n', "not json at all\r\n"]


async def test_a_huge_line_passes_whole(start: Start) -> None:
    text = "x" * 20_000_000
    editor = await start({"wait": 1}, {"exit": 0})
    assert editor.process.stdin is not None
    await editor.say(f'{{"method":"{text}"}}\n'.encode())
    assert await asyncio.wait_for(editor.process.wait(), PATIENCE_S) == 0
    assert len(editor.heard()[0]) == len(text) + len('{"method":""}\n')


async def test_the_policy_denies_and_allows_without_asking_anybody(start: Start, machine: Any) -> None:
    machine.policy('deny = ["rm *"]\nallow = ["echo *"]\n')
    editor = await start(
        {"say": ask("rm -rf x", 0)}, {"wait": 1}, {"say": ask("echo hi", 1)}, {"wait": 1}, {"say": "end\n"}
    )
    assert await editor.read() == b"end\n"
    assert [json.loads(line) for line in editor.heard()] == [chosen("no", 0), chosen("yes", 1)]
    await editor.end()
    told = [(e["type"], e.get("decision")) for e in journal(machine) if e["type"] == "tool.permission"]
    assert told == [("tool.permission", "deny"), ("tool.permission", "allow")]


async def test_an_answer_in_the_inbox_wins_and_the_editor_is_told(start: Start, machine: Any) -> None:
    editor = await start({"say": ask("make deploy")}, {"wait": 1}, {"say": "end\n"}, {"wait": 1})
    assert (await editor.read()).decode() == ask("make deploy")
    screen = await editor.screen()
    (view,) = await asks_of(screen, 1)
    assert "deny.message" not in view.event["choices"]
    await screen.answer(view.ask_id, view.input_digest, "allow")
    told = json.loads(await editor.read())
    assert (told["method"], told["params"]) == ("$/cancel_request", {"requestId": 0})
    assert await editor.read() == b"end\n"
    assert json.loads(editor.heard()[0]) == chosen("yes")
    await editor.say(chosen("no"))  # the person at the editor was too late
    await editor.say({"jsonrpc": "2.0", "id": 9, "method": "session/prompt"})
    await editor.end()
    assert [json.loads(line)["id"] for line in editor.heard()] == [0, 9]
    await screen.close()


async def test_an_answer_in_the_editor_wins_and_the_ask_is_gone_from_the_inbox(start: Start, machine: Any) -> None:
    editor = await start(
        {"say": ask("make deploy")}, {"wait": 1}, {"say": ask("make clean", 1)}, {"wait": 1}, {"say": "end\n"}
    )
    await editor.read()
    screen = await editor.screen()
    await asks_of(screen, 1)
    await editor.say(chosen("ever"))
    await editor.read()
    (second,) = await asks_of(screen, 1)
    assert second.event["shownInput"]["command"] == "make clean"
    await editor.say(chosen("no", 1))
    assert await editor.read() == b"end\n"
    await asks_of(screen, 0)
    assert [json.loads(line) for line in editor.heard()] == [chosen("ever"), chosen("no", 1)]
    answers = [(e["answer"], e["by"]["kind"]) for e in journal(machine) if e["type"] == "tool.permission.answered"]
    assert answers == [("allow", "native_prompt"), ("deny", "native_prompt")]
    await screen.close()


async def test_a_question_is_shown_but_only_the_editor_answers_it(start: Start, machine: Any) -> None:
    colours = [{"optionId": name, "name": name, "kind": "allow_once"} for name in ("red", "blue")]
    editor = await start({"say": ask("Which colour?", 0, colours)}, {"wait": 1}, {"say": "end\n"})
    await editor.read()
    screen = await editor.screen()
    (view,) = await asks_of(screen, 1)
    assert view.event["choices"] == []
    assert "question" in view.event["reason"]
    await editor.say(chosen("blue"))
    assert await editor.read() == b"end\n"
    assert json.loads(editor.heard()[0]) == chosen("blue")
    await screen.close()


async def test_the_answer_counts_as_delivered_only_when_the_agent_goes_on(start: Start, machine: Any) -> None:
    done = {
        "sessionId": "s1",
        "update": {"sessionUpdate": "tool_call_update", "toolCallId": "t0", "status": "completed"},
    }
    update = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": done}) + "\n"
    editor = await start(
        {"say": ask("make deploy")}, {"wait": 1}, {"say": "between\n"}, {"wait": 1}, {"say": update}, {"wait": 9}
    )
    await editor.read()
    screen = await editor.screen()
    (view,) = await asks_of(screen, 1)
    await screen.answer(view.ask_id, view.input_digest, "allow")
    await editor.read()
    assert await editor.read() == b"between\n"
    assert "tool.permission.delivered" not in [e["type"] for e in journal(machine)]
    await editor.say({"go": "on"})
    assert await editor.read() == update.encode()
    types = [e["type"] for e in journal(machine)]
    assert (
        types.index("tool.permission.answered")
        < types.index("tool.permission.delivered")
        < types.index("tool.observation")
    )
    await screen.close()


async def test_a_past_that_is_told_again_is_no_new_call(start: Start, machine: Any) -> None:
    def update(call: str) -> str:
        told = {
            "sessionUpdate": "tool_call_update",
            "toolCallId": call,
            "status": "completed",
            "kind": "read",
            "title": call,
        }
        return json.dumps({"method": "session/update", "params": {"sessionId": "s1", "update": told}}) + "\n"

    loaded = json.dumps({"jsonrpc": "2.0", "id": 3, "result": {}}) + "\n"
    editor = await start({"wait": 1}, {"say": update("past") + loaded + update("new")}, {"wait": 1})
    params = {"sessionId": "s1", "cwd": str(machine.project), "mcpServers": []}
    await editor.say({"jsonrpc": "2.0", "id": 3, "method": "session/load", "params": params})
    assert [await editor.read() for _ in range(3)] == [
        line.encode() for line in (update("past"), loaded, update("new"))
    ]
    await editor.end()
    assert [e["callId"] for e in journal(machine) if e["type"] == "tool.intent"] == ["new"]


async def test_a_cancelled_turn_takes_its_asks_with_it(start: Start, machine: Any) -> None:
    editor = await start({"say": ask("make deploy")}, {"wait": 2}, {"say": "end\n"}, {"wait": 9})
    await editor.read()
    screen = await editor.screen()
    await asks_of(screen, 1)
    await editor.say({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s1"}})
    await asks_of(screen, 0)
    await editor.say({"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}})
    assert await editor.read() == b"end\n"
    assert json.loads(editor.heard()[1])["result"]["outcome"] == {"outcome": "cancelled"}
    await screen.close()


async def test_an_agent_that_dies_takes_its_asks_with_it(start: Start, machine: Any) -> None:
    editor = await start({"say": ask("make deploy")}, {"wait": 1}, {"exit": 3})
    await editor.read()
    screen = await editor.screen()
    await asks_of(screen, 1)
    await editor.say({"go": "on"})
    assert await asyncio.wait_for(editor.process.wait(), PATIENCE_S) == 3
    closed = [e["cause"] for e in journal(machine) if e["type"] == "tool.permission.closed"]
    assert closed == ["session_closed"]
    await screen.close()


async def test_what_the_agent_started_ends_with_the_connection(start: Start) -> None:
    editor = await start({"spawn": 600}, {"say": "up\n"}, {"wait": 1}, {"exit": 0})
    assert await editor.read() == b"up\n"
    child = int(editor.heard()[0].split()[1])
    assert await editor.end() == 0
    async with asyncio.timeout(PATIENCE_S):
        while _lives(child):
            await asyncio.sleep(0.05)


async def test_ending_the_proxy_ends_the_agent(start: Start) -> None:
    editor = await start({"spawn": 600}, {"say": "up\n"}, {"wait": 1})
    await editor.read()
    child = int(editor.heard()[0].split()[1])
    editor.process.terminate()
    assert await asyncio.wait_for(editor.process.wait(), PATIENCE_S) == 128 + signal.SIGTERM
    async with asyncio.timeout(PATIENCE_S):
        while _lives(child):
            await asyncio.sleep(0.05)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc/self").exists() else True
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_with_no_place_for_a_journal_the_editor_decides_and_a_deny_holds(start: Start, machine: Any) -> None:
    machine.policy('deny = ["rm *"]\n')
    (machine.root / "state").write_text("in the way")
    editor = await start(
        {"say": ask("rm -rf x", 0)}, {"wait": 1}, {"say": ask("make deploy", 1)}, {"wait": 1}, {"say": "end\n"}
    )
    assert (await editor.read()).decode() == ask("make deploy", 1)
    await editor.say(chosen("yes", 1))
    assert await editor.read() == b"end\n"
    assert [json.loads(line) for line in editor.heard()] == [chosen("no", 0), chosen("yes", 1)]


async def test_a_command_that_is_not_there_is_told(machine: Any) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "interlock.runtime.cli", "acp", "--", "no-such-agent-here", stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    _, told = await asyncio.wait_for(process.communicate(), PATIENCE_S)
    assert process.returncode == 127
    assert b"cannot start no-such-agent-here" in told
