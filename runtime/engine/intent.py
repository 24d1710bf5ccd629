"""What the model asked for, as the pipeline takes it, and a call on its way through.

Promises: the raw input is copied when the intent is recorded; what happens to the caller's objects afterwards changes
nothing (what was shown is what runs).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.runtime.engine.schedule import Ticket
from interlock.runtime.engine.stop import Stop
from interlock.runtime.events.tool import ArtifactRef
from interlock.runtime.policy.verdict.decision import Decision
from interlock.runtime.tools.definition import Prepared, ToolDefinition, ToolInput
from interlock.runtime.tools.footing.item import Footing

DEEPEST = 100
"""Levels of an input; a deeper one could not be recorded, and no tool has a use for it."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One wish of the model."""

    tool: str
    raw_input: Mapping[str, Any] | Any
    reason: str | None = None
    """Why, in the agent's words."""
    request_id: str | None = None
    call_id: str | None = None
    """The provider's own id of the call."""


def frozen_copy(raw: Any) -> Any:
    """The input as plain JSON values; what is none becomes its text, and what is too deep is told as such."""
    try:
        copy = json.loads(json.dumps(raw, default=str))
        if _depth(copy) > DEEPEST:
            return {"unreadableInput": f"nested more than {DEEPEST} levels deep"}
        return copy
    except (ValueError, TypeError, RecursionError):
        return {"unreadableInput": type(raw).__name__}


def _depth(value: Any) -> int:
    """How many lists and objects stand in one another; without recursion, since this is what guards against it."""
    depth, layer = 0, [value]
    while layer := [item for item in layer if isinstance(item, dict | list)]:
        depth += 1
        layer = [inner for item in layer for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


@dataclass(slots=True)
class Call:
    """One intent on its way through the pipeline; each step fills in what it found out."""

    intent: Intent
    intent_id: str
    raw_input: Any
    tool: ToolDefinition | None = None
    input: ToolInput | None = None
    prepared: Prepared | None = None
    ticket: Ticket | None = None
    invocation_id: str | None = None
    """Set when it is an invocation: accepted, validated, permitted."""
    ask_id: str | None = None
    """The ask that was answered with allow, when there was one."""
    grant_id: str | None = None
    """The standing permission that was made of that answer, when there was one."""
    digest: str | None = None
    """Of what was shown."""
    footing: Footing | None = None
    """What it stood on when it was shown or, where nobody was asked, when it was last judged."""
    decision: Decision | None = None
    """The policy's word of that moment."""
    diff_ref: ArtifactRef | None = None
    waited_ms: int | None = None
    queued_ms: int | None = None
    started_at: str | None = None
    ended_at: str | None = None
    duration_ms: int | None = None
    stopped: Stop | None = None
    """Why it goes no further, when that was found before its task began."""

    @property
    def title(self) -> str:
        """A few words for lists."""
        return self.prepared.title if self.prepared else self.intent.tool[:80]

    def need(self) -> tuple[ToolDefinition, ToolInput, Prepared, Ticket]:
        """What every step behind validation may rely on."""
        assert self.tool is not None
        assert self.input is not None
        assert self.prepared is not None
        assert self.ticket is not None
        return self.tool, self.input, self.prepared, self.ticket
