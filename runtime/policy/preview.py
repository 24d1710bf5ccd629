"""What a standing permission would have covered of the calls that were asked about before (ASK-4).

Promises: judged by the same code that would judge them now, with the permission and without; a call that passes
anyway, or is denied, counts as neither covered nor left. Pure: the caller reads the journals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.decide import decide
from interlock.runtime.policy.grant import Grant, Suggestion
from interlock.runtime.policy.layer import Policy
from interlock.runtime.policy.tool import tool_kind


@dataclass(frozen=True, slots=True)
class Preview:
    """What would have become of past calls of the same tool."""

    covered: tuple[Call, ...]
    """Would not have asked."""
    still_asks: tuple[Call, ...]
    """Would have asked all the same."""

    def said(self) -> str:
        """One line for a person."""
        total = len(self.covered) + len(self.still_asks)
        if not total:
            return "no call of this kind was asked about before"
        return f"would have covered {len(self.covered)} of {total} past questions"


def preview(
    offer: Suggestion,
    past: Iterable[Call],
    policy: Policy,
    world: World,
    now: datetime,
    *,
    standing: Sequence[Grant] = (),
) -> Preview:
    """Try the permission on past calls."""
    trial = Grant("preview", offer.tool, offer.field, offer.value, offer.cwd)
    kind = tool_kind(offer.tool).name
    covered: list[Call] = []
    left: list[Call] = []
    for call in past:
        if tool_kind(call.tool).name != kind or decide(call, policy, world, standing, now).effect != "ask":
            continue
        seen = decide(call, policy, world, (*standing, trial), now)
        (covered if seen.effect == "allow" else left).append(call)
    return Preview(tuple(covered), tuple(left))
