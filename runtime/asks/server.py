"""The host's side of the socket.

Promises: nobody else can connect, not even between bind and chmod (the folder is private first); the peer's user id is
checked by the kernel's word; one slow, silent or hostile client never holds up another; frames are bounded.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from interlock.runtime.asks import discovery
from interlock.runtime.asks.broker import Broker, Change, on_wire
from interlock.runtime.asks.peer import Peer, peer_of, refusal
from interlock.runtime.asks.protocol import (
    FRAME_LIMIT,
    PROTOCOL_VERSION,
    Answer,
    Hello,
    ProtocolError,
    Request,
    Revoke,
    Shown,
    parse_request,
    request_id_of,
    to_frame,
)
from interlock.runtime.events.permission import Approver
from interlock.runtime.version import __version__

BACKLOG = 1024
CONNECTION_LIMIT = 512
UNREAD_LIMIT = 16 * 1024 * 1024
"""Bytes that a subscriber may leave unread before it is dropped."""
log = logging.getLogger(__name__)


class ServerError(Exception):
    """The socket cannot be opened; the message says why and what to do."""


class Grants(Protocol):
    """The standing permissions of a session, as far as approvers may see and end them."""

    def list_wire(self) -> list[dict[str, Any]]:
        """All that stand, by wire names."""
        ...

    def revoke(self, grant_id: str, by: Approver) -> bool:
        """End one. False: there is none of that id."""
        ...


@dataclass(eq=False)
class _Client:
    peer: Peer
    writer: asyncio.StreamWriter
    name: str = ""
    frames: int = 0
    task: asyncio.Task[None] | None = None
    unsubscribe: Callable[[], None] | None = None
    approver: Approver = field(init=False)

    def __post_init__(self) -> None:
        self.identify("")

    def identify(self, name: str) -> None:
        self.name = name
        self.approver = Approver(kind="person", uid=self.peer.uid, pid=self.peer.pid, client=name or None)

    def send(self, message: dict[str, Any]) -> None:
        if self.writer.is_closing():
            return
        if self.writer.transport.get_write_buffer_size() > UNREAD_LIMIT:
            log.warning("dropped an approver (process %s) that does not read", self.peer.pid)
            self.writer.transport.abort()
            return
        self.writer.write(to_frame(message))


class AskServer:
    """Serves one session's broker on a Unix socket."""

    def __init__(
        self,
        broker: Broker,
        session: discovery.SessionInfo,
        *,
        agents: Callable[[], set[int]] = set,
        grants: Grants | None = None,
    ) -> None:
        self._broker = broker
        self._session = session
        self._agents = agents
        self._grants = grants
        self._clients: list[_Client] = []
        self._server: asyncio.Server | None = None
        self._announcement: Path | None = None
        self.path = Path()
        self.note = ""
        """What a person should know of the socket's place, or ""."""

    async def start(self) -> None:
        """Listen and announce. Raises ServerError, PlaceError or SocketPathError."""
        self.path, self.note = discovery.socket_path(self._session.id)
        listening = self._bind()
        self._server = await asyncio.start_unix_server(self._serve, sock=listening, limit=FRAME_LIMIT, backlog=BACKLOG)
        info = discovery.HostInfo(
            os.getpid(), discovery.start_time(os.getpid()), str(self.path), (self._session,), PROTOCOL_VERSION
        )
        self._announcement = discovery.announce(self._session.id, info)

    def _bind(self) -> socket.socket:
        if self.path.exists() or self.path.is_symlink():
            if discovery.is_listening(self.path):
                known = discovery.read_info(self.path.with_suffix(".json"))
                who = f"process {known.pid}" if known else "another process"
                raise ServerError(f"{who} already listens on {self.path}: this session has a host.")
            self.path.unlink()
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(os.fspath(self.path))
            os.chmod(self.path, 0o600)
            listening.listen(BACKLOG)
        except OSError as error:
            listening.close()
            raise ServerError(f"cannot listen on {self.path}: {error.strerror or error}") from None
        return listening

    async def close(self) -> None:
        """Stop listening, end all connections, remove the files."""
        if self._server is not None:
            self._server.close()
        for client in list(self._clients):
            client.writer.transport.abort()
        tasks = [client.task for client in self._clients if client.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=2)
        if self._announcement is not None:
            discovery.withdraw(self._announcement, self.path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = self._admit(writer)
        if client is None:
            writer.close()
            return
        client.task = asyncio.current_task()
        self._clients.append(client)
        try:
            await self._read(reader, client)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._clients.remove(client)
            if client.unsubscribe is not None:
                client.unsubscribe()
            writer.close()

    def _admit(self, writer: asyncio.StreamWriter) -> _Client | None:
        try:
            peer = peer_of(writer.get_extra_info("socket"))
            why = refusal(peer, self._agents)
        except OSError as error:
            peer, why = Peer(-1, None), f"the system does not say who connects: {error}"
        client = _Client(peer, writer)
        if why is None and len(self._clients) >= CONNECTION_LIMIT and not self._make_room():
            why = f"{CONNECTION_LIMIT} approvers are connected already"
            log.warning("refused process %s: %s", peer.pid, why)
            client.send({"jsonrpc": "2.0", "id": None, "error": ProtocolError("too_many_connections", why).on_wire()})
            return None
        if why is not None:
            log.warning("refused process %s of user %s: %s", peer.pid, peer.uid, why)
            client.send({"jsonrpc": "2.0", "id": None, "error": ProtocolError("not_allowed", why).on_wire()})
            return None
        return client

    def _make_room(self) -> bool:
        # a connection that never said a word is the first to go, the oldest of them
        silent = next((client for client in self._clients if client.frames == 0), None)
        if silent is None:
            return False
        log.warning("dropped the silent connection of process %s for a new one", silent.peer.pid)
        silent.writer.transport.abort()
        return True

    async def _read(self, reader: asyncio.StreamReader, client: _Client) -> None:
        while True:
            try:
                frame = await reader.readuntil(b"\n")
            except asyncio.LimitOverrunError:
                error = ProtocolError("frame_too_large", f"a request may have {FRAME_LIMIT:,} bytes")
                client.send({"jsonrpc": "2.0", "id": None, "error": error.on_wire()})
                return
            except asyncio.IncompleteReadError as error:
                if error.partial:
                    log.warning(
                        "process %s left in the middle of a frame (%d bytes)", client.peer.pid, len(error.partial)
                    )
                return
            client.frames += 1
            if frame.strip():
                self._handle(frame.rstrip(b"\r\n"), client)
                await client.writer.drain()

    def _handle(self, frame: bytes, client: _Client) -> None:
        request: Request | None = None
        try:
            request = parse_request(frame)
            result = self._dispatch(request, client)
        except ProtocolError as error:
            reply_id = request.id if request else request_id_of(frame)
            client.send({"jsonrpc": "2.0", "id": reply_id, "error": error.on_wire()})
            return
        except Exception as error:
            log.exception("a request failed")
            fault = ProtocolError("internal_error", f"{type(error).__name__}: {error}")
            client.send({"jsonrpc": "2.0", "id": request.id if request else None, "error": fault.on_wire()})
            return
        if request.id is not None:
            client.send({"jsonrpc": "2.0", "id": request.id, "result": result})

    def _dispatch(self, request: Request, client: _Client) -> Any:
        match request.method, request.params:
            case "hello", Hello(client=name):
                client.identify(name)
                return {
                    "protocol": PROTOCOL_VERSION,
                    "runtimeVersion": __version__,
                    "pid": os.getpid(),
                    "sessions": [self._session_wire()],
                }
            case "ping", _:
                return {}
            case "session.list", _:
                return {"sessions": [self._session_wire()]}
            case "asks.list", _:
                return {"asks": self._asks_wire()}
            case "asks.subscribe", _:
                if client.unsubscribe is None:
                    client.unsubscribe = self._broker.subscribe(lambda change: client.send(_notification(change)))
                return {"asks": self._asks_wire()}
            case "asks.shown", Shown(ask_id=ask_id):
                self._broker.shown(ask_id, client.approver)
                return {}
            case "asks.answer", Answer() as answer:
                written = self._broker.resolve(answer, client.approver)
                return {"accepted": True, "askId": written.ask_id, "seq": written.seq, "at": written.ts}
            case "grants.list", _:
                return {"grants": self._grants.list_wire() if self._grants else []}
            case "grants.revoke", Revoke(grant_id=grant_id):
                if self._grants is None or not self._grants.revoke(grant_id, client.approver):
                    raise ProtocolError("unknown_grant", f"there is no standing permission {grant_id!r}")
                return {}
            case _:
                raise ProtocolError("unknown_method", f"unknown method {request.method!r}")

    def _asks_wire(self) -> list[dict[str, Any]]:
        return on_wire(pending.ask for pending in self._broker.pending())

    def _session_wire(self) -> dict[str, Any]:
        s = self._session
        return {"id": s.id, "title": s.title, "agent": s.agent, "cwd": s.cwd, "journal": s.journal}


def _notification(change: Change) -> dict[str, Any]:
    params: dict[str, Any] = {"askId": change.ask.ask_id, "session": change.ask.session}
    if change.kind == "opened":
        params["ask"] = on_wire([change.ask])[0]
    if change.answer is not None:
        params["answer"] = change.answer.model_dump(by_alias=True, exclude_none=True, mode="json")
    if change.cause is not None:
        params |= {"cause": change.cause, "message": change.message}
    return {"jsonrpc": "2.0", "method": f"asks.{change.kind}", "params": params}
