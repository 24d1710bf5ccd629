"""One answer of the policy about one thing: allow, ask or deny, why, by which layer, by which rule. Pure values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effect = Literal["allow", "ask", "deny"]
Layer = Literal["managed", "user", "project", "session grant"]
"""Where rules come from, the first one stands highest when two of the same effect agree."""
LAYERS: tuple[Layer, ...] = ("managed", "user", "project", "session grant")
STRICTNESS: dict[Effect, int] = {"allow": 0, "ask": 1, "deny": 2}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allow, ask or deny; why; by which layer; by which rule."""

    effect: Effect
    reason: str
    source: str
    rule: str | None = None
    firm: bool = False
    """An ask that a rule demands each time: no standing permission of a session answers it."""
