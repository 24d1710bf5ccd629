"""Talks to a host: `AskClient` for a program with a loop, `BlockingClient` for a command.

Promises: a refusal is raised as `AskRefused` with its name and details; a lost host is raised as `HostGone`, never as an
answer; the host's user is checked before anything is sent. Does not promise: reconnecting; connect and subscribe again.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from interlock.runtime.asks.frame import Frames, line_of, parse
from interlock.runtime.asks.peer import own_uid, peer_of
from interlock.runtime.asks.protocol import (
    MAX_FRAME_BYTES,
    NOTICES,
    PROTOCOL_VERSION,
    AnswerReply,
    AskPage,
    AskSlice,
    AskView,
    ErrorName,
    Fault,
    GrantRevokedReply,
    GrantView,
    HelloReply,
    Notice,
    PreviewReply,
    SessionInfo,
)
from interlock.runtime.events.base import Record
from interlock.runtime.events.permission import AnswerKind, Scope

_Read = TypeVar("_Read", bound=Record)
_CHUNK = 65_536


class HostGone(Exception):
    """The host cannot be reached or has closed the connection. Whether a request without reply took effect is not
    known: the journal tells."""


class AskRefused(Exception):
    """The host refused the request. `name` is one of `ErrorName`, `data` the details (`by`, `at`, `cause`)."""

    def __init__(self, name: str, message: str, data: dict[str, Any]) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.data = data


def answer_params(
    ask_id: str,
    input_digest: str,
    answer: AnswerKind,
    scope: Scope,
    message: str | None,
    suggestion: str | None = None,
    rule: str | None = None,
) -> dict[str, Any]:
    """Parameters of `asks.answer`."""
    params = {"askId": ask_id, "inputDigest": input_digest, "answer": answer, "scope": scope}
    more = {"message": message, "suggestion": suggestion, "rule": rule}
    return {**params, **{name: value for name, value in more.items() if value is not None}}


def revoke_params(grant_id: str, session: str | None) -> dict[str, Any]:
    """Parameters of `grants.revoke`."""
    return {"grantId": grant_id, **({} if session is None else {"session": session})}


def _refused(error: Any) -> AskRefused:
    data = error.get("data") or {}
    return AskRefused(str(data.get("name", error.get("code"))), str(error.get("message", "")), data)


def _result(reply: dict[str, Any]) -> dict[str, Any]:
    if "error" in reply:
        raise _refused(reply["error"])
    return reply.get("result") or {}


def _read(kind: type[_Read], value: Any) -> _Read:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise HostGone(f"the host sent something that is no {kind.__name__}: {error.error_count()} errors") from None


def _connect(path: Path | str, timeout: float) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(timeout)
        made.connect(os.fspath(path))
        uid = peer_of(made).uid
        if uid not in (own_uid(), 0):
            raise HostGone(f"the host at {path} runs as user {uid}, not as you: nothing was sent")
    except OSError as error:
        made.close()
        raise HostGone(f"no host answers at {path}: {error}") from None
    except BaseException:
        made.close()
        raise
    return made


class AskClient:
    """One connection to one host. Make it with `connect`; use it in the loop it was made in."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ids = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._notices: asyncio.Queue[Notice | None] = asyncio.Queue()
        self._gone: Exception | None = None
        self._task = asyncio.get_running_loop().create_task(self._receive())
        self.host: HelloReply

    @classmethod
    async def connect(
        cls,
        path: Path | str,
        client: str = "interlock",
        *,
        kind: Literal["person", "flag"] = "person",
        timeout: float = 5.0,
    ) -> AskClient:
        """Connect and greet. `kind`: as what its answers are recorded. `timeout` in seconds. Raises `HostGone`,
        `AskRefused` (for example `not_allowed`)."""
        made = await asyncio.to_thread(_connect, path, timeout)
        made.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=made)
        self = cls(reader, writer)
        told = {} if kind == "person" else {"kind": kind}  # a host from before kinds refuses what it does not know
        try:
            async with asyncio.timeout(timeout):
                hello = await self._call("hello", {"client": client, "protocol": PROTOCOL_VERSION, **told})
        except TimeoutError:
            await self.close()
            raise HostGone(f"the host at {path} does not answer") from None
        except BaseException:
            await self.close()
            raise
        self.host = _read(HelloReply, hello)
        return self

    async def ping(self) -> None:
        """Return when the host has answered."""
        await self._call("ping", {})

    async def sessions(self) -> tuple[SessionInfo, ...]:
        """The sessions of the host."""
        reply = await self._call("session.list", {})
        return tuple(_read(SessionInfo, item) for item in reply.get("sessions", ()))

    async def list(self) -> tuple[AskView, ...]:
        """All open asks, oldest first."""
        found: list[AskView] = []
        cursor: int | None = 0
        while cursor is not None:
            page = _read(AskPage, await self._call("asks.list", {"cursor": cursor}))
            found += page.asks
            cursor = page.next
        return tuple(found)

    async def read(self, ask_id: str) -> dict[str, Any]:
        """The whole event of an ask, also one too large for a list."""
        text, offset = "", 0
        while offset is not None:
            part = _read(AskSlice, await self._call("asks.read", {"askId": ask_id, "offset": offset}))
            text += part.text
            offset = part.next
        return parse(text.encode())

    async def subscribe(self) -> AsyncIterator[Notice]:
        """Every open ask as `OpenedNotice`, then every change, until the host goes: then `HostGone` is raised."""
        await self._call("asks.subscribe", {})
        while True:
            notice = await self._notices.get()
            if notice is None:
                raise self._gone or HostGone("the connection was closed")
            yield notice

    async def unsubscribe(self) -> None:
        """Say that nobody watches here any more; agents that wait for us alone get their asks back."""
        await self._call("asks.unsubscribe", {})

    async def shown(self, ask_id: str) -> None:
        """Say that a screen has drawn the ask."""
        await self._call("asks.shown", {"askId": ask_id})

    async def answer(
        self,
        ask_id: str,
        input_digest: str,
        answer: AnswerKind,
        *,
        scope: Scope = "once",
        message: str | None = None,
        suggestion: str | None = None,
        rule: str | None = None,
    ) -> AnswerReply:
        """Answer. On return it has taken effect and is on disk. `suggestion`: the digest of the one that was shown;
        `rule`: its text as edited. Raises `AskRefused`, `HostGone`."""
        params = answer_params(ask_id, input_digest, answer, scope, message, suggestion, rule)
        return _read(AnswerReply, await self._call("asks.answer", params))

    async def preview(self, ask_id: str, suggestion: str, rule: str | None = None) -> PreviewReply:
        """What a suggestion (its digest), or a rule made of it, would have covered. Raises `AskRefused`, `HostGone`."""
        params = {"askId": ask_id, "suggestion": suggestion, **({} if rule is None else {"rule": rule})}
        return _read(PreviewReply, await self._call("asks.preview", params))

    async def grants(self) -> tuple[GrantView, ...]:
        """The standing permissions that hold at the host."""
        reply = await self._call("grants.list", {})
        return tuple(_read(GrantView, item) for item in reply.get("grants", ()))

    async def revoke(self, grant_id: str, session: str | None = None) -> GrantRevokedReply:
        """End a standing permission. Raises `AskRefused`, `HostGone`."""
        return _read(GrantRevokedReply, await self._call("grants.revoke", revoke_params(grant_id, session)))

    async def close(self) -> None:
        """End the connection."""
        self._task.cancel()
        self._writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._writer.wait_closed()

    async def __aenter__(self) -> AskClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self._gone is not None:
            raise self._gone
        number = next(self._ids)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            line = line_of({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            if len(line) > MAX_FRAME_BYTES:
                raise AskRefused(ErrorName.FRAME_TOO_LARGE, "the request is too large and was not sent", {})
            self._writer.write(line)
            await self._writer.drain()
            return _result(await future)
        except ConnectionError as error:
            raise self._gone or HostGone(f"the host went away: {error}") from None
        finally:
            self._waiting.pop(number, None)

    async def _receive(self) -> None:
        frames = Frames()
        gone: Exception = HostGone("the host closed the connection")
        try:
            while data := await self._reader.read(_CHUNK):
                for line in frames.feed(data):
                    refusal = self._take(parse(line))
                    gone = refusal or gone
        except (OSError, Fault, HostGone) as error:
            gone = error if isinstance(error, HostGone) else HostGone(f"the connection to the host broke: {error}")
        except asyncio.CancelledError:
            gone = HostGone("the connection was closed")
        finally:
            self._end(gone)

    def _take(self, value: Any) -> AskRefused | None:
        if not isinstance(value, dict):
            raise HostGone("the host sent something that is no JSON-RPC message")
        kind = NOTICES.get(value.get("method", ""))
        if kind is not None:
            self._notices.put_nowait(_read(kind, value.get("params")))
        elif value.get("id") is not None:
            future = self._waiting.get(value["id"])
            if future is not None and not future.done():
                future.set_result(value)
        elif "error" in value:
            return _refused(value["error"])  # about the connection, not about one request
        return None

    def _end(self, gone: Exception) -> None:
        self._gone = gone
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(gone)
        self._notices.put_nowait(None)


class BlockingClient:
    """One connection to one host without a loop. Raises `HostGone` and `AskRefused`."""

    def __init__(self, path: Path | str, client: str = "interlock", *, timeout: float = 10.0) -> None:
        """Connect and greet. `timeout` in seconds, for every reply."""
        self._socket = _connect(path, timeout)
        self._frames = Frames()
        self._lines: Iterator[bytes] = iter(())
        self._ids = count(1)
        self._path = path
        try:
            self.host = _read(HelloReply, self.call("hello", client=client, protocol=PROTOCOL_VERSION))
        except BaseException:
            self.close()
            raise

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """One request and its result."""
        number = next(self._ids)
        with contextlib.suppress(BrokenPipeError):  # a refusal may stand in the buffer, so read on
            self._socket.sendall(line_of({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        while True:
            reply = self._line()
            if reply.get("id") == number:
                return _result(reply)
            if reply.get("id") is None and "error" in reply:
                raise _refused(reply["error"])

    def sessions(self) -> tuple[SessionInfo, ...]:
        """The sessions of the host."""
        return tuple(_read(SessionInfo, item) for item in self.call("session.list").get("sessions", ()))

    def list(self) -> tuple[AskView, ...]:
        """All open asks, oldest first."""
        found: list[AskView] = []
        cursor: int | None = 0
        while cursor is not None:
            page = _read(AskPage, self.call("asks.list", cursor=cursor))
            found += page.asks
            cursor = page.next
        return tuple(found)

    def answer(
        self,
        ask_id: str,
        input_digest: str,
        answer: AnswerKind,
        *,
        scope: Scope = "once",
        message: str | None = None,
        suggestion: str | None = None,
        rule: str | None = None,
    ) -> AnswerReply:
        """Answer. On return it has taken effect and is on disk."""
        params = answer_params(ask_id, input_digest, answer, scope, message, suggestion, rule)
        return _read(AnswerReply, self.call("asks.answer", **params))

    def grants(self) -> tuple[GrantView, ...]:
        """The standing permissions that hold at the host; none at a host that does not know of any."""
        if "grants.list" not in self.host.methods:
            return ()
        return tuple(_read(GrantView, item) for item in self.call("grants.list").get("grants", ()))

    def revoke(self, grant_id: str, session: str | None = None) -> GrantRevokedReply:
        """End a standing permission."""
        return _read(GrantRevokedReply, self.call("grants.revoke", **revoke_params(grant_id, session)))

    def close(self) -> None:
        """End the connection."""
        self._socket.close()

    def __enter__(self) -> BlockingClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self) -> dict[str, Any]:
        try:
            while True:
                for line in self._lines:
                    value = parse(line)
                    return value if isinstance(value, dict) else {}
                data = self._socket.recv(_CHUNK)
                if not data:
                    raise HostGone(f"the host at {self._path} closed the connection")
                self._lines = iter(self._frames.feed(data))
        except (OSError, Fault) as error:
            raise HostGone(f"the host at {self._path} does not answer: {error}") from None


def answer_sync(
    path: Path | str,
    ask_id: str,
    input_digest: str,
    answer: AnswerKind,
    *,
    scope: Scope = "once",
    message: str | None = None,
    suggestion: str | None = None,
    rule: str | None = None,
    client: str = "interlock answer",
    timeout: float = 10.0,
) -> AnswerReply:
    """Connect, answer one ask, leave. Raises `HostGone`, `AskRefused`."""
    with BlockingClient(path, client, timeout=timeout) as connection:
        return connection.answer(
            ask_id, input_digest, answer, scope=scope, message=message, suggestion=suggestion, rule=rule
        )
