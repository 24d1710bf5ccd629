"""The answer to one call, with all that led to it. Plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from interlock.runtime.policy.grant import Suggestion
from interlock.runtime.policy.path import PathFact
from interlock.runtime.policy.verdict import Effect


@dataclass(frozen=True, slots=True)
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
    source: str = "built-in"
    """The layer that made the verdict."""
    firm: bool = False
    """Whether a rule demands the ask each time."""
    argv: tuple[str, ...] = ()
    via: str = ""

    def on_wire(self) -> dict[str, Any]:
        """As it stands in an ask's facts."""
        return {
            "text": self.text,
            "program": self.program,
            "depth": self.depth,
            "verdict": self.verdict,
            "why": self.why,
            "source": self.source,
            **({"rule": self.rule} if self.rule else {}),
            "cwd": self.cwd,
            "paths": [fact.on_wire() for fact in self.paths],
            "network": self.network,
            "readOnly": self.read_only,
            "understood": self.understood,
            "start": self.start,
            "end": self.end,
        }


@dataclass(frozen=True, slots=True)
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
    suggestions: tuple[Suggestion, ...] = ()
    operators: tuple[str, ...] = ()
    cwd: str = ""
    notes: tuple[str, ...] = ()
    firm: bool = False
    """An ask that no standing permission answers."""

    def facts(self) -> dict[str, Any]:
        """The `facts` of a tool.permission event."""
        facts: dict[str, Any] = {
            "cwd": self.cwd,
            "understood": self.understood,
            "paths": [fact.on_wire() for fact in self.paths],
        }
        if self.parts:
            facts |= {
                "parts": [part.on_wire() for part in self.parts],
                "network": any(part.network for part in self.parts),
                "readOnly": all(part.read_only for part in self.parts),
                "operators": list(self.operators),
            }
        if self.notes:
            facts["notes"] = list(self.notes)
        return facts
