"""What all steps of one session share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from interlock.runtime.asks.broker import Broker
from interlock.runtime.engine.grants import Grants
from interlock.runtime.engine.manifest import Manifest
from interlock.runtime.engine.sandbox.state import Sandbox
from interlock.runtime.engine.schedule import Scheduler
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.policy.verdict.decide import Policy, World
from interlock.runtime.tools.definition import ToolContext, Visibility
from interlock.runtime.tools.environment import masked
from interlock.runtime.tools.registry import Registry
from interlock.runtime.tools.stray import Strays


@dataclass(slots=True)
class Setting:
    """The rooms and rules of one session."""

    agent: str
    journal: JournalWriter
    registry: Registry
    context: ToolContext
    broker: Broker
    policy_now: Callable[[], Policy]
    """Gives the rules that hold at this moment, without those that were allowed in this session alone."""
    world: World
    manifest: Manifest
    sandbox: Sandbox
    reply_to: str | None
    """Path of the socket on which asks are answered."""
    home: str
    """The user's home directory, for policies."""
    protected: tuple[str, ...] = ()
    """Folders of ours that no agent may touch."""
    visibility: Visibility = field(default_factory=Visibility)
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Secret value -> name."""
    scheduler: Scheduler = field(default_factory=Scheduler)
    strays: Strays = field(default_factory=Strays)
    grants: Grants = field(default_factory=Grants)
    touch: Callable[[str], None] = lambda text: None
    """Told of what a call is about to run, so that what it may type into is known to the socket."""
    previewing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while past calls are looked through: one look at a time."""

    @property
    def policy(self) -> Policy:
        """The rules that hold at this moment, those that were allowed in this session included."""
        return self.grants.over(self.policy_now())

    def masked(self, text: str) -> str:
        """The text without our secrets."""
        return masked(text, self.secrets)
