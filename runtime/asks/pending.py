"""An open ask, and the two words said about it: the outcome for its waiter, the resolution for an approver.

Promises: a waiter gets exactly one outcome; `Outcome.allowed` is true only for a recorded answer `allow`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from interlock.runtime.events.permission import (
    AnswerKind,
    Approver,
    PermissionAnswered,
    PermissionClosed,
    Scope,
    ToolPermission,
)

if TYPE_CHECKING:
    from interlock.runtime.asks.standing import Terms

Cause = Literal["expired", "cancelled", "superseded", "runtime_restarted", "session_closed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an ask ended, for the call that waits."""

    ask_id: str
    answer: AnswerKind | None = None
    """None: closed without an answer."""
    scope: Scope = "once"
    message: str | None = None
    """Of the person, word for word; of a closing, why."""
    by: Approver | None = None
    at: str = ""
    """When, as the journal has it."""
    cause: Cause | None = None
    """Why it was closed; None: answered."""
    input_digest: str = ""
    """Of the input that the answer is about."""
    recorded: bool = True
    """False only for a closing that the journal could not take."""
    suggestion: str | None = None
    """Digest of the suggestion that was answered with."""
    grant_id: str | None = None
    """The standing permission that was made of the answer."""
    grant_fault: str | None = None
    """Why none was made although one was wanted; the call itself is allowed once."""

    @property
    def allowed(self) -> bool:
        """Whether the call may go on."""
        return self.answer == "allow" and self.recorded

    @classmethod
    def answered(cls, event: PermissionAnswered) -> Outcome:
        """The outcome that a recorded answer stands for."""
        return cls(
            event.ask_id,
            answer=event.answer,
            scope=event.scope,
            message=event.message,
            by=event.by,
            at=event.ts,
            input_digest=event.input_digest,
            suggestion=event.suggestion,
        )

    @classmethod
    def closed(cls, event: PermissionClosed, *, recorded: bool = True) -> Outcome:
        """The outcome of a closing."""
        return cls(event.ask_id, message=event.message, at=event.ts, cause=event.cause, recorded=recorded)


ResolutionStatus = Literal[
    "accepted", "already", "unknown", "mismatch", "expired", "closed", "not_offered", "not_recorded", "rule_refused"
]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What became of an attempt to answer. Only `accepted` took effect."""

    status: ResolutionStatus
    ask_id: str
    outcome: Outcome | None = None
    """How the ask ended: by this answer, or before it."""
    detail: str = ""
    """For a person."""


@dataclass(eq=False, slots=True)
class Pending:
    """An ask that waits. Made by `Broker.open`; belongs to the loop it was made in."""

    event: ToolPermission
    """As recorded."""
    number: int
    """Counts up by one with every ask of the broker."""
    deliver: Callable[[Pending], Awaitable[Outcome]]
    future: asyncio.Future[Outcome]
    shown_by: set[tuple[int | None, str | None]] = field(default_factory=set)
    """Process and client name of the screens that have drawn it."""
    resolving: bool = False
    """An answer is being recorded at this moment."""
    terms: Terms | None = None
    """What stands behind its suggestions; None: an answer is for once."""

    @property
    def ask_id(self) -> str:
        """Its id."""
        return self.event.ask_id or ""

    @property
    def input_digest(self) -> str:
        """What an answer must carry."""
        return self.event.input_digest or ""

    @property
    def is_open(self) -> bool:
        """Whether an answer could still take effect."""
        return not self.future.done()

    async def wait(self) -> Outcome:
        """Wait for the one outcome; an expiry is kept by this wait. When the waiter is cancelled the ask is closed
        with the cause `cancelled`, for nobody is left to run the call. Raises `AskNotRecorded` when the journal
        cannot take that the answer was delivered: the call must not run then."""
        return await self.deliver(self)


@dataclass(frozen=True, slots=True)
class Opened:
    """A new ask waits."""

    ask: Pending


@dataclass(frozen=True, slots=True)
class Ended:
    """An ask has its outcome."""

    ask_id: str
    session: str
    outcome: Outcome


Change = Opened | Ended
"""What listeners of a broker are told."""
