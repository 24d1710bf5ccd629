"""Who gets which line: the routing between an ACP client and an agent.

Promises: every line goes on byte for byte, but for a permission request that waits for the gate and a late answer to one that
is answered; ids of both sides are never mixed up, although both count from 0; a request whose id is still in use goes to
the editor under another id and its answer comes back under its own; exactly one answer to each request reaches the agent.
Pure: no clock, no streams; the gate says when a request is to be shown to the editor and what was decided.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.runtime.gates.acp.option import Options

PERMISSION = "session/request_permission"
CANCEL = "$/cancel_request"
Key = tuple[str, Any]
"""An id as the protocol compares them: 1 and 1.0 are equal, 1 and "1" are not."""


class _Twice(ValueError):
    pass


def read(line: bytes) -> dict[str, Any] | None:
    """The JSON object in a line, None for what is none. A key given twice makes it none: readers would differ."""
    try:
        value = json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Twice("a key stands twice")
    return made


def key_of(value: Any) -> Key | None:
    """The key of an id, None for what is no id."""
    if isinstance(value, str):
        return "text", value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", value
    return None


@dataclass(eq=False, slots=True)
class Request:
    """A permission that the agent asks for."""

    id: Any
    line: bytes
    params: dict[str, Any]
    options: Options
    state: Literal["held", "shown", "answered"] = "held"
    """`held`: the editor has not seen it; `shown`: both can answer; `answered`: it is over."""
    was_shown: bool = False
    shown_as: Any = None
    """The id under which the editor has it."""

    @property
    def session(self) -> str:
        """The agent's session, "" where it says none."""
        found = self.params.get("sessionId")
        return found if isinstance(found, str) else ""


@dataclass(slots=True)
class Answered:
    """The editor has answered a request and was first."""

    request: Request
    said: Literal["allow", "deny", "cancelled", "unknown"]
    line: bytes
    """To be handed to the agent."""


@dataclass(slots=True)
class Outgoing:
    """What becomes of one line."""

    forward: bytes | None = None
    """Goes on to the other side, now."""
    message: dict[str, Any] | None = None
    """As it was read; None: nothing that could be read."""
    permission: Request | None = None
    """From the agent: waits for the gate."""
    answered: Answered | None = None
    """From the editor: its answer came first, if the gate agrees."""
    withdrawn: list[Request] = field(default_factory=list)
    """The agent takes these back."""


class Relay:
    """The state of one connection."""

    def __init__(self) -> None:
        self._open: dict[Key, Request] = {}
        """Asked by the agent and not answered, by the agent's id."""
        self._at_editor: dict[Key, Request] = {}
        """Every request that the editor has seen and not answered, by the id that it has there."""
        self._count = 0

    @property
    def open(self) -> tuple[Request, ...]:
        """Requests that nobody has answered."""
        return tuple(self._open.values())

    def from_agent(self, line: bytes) -> Outgoing:
        """A whole line of the agent."""
        message = read(line)
        if message is None:
            return Outgoing(line)
        key = key_of(message.get("id"))
        if message.get("method") == CANCEL:
            return self._cancelled(line, message)
        if message.get("method") != PERMISSION or key is None or not isinstance(message.get("params"), dict):
            return Outgoing(line, message)
        replaced: list[Request] = []
        if key in self._open:
            # two questions under one id: an answer could be meant for either, so the first one is over
            replaced.append(self._open.pop(key))
            replaced[0].state = "answered"
        params = message["params"]
        request = Request(message["id"], line, params, Options(params.get("options")))
        self._open[key] = request
        return Outgoing(None, message, permission=request, withdrawn=replaced)

    def _cancelled(self, line: bytes, message: dict[str, Any]) -> Outgoing:
        params = message.get("params")
        key = key_of(params.get("requestId")) if isinstance(params, dict) else None
        request = self._open.get(key) if key is not None else None
        if request is None:
            return Outgoing(line, message)
        if request.state == "held":
            return Outgoing(None, message, withdrawn=[request])
        if request.shown_as != request.id:
            line = _line(message | {"params": params | {"requestId": request.shown_as}})  # type: ignore[operator]
        return Outgoing(line, message, withdrawn=[request])

    def from_editor(self, line: bytes) -> Outgoing:
        """A whole line of the editor."""
        message = read(line)
        if message is None:
            return Outgoing(line)
        key = key_of(message.get("id"))
        if "method" in message or key is None or key not in self._at_editor:
            return Outgoing(line, message)
        request = self._at_editor.pop(key)
        if request.state == "answered":
            return Outgoing(None, message)  # too late: the agent has its answer
        said = request.options.said(message.get("result"))
        back = line if request.shown_as == request.id else _line(message | {"id": request.id})
        return Outgoing(None, message, answered=Answered(request, said, back))

    def show(self, request: Request) -> bytes:
        """The line that shows a held request to the editor."""
        key = key_of(request.id)
        assert key is not None
        request.state, request.was_shown, request.shown_as = "shown", True, request.id
        line = request.line
        if key in self._at_editor:
            self._count += 1
            request.shown_as = f"interlock-{self._count}-{request.id}"
            line = _line({**(read(line) or {}), "id": request.shown_as})
        self._at_editor[key_of(request.shown_as) or key] = request
        return line

    def settle(self, request: Request) -> bool:
        """Take a request as answered. False: it was answered before."""
        if request.state == "answered":
            return False
        request.state = "answered"
        key = key_of(request.id)
        if key is not None and self._open.get(key) is request:
            del self._open[key]
        return True

    def answer(self, request: Request, result: dict[str, Any]) -> tuple[bytes, bytes | None]:
        """The gate's answer: the line for the agent, and the line that tells the editor to close its prompt, if it has one."""
        told = None
        if request.was_shown:
            told = _line({"jsonrpc": "2.0", "method": CANCEL, "params": {"requestId": request.shown_as}})
        return _line({"jsonrpc": "2.0", "id": request.id, "result": result}), told


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"
