"""Which files one of our own tools leaves out when it walks a folder: those that rules deny and those that are guarded.

Promises: a file is left out exactly where reading it by itself would be denied, or would ask because it is guarded; what
a person allowed by an answer does not change that, but for a folder that is guarded itself and was asked about so. Made
once for a walk; looks at no file: that each path is a regular file, reached through no link, is the walk's to see to. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from interlock.runtime.policy.call import Call, GitPlace, Resolved, World
from interlock.runtime.policy.facts.path import path_fact
from interlock.runtime.policy.facts.subject import Subject, path_risks
from interlock.runtime.policy.facts.tool import paths_of
from interlock.runtime.policy.rules.layer import Policy


@dataclass(frozen=True, slots=True)
class _Walked:
    """The World for paths that a walk has just met."""

    real: World
    places: frozenset[str]

    @property
    def case_insensitive(self) -> bool:
        return self.real.case_insensitive

    def resolve(self, path: str) -> Resolved:
        """Where the path leads: only folders of the call itself are looked up."""
        return self.real.resolve(path) if path in self.places else Resolved(path, True, "file")

    def resolve_in(self, folder: str, name: str) -> Resolved | None:
        """As the World says it."""
        return self.real.resolve_in(folder, name)

    def expand(self, pattern: str, limit: int) -> tuple[str, ...] | None:
        """As the World says it."""
        return self.real.expand(pattern, limit)

    def git_place(self, folder: str) -> GitPlace | None:
        """As the World says it."""
        return self.real.git_place(folder)

    def find_secret(self, folder: str, hidden: bool, limit: int) -> str | None:
        """Never asked for: single files are judged."""
        return ""


class Withheld:
    """What one walk leaves out."""

    def __init__(self, call: Call, policy: Policy, world: World, now: datetime | None) -> None:
        standing = [rule for _, rule in policy.rules() if not rule.is_over(now)]
        self._denies = [rule for rule in standing if rule.effect == "deny" and rule.paths is not None]
        self._lifting = [rule for rule in standing if rule.effect == "allow" and rule.guarded_too]
        places = (*call.workspace, *call.protected)
        known = {place: world.resolve(place).path for place in places}
        self._world = _Walked(world, frozenset((*places, *known.values())))
        self._call = replace(call, workspace=tuple(known[root] for root in call.workspace), unclear="")
        starts = [path_fact(text, use, call, world) for text, use in paths_of(call.tool, call.input, writes=False)]
        self._is_asked_for = any(fact.guard for fact in starts)

    def hides(self, path: str) -> bool:
        """Whether a file, given by its real path, is left out."""
        fact = path_fact(path, "read", self._call, self._world)
        if fact.own:
            return True
        is_guarded = bool(fact.guard) and not self._is_asked_for
        if not is_guarded and not self._denies:
            return False
        # whoever searches a file reads it, so a rule that speaks of reading alone holds too
        risks = frozenset(("read", *path_risks((fact,))))
        subject = Subject(self._call, self._world, "read_file", None, (fact,), (), risks, read_only=True)
        if any(rule.matches(subject) for rule in self._denies):
            return True
        return is_guarded and not any(rule.matches(subject) and rule.lifts(subject) for rule in self._lifting)
