"""`interlock acp`: between an ACP client and an agent, both watched and gated (AG-5).

Promises: bytes go on as they came, in their order; the policy answers a permission at once where it can, else the inbox and
the editor's own prompt race, and the first answer is the only one that the agent gets; a fault of the gate leaves the
question to the editor, never an allow; the agent's processes end with this one and its exit code is handed on.
Does not promise: that an editor closes its prompt when it is told to; its late answer is swallowed either way.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Protocol

from interlock.runtime.gates.acp.call import call_of
from interlock.runtime.gates.acp.frame import Lines
from interlock.runtime.gates.acp.relay import Answered, Outgoing, Relay, Request
from interlock.runtime.gates.acp.session import Sessions
from interlock.runtime.gates.call import ForeignCall, NativeCause, Verdict
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.journal.writer import system_clock
from interlock.runtime.policy.verdict.decision import Decision

_log = logging.getLogger(__name__)
_CHUNK = 1 << 16
_GRACE_S = 3.0
"""Seconds that the agent has to end by itself, after its input has ended and again after TERM."""
_NATIVE: dict[str, NativeCause] = {"allow": "native_allow", "deny": "native_deny"}


class Sink(Protocol):
    """Takes bytes in order; waits while the other side is slow."""

    async def __call__(self, data: bytes, /) -> None: ...


class Proxy:
    """The gate of one connection. Feed it what comes from both sides."""

    def __init__(self, host: GateHost, sessions: Sessions, to_agent: Sink, to_editor: Sink) -> None:
        self._host = host
        self._sessions = sessions
        self._to_agent = to_agent
        self._to_editor = to_editor
        self._relay = Relay()
        self._judging: dict[Request, tuple[ForeignCall, Ledger, asyncio.Task[None]]] = {}

    async def from_agent(self, line: bytes) -> None:
        """A whole line of the agent."""
        out = self._relay.from_agent(line)
        self._watch(out, of_agent=True)
        for request in out.withdrawn:
            self._withdraw(request)
        if out.permission is not None:
            await self._permission(out.permission)
        elif out.forward is not None:
            await self._to_editor(out.forward)

    async def from_editor(self, line: bytes) -> None:
        """A whole line of the editor."""
        out = self._relay.from_editor(line)
        if out.answered is not None:
            await self._editor_answered(out.answered)
            return
        self._watch(out, of_agent=False)
        if out.message is not None and out.message.get("method") == "session/cancel":
            self._turn_cancelled(out.message.get("params"))
        if out.forward is not None:
            await self._to_agent(out.forward)

    async def close(self) -> None:
        """The connection is over: nothing waits any more."""
        for call, ledger, task in list(self._judging.values()):
            ledger.cancel(call, "session_closed")
            await asyncio.wait({task}, timeout=_GRACE_S)

    def _watch(self, out: Outgoing, *, of_agent: bool) -> None:
        if out.message is None:
            return
        try:
            self._sessions.from_agent(out.message) if of_agent else self._sessions.from_editor(out.message)
        except Exception:  # what cannot be understood must not stop the traffic
            _log.exception("a message could not be watched")

    async def _permission(self, request: Request) -> None:
        try:
            ledger = self._sessions.ledger(request.session)
            told = request.params.get("toolCall")
            told = told if isinstance(told, dict) else {}
            if ledger is None:
                await self._without_journal(
                    request, call_of(told, self._sessions.cwd(request.session), request.options)
                )
                return
            call = self._sessions.call(request.session, told, request.options)
            task = asyncio.create_task(self._judge(request, call, ledger))
            self._judging[request] = (call, ledger, task)
            task.add_done_callback(lambda _: self._judging.pop(request, None))
            # the policy answers without waiting: only what it leaves open is shown to the editor
            await asyncio.sleep(0)
        except Exception:
            _log.exception("a permission could not be judged; the editor decides")
        if request.state == "held":
            await self._to_editor(self._relay.show(request))

    async def _without_journal(self, request: Request, call: ForeignCall) -> None:
        decision: Decision = self._host.rules.decide("acp", call, (call.cwd,), (), system_clock())
        if decision.effect == "deny":
            await self._answer(request, Verdict("deny", decision.reason))
        else:
            await self._to_editor(self._relay.show(request))

    async def _judge(self, request: Request, call: ForeignCall, ledger: Ledger) -> None:
        try:
            verdict = await ledger.judge(call)
            if verdict.decision != "none":
                await self._answer(request, verdict)
            elif request.state == "held":
                await self._to_editor(self._relay.show(request))
        except Exception:
            _log.exception("an ask failed; the editor decides")
            if request.state == "held":
                await self._to_editor(self._relay.show(request))

    async def _answer(self, request: Request, verdict: Verdict) -> None:
        assert verdict.decision != "none"
        result = request.options.result(verdict.decision)
        if result is None:
            # allowed, but the agent offers no option that says so for this once: the editor has to choose
            if request.state == "held":
                await self._to_editor(self._relay.show(request))
            return
        if not self._relay.settle(request):
            return
        to_agent, to_editor = self._relay.answer(request, result)
        await self._to_agent(to_agent)
        if to_editor is not None:
            await self._to_editor(to_editor)

    async def _editor_answered(self, answered: Answered) -> None:
        request = answered.request
        call, ledger, task = self._judging.get(request, (None, None, None))
        if call is not None and ledger is not None and task is not None:
            closed = ledger.cancel(call, _NATIVE.get(answered.said, "withdrawn"))
            if not closed and call.ask_id is not None:
                # somebody answered in the inbox a moment earlier, and that is on record: it stands
                await asyncio.wait({task})
        if self._relay.settle(request):
            await self._to_agent(answered.line)

    def _withdraw(self, request: Request) -> None:
        call, ledger, _ = self._judging.get(request, (None, None, None))
        if call is not None and ledger is not None:
            ledger.cancel(call, "withdrawn")

    def _turn_cancelled(self, params: Any) -> None:
        session = params.get("sessionId") if isinstance(params, dict) else None
        for request in list(self._judging):
            if request.session == session:
                self._withdraw(request)


async def run(command: Sequence[str], host: GateHost, *, stdin: int = 0, stdout: int = 1) -> int:
    """Start the agent, stand between it and `stdin`/`stdout` until it ends, and give its exit code (128+n for a signal).

    Raises OSError when the agent cannot be started.
    """
    agent = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=_CHUNK,
        env=os.environ | {"INTERLOCK_AGENT": "acp"},
    )
    assert agent.stdin is not None
    assert agent.stdout is not None
    host.learn([agent.pid])
    sessions = Sessions(host, os.path.basename(command[0]), os.getcwd())
    lock = asyncio.Lock()
    agent_in = agent.stdin

    async def to_agent(data: bytes) -> None:
        with suppress(ConnectionError, RuntimeError):  # it has ended; its exit code will tell
            agent_in.write(data)
            await agent_in.drain()

    async def to_editor(data: bytes) -> None:
        async with lock:
            await asyncio.to_thread(_write_all, stdout, data)

    proxy = Proxy(host, sessions, to_agent, to_editor)
    ending = _Ending(agent)
    _read_editor(stdin, proxy, agent_in, to_agent, ending)
    try:
        await _until_over(_read_agent(agent.stdout, proxy, to_editor), agent)
    except OSError as error:
        _log.error("the editor does not read any more: %s", error.strerror)
    finally:
        await proxy.close()
        await ending.end_group()
    code = await agent.wait()
    return code if code >= 0 else 128 - code


async def _until_over(reading: Coroutine[Any, Any, None], agent: asyncio.subprocess.Process) -> None:
    """Read to the end of the agent's output; when the agent has ended and a child of it holds the pipe, not much longer."""
    task, ended = asyncio.ensure_future(reading), asyncio.ensure_future(agent.wait())
    await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
    if not task.done():
        await asyncio.wait({task}, timeout=_GRACE_S)
    ended.cancel()
    if not task.done():
        task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _read_agent(stream: asyncio.StreamReader, proxy: Proxy, to_editor: Sink) -> None:
    lines = Lines()
    while chunk := await stream.read(_CHUNK):
        for data, is_line in lines.feed(chunk):
            await (proxy.from_agent(data) if is_line else to_editor(data))
    for data, _ in lines.rest():
        await to_editor(data)


def _read_editor(stdin: int, proxy: Proxy, agent_in: asyncio.StreamWriter, to_agent: Sink, ending: _Ending) -> None:
    """Read the editor in a thread: its pipe may be of any kind, and must not be made non-blocking for others."""
    loop = asyncio.get_running_loop()
    lines = Lines()

    async def take(chunk: bytes) -> None:
        for data, is_line in lines.feed(chunk):
            await (proxy.from_editor(data) if is_line else to_agent(data))

    async def over() -> None:
        for data, _ in lines.rest():
            await to_agent(data)
        with suppress(ConnectionError, RuntimeError):
            agent_in.close()
        ending.begin()

    def read() -> None:
        try:
            while chunk := os.read(stdin, _CHUNK):
                # waiting for the loop is what slows a fast editor down to a slow agent
                asyncio.run_coroutine_threadsafe(take(chunk), loop).result()
        except OSError as error:
            _log.error("the editor cannot be read: %s", error.strerror)
        except Exception:
            _log.exception("a line of the editor could not be handled")
        with suppress(RuntimeError):  # the loop has ended meanwhile
            asyncio.run_coroutine_threadsafe(over(), loop)

    threading.Thread(target=read, name="editor", daemon=True).start()


class _Ending:
    """The end of the agent and of all that it started."""

    def __init__(self, agent: asyncio.subprocess.Process) -> None:
        self._agent = agent
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with suppress(ValueError, NotImplementedError, RuntimeError):
                self._loop.add_signal_handler(number, self.begin, number)

    def begin(self, number: int = 0) -> None:
        """The editor is gone, or somebody ends this process."""
        if number:
            self._signal(number)
        if self._task is None:
            self._task = self._loop.create_task(self._later())

    async def _later(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._agent.wait(), _GRACE_S)
        await self.end_group()

    async def end_group(self) -> None:
        """TERM, then KILL, for every process of the agent's group that still lives."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self._signal(number):
                return
            if number == signal.SIGKILL:
                return
            for _ in range(int(_GRACE_S * 20)):
                if not self._signal(0):
                    return
                await asyncio.sleep(0.05)

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self._agent.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
