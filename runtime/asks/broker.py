"""Holds open asks; the first answer wins.

Promises: an ask has exactly one outcome; an answer takes effect only with the ask's id AND the digest of what was shown,
and only after its event is in the journal durably; when the journal refuses it, the ask stays open and the approver is told;
a late answer learns how the ask ended. Closing always releases the waiter (nothing runs), also when the journal is broken.
Does not promise: safety across threads; all calls come from the loop in which the asks were opened. Nothing here is awaited
between looking and deciding, which is why two answers cannot both win.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol

from interlock.runtime.asks.pending import Cause, Change, Ended, Opened, Outcome, Pending, Resolution
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.asks.standing import Terms, refusal_of, rule_of
from interlock.runtime.events.base import Event
from interlock.runtime.events.permission import (
    Approver,
    PermissionAnswered,
    PermissionClosed,
    PermissionDelivered,
    PermissionShown,
    ToolPermission,
)
from interlock.runtime.events.union import AnyEvent

_log = logging.getLogger(__name__)

_REMEMBERED = 10_000
"""Ended asks whose outcome a late approver is told; an older one is unknown."""
_SHOWN_LIMIT = 16
"""Screens recorded per ask."""
_LONGEST_SLEEP = 30.0
"""Seconds; a machine that slept learns of an expiry at most this late."""


class Record(Protocol):
    """Appends an event to the journal; `durable` means on disk on return. Returns it with its envelope; raises on failure."""

    def __call__(self, event: AnyEvent, durable: bool) -> Event: ...


class AskNotRecorded(Exception):
    """The journal could not take a step of an ask's life; the call it stands for must not run."""


def utc_now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


class Broker:
    """The open asks of one host."""

    def __init__(self, record: Record, clock: Callable[[], datetime] = utc_now) -> None:
        self._record = record
        self._clock = clock
        self._open: OrderedDict[str, Pending] = OrderedDict()
        self._ended: OrderedDict[str, tuple[str, Outcome]] = OrderedDict()
        self._listeners: list[Callable[[Change], None]] = []
        self._count = 0

    def open(self, event: ToolPermission, terms: Terms | None = None) -> Pending:
        """Record an ask and let it wait. An open ask that it `supersedes` is closed with that cause. `terms`: what makes
        standing permissions of its answers; without them every answer is for once.

        Raises ValueError for an event that is no ask or an id used before, `AskNotRecorded` when the journal refuses.
        """
        if event.decision != "ask" or not event.ask_id or not event.input_digest:
            raise ValueError("an ask needs the decision `ask`, an ask id and an input digest")
        if event.ask_id in self._open or event.ask_id in self._ended:
            raise ValueError(f"the ask id {event.ask_id} was used before")
        recorded = self._append(event, durable=True)
        assert isinstance(recorded, ToolPermission)
        self._count += 1
        pending = Pending(recorded, self._count, self._deliver, asyncio.get_running_loop().create_future())
        pending.terms = terms
        self._open[pending.ask_id] = pending
        self._tell(Opened(pending))
        if event.supersedes in self._open:
            self.cancel(event.supersedes, "superseded", f"replaced by {event.ask_id}: what it showed has changed")
        return pending

    def resolve(self, answer: AskAnswer, by: Approver) -> Resolution:
        """Try to answer. See `Resolution` for what can come of it; never raises for a reason of the journal."""
        pending = self._open.get(answer.ask_id)
        if pending is not None and self._is_due(pending, self._clock()):
            self._close(pending, "expired")
            pending = None
        if pending is None:
            return self._late(answer)
        refusal = _refusal(pending, answer)
        return refusal if refusal is not None else self._accept(pending, answer, by)

    def _accept(self, pending: Pending, answer: AskAnswer, by: Approver) -> Resolution:
        event = PermissionAnswered(
            ask_id=pending.ask_id,
            intent_id=pending.event.intent_id,
            answer=answer.answer,
            scope=answer.scope,
            by=by,
            message=answer.message,
            suggestion=answer.suggestion,
            rule=answer.rule or rule_of(pending.event, answer),
            input_digest=pending.input_digest,
        )
        pending.resolving = True
        try:
            recorded = self._append(event, durable=True)
        except AskNotRecorded as error:
            return Resolution("not_recorded", pending.ask_id, detail=f"the answer did not take effect: {error}")
        finally:
            pending.resolving = False
        assert isinstance(recorded, PermissionAnswered)
        outcome = _granted(pending, recorded)
        self._end(pending, outcome)
        return Resolution("accepted", pending.ask_id, outcome)

    def _late(self, answer: AskAnswer) -> Resolution:
        session, outcome = self._ended.get(answer.ask_id, ("", None))
        if outcome is None or (answer.session is not None and answer.session != session):
            return Resolution("unknown", answer.ask_id, detail="no such ask is or was open here")
        if outcome.cause is None:
            return Resolution("already", answer.ask_id, outcome, f"already answered: {_told(outcome)}")
        if outcome.cause == "expired":
            return Resolution("expired", answer.ask_id, outcome, f"the time to answer ran out; closed at {outcome.at}")
        return Resolution("closed", answer.ask_id, outcome, f"stale: {outcome.cause} at {outcome.at}")

    def shown(self, ask_id: str, by: Approver) -> Resolution:
        """Record that a screen has drawn the ask; once for each screen, and for a bounded number of them."""
        pending = self._open.get(ask_id)
        if pending is None:
            return self._late(AskAnswer(ask_id=ask_id, input_digest="-", answer="deny"))
        screen = (by.pid, by.client)
        if screen not in pending.shown_by and len(pending.shown_by) < _SHOWN_LIMIT:
            try:
                self._append(PermissionShown(ask_id=ask_id, intent_id=pending.event.intent_id, by=by), durable=False)
            except AskNotRecorded as error:
                return Resolution("not_recorded", ask_id, detail=str(error))
            pending.shown_by.add(screen)
        return Resolution("accepted", ask_id)

    def cancel(self, ask_id: str, cause: Cause = "cancelled", message: str | None = None) -> bool:
        """Close an open ask without an answer and release its waiter. False: it was not open any more."""
        pending = self._open.get(ask_id)
        if pending is None or pending.resolving:
            return False
        self._close(pending, cause, message)
        return True

    def expire(self, now: datetime) -> list[str]:
        """Close every ask whose time has run out, and say which."""
        due = [p for p in self._open.values() if self._is_due(p, now) and not p.resolving]
        for pending in due:
            self._close(pending, "expired")
        return [p.ask_id for p in due]

    def close_all(self, cause: Cause = "session_closed") -> list[str]:
        """Close every open ask; for the end of a session."""
        return [ask_id for ask_id in list(self._open) if self.cancel(ask_id, cause)]

    def restore(self, events: Iterable[object]) -> list[str]:
        """Take over the asks of a journal whose writer is gone: answered and closed ones are remembered for late
        approvers, those left open are closed with the cause `runtime_restarted` and returned.

        Raises `AskNotRecorded` when the journal refuses a closing.
        """
        left: dict[str, ToolPermission] = {}
        for event in events:
            if isinstance(event, ToolPermission) and event.decision == "ask" and event.ask_id:
                left[event.ask_id] = event
            elif isinstance(event, PermissionAnswered) and left.pop(event.ask_id, None):
                self._remember(event.session, Outcome.answered(event))
            elif isinstance(event, PermissionClosed) and left.pop(event.ask_id, None):
                self._remember(event.session, Outcome.closed(event))
        for ask_id, event in left.items():
            closing = PermissionClosed(ask_id=ask_id, intent_id=event.intent_id, cause="runtime_restarted")
            recorded = self._append(closing, durable=True)
            assert isinstance(recorded, PermissionClosed)
            self._remember(recorded.session, Outcome.closed(recorded))
        return list(left)

    def pending(self) -> tuple[Pending, ...]:
        """The open asks, oldest first."""
        return tuple(self._open.values())

    def find(self, ask_id: str) -> Pending | None:
        """An open ask."""
        return self._open.get(ask_id)

    def subscribe(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Have every change told, in order, in the loop; returns what ends it. A listener's fault is logged alone."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def say_goodbye(self) -> None:
        """A person who listened leaves, and says so. A host that holds asks for agents gives them back then."""

    async def _deliver(self, pending: Pending) -> Outcome:
        try:
            outcome = await self._outcome(pending)
        except asyncio.CancelledError:
            self.cancel(pending.ask_id, "cancelled", "the call that asked was cancelled")
            raise
        if outcome.cause is None:
            delivered = PermissionDelivered(ask_id=pending.ask_id, intent_id=pending.event.intent_id)
            self._append(delivered, durable=False)
        return outcome

    async def _outcome(self, pending: Pending) -> Outcome:
        expires = _instant(pending.event.expires_at)
        while not pending.future.done():
            left = _LONGEST_SLEEP if expires is None else (expires - self._clock()).total_seconds()
            if left <= 0:
                self.expire(self._clock())
                continue
            # asyncio.wait, unlike wait_for, leaves the future alone when this waiter is cancelled
            await asyncio.wait({pending.future}, timeout=None if expires is None else min(left, _LONGEST_SLEEP))
        return pending.future.result()

    def _is_due(self, pending: Pending, now: datetime) -> bool:
        expires = _instant(pending.event.expires_at)
        return expires is not None and now >= expires

    def _close(self, pending: Pending, cause: Cause, message: str | None = None) -> None:
        event = PermissionClosed(ask_id=pending.ask_id, intent_id=pending.event.intent_id, cause=cause, message=message)
        try:
            recorded = self._append(event, durable=True)
            assert isinstance(recorded, PermissionClosed)
            outcome = Outcome.closed(recorded)
        except AskNotRecorded:
            stamped = event.model_copy(update={"ts": self._clock().isoformat()})
            outcome = Outcome.closed(stamped, recorded=False)
        self._end(pending, outcome)

    def _end(self, pending: Pending, outcome: Outcome) -> None:
        del self._open[pending.ask_id]
        self._remember(pending.event.session, outcome)
        if not pending.future.done():
            pending.future.set_result(outcome)
        self._tell(Ended(pending.ask_id, pending.event.session, outcome))

    def _remember(self, session: str, outcome: Outcome) -> None:
        self._ended[outcome.ask_id] = (session, outcome)
        while len(self._ended) > _REMEMBERED:
            self._ended.popitem(last=False)

    def _append(self, event: AnyEvent, *, durable: bool) -> Event:
        try:
            return self._record(event, durable)
        except Exception as error:
            _log.error("the journal could not take %s: %s", event.type, error)
            raise AskNotRecorded(f"the journal could not take {event.type}: {error}") from error

    def _tell(self, change: Change) -> None:
        for listener in list(self._listeners):
            try:
                listener(change)
            except Exception:
                _log.exception("a listener failed on %s", type(change).__name__)


def _refusal(pending: Pending, answer: AskAnswer) -> Resolution | None:
    if answer.session is not None and answer.session != pending.event.session:
        return Resolution("unknown", answer.ask_id, detail=f"the ask is not of the session {answer.session}")
    if pending.resolving:
        return Resolution("not_recorded", answer.ask_id, detail="another answer is being recorded at this moment")
    if answer.input_digest != pending.input_digest:
        return Resolution(
            "mismatch", answer.ask_id, detail="the answer is about another input than the one that would run"
        )
    offered = pending.event.choices
    if offered is not None and answer.choice not in offered:
        return Resolution(
            "not_offered", answer.ask_id, detail=f"`{answer.choice}` is not offered, only: {', '.join(offered)}"
        )
    refused = refusal_of(pending.event, answer, pending.terms)
    return Resolution(refused[0], answer.ask_id, detail=refused[1]) if refused is not None else None


def _granted(pending: Pending, answered: PermissionAnswered) -> Outcome:
    """The outcome of an answer on record, with the standing permission that it makes."""
    outcome = Outcome.answered(answered)
    if pending.terms is None or answered.answer != "allow" or answered.scope == "once":
        return outcome
    try:
        made = pending.terms.settle(answered)
    except Exception as error:  # the answer is on record and stands; only what should outlast it does not
        _log.exception("no standing permission could be made of %s", pending.ask_id)
        return replace(outcome, grant_fault=f"no standing permission was made: {error}")
    return replace(outcome, grant_id=made.grant_id or None, grant_fault=made.fault or None)


def _told(outcome: Outcome) -> str:
    by = outcome.by
    who = "somebody" if by is None else f"{by.client or by.kind} (uid {by.uid}, process {by.pid})"
    return f"{outcome.answer} by {who} at {outcome.at}"


def _instant(text: str | None) -> datetime | None:
    if text is None:
        return None
    at = datetime.fromisoformat(text)
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
