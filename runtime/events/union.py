"""All events as one tagged union, and the two kinds of line that are not events of ours.

Promises: `EVENT` validates any known event; `AnyEvent` is closed, so a `match` over it can end in `assert_never`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from interlock.runtime.events.foreign import (
    AgentSpawned,
    ForeignDamaged,
    ForeignRecord,
    ForeignUnknown,
    Reasoning,
    SessionBoundary,
)
from interlock.runtime.events.message import (
    AssistantMessage,
    ContextPruned,
    FinalAnswer,
    ModelRequest,
    ModelResponse,
    UserMessage,
)
from interlock.runtime.events.permission import (
    GrantMade,
    GrantRevoked,
    PermissionAnswered,
    PermissionClosed,
    PermissionDelivered,
    PermissionShown,
    ToolPermission,
)
from interlock.runtime.events.session import JournalRepaired, SessionEnded, SessionStarted
from interlock.runtime.events.tool import (
    InvocationCompleted,
    InvocationProgress,
    InvocationStarted,
    ToolIntent,
    ToolObservation,
    ToolScheduled,
    ToolValidation,
    Verification,
)

AnyEvent = (
    SessionStarted
    | SessionEnded
    | JournalRepaired
    | UserMessage
    | AssistantMessage
    | ModelRequest
    | ModelResponse
    | ToolIntent
    | ToolValidation
    | ToolPermission
    | PermissionShown
    | PermissionAnswered
    | PermissionDelivered
    | PermissionClosed
    | GrantMade
    | GrantRevoked
    | ToolScheduled
    | InvocationStarted
    | InvocationProgress
    | InvocationCompleted
    | ToolObservation
    | ContextPruned
    | Verification
    | FinalAnswer
    | Reasoning
    | SessionBoundary
    | AgentSpawned
    | ForeignRecord
    | ForeignUnknown
    | ForeignDamaged
)

EVENT: TypeAdapter[AnyEvent] = TypeAdapter(Annotated[AnyEvent, Field(discriminator="type")])
"""Built once, at import."""

EVENT_CLASSES: dict[str, type[AnyEvent]] = {cls.model_fields["type"].default: cls for cls in AnyEvent.__args__}
"""Wire name -> class."""


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """A well-formed record of a type or shape that this version does not know. Kept and shown as it is."""

    type: str
    data: dict[str, Any]
    raw: bytes
    reason: str = "unknown type"


@dataclass(frozen=True, slots=True)
class DamagedLine:
    """Bytes that are no record."""

    reason: str
    raw: bytes
    """The first bytes of the line, at most 4,096."""
    size: int
    """Length of the whole line in bytes, without its line end."""


Decoded = AnyEvent | UnknownEvent | DamagedLine
