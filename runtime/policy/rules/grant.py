"""Standing permissions made from a person's answer. Pure.

Promises: a grant covers exactly what it says and never more than the tool it was made for; it ends with its session or
at its time. A deny from any layer stands above it. Five kinds, by `field`: `command` (this text in this folder) and
`path` (this file) carry one answer on; `pattern` (commands of this form), `reading` (programs, where the catalogue finds
that they only read and run nothing) and `folder` (files in it) are rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.path import path_fact
from interlock.runtime.policy.facts.tool import command_of, paths_of, tool_kind
from interlock.runtime.policy.rules.layer import Layer
from interlock.runtime.policy.rules.path_glob import GlobError, read_globs
from interlock.runtime.policy.rules.pattern import PatternError, read_pattern
from interlock.runtime.policy.rules.rule import Rule

Field = Literal["command", "path", "pattern", "folder", "reading"]
PATTERN_JOINT = "\n"
"""Between several patterns of one grant; no pattern holds a line end."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a standing permission made from this ask would cover."""

    tool: str
    field: Field
    value: str
    """The exact command, the resolved path of the file or folder, or patterns or programs, one a line."""
    cwd: str
    label: str
    """For a person, at most 80 characters."""

    @property
    def rule(self) -> str:
        """The pattern as a rule file would hold it, "" for what is no rule."""
        return self.value if self.field == "pattern" else ""

    def plain(self) -> dict[str, Any]:
        """As it stands in an event."""
        return {"tool": self.tool, "field": self.field, "value": self.value, "cwd": self.cwd, "label": self.label}


@dataclass(frozen=True, slots=True)
class Grant:
    """One standing permission."""

    id: str
    tool: str
    field: Field
    value: str
    cwd: str
    expires_at: datetime | None = None

    def is_over(self, now: datetime) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and now >= self.expires_at

    def covers(self, call: Call, world: World, now: datetime) -> bool:
        """Whether this very call was permitted beforehand. Patterns and folders are judged as rules instead."""
        if call.tool != self.tool or self.is_over(now):
            return False
        if self.field == "command":
            return command_of(call.input) == self.value and call.cwd == self.cwd
        if self.field != "path":
            return False
        named = list(paths_of(tool_kind(call.tool).name, call.input, writes="write" in call.risks))
        return bool(named) and all(path_fact(text, use, call, world).resolved == self.value for text, use in named)

    def as_rule(self) -> Rule | None:
        """The allow that it stands for, None for one that is no rule."""
        try:
            if self.field == "pattern":
                patterns = tuple(read_pattern(text) for text in self.value.split(PATTERN_JOINT))
                return Rule(self.id, "allow", _REASON, tools=("bash",), commands=patterns, text=self.value)
            if self.field == "reading":
                programs = tuple(self.value.split(PATTERN_JOINT))
                text = f"reading\0{self.value}"
                return Rule(
                    self.id, "allow", _REASON, ("bash",), programs=programs, read_only=True, inside=True, text=text
                )
            if self.field == "folder":
                globs = read_globs((_literal(self.value) + "/**",))
                return Rule(
                    self.id, "allow", _REASON, tools=(self.tool,), paths=globs, text=f"{self.tool}\0{self.value}"
                )
        except (PatternError, GlobError):
            return None
        return None


_REASON = "you allowed this"


def _literal(path: str) -> str:
    return "".join(f"[{c}]" if c in "*?[]{}()!|\\" else c for c in path)


def grant_layer(grants: Iterable[Grant], now: datetime) -> Layer | None:
    """The layer that grants of patterns and folders make, None when there are none."""
    rules = tuple(rule for grant in grants if not grant.is_over(now) and (rule := grant.as_rule()) is not None)
    return Layer("session grant", rules) if rules else None
