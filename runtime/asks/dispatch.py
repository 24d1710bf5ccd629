"""From a checked request to the broker and back: what each method does.

Promises: every refusal has a name of docs/protocol.md and says who was first, when there was one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from interlock.runtime.asks.broker import Broker
from interlock.runtime.asks.pending import Pending, Resolution
from interlock.runtime.asks.protocol import (
    MAX_FRAME_BYTES,
    PARAMS,
    PROTOCOL_VERSION,
    AnswerReply,
    AskAnswer,
    ErrorName,
    Fault,
    HelloParams,
    HelloReply,
    ListParams,
    Params,
    PreviewParams,
    ReadParams,
    RevokeParams,
    SessionInfo,
    ShownParams,
)
from interlock.runtime.asks.standing import GrantDesk, NoGrants, suggestion_of
from interlock.runtime.asks.view import page_of, slice_of, wire
from interlock.runtime.events.permission import Approver
from interlock.runtime.version import __version__

_NAMES: dict[str, ErrorName] = {
    "already": ErrorName.ALREADY_RESOLVED,
    "unknown": ErrorName.UNKNOWN_ASK,
    "mismatch": ErrorName.DIGEST_MISMATCH,
    "expired": ErrorName.EXPIRED,
    "closed": ErrorName.CLOSED,
    "not_offered": ErrorName.NOT_OFFERED,
    "not_recorded": ErrorName.NOT_RECORDED,
    "rule_refused": ErrorName.RULE_REFUSED,
}


class Desk:
    """Serves requests of all connections of a host."""

    def __init__(
        self, broker: Broker, sessions: Callable[[], Sequence[SessionInfo]], grants: GrantDesk | None = None
    ) -> None:
        self.broker = broker
        self.grants: GrantDesk = grants if grants is not None else NoGrants()
        self._sessions = sessions
        self.objection: Callable[[int], str | None] = lambda _pid: None
        """Why the process may not answer; asked again before every answer, and before all about standing permissions."""

    def greeted(self, params: Params) -> HelloParams:
        """Who connects. Raises `Fault` when it speaks another protocol."""
        assert isinstance(params, HelloParams)
        if params.protocol != PROTOCOL_VERSION:
            raise Fault(
                ErrorName.BAD_REQUEST, f"this host speaks protocol {PROTOCOL_VERSION}", protocol=PROTOCOL_VERSION
            )
        return params

    def run(self, method: str, params: Params, by: Approver) -> dict[str, Any]:
        """The result of a request. Raises `Fault`."""
        match params:
            case HelloParams():
                return wire(_hello(by))
            case ListParams(cursor=cursor, limit=limit):
                return page_of(self.broker.pending(), cursor or 0, limit)
            case ReadParams(ask_id=ask_id, offset=offset):
                return slice_of(self._open(ask_id), offset)
            case ShownParams(ask_id=ask_id):
                self._check(by)
                _accepted(self.broker.shown(ask_id, by))
                return {"askId": ask_id}
            case AskAnswer():
                return self._answer(params, by)
            case RevokeParams(grant_id=grant_id, session=session):
                self._check(by)
                return wire(self.grants.revoke(grant_id, session, by))
        if method == "grants.list":
            self._check(by)
            return {"grants": [wire(grant) for grant in self.grants.listed()]}
        return {"sessions": [wire(s) for s in self._sessions()]} if method == "session.list" else {}

    async def preview(self, params: PreviewParams, by: Approver) -> dict[str, Any]:
        """The result of `asks.preview`. Raises `Fault`."""
        self._check(by)
        pending = self._open(params.ask_id)
        if pending.terms is None or suggestion_of(pending.event, params.suggestion) is None:
            raise Fault(ErrorName.UNKNOWN_SUGGESTION, "the ask has no such suggestion", askId=params.ask_id)
        return wire(await pending.terms.preview(params.suggestion, params.rule))

    def _check(self, by: Approver) -> None:
        objection = self.objection(by.pid or 0)
        if objection is not None:
            raise Fault(ErrorName.NOT_ALLOWED, f"this process may not answer: {objection}")

    def _open(self, ask_id: str) -> Pending:
        found = self.broker.find(ask_id)
        if found is None:
            raise Fault(ErrorName.UNKNOWN_ASK, "no such ask is open here", askId=ask_id)
        return found

    def _answer(self, params: AskAnswer, by: Approver) -> dict[str, Any]:
        self._check(by)
        outcome = _accepted(self.broker.resolve(params, by)).outcome
        assert outcome is not None
        return wire(
            AnswerReply(
                ask_id=params.ask_id,
                accepted=True,
                answer=params.answer,
                scope=params.scope,
                by=outcome.by or by,
                at=outcome.at,
                grant_id=outcome.grant_id,
                grant_fault=outcome.grant_fault,
            )
        )


def _hello(by: Approver) -> HelloReply:
    return HelloReply(
        protocol=PROTOCOL_VERSION,
        server="interlock",
        version=__version__,
        pid=os.getpid(),
        uid=os.geteuid(),
        you=by,
        max_frame_bytes=MAX_FRAME_BYTES,
        methods=tuple(PARAMS),
    )


def _accepted(resolution: Resolution) -> Resolution:
    if resolution.status == "accepted":
        return resolution
    data: dict[str, Any] = {"askId": resolution.ask_id}
    outcome = resolution.outcome
    if outcome is not None:
        data["at"] = outcome.at
        if outcome.cause is not None:
            data["cause"] = outcome.cause
        else:
            data |= {"answer": outcome.answer, "scope": outcome.scope}
            data["by"] = wire(outcome.by) if outcome.by is not None else None
    raise Fault(_NAMES[resolution.status], resolution.detail, **data)
