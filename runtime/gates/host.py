"""The one host of all gated sessions of a process: their asks on one socket, each recorded in its own journal.

Promises: screens find it as they find any host; an ask is recorded in the journal of the session that it belongs to; after
`close` no ask is open and every journal has its last event. Does not promise: to outlive its process.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from interlock.runtime.asks.broker import Broker, Record
from interlock.runtime.asks.pending import Change
from interlock.runtime.asks.protocol import SessionInfo
from interlock.runtime.asks.server import AskServer
from interlock.runtime.events.base import Event
from interlock.runtime.events.ids import new_session_id
from interlock.runtime.events.session import Agent, Foreign, SessionStarted
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.gates.call import POLICY_NAMES, ForeignCall
from interlock.runtime.gates.entry import UNKNOWN_SANDBOX
from interlock.runtime.gates.grants import HostGrants
from interlock.runtime.gates.ledger import Ledger
from interlock.runtime.gates.rules import Rules
from interlock.runtime.gates.wording import denial
from interlock.runtime.journal.writer import Clock, JournalWriteError, JournalWriter, system_clock
from interlock.runtime.tools import brand
from interlock.runtime.version import __version__

GATE_MARK = "gate"
"""Part of every session id of a gate's journal."""


class WatchedBroker(Broker):
    """A broker that knows whether anybody listens."""

    def __init__(self, record: Record, clock: Clock) -> None:
        super().__init__(record, clock)
        self.listeners = 0
        self.is_left = False
        """Whether the last one who listened has said goodbye, and will not be back in a moment."""

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """As the broker's own, counted."""
        leave = super().subscribe(listener)
        self.listeners += 1
        self.is_left = False
        left: list[bool] = []

        def leave_once() -> None:
            if not left:
                left.append(True)
                self.listeners -= 1
            leave()

        return leave_once

    def say_goodbye(self) -> None:
        """The last one to do so leaves nobody."""
        self.is_left = self.listeners == 1


class GateHost:
    """Opens ledgers and answers screens. `start` before the first ask, `close` at the end."""

    def __init__(self, *, rules: Rules | None = None, clock: Clock = system_clock) -> None:
        self.rules = rules or Rules()
        self.broker = WatchedBroker(self._record, clock)
        self._clock = clock
        self._of_ask: dict[str, Ledger] = {}
        self._ledgers: dict[str, Ledger] = {}
        self._agent_pids: set[int] = set()
        self._server: AskServer | None = None

    async def start(self, path: Path | None = None) -> GateHost:
        """Open the socket. Raises EndpointError or PlaceError."""
        self._server = await AskServer(
            self.broker,
            path,
            sessions=self._sessions,
            agent_pids=lambda: tuple(self._agent_pids),
            grants=HostGrants(lambda: [(ledger.session, ledger.grants) for ledger in self.ledgers]),
        ).start()
        return self

    async def close(self, message: str | None = None) -> None:
        """End every session's journal and the socket."""
        for ledger in list(self._ledgers.values()):
            ledger.end("completed", message)
        if self._server is not None:
            await self._server.close()
            self._server = None

    async def __aenter__(self) -> GateHost:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def reply_to(self) -> str | None:
        """The socket on which asks are answered."""
        return str(self._server.path) if self._server is not None else None

    @property
    def is_watched(self) -> bool:
        """Whether any approver is told of asks at this moment."""
        return self.broker.listeners > 0

    @property
    def is_left(self) -> bool:
        """Whether nobody watches and nobody is about to."""
        return self.broker.is_left

    def now(self) -> datetime:
        """The host's clock."""
        return self._clock()

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """The sessions that have not ended."""
        return tuple(self._ledgers.values())

    def open(
        self,
        agent: Agent,
        foreign: Foreign,
        cwd: str,
        *,
        roots: Iterable[str] = (),
        model: str | None = None,
        parent: str | None = None,
        title: str | None = None,
    ) -> Ledger:
        """A new journal for a session of another agent. `roots`: its workspace; none: `cwd`.

        Raises JournalWriteError or PlaceError; then nothing has begun.
        """
        workspace = tuple(roots) or (cwd,)
        name = f"{GATE_MARK} {agent.kind.replace('_', ' ')}"
        journal = JournalWriter.create(new_session_id(self._clock(), name), self._clock)
        first = SessionStarted(
            agent=agent,
            cwd=cwd,
            workspace=workspace,
            host=socket.gethostname(),
            pid=os.getpid(),
            user=_user(),
            model=model,
            policy_digest=self.rules.policy(workspace).digest,
            sandbox=UNKNOWN_SANDBOX,
            runtime_version=__version__,
            parent=parent,
            title=title,
            foreign=foreign,
        )
        try:
            journal.append(first, durable=True)
        except JournalWriteError:
            journal.close()
            raise
        ledger = Ledger(self, journal, agent, foreign, workspace)
        ledger.on_end.append(self._ended)
        self._ledgers[ledger.session] = ledger
        self._refresh()
        return ledger

    def deny_unrecorded(self, kind: str, call: ForeignCall) -> str | None:
        """The words of a deny of the policy, for a call of which no journal can be kept; None: no rule denies it."""
        decision = self.rules.decide(POLICY_NAMES[kind], call, (call.cwd,), (), self.now())
        return denial(decision) if decision.effect == "deny" and not call.question else None

    def learn(self, pids: Iterable[int]) -> None:
        """Remember processes of agents: they and what descends from them may not answer."""
        new = set(pids) - self._agent_pids
        if new:
            self._agent_pids |= new
            for pid in new:
                brand.brand_tree(pid)
            if self._server is not None:
                self._server.learn(new)

    def touch(self, text: str) -> None:
        """An agent may run this now: remember the terminal multiplexers that it names."""
        if self._server is not None:
            self._server.touch(text)

    def forget(self, pids: Iterable[int]) -> None:
        """Processes that have ended; their orphans stay known to the socket."""
        self._agent_pids -= set(pids)

    def belongs(self, ask_id: str, ledger: Ledger) -> None:
        """Say in which journal an ask is to be recorded, before it is opened."""
        self._of_ask[ask_id] = ledger

    def _record(self, event: AnyEvent, durable: bool) -> Event:
        ledger = self._of_ask.get(getattr(event, "ask_id", None) or "")
        if ledger is None:
            raise JournalWriteError(f"{event.type}: no session of this host has this ask")
        return ledger.journal.append(event, durable)

    def _sessions(self) -> list[SessionInfo]:
        return [
            SessionInfo(
                id=ledger.session,
                agent=ledger.agent.name,
                cwd=ledger.roots[0],
                journal=str(ledger.journal.path),
            )
            for ledger in self._ledgers.values()
        ]

    def _ended(self, ledger: Ledger) -> None:
        self._ledgers.pop(ledger.session, None)
        self._of_ask = {ask: held for ask, held in self._of_ask.items() if held is not ledger}
        self._refresh()

    def _refresh(self) -> None:
        if self._server is not None:
            self._server.refresh()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
