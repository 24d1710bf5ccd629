"""One rule of a policy file, held against facts.

Promises: pure. One principle for every matcher: a deny or an ask covers what touches anything the rule names; an allow
covers only what is named in whole. So a word added to a command never escapes a deny and never rides on an allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Literal

from interlock.runtime.policy.glob import may_reach, path_matches
from interlock.runtime.policy.path import PathFact
from interlock.runtime.policy.pattern import Pattern
from interlock.runtime.policy.shell.option import names
from interlock.runtime.policy.subject import Subject
from interlock.runtime.policy.verdict import Effect, Layer
from interlock.runtime.policy.wording import covers_strictly, covers_widely

Where = Literal["inside", "outside", "anywhere"]
RISKS = names(
    "read write execute network delegate destructive privileged interactive code dynamic environment outside guarded"
)
"""What `risk` may name."""
HARMLESS_VARIABLES = names(
    "LANG LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME TZ NO_COLOR CI FORCE_COLOR CLICOLOR CLICOLOR_FORCE "
    "COLUMNS LINES TERM"
)
"""Variables that an allow does not object to in front of a program."""
_QUIET = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Matchers that are empty or None ask nothing."""

    id: str
    effect: Effect
    layer: Layer
    tools: tuple[str, ...] = ()
    """Names or patterns of tools; empty: every tool."""
    commands: tuple[Pattern, ...] = ()
    paths: tuple[str, ...] = ()
    """Globs; relative ones below a root of the workspace, one without `/` at any depth."""
    where: Where | None = None
    hosts: tuple[str, ...] = ()
    risks: frozenset[str] = frozenset()
    read_only: bool | None = None
    env: frozenset[str] = frozenset()
    """Variables that may stand in front of an allowed command."""
    reason: str = ""
    expires: datetime | None = None
    file: str = ""
    line: int = 0
    broken: bool = False
    """The rule was an ask or a deny that cannot be read: what it may have meant asks."""

    def is_over(self, now: datetime | None) -> bool:
        """Whether its time has passed. Without a clock an allow with a time counts as over, a deny does not."""
        if self.expires is None:
            return False
        return self.effect == "allow" if now is None else now >= self.expires

    def said(self) -> str:
        """Its reason for a person, or what it is."""
        return self.reason or f"rule {self.id}"

    def touches(self, subject: Subject) -> bool:
        """Whether an ask or a deny covers it: the tool, and something of every kind that the rule names."""
        if not self._of_tool(subject) or (self.read_only is not None and self.read_only != subject.read_only):
            return False
        command = subject.command
        if self.commands and not (command and any(covers_widely(p, command) for p in self.commands)):
            return False
        if self.hosts and not any(_host(host, self.hosts) for host in subject.hosts):
            return False
        if self.risks and not self.risks & subject.risks:
            return False
        if self.paths or self.where in ("inside", "outside"):
            return any(self._of_path(fact, subject) for fact in subject.paths)
        return True

    def nearly_touches(self, subject: Subject) -> bool:
        """Whether a rule about paths may be touched below a folder, or by a name that a pattern stands for."""
        if not self.paths or self.commands or self.hosts or not self._of_tool(subject):
            return False
        return any(
            may_reach(glob, fact, subject) for glob in self.paths for fact in subject.paths if self._is_there(fact)
        )

    def allows(self, subject: Subject) -> str | None:
        """None when it covers all of it; else what it does not cover, "" when it is about something else."""
        if not self._of_tool(subject) or (self.read_only is not None and self.read_only != subject.read_only):
            return ""
        command = subject.command
        if self.commands and not (command and any(covers_strictly(p, command) for p in self.commands)):
            return ""
        if self.hosts and not (subject.hosts and all(_host(host, self.hosts) for host in subject.hosts)):
            return ""
        if self.risks and not subject.risks - {"outside", "guarded"} <= self.risks:
            return ""
        return self._objection(subject)

    def _objection(self, subject: Subject) -> str | None:
        command = subject.command
        if command and (foreign := [name for name, _ in command.assignments if name not in self.env]):
            foreign = [name for name in foreign if name not in HARMLESS_VARIABLES]
            if foreign:
                return f"the variable {foreign[0]} is set for it"
        if self.paths:
            if not subject.paths:
                return "it names no path"
            other = next((f for f in subject.paths if not self._of_path(f, subject)), None)
            return f"{other.resolved} is not among the paths of the rule" if other else None
        if command and (writes := [r.target for r in command.redirects if r.writes and r.target not in _QUIET]):
            return f"it writes {writes[0] or 'a file known only at run time'}"
        # a program that the rule names may touch what its words do not tell; a place that they tell has to be right
        other = next((f for f in subject.paths if not self._is_there(f) and (f.kind != "unknown" or not command)), None)
        return f"{other.resolved} is {'inside' if other.inside else 'outside'} the workspace" if other else None

    def _of_tool(self, subject: Subject) -> bool:
        return not self.tools or any(fnmatchcase(subject.tool, tool) for tool in self.tools)

    def _of_path(self, fact: PathFact, subject: Subject) -> bool:
        # globs that name a place outside are as plain a word as `where`
        there = self.where is None or self._is_there(fact)
        return there and (not self.paths or any(path_matches(glob, fact, subject) for glob in self.paths))

    def _is_there(self, fact: PathFact) -> bool:
        if self.where == "anywhere":
            return True
        if self.where == "outside":
            return not fact.inside
        return fact.inside or (self.where is None and self.effect != "allow")


def _host(host: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(host, pattern.lower()) for pattern in patterns)
