"""The frames between a host and its approvers: JSON-RPC 2.0, one message a line. docs/protocol.md is the same in prose.

Promises: a request that is only half understood is refused whole (unknown fields, duplicate keys, NaN, bad UTF-8);
replies may grow fields, so readers ignore what they do not know. Pure.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from interlock.runtime.events.permission import AnswerKind, Scope

PROTOCOL_VERSION = 1
FRAME_LIMIT = 1024 * 1024
"""Bytes of a request, its line end not counted. Replies and notifications are not bounded."""


class Strict(BaseModel):
    """What comes in: a mutation that is half understood is refused whole."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, strict=True)


class Hello(Strict):
    """Who connects; for the record and for people, not for trust."""

    client: str = Field(default="", max_length=200)


class Nothing(Strict):
    """A method without parameters."""


class Shown(Strict):
    """A screen has drawn this ask."""

    ask_id: str


class Answer(Strict):
    """The decision on one ask, bound to the exact thing that was shown."""

    ask_id: str
    input_digest: str
    answer: AnswerKind
    scope: Scope = "once"
    message: str | None = Field(default=None, max_length=100_000)


class Revoke(Strict):
    """End a standing permission."""

    grant_id: str


Params = Hello | Nothing | Shown | Answer | Revoke
METHODS: dict[str, type[Params]] = {
    "hello": Hello,
    "ping": Nothing,
    "session.list": Nothing,
    "asks.list": Nothing,
    "asks.subscribe": Nothing,
    "asks.shown": Shown,
    "asks.answer": Answer,
    "grants.list": Nothing,
    "grants.revoke": Revoke,
}

ErrorName = Literal[
    "parse_error",
    "invalid_request",
    "unknown_method",
    "bad_params",
    "unknown_ask",
    "already_resolved",
    "digest_mismatch",
    "expired",
    "closed",
    "not_offered",
    "not_recorded",
    "not_allowed",
    "frame_too_large",
    "too_many_connections",
    "internal_error",
    "unknown_grant",
]
ERROR_CODES: dict[str, int] = {
    "parse_error": -32700,
    "invalid_request": -32600,
    "unknown_method": -32601,
    "bad_params": -32602,
    "internal_error": -32603,
    "unknown_ask": -32001,
    "already_resolved": -32002,
    "digest_mismatch": -32003,
    "expired": -32004,
    "closed": -32005,
    "not_offered": -32006,
    "not_recorded": -32007,
    "not_allowed": -32008,
    "frame_too_large": -32009,
    "too_many_connections": -32010,
    "unknown_grant": -32011,
}


class ProtocolError(Exception):
    """An error as it goes over the wire: a name for programs, a message for people, data beside it."""

    def __init__(self, name: ErrorName, message: str, **data: Any) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.data = {k: v for k, v in data.items() if v is not None}

    def on_wire(self) -> dict[str, Any]:
        """The `error` member of a reply."""
        return {"code": ERROR_CODES[self.name], "message": self.message, "data": {"name": self.name, **self.data}}

    @classmethod
    def from_wire(cls, error: dict[str, Any]) -> ProtocolError:
        """What a reply said, names that this version does not know included."""
        data = dict(error.get("data") or {})
        name = data.pop("name", "internal_error")
        return cls(name, str(error.get("message", "")), **{str(k): v for k, v in data.items()})


class Request(BaseModel):
    """One well-formed request. `id` None: a notification, which gets no reply."""

    model_config = ConfigDict(frozen=True)

    id: int | str | None
    method: str
    params: Params


def parse_request(frame: bytes) -> Request:
    """The request in one line, without its line end. Raises ProtocolError; `request_id_of` finds the id for the reply."""
    try:
        text = frame.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError("parse_error", f"invalid UTF-8 at byte {error.start}") from None
    try:
        value = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ProtocolError("parse_error", f"not JSON: {why}") from None
    return _request(value)


def _request(value: Any) -> Request:
    if isinstance(value, list):
        raise ProtocolError("invalid_request", "batches are not taken: send one request a line")
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0" or not isinstance(value.get("method"), str):
        raise ProtocolError("invalid_request", 'expected {"jsonrpc":"2.0","id":…,"method":…,"params":{…}}')
    if extra := sorted(set(value) - {"jsonrpc", "id", "method", "params"}):
        raise ProtocolError("invalid_request", f"unknown member {extra[0]!r}")
    request_id = value.get("id")
    if request_id is not None and (isinstance(request_id, bool) or not isinstance(request_id, int | str)):
        raise ProtocolError("invalid_request", "id must be a string or an integer")
    kind = METHODS.get(value["method"])
    if kind is None:
        raise ProtocolError("unknown_method", f"unknown method {value['method'][:80]!r}; known: {', '.join(METHODS)}")
    try:
        params = kind.model_validate(value.get("params", {}))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "params"
        raise ProtocolError("bad_params", f"{where}: {first['msg']}", field=where) from None
    return Request(id=request_id, method=value["method"], params=params)


def request_id_of(frame: bytes) -> int | str | None:
    """The id of a request that was refused, where it can be read."""
    try:
        value = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    found = value.get("id") if isinstance(value, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice in one object")
    for key, item in pairs:
        for text in (key, item):
            if isinstance(text, str) and any("\ud800" <= c <= "\udfff" for c in text):
                raise ValueError("half a surrogate pair in a string")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def to_frame(message: dict[str, Any]) -> bytes:
    """One line, `\\n` included. Half surrogates, which UTF-8 cannot carry, become U+FFFD."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode() + b"\n"
