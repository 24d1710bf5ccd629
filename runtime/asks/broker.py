"""The life of the asks of one session: opened, shown, answered, delivered, or closed.

Promises: exactly one answer takes effect, the first that carries the right id and digest; it is on disk before anyone
acts on it; an answer that cannot be recorded is refused and the ask stays open; an ask id is never used again.
Does not promise: to be safe for several threads (one event loop owns it).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from interlock.runtime.asks.protocol import Answer, ProtocolError
from interlock.runtime.events.permission import (
    Approver,
    PermissionAnswered,
    PermissionClosed,
    PermissionDelivered,
    PermissionShown,
    ToolPermission,
)
from interlock.runtime.events.union import AnyEvent

Cause = Literal["expired", "cancelled", "superseded", "runtime_restarted", "session_closed"]
Record = Callable[[AnyEvent, bool], AnyEvent]
"""Writes an event; the second argument: it must be on disk before the call returns. Raises when it could not."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an ask ended, for the call that waited."""

    answer: PermissionAnswered | None = None
    cause: Cause | None = None
    message: str | None = None

    @property
    def allowed(self) -> bool:
        """Whether a person or a rule said yes."""
        return self.answer is not None and self.answer.answer == "allow"


@dataclass(frozen=True, slots=True)
class Change:
    """What listeners are told."""

    kind: Literal["opened", "shown", "answered", "closed"]
    ask: ToolPermission
    answer: PermissionAnswered | None = None
    cause: Cause | None = None
    message: str | None = None


class Pending:
    """An ask that waits. Await `wait` for its end."""

    def __init__(self, ask: ToolPermission, broker: Broker) -> None:
        self.ask = ask
        self.shown_by: list[Approver] = []
        self._broker = broker
        self._future: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    @property
    def ask_id(self) -> str:
        """The random id, never used again."""
        assert self.ask.ask_id is not None
        return self.ask.ask_id

    async def wait(self) -> Outcome:
        """The outcome; records that an answer was delivered. Cancelling the waiter closes the ask as cancelled."""
        try:
            outcome = await asyncio.wait_for(asyncio.shield(self._future), self._broker.seconds_left(self.ask))
        except TimeoutError:
            self._broker.close(self.ask_id, "expired", "nobody answered in time")
            outcome = self._future.result()
        except asyncio.CancelledError:
            self._broker.close(self.ask_id, "cancelled", "the call was cancelled")
            raise
        if outcome.answer is not None:
            self._broker.record(PermissionDelivered(ask_id=self.ask_id, intent_id=self.ask.intent_id), False)
        return outcome

    def settle(self, outcome: Outcome) -> None:
        """Release the waiter."""
        if not self._future.done():
            self._future.set_result(outcome)


class Broker:
    """All asks of one session."""

    def __init__(self, record: Record, clock: Callable[[], datetime]) -> None:
        self.record = record
        self._clock = clock
        self._pending: dict[str, Pending] = {}
        self._resolved: dict[str, Change] = {}
        self._listeners: list[Callable[[Change], None]] = []

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Tell `listener` of every change; returns the function that ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def open(self, event: ToolPermission) -> Pending:
        """Record a permission with decision `ask` and hold it until it is answered or closed.

        Raises ValueError for an ask id that was used before, and what the record raises.
        """
        if event.decision != "ask" or not event.ask_id or not event.input_digest:
            raise ValueError("an ask needs the decision 'ask', an ask id and an input digest")
        if event.ask_id in self._pending or event.ask_id in self._resolved:
            raise ValueError(f"the ask id {event.ask_id} was used before")
        written = self.record(event, True)
        assert isinstance(written, ToolPermission)
        pending = Pending(written, self)
        self._pending[pending.ask_id] = pending
        self._tell(Change("opened", written))
        return pending

    def pending(self) -> list[Pending]:
        """The open asks, oldest first."""
        return list(self._pending.values())

    def shown(self, ask_id: str, by: Approver) -> None:
        """A screen has drawn the ask; the same screen counts once. Raises ProtocolError."""
        pending = self._find(ask_id)
        if by not in pending.shown_by:
            self.record(PermissionShown(ask_id=ask_id, intent_id=pending.ask.intent_id, by=by), False)
            pending.shown_by.append(by)
            self._tell(Change("shown", pending.ask))

    def resolve(self, answer: Answer, by: Approver) -> PermissionAnswered:
        """Let this answer take effect, or raise ProtocolError with the reason why it does not."""
        pending = self._find(answer.ask_id)
        self._check(answer, pending.ask)
        event = PermissionAnswered(
            ask_id=answer.ask_id,
            intent_id=pending.ask.intent_id,
            answer=answer.answer,
            scope=answer.scope,
            by=by,
            message=answer.message,
            input_digest=answer.input_digest,
        )
        try:
            written = self.record(event, True)
        except Exception as error:
            # without a record nothing may run: the ask stays open, and the approver is told
            raise ProtocolError(
                "not_recorded", f"the answer could not be recorded, so it has no effect: {error}"
            ) from error
        assert isinstance(written, PermissionAnswered)
        self._end(pending, Change("answered", pending.ask, answer=written), Outcome(answer=written))
        return written

    def close(self, ask_id: str, cause: Cause, message: str | None = None) -> bool:
        """End an ask without an answer. False: it was not open."""
        pending = self._pending.get(ask_id)
        if pending is None:
            return False
        event = PermissionClosed(ask_id=ask_id, intent_id=pending.ask.intent_id, cause=cause, message=message)
        try:
            self.record(event, True)
        finally:
            # also without a record the waiter must end, and it ends without running
            self._end(
                pending,
                Change("closed", pending.ask, cause=cause, message=message),
                Outcome(cause=cause, message=message),
            )
        return True

    def close_all(self, cause: Cause, message: str | None = None) -> None:
        """End every open ask with the same cause."""
        for ask_id in list(self._pending):
            self.close(ask_id, cause, message)

    def seconds_left(self, ask: ToolPermission) -> float | None:
        """Until the ask expires; None: it waits for ever."""
        if ask.expires_at is None:
            return None
        return max(0.0, (datetime.fromisoformat(ask.expires_at) - self._clock()).total_seconds())

    def _find(self, ask_id: str) -> Pending:
        pending = self._pending.get(ask_id)
        if pending is not None:
            return pending
        change = self._resolved.get(ask_id)
        if change is None:
            raise ProtocolError("unknown_ask", f"there is no ask {ask_id!r} in this session")
        raise _too_late(change)

    def _check(self, answer: Answer, ask: ToolPermission) -> None:
        if answer.input_digest != ask.input_digest:
            raise ProtocolError(
                "digest_mismatch",
                "the answer is for something else than what waits now: look at the ask again",
                askId=ask.ask_id,
                inputDigest=ask.input_digest,
            )
        left = self.seconds_left(ask)
        if left is not None and left <= 0:
            assert ask.ask_id is not None
            self.close(ask.ask_id, "expired", "nobody answered in time")
            raise ProtocolError("expired", "the time to answer is over; nothing was run")
        if answer.message and "deny.message" not in (ask.choices or ()):
            raise ProtocolError("not_offered", "this ask takes no message")
        wanted = "deny" if answer.answer == "deny" else f"allow.{answer.scope}"
        if wanted not in (ask.choices or ()) or (answer.answer == "deny" and answer.scope != "once"):
            offered = ", ".join(ask.choices or ())
            raise ProtocolError("not_offered", f"{answer.answer} with scope {answer.scope} is not offered: {offered}")

    def _end(self, pending: Pending, change: Change, outcome: Outcome) -> None:
        self._pending.pop(pending.ask_id, None)
        self._resolved[pending.ask_id] = change
        pending.settle(outcome)
        self._tell(change)

    def _tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)


def _too_late(change: Change) -> ProtocolError:
    if change.answer is not None:
        by = change.answer.by.model_dump(by_alias=True, exclude_none=True)
        return ProtocolError(
            "already_resolved",
            f"already {'allowed' if change.answer.answer == 'allow' else 'denied'} by {describe(change.answer.by)}",
            by=by,
            at=change.answer.ts,
            answer=change.answer.answer,
        )
    if change.cause == "expired":
        return ProtocolError("expired", "the time to answer is over; nothing was run")
    return ProtocolError("closed", f"the ask was closed: {change.cause}", cause=change.cause, reason=change.message)


def describe(by: Approver) -> str:
    """An approver in words."""
    parts = [by.client or by.kind]
    if by.pid is not None:
        parts.append(f"process {by.pid}")
    return ", ".join(parts)


def on_wire(asks: Iterable[ToolPermission]) -> list[dict[str, Any]]:
    """Asks as they go to approvers: the event itself, by its wire names."""
    return [ask.model_dump(by_alias=True, exclude_none=True, mode="json") for ask in asks]
