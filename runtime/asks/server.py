"""Listens for approvers.

Promises: a peer of another user, or one that belongs to the agent, is told so and never served; a flood of connections
cannot put out an approver that has spoken; failures to accept are logged and do not end the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from interlock.runtime.asks import discovery
from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.connection import Connection
from interlock.runtime.asks.dispatch import Desk
from interlock.runtime.asks.endpoint import Endpoint, EndpointError
from interlock.runtime.asks.frame import error_line
from interlock.runtime.asks.hand import touched
from interlock.runtime.asks.lineage import Known, Lineage
from interlock.runtime.asks.peer import own_uid, peer_of
from interlock.runtime.asks.protocol import MAX_FRAME_BYTES, ErrorName, Fault, SessionInfo
from interlock.runtime.asks.standing import GrantDesk

_log = logging.getLogger(__name__)

MAX_CONNECTIONS = 128
"""Of the one user that is served."""
MAX_PER_PROCESS = 32
_VERDICT_SECONDS = 0.1
"""For how long a look at a process counts; a bulk answer need not walk the process table for each ask."""
_ACCEPT_PAUSE = 0.1
"""Seconds to wait after a failed accept (for example no descriptor free)."""


class AskServer:
    """The socket of a host. `start` opens it and writes the discovery file, `close` takes both away."""

    def __init__(
        self,
        broker: Broker,
        path: Path | str | None = None,
        sessions: Sequence[SessionInfo] | Callable[[], Sequence[SessionInfo]] = (),
        *,
        agent_pids: Callable[[], Iterable[int]] = lambda: (),
        announce: bool = True,
        grants: GrantDesk | None = None,
    ) -> None:
        """`path`: of the socket; none: a new name in the run folder. `agent_pids`: processes of the agent; they and all
        that descend from them are refused. `grants`: the standing permissions, for a host that makes them."""
        listed = sessions if callable(sessions) else lambda: sessions
        self._sessions: Callable[[], Sequence[SessionInfo]] = listed
        self._wanted = None if path is None else Path(path)
        self._agent_pids = agent_pids
        self._lineage = Lineage()
        self._others = discovery.OtherHosts()
        self._desk = Desk(broker, listed, grants)
        self._desk.objection = self._objection_to_answer
        self._announce = announce
        self._judged: dict[int, tuple[frozenset[int], float, str | None]] = {}
        self._endpoint: Endpoint | None = None
        self._host: discovery.Announcement | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: list[Connection] = []

    @property
    def path(self) -> Path:
        """Where it really listens; differs from the wanted path when that was too long."""
        if self._endpoint is None:
            raise EndpointError("the server is not started")
        return self._endpoint.path

    async def start(self) -> AskServer:
        """Open the socket. Raises `EndpointError` or `PlaceError`."""
        wanted = self._wanted if self._wanted is not None else discovery.new_socket_path()
        self._endpoint = Endpoint.open(wanted)
        try:
            self._host = discovery.announce(self.path, self._sessions()) if self._announce else None
        except BaseException:
            self._endpoint.close()
            raise
        self._spawn(self._accept(self._endpoint.listener))
        return self

    async def close(self) -> None:
        """Stop: no new connection, the old ones are closed, the files are removed. Open asks are the broker's."""
        for connection in list(self._connections):
            connection.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._host is not None:
            self._host.remove()
        if self._endpoint is not None:
            self._endpoint.close()
            self._endpoint = None

    async def __aenter__(self) -> AskServer:
        return await self.start()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def refresh(self) -> None:
        """Write the discovery file again after the sessions have changed."""
        if self._host is not None:
            self._host.update(self._sessions())

    def learn(self, pids: Iterable[int]) -> None:
        """Remember processes of the agent; call it as soon as one is started, so that its orphans are known too."""
        self._publish(Known(agents=self._lineage.learn(pids)))

    def touch(self, text: str) -> None:
        """A command of the agent is about to run: remember the terminal multiplexers that it names."""
        new = touched(text) - self._lineage.known.touched
        if new:
            self._lineage.known.touched |= new
            self._publish(Known(touched=new))

    def _publish(self, news: Known) -> None:
        self._judged.clear()
        if self._host is None:
            return
        try:
            self._host.tell(news)
        except OSError as error:
            _log.error("other hosts cannot be told of the agent's processes: %s", error)

    def objection(self, pid: int) -> str | None:
        """Why the process may not answer; None: it may."""
        agents = frozenset(self._agent_pids())
        now = time.monotonic()
        known = self._judged.get(pid)
        if known is not None and known[0] == agents and now - known[1] < _VERDICT_SECONDS:
            return known[2]
        self._lineage.learn(agents)
        self._lineage.known.add(self._others.news())
        verdict = self._lineage.objection(pid)
        if len(self._judged) > MAX_CONNECTIONS:
            self._judged.clear()
        self._judged[pid] = (agents, now, verdict)
        return verdict

    def _objection_to_answer(self, pid: int) -> str | None:
        return self.objection(pid) or self._lineage.typed(pid)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                made, _ = await loop.sock_accept(listener)
            except OSError as error:
                _log.error("cannot accept a connection: %s", error)
                await asyncio.sleep(_ACCEPT_PAUSE)
                continue
            self._admit(made)
            # a burst of connects must not keep the others waiting
            await asyncio.sleep(0)

    def _admit(self, made: socket.socket) -> None:
        try:
            fault = self._refusal(made)
        except OSError as error:
            fault = Fault(ErrorName.NOT_ALLOWED, f"the peer's credentials cannot be read: {error}")
        if fault is None:
            self._spawn(self._serve(made))
            return
        _log.warning("refused a connection: %s", fault.message)
        with made, contextlib.suppress(OSError):
            made.setblocking(False)
            made.send(error_line(None, fault))

    def _refusal(self, made: socket.socket) -> Fault | None:
        peer = peer_of(made)
        if peer.uid != own_uid():
            return Fault(ErrorName.NOT_ALLOWED, f"user {peer.uid} is not the user of this host")
        self._judged.pop(peer.pid, None)  # the number may have been given to another process since
        objection = self.objection(peer.pid)
        if objection is not None:
            return Fault(ErrorName.NOT_ALLOWED, f"process {peer.pid} may not connect: {objection}")
        alike = [c for c in self._connections if c.peer.pid == peer.pid]
        if len(alike) < MAX_PER_PROCESS and len(self._connections) < MAX_CONNECTIONS:
            return None
        crowd = alike if len(alike) >= MAX_PER_PROCESS else self._connections
        silent = next((c for c in crowd if not c.spoke), None)
        if silent is None:
            return Fault(ErrorName.TOO_MANY, f"process {peer.pid}: too many connections", limit=MAX_CONNECTIONS)
        _log.warning("too many connections: put out a silent one of process %d", silent.peer.pid)
        self._connections.remove(silent)
        silent.abort()
        return None

    async def _serve(self, made: socket.socket) -> None:
        peer = peer_of(made)
        reader, writer = await asyncio.open_unix_connection(sock=made, limit=MAX_FRAME_BYTES)
        connection = Connection(self._desk, peer, reader, writer)
        self._connections.append(connection)
        try:
            await connection.serve()
            # one that hung up and does not read its last replies takes up room, so it counts until they are gone
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        finally:
            if connection in self._connections:
                self._connections.remove(connection)
            writer.transport.abort()

    def _spawn(self, work: object) -> None:
        task = asyncio.get_running_loop().create_task(work)  # type: ignore[arg-type]
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("a connection failed", exc_info=task.exception())
