"""Sums of tokens. Pure."""

from __future__ import annotations

from interlock.runtime.events.message import Usage

KINDS = ("input", "output", "cache_read", "cache_write", "reasoning")
"""The fields of a usage that are counts of tokens."""


def added(one: Usage, other: Usage) -> Usage:
    """Both together."""
    return Usage(**{kind: getattr(one, kind) + getattr(other, kind) for kind in KINDS})


def less(whole: Usage, part: Usage) -> Usage:
    """What of the whole is not in the part; nothing where the part has more."""
    return Usage(**{kind: max(0, getattr(whole, kind) - getattr(part, kind)) for kind in KINDS})
