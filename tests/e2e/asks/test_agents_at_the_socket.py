"""What a process of the agent is refused: answers, and all that concerns standing permissions."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from interlock.runtime.asks.client import AskClient
from interlock.runtime.asks.protocol import AskView, OpenedNotice
from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.rules import Rules

pytestmark = pytest.mark.e2e
AGENT = Agent(name="Claude Code", version="2.1.332", kind="claude_code")
METHODS = ("asks.answer", "asks.shown", "asks.preview", "grants.list", "grants.revoke")
PATIENCE_S = 60
CHILD = r"""
import json, socket, sys
def connect():
    s = socket.socket(socket.AF_UNIX); s.settimeout(30); s.connect(sys.argv[1])
    return s, s.makefile("rb")
s, lines = connect()
for request in sys.stdin:
    request = json.loads(request)
    if request.pop("anew"): s, lines = connect()
    try: s.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, **request}).encode() + b"\n")
    except BrokenPipeError: pass  # refused at once; the reason can still be read
    print(lines.readline().decode(), end="", flush=True)
"""


@dataclass
class Table:
    """A host with a grant and an open ask, and a grandchild of a shell, connected, that is nobody's agent yet."""

    host: GateHost
    client: AskClient
    ask: AskView
    shell: subprocess.Popen[str]

    def params(self, method: str) -> dict[str, Any]:
        ask = {"askId": self.ask.ask_id}
        return {
            "asks.answer": {**ask, "inputDigest": self.ask.input_digest, "answer": "allow"},
            "asks.shown": ask,
            "asks.preview": {**ask, "suggestion": self.ask.event["suggestedRules"][0]["digest"]},
            "grants.list": {},
            "grants.revoke": {"grantId": "grant_1"},
        }[method]

    async def says(self, method: str, *, anew: bool = False) -> dict[str, Any]:
        """The reply to a request of the shell's child; `anew`: on a connection made for it."""
        line = json.dumps({"anew": anew, "method": method, "params": self.params(method)})
        assert self.shell.stdin
        assert self.shell.stdout
        self.shell.stdin.write(line + "\n")
        self.shell.stdin.flush()
        return json.loads(await asyncio.wait_for(asyncio.to_thread(self.shell.stdout.readline), PATIENCE_S))

    async def is_untouched(self) -> None:
        """The ask is open and was shown to nobody; the grant holds."""
        assert [(ask.ask_id, ask.shown) for ask in await self.client.list()] == [(self.ask.ask_id, False)]
        assert [grant.grant_id for grant in await self.client.grants()] == ["grant_1"]


@asynccontextmanager
async def table(folder: Path) -> AsyncIterator[Table]:
    async with (
        GateHost(rules=Rules(managed=folder / "no-managed.toml")) as host,
        await AskClient.connect(host.reply_to or "", "person") as client,
    ):
        ledger = host.open(AGENT, Foreign(session="f-1", log="/no/log.jsonl"), str(folder))
        notices = client.subscribe()
        coming = asyncio.ensure_future(anext(notices))
        while not host.is_watched:
            await client.ping()
        asks, judged = [], []
        for command in ("touch a", "touch b"):
            call = ForeignCall(tool="Bash", input={"command": command}, cwd=str(folder))
            judged.append(asyncio.create_task(ledger.judge(call)))
            while not isinstance(notice := await asyncio.wait_for(coming, PATIENCE_S), OpenedNotice):
                coming = asyncio.ensure_future(anext(notices))
            coming = asyncio.ensure_future(anext(notices))
            asks.append(notice.ask)
            if command == "touch a":
                await client.answer(notice.ask.ask_id, notice.ask.input_digest, "allow", scope="session")
        shell = await _shell(host.reply_to or "")
        try:
            yield Table(host, client, asks[1], shell)
        finally:
            shell.communicate(timeout=PATIENCE_S)  # its input ends, and so does it
            coming.cancel()
            ledger.end()
            await asyncio.gather(*judged)


async def _shell(path: str) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: ASYNC220
        ["/bin/sh", "-c", '"$0" -c "$1" "$2"; exit 0', sys.executable, CHILD, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def is_refused(reply: dict[str, Any]) -> bool:
    return reply.get("error", {}).get("data", {}).get("name") == "not_allowed"


@pytest.mark.parametrize("method", METHODS)
async def test_a_process_that_descends_from_the_agent_is_refused(tmp_path: Path, method: str) -> None:
    async with table(tmp_path / "work") as t:
        assert "result" in await t.says("grants.list")
        t.host.learn([t.shell.pid])
        reply = await t.says(method, anew=True)
        assert is_refused(reply), reply
        assert reply["id"] is None, "it was never served"
        await t.is_untouched()


@pytest.mark.parametrize("method", METHODS)
async def test_a_process_that_turns_out_to_be_the_agents_is_refused_on_its_old_connection(
    tmp_path: Path, method: str
) -> None:
    async with table(tmp_path / "work") as t:
        assert "result" in await t.says("grants.list")
        t.host.learn([t.shell.pid])
        reply = await t.says(method)
        assert is_refused(reply), reply
        assert reply["id"] == 1
        await t.is_untouched()


async def test_a_process_that_is_nobodys_agent_is_served(tmp_path: Path) -> None:
    async with table(tmp_path / "work") as t:
        for method in ("grants.list", "asks.preview", "asks.shown", "grants.revoke", "asks.answer"):
            reply = await t.says(method)
            assert "result" in reply, reply


ORPHAN = r"""
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-I", "-c", sys.argv[1], *sys.argv[2:]], {})
    os._exit(0)
os.wait()
"""
LONELY = r"""
import json, os, socket, sys, time
while os.getppid() == int(sys.argv[3]): time.sleep(0.01)
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
try: s.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "grants.list", "params": {}}).encode() + b"\n")
except BrokenPipeError: pass
with open(sys.argv[2] + ".new", "wb") as file: file.write(s.makefile("rb").readline())
os.rename(sys.argv[2] + ".new", sys.argv[2])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a brand is a matter of Linux")
async def test_an_orphan_of_a_gated_agent_is_refused_after_the_agent_itself_has_ended(tmp_path: Path) -> None:
    """ASK-9: an agent that a gate watches is nobody's child of ours, and neither are its orphans."""
    async with table(tmp_path / "work") as t:
        out = tmp_path / "told"
        script = '"$0" -c "$1" "$2" "$3" "$4" $$ & read line; kill %1 2>/dev/null; exit 0'
        words = [
            "/bin/sh",
            "-c",
            f"read line; {script}",
            sys.executable,
            ORPHAN,
            LONELY,
            t.host.reply_to or "",
            str(out),
        ]
        agent = subprocess.Popen(words, stdin=subprocess.PIPE, text=True, start_new_session=True)  # noqa: ASYNC220
        t.host.learn([agent.pid])
        assert agent.stdin
        agent.stdin.write("go\n")
        agent.stdin.flush()
        while not out.exists():  # the orphan waits until it has lost its parents
            await asyncio.sleep(0.02)
        agent.communicate("end\n", timeout=PATIENCE_S)
        t.host.forget([agent.pid])
        assert is_refused(json.loads(out.read_bytes()))
        await t.is_untouched()
