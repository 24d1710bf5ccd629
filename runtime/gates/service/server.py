"""The gate service: one process a user that answers the hooks of all agents and holds their asks.

Promises: one of it runs for a user, held by the lock of its socket; it listens on 127.0.0.1 and a Unix socket alone; over TCP
the key is asked for; it outlives every screen, leaves when nothing happens, and ends its journals when it leaves. What an
earlier one left open is closed at the start. What it cannot do is in its log, `gate.log` in the state folder.

A gate for one more agent is a line in `GATES`: a route and where its `HookGate` is made from the host.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import os
import socket
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from interlock.runtime.asks.endpoint import Endpoint
from interlock.runtime.asks.peer import own_uid, peer_of
from interlock.runtime.asks.process import process_table
from interlock.runtime.gates.doctor.rehearsal import REHEARSAL, rehearse
from interlock.runtime.gates.hook import Hook, HookGate
from interlock.runtime.gates.host import GateHost
from interlock.runtime.gates.recovery import recover_gates
from interlock.runtime.gates.rules import Rules
from interlock.runtime.gates.service.config import KEY_HEADER, WAIT_HEADER, ServiceConfig
from interlock.runtime.gates.service.http import HttpServer, Reply, Request
from interlock.runtime.journal.place import state_home
from interlock.runtime.version import __version__

_log = logging.getLogger(__name__)

GATES = {
    "claude": ("interlock.runtime.gates.claude.gate", "ClaudeGate"),
    "codex": ("interlock.runtime.gates.codex.gate", "CodexGate"),
    "gemini": ("interlock.runtime.gates.gemini.gate", "GeminiGate"),
    "opencode": ("interlock.runtime.gates.opencode.gate", "OpencodeGate"),
}
"""Route -> module and class."""
IDLE_S = 900.0
"""Seconds without a hook and without an open ask after which it leaves."""
_LOOK_S = 10.0
_MOST_PARENTS = 6
"""Between the process that sends a hook and the agent: a shell or two, and a wrapper."""
ALIVE = "/alive"


class GateService:
    """The service at work."""

    def __init__(self, config: ServiceConfig, *, idle_s: float = IDLE_S, rules: Rules | None = None) -> None:
        self.host = GateHost(rules=rules)
        self.port_problem: str | None = None
        """Why http hooks cannot reach it, when its port is taken."""
        self._config = config
        self._idle_s = idle_s
        self._gates: dict[str, HookGate] = {}
        self._http = HttpServer(self._handle, self._may)
        self._working = 0
        self._touched = time.monotonic()

    async def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until nothing happens any more, or until cancelled. `ready` is called when hooks can reach it.

        Raises EndpointError when another one serves, or the socket cannot be made.
        """
        endpoint = Endpoint.open(Path(self._config.socket))
        try:
            for session in recover_gates():
                _log.warning("closed what an earlier service left open in %s", session)
            await self.host.start()
            await self._listen(endpoint)
            ready()
            await self._until_idle()
        finally:
            # asks end as their journals do, so that no screen is left with one that nobody holds
            await self._http.close()
            await self.host.close("the gate service has left")
            endpoint.close()

    async def _listen(self, endpoint: Endpoint) -> None:
        await self._http.listen_socket(endpoint.listener)
        try:
            await self._http.listen_tcp(self._config.port)
        except OSError as error:
            self.port_problem = f"port {self._config.port} of 127.0.0.1 cannot be used: {error.strerror or error}"
            _log.error("%s; hooks over http do not reach the gate", self.port_problem)

    async def _until_idle(self) -> None:
        while True:
            await asyncio.sleep(min(_LOOK_S, self._idle_s))
            for gate in self._gates.values():
                gate.look()
            busy = self._working or self.host.broker.pending() or any(gate.is_busy for gate in self._gates.values())
            if busy:
                self._touched = time.monotonic()
            elif time.monotonic() - self._touched >= self._idle_s:
                return

    async def _handle(self, request: Request) -> Reply:
        if request.path == ALIVE:
            return Reply(self._told())
        gate = self._gate(request.path.strip("/"))
        if gate is None or request.method != "POST":
            return Reply({"error": "no such gate"}, 404)
        self._working += 1
        try:
            return await self._answer(gate, request)
        finally:
            self._working -= 1
            self._touched = time.monotonic()

    async def _answer(self, gate: HookGate, request: Request) -> Reply:
        body = _object(request.body)
        if body is None:
            _log.warning("a hook of %d bytes for %s is no JSON object", len(request.body), request.path)
            # a command hook is told so that one that must not let pass does not; an http hook falls to the own prompt
            return Reply({"error": "no JSON object"}, 400) if request.is_local_socket else Reply({})
        if REHEARSAL in body:
            return Reply(rehearse(self.host, body))
        pid = _agent_of(request)
        if pid is not None:
            self.host.learn([pid])
        return Reply(dict(await gate.hook(Hook(body, pid, _seconds(request), request.gone))))

    def _may(self, made: socket.socket, headers: Mapping[str, str]) -> bool:
        if made.family == socket.AF_UNIX:
            return peer_of(made).uid in (own_uid(), 0)
        given = headers.get(KEY_HEADER.lower(), "")
        return hmac.compare_digest(given.encode("latin-1", "replace"), self._config.key.encode())

    def _gate(self, route: str) -> HookGate | None:
        found = self._gates.get(route)
        if found is None and route in GATES:
            module, name = GATES[route]
            try:
                made = getattr(import_module(module), name)
            except (ImportError, AttributeError) as error:
                _log.error("the gate %s cannot be loaded: %s", route, error)
                return None
            found = self._gates[route] = made(self.host)
        return found

    def _told(self) -> dict[str, Any]:
        return {
            "interlock": __version__,
            "pid": os.getpid(),
            "sessions": len(self.host.ledgers),
            "asks": len(self.host.broker.pending()),
            "watched": self.host.is_watched,
            "portProblem": self.port_problem,
        }


def log_file() -> Path:
    """Where the service writes what went wrong."""
    return state_home() / "gate.log"


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _seconds(request: Request) -> float | None:
    told = request.headers.get(WAIT_HEADER.lower(), "")
    return float(told) if told.isascii() and told.isdigit() and len(told) < 10 else None


def _agent_of(request: Request) -> int | None:
    """The agent's process as the hook names it, if it is among the ancestors of whoever sent the hook."""
    told = request.headers.get("x-interlock-agent-pid", "")
    if not request.is_local_socket or request.peer is None or not told.isdigit() or int(told) <= 1:
        return None
    table, at = process_table(), peer_of(request.peer).pid
    for _ in range(_MOST_PARENTS):
        row = table.row(at)
        if row is None:
            return None
        if row.parent == int(told):
            return row.parent
        at = row.parent
    return None
