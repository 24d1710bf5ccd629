"""The rows of `interlock policy list`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from interlock.runtime.policy.rules.layer import Policy


def listed(policy: Policy) -> Iterator[dict[str, Any]]:
    """Every rule of every layer, those that do not count too, with what state it is in."""
    now = datetime.now(UTC)
    for layer in policy.layers:
        for rule in (*layer.rules, *layer.waiting):
            state = "waits for `interlock policy trust`" if rule in layer.waiting else ""
            yield {
                "layer": layer.name,
                "effect": rule.effect,
                "id": rule.id,
                "place": rule.place,
                "state": "its time is over" if rule.is_over(now) else state,
                "expires": rule.expires.isoformat() if rule.expires else "",
                "reason": rule.reason,
            }
