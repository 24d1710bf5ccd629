"""Sessions of agents whose hooks come to the service: their ledgers, and which hook speaks of which call.

Promises: a hook without an id is tied to the oldest call of the same tool and input that fits; a question that blocks the
agent's own prompt is given back to it when the last person has left, or nobody has watched for `UNWATCHED_S`; a session
whose process is gone is ended.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

from interlock.runtime.events.session import Agent, Foreign
from interlock.runtime.gates.call import ForeignCall, Verdict
from interlock.runtime.gates.hook import Hook
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.ledger import EndReason, Ledger
from interlock.runtime.journal.alive import is_running
from interlock.runtime.journal.place import PlaceError
from interlock.runtime.journal.writer import JournalWriteError

_log = logging.getLogger(__name__)
UNWATCHED_S = 60.0
"""A screen that is started again within this time finds the ask as it was."""
_LOOK_S = 1.0
_MARGIN_S = 2.0
"""An ask is closed so long before the hook gives up."""
GIVEN_UP = "the agent ended its hook (its time-out, an interrupt, or its own end) and goes on by its own rules"
UNANSWERED = "nobody had answered here"
"""Said of a call that ran although its question had ended without an answer."""
UNSEEN_END = "how it ended was not seen by the gate"
_TAIL = 1 << 20
"""Bytes at the end of an agent's own record that are looked through."""
Shows = Callable[[ForeignCall, bytes], bool]
"""Whether the end of an agent's own record shows something of a call."""


class HookSession:
    """One session of an agent."""

    def __init__(self, host: GateHost, ledger: Ledger, cwd: str) -> None:
        self.host = host
        self.ledger = ledger
        self.cwd = cwd
        self.pid: int | None = None
        self._calls: list[ForeignCall] = []

    @property
    def is_alive(self) -> bool | None:
        """Whether its process lives; None: it is not known which it is."""
        return None if self.pid is None else is_running(self.pid)

    @property
    def calls(self) -> tuple[ForeignCall, ...]:
        """Calls of which no end was seen, oldest first."""
        return tuple(self._calls)

    def add(self, call: ForeignCall) -> ForeignCall:
        """Remember a call."""
        self._calls.append(call)
        return call

    def by_id(self, call_id: Any) -> ForeignCall | None:
        """The newest call with the agent's own id."""
        calls = reversed(self._calls) if isinstance(call_id, str) else ()
        return next((call for call in calls if call.call_id == call_id), None)

    def alike(self, tool: str, given: Mapping[str, Any], fits: Callable[[ForeignCall], bool]) -> ForeignCall | None:
        """The oldest call of this tool with this input; Codex tells a patch once with and once without its last line end."""
        wanted = _trimmed(given)
        return next((c for c in self._calls if c.tool == tool and _trimmed(c.input) == wanted and fits(c)), None)

    async def judged(self, call: ForeignCall, hook: Hook) -> Verdict:
        """The verdict on a call, as long as the agent waits and, where its own prompt is kept waiting, somebody watches."""
        if hook.wait_s is not None:
            call.expires_at = self.host.now() + timedelta(seconds=max(hook.wait_s - _MARGIN_S, 1.0))
        task = asyncio.ensure_future(self.ledger.judge(call))
        gone = asyncio.ensure_future(hook.gone.wait())
        seen = time.monotonic()
        try:
            while not task.done() and not gone.done():
                await asyncio.wait({task, gone}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
                seen = time.monotonic() if self.host.is_watched or call.races else seen
                if (self.host.is_left and not call.races) or time.monotonic() - seen > UNWATCHED_S:
                    self.ledger.cancel(call, "withdrawn", "nobody watches any more: the agent asks in its own prompt")
            if not task.done():
                self.ledger.cancel(call, "withdrawn", None if call.races else GIVEN_UP)
            return await task
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()

    def ran(
        self, call: ForeignCall, *, ok: bool, summary: str = "", duration_ms: int | None = None, size: int = 0
    ) -> None:
        """The agent tells that a call ran."""
        self.ledger.cancel(call, "native_allow")
        if call.verdict is not None and call.verdict.decision == "allow":
            self.ledger.delivered(call)
        elif call.verdict is not None and call.verdict.decision == "none" and call.ask_id is not None:
            summary = f"{summary or 'the agent says that it ran'}; {UNANSWERED}"
        self.ledger.result(call, ok=ok, summary=summary, duration_ms=duration_ms, output_bytes=size)
        self.forget(call)

    def forget(self, call: ForeignCall) -> None:
        """Its end is on record."""
        with suppress(ValueError):
            self._calls.remove(call)

    def confirm_denied(self, shows: Shows, shows_own_no: Shows = lambda _call, _tail: False) -> None:
        """Look into the agent's own record for calls that were denied here, or in its own prompt when we had left them to it,
        and end those that stand in it."""
        open_calls = [call for call in self._calls if call.verdict is not None and call.verdict.decision != "allow"]
        tail = tail_of(self.ledger.foreign.log) if open_calls else b""
        for call in open_calls:
            assert call.verdict is not None
            if call.verdict.decision == "deny" and shows(call, tail):
                self.ledger.delivered(call)
                self.ledger.result(call, ok=False)
                self.forget(call)
            elif call.verdict.decision == "none" and shows_own_no(call, tail):
                self.ledger.result(call, ok=False, code="user_denied", summary="no in the agent's own prompt")
                self.forget(call)

    def turn_over(self) -> None:
        """Nothing is asked any more; of what was not denied here it is not known how it ended."""
        for call in self.calls:
            self.ledger.cancel(call, "withdrawn")
            if call.verdict is not None and call.verdict.decision == "deny":
                self.ledger.result(call, ok=False, summary="not run, as far as the agent tells")
            else:
                self.ledger.result(call, ok=False, code="not_recorded", summary=UNSEEN_END)
            self.forget(call)


class HookSessions:
    """All sessions of one kind of agent."""

    def __init__(self, host: GateHost, name: str, kind: str, version_of: Callable[[Mapping[str, Any]], str]) -> None:
        self.host = host
        self._name = name
        self._kind = kind
        self._version_of = version_of
        self._sessions: dict[str, HookSession] = {}

    @property
    def is_busy(self) -> bool:
        """Whether a standing permission would be lost."""
        return any(one.ledger.grants.standing() and one.is_alive for one in self._sessions.values())

    def get(self, session_id: str, cwd: str, log: str | None, hook: Hook) -> HookSession | None:
        """The session, begun where it is new; None: no journal can be written."""
        found = self._sessions.get(session_id)
        if found is None:
            agent = Agent(name=self._name, version=self._version_of(hook.body), kind=self._kind)
            try:
                ledger = self.host.open(agent, Foreign(session=session_id, log=log or None), cwd or "/")
            except (JournalWriteError, PlaceError) as error:
                _log.error("no journal for the session %s of %s: %s", session_id, self._name, error)
                return None
            found = self._sessions[session_id] = HookSession(self.host, ledger, cwd or "/")
        if hook.agent_pid is not None:
            found.pid = hook.agent_pid
        return found

    def end(self, session_id: str, message: str, reason: EndReason = "completed") -> None:
        """A session is over."""
        found = self._sessions.pop(session_id, None)
        if found is not None:
            found.turn_over()
            found.ledger.end(reason, message)

    def look(self) -> None:
        """End the sessions whose process is gone without a word."""
        for session_id, session in list(self._sessions.items()):
            if session.is_alive is False:
                self.end(session_id, "its process has ended", "completed")


class SessionGate:
    """The frame of a gate whose agent's hooks each name a session; an agent adds what they say and what they are answered."""

    name: ClassVar[str]
    """The agent's, for people."""
    kind: ClassVar[str]
    unheard: ClassVar[Mapping[str, Any]] = {}
    """The answer to a hook that names no event or no session."""

    def __init__(self, host: GateHost) -> None:
        self._host = host
        self._sessions = HookSessions(host, self.name, self.kind, self.version_in)

    @property
    def is_busy(self) -> bool:
        """Whether a standing permission would be lost."""
        return self._sessions.is_busy

    def look(self) -> None:
        """End the sessions whose process is gone."""
        self._sessions.look()

    def version_in(self, body: Mapping[str, Any]) -> str:
        """The agent's version as far as a hook tells it."""
        return ""

    async def hook(self, hook: Hook) -> Mapping[str, Any]:
        """The answer to one hook; `{}` leaves it to the agent."""
        body = hook.body
        event, session_id, log = body.get("hook_event_name"), body.get("session_id"), body.get("transcript_path")
        if not isinstance(event, str) or not isinstance(session_id, str) or not session_id:
            _log.warning("a hook of %s names no event or no session", self.name)
            return self.unheard
        if event == "SessionEnd":
            self._sessions.end(session_id, f"{self.name} says: {body.get('reason') or 'ended'}")
            return {}
        cwd = str(body.get("cwd") or "/")
        session = self._sessions.get(session_id, cwd, log if isinstance(log, str) else None, hook)
        return await self.answer(event, session, hook)

    async def answer(self, event: str, session: HookSession | None, hook: Hook) -> Mapping[str, Any]:
        """The answer to a hook of a session; without one no journal can be written."""
        raise NotImplementedError


def nobody(why: str) -> str:
    """Said to an agent whose call has to be asked about, where nobody can be asked and the agent has no prompt for it."""
    return f"This call has to be asked about ({why}), and no screen of Interlock is open to ask in. Nothing was run."


def _trimmed(given: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value.rstrip("\r\n") if isinstance(value, str) else value for key, value in given.items()}


def first_line(path: str | None) -> dict[str, Any]:
    """The first record of an agent's log, {} where it cannot be read."""
    try:
        with open(path or "", "rb") as file:
            value = json.loads(file.readline(_TAIL))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def tail_of(path: str | None) -> bytes:
    """The end of an agent's own record, b"" where it cannot be read."""
    try:
        with Path(path or "").open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _TAIL))
            return file.read()
    except OSError:
        return b""
