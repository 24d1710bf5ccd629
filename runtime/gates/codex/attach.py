"""A second client on a Codex app-server, beside the person's own screen of Codex (AG-3).

Promises: every thread that is loaded is taken up, also one that waits for an answer already; the policy answers at once where
it can, else the inbox and Codex's own prompt race, and an answer given there takes the ask out of the inbox at once; an
answer counts as delivered when Codex tells what became of the item.
Does not promise: which way a native answer went before Codex tells of the item; the ask is gone all the same.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.codex.app_server import AppServer, ServerGone, ServerRefused
from interlock.runtime.gates.codex.approval import APPROVALS, COMMAND, call_of
from interlock.runtime.gates.codex.command import leaves_sandbox, run_outside
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.journal.place import PlaceError
from interlock.runtime.journal.writer import JournalWriteError, system_clock

_log = logging.getLogger(__name__)
NATIVE_WORD_S = 0.3
"""How long a question that Codex's own prompt answered waits for the item to tell which way it went."""
_DECISION = {"allow": "accept", "deny": "decline"}


@dataclass(eq=False, slots=True)
class _Ask:
    """A request of the server that is open."""

    request: Any
    item: str
    call: ForeignCall
    task: asyncio.Task[None] | None = None
    is_answered: bool = False
    """By us."""


@dataclass(eq=False, slots=True)
class _Thread:
    """A conversation of Codex."""

    id: str
    cwd: str = ""
    log: str | None = None
    ledger: Ledger | None = None
    items: dict[str, dict[str, Any]] = field(default_factory=dict)
    asks: dict[Any, _Ask] = field(default_factory=dict)
    calls: dict[str, ForeignCall] = field(default_factory=dict)


class Attached:
    """The gate of all threads of one app-server."""

    def __init__(self, server: AppServer, host: GateHost) -> None:
        self._server = server
        self._host = host
        self._threads: dict[str, _Thread] = {}
        self._passing: set[str] = set()
        """Threads that Codex keeps nowhere (titles and the like): no one works in them."""
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run(self) -> None:
        """Work until the server is gone."""
        try:
            loaded = (await self._server.call("thread/loaded/list", {})).get("data")
            for one in loaded if isinstance(loaded, list) else []:
                await self._take_up(one if isinstance(one, str) else str(one.get("id", "")))
            async for message in self._server.messages():
                try:
                    await self._handle(message)
                except (ServerGone, ServerRefused):
                    raise
                except Exception:
                    _log.exception("a message of codex could not be handled")
        except (ServerGone, ServerRefused) as error:
            _log.info("%s", error)
        finally:
            await self._end()

    async def _end(self) -> None:
        for thread in self._threads.values():
            for ask in list(thread.asks.values()):
                if thread.ledger is not None:
                    thread.ledger.cancel(ask.call, "withdrawn", "codex app-server is gone")
            if thread.ledger is not None:
                thread.ledger.end("completed", "codex app-server has ended")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5)

    async def _take_up(self, thread_id: str) -> None:
        """Become a client of a thread; one that has no record yet is tried again when it says more."""
        if not thread_id or thread_id in self._threads or thread_id in self._passing:
            return
        try:
            told = await self._server.call("thread/resume", {"threadId": thread_id})
        except ServerRefused:
            return
        about = told.get("thread")
        about = about if isinstance(about, dict) else {}
        thread = _Thread(thread_id, cwd=str(told.get("cwd") or about.get("cwd") or ""))
        self._threads[thread_id] = thread
        for turn in about.get("turns") or []:
            for item in turn.get("items") or []:
                if isinstance(item, dict) and isinstance(item.get("id"), str):
                    thread.items[item["id"]] = item
        self._open_ledger(thread, about)

    def _open_ledger(self, thread: _Thread, about: dict[str, Any]) -> None:
        agent = Agent(name="Codex", version=str(about.get("cliVersion") or ""), kind="codex")
        path = about.get("path")
        thread.log = path if isinstance(path, str) else None
        foreign = Foreign(session=thread.id, log=thread.log)
        parent = self._threads.get(str(about.get("parentThreadId")))
        above = parent.ledger.session if parent is not None and parent.ledger is not None else None
        try:
            thread.ledger = self._host.open(
                agent, foreign, thread.cwd or "/", model=about.get("model"), title=about.get("name"), parent=above
            )
        except (JournalWriteError, PlaceError) as error:
            _log.error("codex asks alone in thread %s: %s", thread.id, error)

    async def _handle(self, message: dict[str, Any]) -> None:
        method, params = message["method"], message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == "thread/started":
            about = params.get("thread")
            if isinstance(about, dict) and about.get("ephemeral"):
                self._passing.add(str(about.get("id")))
            return
        thread_id = str(params.get("threadId", ""))
        if method == "thread/status/changed":
            await self._take_up(thread_id)
        thread = self._threads.get(thread_id)
        if thread is None:
            return
        if "id" in message and method in APPROVALS:
            self._asked(thread, message["id"], method, params)
        elif method in ("item/started", "item/completed"):
            self._item(thread, params.get("item"), is_over=method == "item/completed")
        elif method == "serverRequest/resolved":
            self._resolved(thread, params.get("requestId"))
        elif method == "thread/closed" and thread.ledger is not None:
            del self._threads[thread.id]
            thread.ledger.end("completed", "codex closed the thread")

    def _asked(self, thread: _Thread, request: Any, method: str, params: dict[str, Any]) -> None:
        item = str(params.get("itemId", ""))
        call = call_of(method, params, thread.items.get(item), thread.cwd)
        if method == COMMAND and leaves_sandbox(thread.log, call):
            run_outside(call)
        if thread.ledger is None:
            self._without_journal(thread, request, call)
            return
        ask = _Ask(request, item, call)
        thread.asks[request] = ask
        thread.calls[item] = call
        ask.task = self._later(self._judge(thread, thread.ledger, ask))

    def _without_journal(self, thread: _Thread, request: Any, call: ForeignCall) -> None:
        decision = self._host.rules.decide("codex", call, (thread.cwd or "/",), (), system_clock())
        if decision.effect == "deny":
            self._later(self._server.answer(request, {"decision": "decline"}))

    async def _judge(self, thread: _Thread, ledger: Ledger, ask: _Ask) -> None:
        verdict = await ledger.judge(ask.call)
        if verdict.decision == "none" or thread.asks.get(ask.request) is not ask:
            return  # Codex's own prompt decides, or has decided
        ask.is_answered = True
        try:
            await self._server.answer(ask.request, {"decision": _DECISION[verdict.decision]})
        except ServerGone as error:
            _log.error("an answer did not reach codex: %s", error)

    def _resolved(self, thread: _Thread, request: Any) -> None:
        ask = thread.asks.pop(request, None)
        if ask is None or ask.is_answered or thread.ledger is None:
            return
        self._later(self._native(thread, thread.ledger, ask))

    async def _native(self, thread: _Thread, ledger: Ledger, ask: _Ask) -> None:
        """Codex's own prompt, or another client, has answered; which way, the item tells."""
        await asyncio.sleep(NATIVE_WORD_S)
        ledger.cancel(ask.call, "withdrawn", "answered in Codex's own prompt")

    def _item(self, thread: _Thread, item: Any, *, is_over: bool) -> None:
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            return
        thread.items[item["id"]] = item
        if not is_over:
            return
        thread.items.pop(item["id"])
        call = thread.calls.pop(item["id"], None)
        if call is None or thread.ledger is None:
            return
        declined = item.get("status") == "declined"
        thread.ledger.cancel(call, "native_deny" if declined else "native_allow")
        if call.verdict is None or (call.verdict.decision == "deny") == declined:
            thread.ledger.delivered(call)
        self._later(self._result(thread.ledger, call, item))

    async def _result(self, ledger: Ledger, call: ForeignCall, item: dict[str, Any]) -> None:
        await asyncio.sleep(0)  # the judge has its outcome by now and writes what it was
        status, code = item.get("status"), item.get("exitCode")
        output = item.get("aggregatedOutput")
        summary = {"declined": "not run: declined"}.get(
            str(status), f"exit code {code}" if code is not None else str(status)
        )
        ledger.result(
            call,
            ok=status == "completed" and code in (None, 0),
            code="user_denied" if status == "declined" and call.verdict is None else "",
            summary=summary,
            duration_ms=item.get("durationMs") if isinstance(item.get("durationMs"), int) else None,
            output_bytes=len(output.encode("utf-8", "surrogatepass")) if isinstance(output, str) else 0,
        )

    def _later(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a question of codex could not be handled: %s", error)
