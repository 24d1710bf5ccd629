"""Standing permissions as lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from interlock.tui.model.inked import Inked, columns, ink
from interlock.tui.model.moment import age
from interlock.tui.safe_text import one_line

SCOPES: Mapping[str, str] = {
    "session": "until the session ends",
    "turn": "until the turn ends",
    "ten_minutes": "for ten minutes",
    "rule": "by rule",
}


class GrantLike(Protocol):
    """What is needed of a standing permission."""

    @property
    def tool(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def matches(self) -> dict[str, Any]: ...
    @property
    def made_at(self) -> int: ...


def covered(matches: Mapping[str, Any]) -> str:
    """What a permission covers, in a few words."""
    for name in ("label", "command", "value", "path"):
        value = matches.get(name)
        if isinstance(value, str) and value:
            return value
    return ", ".join(f"{key} {value}" for key, value in matches.items())


def grant_line(grant: GrantLike, session: str, width: int, now: int) -> Inked:
    """One standing permission on one line."""
    last = 16
    room = max(width - 2 - 12 - 24 - last, 8)
    what = covered(grant.matches)
    return columns(
        [
            (ink(("✔", "ok")), 2),
            (ink((one_line(grant.tool, 11), "bold")), 12),
            (ink((one_line(what, room - 1), "")), room),
            (ink((one_line(session, 23), "quiet")), 24),
            (ink((f"{age(now - grant.made_at)} ago", "quiet")), -last),
        ]
    )
