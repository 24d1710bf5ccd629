"""The rules that can speak of a program, found without trying all of them.

Promises: leaves out only rules that could not match: those that name programs, all of them others,
and those that name paths where none is touched. Keeps the order. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Generic, TypeVar

from interlock.runtime.policy.path_glob import PathGlobs
from interlock.runtime.policy.rule import Rule
from interlock.runtime.policy.subject import Subject

L = TypeVar("L")
"""What a rule is kept with: its layer."""


class RuleIndex(Generic[L]):
    """Rules with their layers, by program."""

    def __init__(self, pairs: Iterable[tuple[L, Rule]]) -> None:
        self._pairs = list(pairs)
        self._by_key: dict[str, list[int]] = {}
        self._always: list[int] = []
        self._known: dict[tuple[str, bool], list[tuple[L, Rule]]] = {}
        texts = dict.fromkeys(text for _, rule in self._pairs if rule.paths for text in rule.paths.texts)
        self._globs = PathGlobs(tuple(texts))
        for at, (_, rule) in enumerate(self._pairs):
            keys = rule_keys(rule)
            if keys is None:
                self._always.append(at)
            for key in keys or ():
                self._by_key.setdefault(key, []).append(at)

    def about(self, program: str | None, *, paths: bool = True) -> list[tuple[L, Rule]]:
        """The rules that may speak of a program (None: of a call that runs none) that touches paths or none."""
        name = "" if program is None else program_key(program)
        numbers = self._by_key.get(name)
        key = (name if numbers else "", paths)
        if key not in self._known:
            found = [self._pairs[at] for at in sorted({*self._always, *(numbers or ())})]
            self._known[key] = found if paths else [pair for pair in found if pair[1].paths is None]
        return self._known[key]

    def speaks_of(self, subject: Subject) -> bool:
        """Whether any glob of any rule may be about a path of the subject, or about what lies below one."""
        if not self._globs.texts:
            return False
        roots, home, fold = subject.roots, subject.call.home, subject.world.case_insensitive
        for fact in subject.paths:
            if fact.resolved and self._globs.match(fact.resolved, roots, home, fold=fold):
                return True
            if fact.kind != "file" and self._globs.covers_part_of(fact.resolved, roots, home, fold=fold):
                return True
        return False


def program_key(program: str) -> str:
    """Under what a program is filed: its last component, in lower case."""
    return posixpath.basename(program).lower()


def rule_keys(rule: Rule) -> frozenset[str] | None:
    """Under what a rule is filed; None: under everything."""
    named = [pattern.program for pattern in rule.commands] or list(rule.programs)
    if not named or any(c in name for name in named for c in "*?"):
        return None
    return frozenset(program_key(name) for name in named)
