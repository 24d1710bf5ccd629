"""One approver's connection.

Promises: requests are answered in order, one at a time; half a frame is never applied; an approver that does not read
holds up nobody else: its replies wait for it, and one that lets too many notifications pile up is cut off, to come back and
subscribe again; one that sends without end gets one request served, then the others have their turn. A request without an
id is not applied and, as JSON-RPC has it, not replied to. A preview takes its time beside the other requests, so that no
answer ever waits for one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Callable
from typing import Literal

from pydantic import ValidationError

from interlock.runtime.asks.dispatch import Desk
from interlock.runtime.asks.frame import Frames, error_line, notice_line, parse, result_line
from interlock.runtime.asks.peer import Peer
from interlock.runtime.asks.pending import Change, Opened
from interlock.runtime.asks.protocol import PARAMS, ErrorName, Fault, Params, PreviewParams, Request
from interlock.runtime.asks.view import notice_of
from interlock.runtime.events.permission import Approver

_log = logging.getLogger(__name__)

_CHUNK = 65_536
_QUEUE_LIMIT = 10_000
"""Notifications that may wait for a slow reader."""
_FAULT_LIMIT = 100
"""Unreadable frames after which a connection is closed."""
_PREVIEW_LIMIT = 8
"""Previews of one connection at the same time."""


class Connection:
    """Serves one peer until it leaves."""

    def __init__(self, desk: Desk, peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peer = peer
        self.spoke = False
        """Whether it ever sent a request; one that has not may be put out for another."""
        self._desk = desk
        self._reader = reader
        self._writer = writer
        self._client: str | None = None
        self._kind: Literal["person", "flag"] = "person"
        self._faults = 0
        self._queue: deque[Change] = deque()
        self._wake = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._unsubscribe: Callable[[], None] | None = None
        self._previews: set[asyncio.Task[None]] = set()

    @property
    def approver(self) -> Approver:
        """As whom its answers are recorded."""
        return Approver(kind=self._kind, uid=self.peer.uid, pid=self.peer.pid, client=self._client)

    async def serve(self) -> None:
        """Read and answer until the peer leaves or the stream cannot be used any more."""
        frames = Frames()
        try:
            while data := await self._reader.read(_CHUNK):
                for line in frames.feed(data):
                    await self._one(line)
                    # neither a full buffer nor a write that fits lets anybody else have a turn
                    await asyncio.sleep(0)
            if frames.pending_bytes:
                _log.warning("process %d left half a frame of %d bytes: dropped", self.peer.pid, frames.pending_bytes)
        except Fault as fault:
            _log.warning("process %d: %s", self.peer.pid, fault.message)
            self._writer.write(error_line(None, fault))
        except (ConnectionError, TimeoutError) as error:
            _log.info("process %d went away: %s", self.peer.pid, error)
        finally:
            self.close()

    def close(self) -> None:
        """End the connection; what was written already is still sent."""
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._pump is not None:
            self._pump.cancel()
        for preview in self._previews:
            preview.cancel()
        self._writer.close()

    def abort(self) -> None:
        """End it at once, also when the peer does not read."""
        self.close()
        self._writer.transport.abort()

    async def _one(self, line: bytes) -> None:
        if not line.strip():
            return
        request_id: str | int | None = None
        try:
            value = parse(line)
            request_id = _id_of(value)
            request = _request(value)
            if request is None:
                _log.warning("process %d sent a notification: ignored, nothing is applied without an id", self.peer.pid)
                return
            self.spoke = True
            params = _params(request)
            if isinstance(params, PreviewParams):
                self._begin_preview(request.id, params)
                return
            reply = result_line(request.id, self._run(request.method, params))
        except Fault as fault:
            reply = error_line(request_id, fault)
            self._count(fault)
        except Exception as error:
            _log.exception("a request failed")
            reply = error_line(request_id, Fault(ErrorName.INTERNAL, f"the host failed: {type(error).__name__}"))
        self._writer.write(reply)
        await self._writer.drain()

    def _count(self, fault: Fault) -> None:
        if fault.name in (ErrorName.PARSE, ErrorName.INVALID_UTF8):
            self._faults += 1
            _log.warning("process %d: %s", self.peer.pid, fault.message)
            if self._faults >= _FAULT_LIMIT:
                raise Fault(ErrorName.BAD_REQUEST, f"{_FAULT_LIMIT} unreadable lines; the connection is closed")

    def _run(self, method: str, params: Params) -> dict[str, object]:
        if method == "hello":
            greeted = self._desk.greeted(params)
            self._client, self._kind = greeted.client, greeted.kind
        if method == "asks.subscribe":
            return self._subscribe()
        if method == "asks.unsubscribe":
            return self._leave()
        return self._desk.run(method, params, self.approver)

    def _begin_preview(self, request_id: str | int, params: PreviewParams) -> None:
        if len(self._previews) >= _PREVIEW_LIMIT:
            raise Fault(ErrorName.BAD_REQUEST, f"{_PREVIEW_LIMIT} previews are under way: wait for one of them")
        task = asyncio.get_running_loop().create_task(self._preview(request_id, params))
        self._previews.add(task)
        task.add_done_callback(self._previews.discard)

    async def _preview(self, request_id: str | int, params: PreviewParams) -> None:
        try:
            reply = result_line(request_id, await self._desk.preview(params, self.approver))
        except Fault as fault:
            reply = error_line(request_id, fault)
        except Exception as error:
            _log.exception("a preview failed")
            reply = error_line(request_id, Fault(ErrorName.INTERNAL, f"the host failed: {type(error).__name__}"))
        self._writer.write(reply)
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    def _subscribe(self) -> dict[str, object]:
        if self._unsubscribe is None:
            self._unsubscribe = self._desk.broker.subscribe(self._notice)
            self._pump = asyncio.get_running_loop().create_task(self._send())
            asks = self._desk.broker.pending()
            self._queue.extend(Opened(ask) for ask in asks)
            self._wake.set()
        return {"open": len(self._desk.broker.pending())}

    def _leave(self) -> dict[str, object]:
        if self._unsubscribe is not None:
            self._desk.broker.say_goodbye()
            self._unsubscribe()
            self._unsubscribe = None
        return {}

    def _notice(self, change: Change) -> None:
        if len(self._queue) >= _QUEUE_LIMIT:
            _log.warning("process %d does not read its notifications: cut off", self.peer.pid)
            self.abort()
            return
        self._queue.append(change)
        self._wake.set()

    async def _send(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._queue:
                    change = self._queue.popleft()
                    if isinstance(change, Opened) and not change.ask.is_open:
                        continue  # its end stands behind it in the queue
                    self._writer.write(notice_line(*notice_of(change)))
                    await self._writer.drain()
        except ConnectionError as error:
            _log.info("process %d went away: %s", self.peer.pid, error)
        except Exception:
            _log.exception("notifications to process %d failed: cut off", self.peer.pid)
            self.abort()


def _id_of(value: object) -> str | int | None:
    found = value.get("id") if isinstance(value, dict) else None
    if isinstance(found, bool) or not isinstance(found, str | int):
        return None
    return found if isinstance(found, int) or len(found) <= 200 else None


def _request(value: object) -> Request | None:
    if isinstance(value, list):
        raise Fault(ErrorName.BAD_REQUEST, "batch requests are not served: send one request a line")
    if not isinstance(value, dict):
        raise Fault(ErrorName.BAD_REQUEST, "a request is a JSON object")
    if "id" not in value and value.get("jsonrpc") == "2.0" and isinstance(value.get("method"), str):
        return None
    try:
        return Request.model_validate(value)
    except ValidationError as error:
        raise _invalid("request", error) from None


def _params(request: Request) -> Params:
    kind = PARAMS.get(request.method)
    if kind is None:
        raise Fault(ErrorName.UNKNOWN_METHOD, f"no such method; there are: {', '.join(PARAMS)}")
    try:
        return kind.model_validate(request.params, by_alias=True, by_name=False)
    except ValidationError as error:
        raise _invalid("params", error) from None


def _invalid(where: str, error: ValidationError) -> Fault:
    first = error.errors(include_input=False, include_url=False)[0]
    path = ".".join([where, *map(str, first["loc"])])
    return Fault(ErrorName.BAD_REQUEST, f"{path}: {first['msg']}", field=path)
