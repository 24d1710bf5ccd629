"""Tokens of a rollout: running totals that repeat, reset and are copied, turned into what each response added.

Promises: growth counts and repeats add nothing; the first total of a session that goes on from another counts for its
last response alone; a total that falls begins a new count; what a `token_usage_record` told is not told again by the
`token_count` behind it, nor the other way round. Pure.
"""

from __future__ import annotations

from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.sources.foreign.shape import count, mapping

_KINDS = ("input", "cache_read", "cache_write", "output", "reasoning")
_FIELDS = {
    "input": ("input_tokens", "prompt_tokens", "prompt"),
    "cache_read": ("cached_input_tokens",),
    "cache_write": ("cache_write_input_tokens",),
    "output": ("output_tokens", "completion_tokens", "completion"),
    "reasoning": ("reasoning_output_tokens",),
}
Tokens = tuple[int, ...]
"""In the order of `_KINDS`."""
_NONE: Tokens = (0,) * len(_KINDS)


class Ledger:
    """What was told of the tokens of one session."""

    def __init__(self) -> None:
        self._total: Tokens | None = None
        self._ahead: Tokens = _NONE
        """Told by usage records, still to come in a running total."""
        self._grown: Tokens = _NONE
        """What the last running total told."""

    def counted(self, info: Any) -> Usage | None:
        """What one `token_count` adds; None: nothing."""
        found = mapping(info)
        total, last = _tokens(found.get("total_token_usage")), _tokens(found.get("last_token_usage"))
        if total is None and last is None:
            last = _tokens(found)
        grown = self._growth(total, last)
        new = tuple(max(0, g - a) for g, a in zip(grown, self._ahead, strict=True))
        self._ahead = tuple(max(0, a - g) for g, a in zip(grown, self._ahead, strict=True))
        self._grown = new
        return _usage(new)

    def recorded(self, usage: Any) -> Usage | None:
        """What one `token_usage_record` adds; None: nothing."""
        found = _tokens(usage)
        if found is None:
            return None
        if found == self._grown:
            self._grown = _NONE
            return None
        self._ahead = tuple(a + f for a, f in zip(self._ahead, found, strict=True))
        return _usage(found)

    def own_from_here(self) -> None:
        """What comes next is the session's own: nothing that a copy told is credited to it."""
        self._ahead = self._grown = _NONE

    def _growth(self, total: Tokens | None, last: Tokens | None) -> Tokens:
        if total is None:
            return last or _NONE
        before, self._total = self._total, total
        if before == total:
            return _NONE
        anew = last == total and any(before or ())
        if before is not None and not anew and all(t >= b for t, b in zip(total, before, strict=True)):
            return tuple(t - b for t, b in zip(total, before, strict=True))
        # the first total, or one that was begun anew: all below its last response was counted elsewhere
        return tuple(map(min, last, total)) if last is not None else total


def _tokens(value: Any) -> Tokens | None:
    found = mapping(value)
    told = [_first(found, _FIELDS[kind]) for kind in _KINDS] if found else []
    if all(n is None for n in told):
        return None
    return tuple([n or 0 for n in told])


def _first(found: dict[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in found and (told := count(found[name])) is not None:
            return told
    return None


def _usage(tokens: Tokens) -> Usage | None:
    return Usage(**dict(zip(_KINDS, tokens, strict=True))) if any(tokens) else None
