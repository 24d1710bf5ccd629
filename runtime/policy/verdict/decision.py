"""The answer of the policy, with all that led to it. Plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.record import record
from interlock.runtime.policy.rules.grant import Suggestion
from interlock.runtime.policy.rules.rule import Effect

_MOST_TOLD = 600
"""Paths told in facts; an event must stay one that a screen can read."""


@record
class Part:
    """One simple command of a shell call, with its own verdict."""

    text: str
    program: str
    depth: int
    verdict: Effect
    why: str
    rule: str | None
    cwd: str | None
    paths: tuple[PathFact, ...]
    network: bool
    read_only: bool
    understood: bool
    start: int
    end: int
    source: str = ""
    """The layer that the verdict came from."""
    via: str = ""
    """What brought it: `sh -c`, `xargs`, `sudo`; "" for what is written plainly."""

    @property
    def reads(self) -> tuple[PathFact, ...]:
        """The paths it reads."""
        return tuple(fact for fact in self.paths if fact.use == "read")

    @property
    def writes(self) -> tuple[PathFact, ...]:
        """The paths it may write or delete."""
        return tuple(fact for fact in self.paths if fact.use != "read")

    def on_wire(self) -> dict[str, Any]:
        """As it stands in an ask's facts."""
        return {
            "text": self.text,
            "program": self.program,
            "depth": self.depth,
            "verdict": self.verdict,
            "why": self.why,
            **({"rule": self.rule} if self.rule else {}),
            "source": self.source,
            **({"via": self.via} if self.via else {}),
            "cwd": self.cwd,
            "paths": [fact.on_wire() for fact in self.paths[:_MOST_TOLD]],
            "network": self.network,
            "readOnly": self.read_only,
            "understood": self.understood,
            "start": self.start,
            "end": self.end,
        }


def no_offers() -> tuple[Suggestion, ...]:
    """None at all."""
    return ()


def no_reason() -> str:
    """None is known."""
    return ""


@record
class Decision:
    """The verdict and all that led to it."""

    effect: Effect
    reason: str
    source: str
    policy_ids: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    paths: tuple[PathFact, ...] = ()
    understood: bool = True
    offer: Callable[[], tuple[Suggestion, ...]] = field(default=no_offers, repr=False, compare=False)
    """Works out `suggestions` from what was seen; only a question to a person needs them."""
    why_once: Callable[[], str] = field(default=no_reason, repr=False, compare=False)
    """Works out why nothing is offered."""
    operators: tuple[str, ...] = ()
    cwd: str = ""
    notes: tuple[str, ...] = ()
    command: str = ""
    wait_seconds: float | None = None
    """After how long this ask counts as denied by time-out; None: it waits."""

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """What a standing permission could be offered for, the narrowest first."""
        return self.offer()

    @property
    def only_once(self) -> str:
        """Why this ask cannot be allowed for longer than once, "" where it can or is no ask."""
        if self.effect != "ask":
            return ""
        return self.why_once() or ("" if self.suggestions else "nothing that could stand covers it")

    @property
    def network(self) -> bool:
        """Whether any part may use the network."""
        return any(part.network for part in self.parts)

    @property
    def read_only(self) -> bool:
        """Whether every part is known to only read."""
        return bool(self.parts) and all(part.read_only for part in self.parts)

    def facts(self) -> dict[str, Any]:
        """The `facts` of a tool.permission event."""
        facts: dict[str, Any] = {
            "cwd": self.cwd,
            "understood": self.understood,
            "paths": [fact.on_wire() for fact in self.paths[:_MOST_TOLD]],
        }
        if self.parts:
            facts |= {
                "parts": [part.on_wire() for part in self.parts],
                "network": self.network,
                "readOnly": self.read_only,
                "operators": list(self.operators),
            }
        if why := self.only_once:
            facts["onlyOnce"] = why
        if self.notes:
            facts["notes"] = list(self.notes)
        return facts
