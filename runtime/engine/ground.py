"""What terms and previews of an ask stand on, whoever asks: a session of our own runtime, or the gate of another agent."""

from __future__ import annotations

import asyncio
from typing import Protocol

from interlock.runtime.engine.grants import Grants
from interlock.runtime.journal.writer import JournalWriter
from interlock.runtime.policy.call import World
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.policy.verdict.decide import Judge


class Ground(Protocol):
    """One session's journal, rules and standing permissions."""

    @property
    def journal(self) -> JournalWriter:
        """Where grants are recorded."""
        ...

    @property
    def policy(self) -> Policy:
        """The rules that hold at this moment, those that were allowed in this session included."""
        ...

    @property
    def world(self) -> World:
        """The files that paths are looked up in."""
        ...

    @property
    def grants(self) -> Grants:
        """What was allowed for longer."""
        ...

    @property
    def previewing(self) -> asyncio.Lock:
        """Held while past calls are looked through: one look at a time."""
        ...


def judge_of(ground: Ground) -> Judge:
    """Who decides on this ground at this moment, the permissions of the session included."""
    return Judge(ground.policy, ground.world, tuple(ground.grants.standing()), ground.journal.now())
