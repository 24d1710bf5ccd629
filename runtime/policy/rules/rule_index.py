"""The rules that can speak of a subject, found without trying all of them.

Promises: leaves out only rules that could not match: those that name programs, all of them others, and those that name
paths where none of the subject's paths lies at, above or below the part of a glob that stands in front of its first
pattern. Keeps the order. What was found is kept, up to a limit. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs.address import UNKNOWN_HOST
from interlock.runtime.policy.record import record
from interlock.runtime.policy.rules.path_glob import places_of
from interlock.runtime.policy.rules.rule import Rule

L = TypeVar("L")
"""What a rule is kept with: its layer."""
_MOST_KEPT = 2_000
_NONE: frozenset[int] = frozenset()
_NO_NAMES: frozenset[str] = frozenset()


@record
class Standing(Generic[L]):
    """Rules that may speak of one subject, by what they do, each in the order of the layers."""

    denies: tuple[tuple[L, Rule], ...]
    asks: tuple[tuple[L, Rule], ...]
    allows: tuple[tuple[L, Rule], ...]
    guards: tuple[tuple[L, Rule], ...]
    """Denies and asks that name paths or hosts: they may speak of what lies below a folder, or of what is not certain."""


class _Places:
    """Where the path rules speak, for one workspace and home."""

    def __init__(self) -> None:
        self.at: dict[str, list[int]] = {}
        """Folder in front of a glob's first pattern -> rules."""
        self.above: dict[str, list[int]] = {}
        """Every folder above one of those, and itself -> rules."""
        self._known: dict[str, frozenset[int]] = {}

    def add(self, number: int, place: str) -> None:
        self.at.setdefault(place, []).append(number)
        for folder in _ancestors(place):
            self.above.setdefault(folder, []).append(number)

    def matching(self, path: str) -> frozenset[int]:
        """The rules that may match the path itself."""
        found = self._known.get(path)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = frozenset([at for folder in _ancestors(path) for at in self.at.get(folder, ())])
            self._known[path] = found
        return found

    def inside(self, path: str) -> Sequence[int]:
        """Further rules, which can only match something below the path."""
        return self.above.get(path, ())


class RuleIndex(Generic[L]):
    """Rules with their layers, by program and by place."""

    def __init__(self, pairs: Iterable[tuple[L, Rule]]) -> None:
        self._pairs = list(pairs)
        self._by_key: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._with_paths = [at for at, (_, rule) in enumerate(self._pairs) if rule.paths is not None]
        self._with_hosts = frozenset(at for at, (_, rule) in enumerate(self._pairs) if rule.hosts)
        self._places: dict[tuple[tuple[str, ...], str], _Places] = {}
        self._known: dict[tuple[frozenset[str], frozenset[int], frozenset[int]], Standing[L]] = {}
        for at, (_, rule) in enumerate(self._pairs):
            keys = rule_keys(rule)
            if keys is None:
                self._always.append(at)
            for key in keys or ():
                self._by_key.setdefault(key, []).append(at)

    def about(self, subject: Subject) -> Standing[L]:
        """The rules that may speak of the subject."""
        key = (self._names(subject), *self._hits(subject))
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            found = self._known[key] = self._standing(*key)
        return found

    def _names(self, subject: Subject) -> frozenset[str]:
        """The program, and for one that nobody knows also what it may run: the names of programs among its words."""
        if subject.simple is None:
            return _NO_NAMES
        words = subject.simple.argv if subject.may_wrap else (subject.simple.program,)
        keys = [key for word in words if (key := word.rpartition("/")[2].lower()) in self._by_key]
        return frozenset(keys) if keys else _NO_NAMES

    def _hits(self, subject: Subject) -> tuple[frozenset[int], frozenset[int]]:
        """The rules that may match a path of the subject, and those that may speak of it although that is not certain."""
        perhaps = (
            self._with_hosts if self._with_hosts and (UNKNOWN_HOST in subject.hosts or subject.maybe_hosts) else _NONE
        )
        if not self._with_paths or not (subject.paths or subject.suspects):
            return _NONE, perhaps
        if subject.world.case_insensitive or any(fact.kind == "unknown" for fact in subject.paths):
            every = frozenset(self._with_paths)
            return every, every | perhaps
        places = self._places_for(subject.roots, subject.call.home)
        matching = _NONE
        for fact in subject.paths:
            if fact.resolved and (found := places.matching(fact.resolved)):
                matching = matching | found
            if fact.kind == "pattern":
                perhaps = perhaps.union(places.inside(_in_front(fact.resolved)))
        for fact in subject.suspects:
            perhaps = perhaps.union(places.matching(fact.resolved), places.inside(fact.resolved))
        if not subject.wide_paths:
            return matching, matching | perhaps
        return matching, matching.union(
            perhaps, *[places.inside(fact.resolved) for fact in subject.paths if fact.resolved]
        )

    def _places_for(self, roots: tuple[str, ...], home: str) -> _Places:
        found = self._places.get((roots, home))
        if found is None:
            if len(self._places) >= 20:
                self._places.clear()
            found = self._places[roots, home] = _Places()
            for number in self._with_paths:
                globs = self._pairs[number][1].paths
                for place in places_of(globs.texts, roots, home) if globs else ():
                    found.add(number, place)
        return found

    def _standing(self, programs: frozenset[str], matching: frozenset[int], inside: frozenset[int]) -> Standing[L]:
        numbers = sorted({*self._always, *(at for name in programs for at in self._by_key[name])})
        pairs = [self._pairs[at] for at in numbers if self._pairs[at][1].paths is None or at in matching]
        by_effect = {effect: tuple(p for p in pairs if p[1].effect == effect) for effect in ("deny", "ask", "allow")}
        guards = tuple(self._pairs[at] for at in numbers if at in inside and self._pairs[at][1].effect != "allow")
        return Standing(by_effect["deny"], by_effect["ask"], by_effect["allow"], guards)


def _ancestors(path: str) -> Iterator[str]:
    """The path and every folder above it, up to the root."""
    yield path
    while path not in ("/", ""):
        path = path.rpartition("/")[0].rstrip("/") or ("/" if path[0] == "/" else "")
        yield path


def _in_front(pattern: str) -> str:
    """The folder in front of the first component that is a pattern."""
    parts = pattern.split("/")
    at = next((i for i, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    return "/".join(parts[:at]) or "/"


def program_key(program: str) -> str:
    """Under what a program is filed: its last component, in lower case."""
    return program.rpartition("/")[2].lower()


def rule_keys(rule: Rule) -> frozenset[str] | None:
    """Under what a rule is filed; None: under everything."""
    named = [pattern.program for pattern in rule.commands] or list(rule.programs)
    if not named or any(c in name for name in named for c in "*?"):
        return None
    return frozenset(program_key(name) for name in named)
