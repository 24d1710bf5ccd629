"""What a model is to the loop, whether it is scripted or real.

Promises: a provider turns messages into the next turn and never runs a tool. What it returns is a wish, not a fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from interlock.runtime.events.message import Menu, Usage
from interlock.runtime.state.context import Message


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model wants."""

    call_id: str
    """The provider's own id, unique within the conversation."""
    tool: str
    input: Mapping[str, Any]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """The model's next message. Without calls it is the final answer."""

    text: str = ""
    calls: Sequence[ToolCall] = ()
    stop_reason: str = "end_turn"
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """Anything that can take the next turn."""

    @property
    def name(self) -> str:
        """Name on the record, for example `scripted`."""
        ...

    async def respond(self, messages: Sequence[Message], menu: Menu) -> ModelTurn:
        """The next turn. Raises whatever the provider raises; the loop records it and ends the session."""
        ...
