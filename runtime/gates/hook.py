"""What a gate that is fed by hooks has to be, for the service that serves all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook as it reached the service."""

    body: Mapping[str, Any]
    """The hook's JSON."""
    agent_pid: int | None = None
    """The agent's process, where the hook's route tells it and it is an ancestor of who sent it."""
    wait_s: float | None = None
    """For how long the agent waits, where its settings say so."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the agent has hung up."""


class HookGate(Protocol):
    """Answers the hooks of one agent."""

    @property
    def is_busy(self) -> bool:
        """Whether leaving now would take something from somebody: a standing permission of an agent that lives."""
        ...

    async def hook(self, hook: Hook) -> Mapping[str, Any]:
        """The answer in the agent's own form; `{}` leaves it to the agent. May wait for a person."""
        ...

    def look(self) -> None:
        """Called now and then: see whether agents are gone."""
        ...
