"""`interlock acp` between this test, as the editor, and real ACP agents (AG-5)."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

OPENCODE = "opencode/node_modules/opencode-linux-x64/bin/opencode"
CODEX_ACP = "acp/node_modules/.bin/codex-acp"
CLAUDE_ACP = "acp/node_modules/@zed-industries/claude-agent-acp/dist/index.js"
CLAUDE = "cc/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
PATIENCE_S = 120

COMMANDS = ("touch allowed.txt && echo made", "rm -rf important")
ESCAPE = {"sandbox_permissions": "require_escalated", "justification": "May I?"}
TOOLS = {
    "gemini": lambda command: {"name": "run_shell_command", "args": {"command": command, "description": "d"}},
    "opencode": lambda command: {"name": "bash", "args": {"command": command, "description": "d"}},
    "codex": lambda command: {"name": "exec_command", "args": {"cmd": command, **ESCAPE}},
    "claude": lambda command: {"name": "Bash", "args": {"command": command, "description": "d"}},
}


def gemini(stage: Any) -> list[str]:
    stage.gemini_settings()
    return ["gemini", "-m", "gemini-2.5-flash", "--skip-trust", "--acp"]


def opencode(stage: Any) -> list[str]:
    stage.program("opencode", OPENCODE)
    seed = stage.clients / "opencode-home"
    if seed.exists():  # what opencode fetches at its first start, which takes it minutes
        shutil.copytree(seed, stage.home, dirs_exist_ok=True)
    settings = stage.home / ".config" / "opencode" / "opencode.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    model = {"name": "fake", "tool_call": True, "limit": {"context": 100000, "output": 4096}}
    options = {"baseURL": f"http://127.0.0.1:{stage.port}/v1", "apiKey": "none"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"fake-1": model}}
    told = {"autoupdate": False, "share": "disabled", "model": "fake/fake-1", "small_model": "fake/fake-1"}
    more = {"provider": {"fake": provider}, "enabled_providers": ["fake"], "permission": {"bash": "ask"}}
    settings.write_text(json.dumps(told | more))
    for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"):
        stage.env[f"OPENCODE_DISABLE_{name}"] = "1"
    return ["opencode", "acp"]


def codex(stage: Any) -> list[str]:
    stage.program("codex-acp", CODEX_ACP)
    stage.codex_settings()
    settings = stage.home / ".codex" / "config.toml"
    settings.write_text(settings.read_text().replace("supports_websockets = false\n", ""))
    return ["codex-acp"]


def claude(stage: Any) -> list[str]:
    stage.program("claude-acp", CLAUDE_ACP)
    stage.program("claude", CLAUDE)
    stage.env |= {
        "CLAUDE_CODE_EXECUTABLE": str(stage.clients / CLAUDE),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{stage.port}",
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    return ["claude-acp"]


AGENTS = {"gemini": gemini, "opencode": opencode, "codex": codex, "claude": claude}


class Editor:
    """An editor that keeps permission requests until it is told what to say."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.requests: list[dict[str, Any]] = []
        self.cancelled: list[Any] = []
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._count = 0
        self.reading = asyncio.create_task(self._read())

    async def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = await self.begin(method, params)
        return await asyncio.wait_for(answer, PATIENCE_S)

    async def begin(self, method: str, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        number, self._count = self._count, self._count + 1
        self._answers[number] = asyncio.get_running_loop().create_future()
        await self.say({"id": number, "method": method, "params": params})
        return self._answers[number]

    async def choose(self, request: dict[str, Any], kind: str) -> None:
        option = next(one["optionId"] for one in request["params"]["options"] if one["kind"] == kind)
        await self.say({"id": request["id"], "result": {"outcome": {"outcome": "selected", "optionId": option}}})

    async def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        await self.process.stdin.drain()

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            if message.get("method") == "session/request_permission":
                self.requests.append(message)
            elif message.get("method") == "$/cancel_request":
                self.cancelled.append(message["params"]["requestId"])
            elif "method" not in message and message["id"] in self._answers:
                self._answers[message["id"]].set_result(message)

    async def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        with suppress(asyncio.CancelledError):
            code = await asyncio.wait_for(self.process.wait(), PATIENCE_S)
        self.reading.cancel()
        return code


@pytest.fixture
async def editors() -> AsyncIterator[list[Editor]]:
    made: list[Editor] = []
    yield made
    for editor in made:
        if editor.process.returncode is None:
            editor.process.kill()
        editor.reading.cancel()


async def begin(stage: Any, editors: list[Editor], agent: str) -> tuple[Editor, asyncio.Future[dict[str, Any]]]:
    stage.play(
        {"two": [{"text": "Next.", "tools": [TOOLS[agent](command)]} for command in COMMANDS] + [{"text": "End."}]}
    )
    return await open_editor(stage, editors, AGENTS[agent](stage))


async def open_editor(
    stage: Any, editors: list[Editor], command: list[str]
) -> tuple[Editor, asyncio.Future[dict[str, Any]]]:
    process = await asyncio.create_subprocess_exec(
        "interlock", "acp", "--", *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env=stage.env, cwd=stage.project, start_new_session=True, limit=1 << 26,
    )  # fmt: skip
    editor = Editor(process)
    editors.append(editor)
    files = {"readTextFile": False, "writeTextFile": False}
    await editor.call("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": files, "terminal": False}})
    session = (await editor.call("session/new", {"cwd": str(stage.project), "mcpServers": []}))["result"]["sessionId"]
    prompt = [{"type": "text", "text": "do it play:two"}]
    return editor, await editor.begin("session/prompt", {"sessionId": session, "prompt": prompt})


@pytest.mark.parametrize("agent", list(AGENTS))
async def test_a_call_is_allowed_in_the_inbox_and_another_denied(
    stage: Any, editors: list[Editor], approver: Any, until: Any, agent: str
) -> None:
    editor, turn = await begin(stage, editors, agent)
    (ask,) = await approver.wait()
    assert "touch allowed.txt" in json.dumps(ask.event["shownInput"])
    assert ask.event["cwd"] == str(stage.project)
    await until(lambda: editor.requests, "the request in the editor")
    assert len(editor.requests) == 1
    assert not (stage.project / "allowed.txt").exists()
    await approver.answer(ask, "allow")
    await until((stage.project / "allowed.txt").exists, "the file")
    (second,) = await approver.wait()
    await approver.answer(second, "deny")
    assert "result" in await asyncio.wait_for(turn, PATIENCE_S)
    assert (stage.project / "important" / "keep.txt").exists()
    assert editor.cancelled == [request["id"] for request in editor.requests]
    # an agent that does not end by itself with its input is ended
    assert await editor.close() in (0, 128 + 15, 128 + 9)
    delivered = [event["askId"] for event in stage.events("tool.permission.delivered")]
    assert delivered == [ask.ask_id, second.ask_id]


@pytest.mark.parametrize("agent", list(AGENTS))
async def test_an_answer_in_the_editor_takes_the_ask_out_of_the_inbox(
    stage: Any, editors: list[Editor], approver: Any, until: Any, agent: str
) -> None:
    editor, turn = await begin(stage, editors, agent)
    await approver.wait()
    await until(lambda: editor.requests, "the request in the editor")
    await editor.choose(editor.requests[0], "allow_once")
    await until((stage.project / "allowed.txt").exists, "the file")
    await until(lambda: len(editor.requests) == 2, "the second request")
    await approver.wait()
    await editor.choose(editor.requests[1], "reject_once")
    assert "result" in await asyncio.wait_for(turn, PATIENCE_S)
    await approver.wait(0)
    assert (stage.project / "important" / "keep.txt").exists()
    answers = [(e["answer"], e["by"]["kind"]) for e in stage.events("tool.permission.answered")]
    assert answers == [("allow", "native_prompt"), ("deny", "native_prompt")]


async def test_the_policy_answers_before_the_editor_sees_anything(
    stage: Any, editors: list[Editor], until: Any
) -> None:
    stage.policy('allow = ["touch *", "echo *"]\ndeny = ["rm *"]\n')
    editor, turn = await begin(stage, editors, "claude")
    assert "result" in await asyncio.wait_for(turn, PATIENCE_S)
    assert editor.requests == []
    assert (stage.project / "allowed.txt").exists()
    assert (stage.project / "important" / "keep.txt").exists()


async def test_an_ask_survives_the_death_of_the_screen(
    stage: Any, editors: list[Editor], approver: Any, until: Any
) -> None:
    await begin(stage, editors, "claude")
    (ask,) = await approver.wait()
    await approver.close()
    (again,) = await approver.wait()
    assert again.ask_id == ask.ask_id
    await approver.answer(again, "allow")
    await until((stage.project / "allowed.txt").exists, "the file")


@pytest.mark.parametrize("agent", list(AGENTS))
async def test_when_the_proxy_is_killed_nothing_is_run(
    stage: Any, editors: list[Editor], approver: Any, until: Any, agent: str
) -> None:
    editor, _ = await begin(stage, editors, agent)
    (ask,) = await approver.wait()
    editor.process.kill()
    await editor.process.wait()
    await approver.wait(0)
    # whoever looks at the journals next closes what was left open
    stage.run("interlock", "gate", "serve", "--detach")
    (closed,) = stage.events("tool.permission.closed")
    assert (closed["askId"], closed["cause"]) == (ask.ask_id, "runtime_restarted")
    assert not (stage.project / "allowed.txt").exists()


async def test_two_at_once_are_two_asks_and_each_gets_its_own_answer(
    stage: Any, editors: list[Editor], approver: Any, until: Any
) -> None:
    await begin(stage, editors, "claude")
    (one,) = await approver.wait()
    _, turn = await open_editor(stage, editors, ["claude-acp"])
    (other,) = [ask for ask in await approver.wait(2) if ask.ask_id != one.ask_id]
    assert other.session != one.session
    await approver.answer(other, "deny")
    await until(lambda: len(stage.events("tool.permission.delivered")) == 1, "the deny delivered")
    assert not (stage.project / "allowed.txt").exists()
    await approver.answer(one, "allow")
    await until((stage.project / "allowed.txt").exists, "the file")
    turn.cancel()
