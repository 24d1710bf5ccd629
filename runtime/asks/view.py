"""Asks as they are listed and announced, in frames that never grow over the limit.

Promises: nothing is cut silently: a field left out of a list is named and can be read whole in slices.
"""

from __future__ import annotations

from typing import Any

from interlock.runtime.asks.frame import text_of
from interlock.runtime.asks.pending import Change, Ended, Opened, Pending
from interlock.runtime.asks.protocol import (
    MAX_FRAME_BYTES,
    AnsweredNotice,
    AskSlice,
    AskView,
    ClosedNotice,
    ErrorName,
    Fault,
)

_INLINE_BYTES = MAX_FRAME_BYTES // 4
"""A larger event is listed without its large fields."""
_PAGE_BYTES = MAX_FRAME_BYTES - 4096
_SLICE_CHARS = MAX_FRAME_BYTES // 8
"""One character is at most four bytes, or two when escaped once more: a slice always fits a frame."""
_FIELD_BYTES = 4096


def wire(record: Any) -> dict[str, Any]:
    """A record by its wire names; absent fields are left out."""
    return record.model_dump(mode="json", by_alias=True, exclude_none=True)


def view_of(pending: Pending) -> dict[str, Any]:
    """An open ask for a list."""
    event = wire(pending.event)
    text = text_of(event)
    omitted: list[str] = []
    if len(text.encode()) > _INLINE_BYTES:
        omitted = [key for key, value in event.items() if len(text_of(value).encode()) > _FIELD_BYTES]
        event = {key: value for key, value in event.items() if key not in omitted}
    return wire(
        AskView(
            ask_id=pending.ask_id,
            session=pending.event.session,
            number=pending.number,
            opened_at=pending.event.ts,
            input_digest=pending.input_digest,
            shown=bool(pending.shown_by),
            event=event,
            event_chars=len(text),
            omitted=tuple(omitted),
        )
    )


def page_of(asks: tuple[Pending, ...], cursor: int, limit: int) -> dict[str, Any]:
    """The asks with a number above the cursor, as many as fit one frame."""
    views: list[dict[str, Any]] = []
    room = _PAGE_BYTES
    waiting = [pending for pending in asks if pending.number > cursor]
    for pending in waiting:
        view = view_of(pending)
        room -= len(text_of(view).encode()) + 1
        if views and (room < 0 or len(views) >= limit):
            break
        views.append(view)
    page = {"asks": views}
    return page if len(views) == len(waiting) else {**page, "next": waiting[len(views) - 1].number}


def slice_of(pending: Pending, offset: int) -> dict[str, Any]:
    """A part of the event's JSON text."""
    text = text_of(wire(pending.event))
    if offset > len(text):
        raise Fault(ErrorName.BAD_REQUEST, f"offset: the text has {len(text)} characters")
    end = min(len(text), offset + _SLICE_CHARS)
    following = end if end < len(text) else None
    return wire(
        AskSlice(ask_id=pending.ask_id, offset=offset, text=text[offset:end], next=following, event_chars=len(text))
    )


def notice_of(change: Change) -> tuple[str, dict[str, Any]]:
    """Method and parameters of the notification of a change."""
    match change:
        case Opened(ask=ask):
            return "asks.opened", {"ask": view_of(ask)}
        case Ended(outcome=outcome) if outcome.answer is not None and outcome.by is not None:
            answered = AnsweredNotice(
                ask_id=change.ask_id,
                session=change.session,
                answer=outcome.answer,
                scope=outcome.scope,
                by=outcome.by,
                at=outcome.at,
                message=outcome.message,
                grant_id=outcome.grant_id,
            )
            return "asks.answered", wire(answered)
        case Ended(outcome=outcome):
            closed = ClosedNotice(
                ask_id=change.ask_id,
                session=change.session,
                cause=outcome.cause or "cancelled",
                at=outcome.at,
                message=outcome.message,
            )
            return "asks.closed", wire(closed)
