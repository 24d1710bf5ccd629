"""Standing permissions of a session, made from a person's answer. Pure.

Promises: a grant covers exactly what it says and never more than the tool it was made for; it ends with its session or
at its time. A deny from any layer stands above it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.path import path_fact
from interlock.runtime.policy.pattern import read_pattern
from interlock.runtime.policy.rule import Rule


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a standing permission made from this ask would cover."""

    tool: str
    field: Literal["command", "path", "pattern"]
    value: str
    """The exact command, the resolved path of the file, or the pattern of a rule."""
    cwd: str
    label: str
    """For a person."""

    def plain(self) -> dict[str, Any]:
        """As it stands in an event."""
        return {"tool": self.tool, "field": self.field, "value": self.value, "cwd": self.cwd, "label": self.label}


@dataclass(frozen=True, slots=True)
class Grant:
    """One standing permission."""

    id: str
    tool: str
    field: Literal["command", "path", "pattern"]
    value: str
    cwd: str
    expires_at: datetime | None = None

    def covers(self, call: Call, world: World, now: datetime) -> bool:
        """Whether this very call was permitted beforehand."""
        if call.tool != self.tool or (self.expires_at is not None and now >= self.expires_at):
            return False
        if self.field == "pattern":
            return False  # covers commands part by part, as `rule` says
        written = call.input.get(self.field)
        if not isinstance(written, str):
            return False
        if self.field == "command":
            return written == self.value and call.cwd == self.cwd
        return path_fact(written, "write", call, world).resolved == self.value

    def rule(self, now: datetime) -> Rule | None:
        """The rule that a grant by pattern stands for while it holds, None for the other kinds."""
        if self.field != "pattern" or (self.expires_at is not None and now >= self.expires_at):
            return None
        pattern = read_pattern(self.value)
        said = "you allowed this for the session"
        return Rule(self.id, "allow", "session grant", tools=(self.tool,), commands=(pattern,), reason=said)
