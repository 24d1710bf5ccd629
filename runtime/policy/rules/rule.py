"""One rule: an effect, what it is matched against, why.

Promises: all matchers of a rule must agree. An allow is read narrowly: *every* path, host and word must be covered, and
the command must be fully understood. A deny or an ask is read widely: *any* path, host or risk is enough, in whatever
spelling. So a rule that is written carelessly asks too often and never too seldom. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Literal

from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs.address import UNKNOWN_HOST
from interlock.runtime.policy.programs.git_touch import without_folder
from interlock.runtime.policy.programs.role import Use
from interlock.runtime.policy.record import record
from interlock.runtime.policy.rules.path_glob import PathGlobs
from interlock.runtime.policy.rules.pattern import Pattern, fits_strictly, fits_widely, word_test

Effect = Literal["allow", "ask", "deny"]
STRENGTH = {"allow": 0, "ask": 1, "deny": 2}
_FILE_TOOLS = frozenset(("read_file", "write_file", "edit_file"))
SHOWS_SECRETS = frozenset(("environment", "secret"))
"""Marks of commands that only read, but show what was never in the workspace."""


@record
class Verdict:
    """Allow, ask or deny; why; by which layer; by which rule."""

    effect: Effect
    reason: str
    source: str
    rule: str | None = None
    wait_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, checked. Empty matchers match everything."""

    id: str
    effect: Effect
    reason: str = ""
    tools: tuple[str, ...] = ()
    commands: tuple[Pattern, ...] = ()
    programs: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    paths: PathGlobs | None = None
    use: Use | None = None
    inside: bool | None = None
    hosts: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    without_risks: tuple[str, ...] = ()
    read_only: bool | None = None
    outside_too: bool = False
    """An allow that also holds for paths outside the workspace."""
    guarded_too: bool = False
    """An allow that also holds for guarded paths."""
    variables: tuple[str, ...] = ()
    """Names of variables that may stand in front of the command of an allow."""
    agents: tuple[str, ...] = ()
    expires: datetime | None = None
    wait_seconds: float | None = None
    """After how long an ask made by this rule counts as denied; None: it waits."""
    file: str = ""
    line: int = 0
    text: str = ""
    """Its source, for the digest and for a person."""

    @property
    def place(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line}" if self.file else "built-in"

    def is_over(self, now: datetime | None) -> bool:
        """Whether its time is over. Without a clock an allow counts as over, anything else as standing."""
        if self.expires is None:
            return False
        return self.effect == "allow" if now is None else now >= self.expires

    def matches(self, subject: Subject) -> bool:
        """Whether the rule speaks of this subject."""
        if not self._is_about(subject):
            return False
        return self._allows(subject) if self.effect == "allow" else self._catches(subject)

    def _is_about(self, subject: Subject) -> bool:
        if self.read_only is not None and self.read_only != subject.read_only:
            return False
        if self.tools and not _is_one(subject.names, self.tools):
            return False
        if self.agents and not any(word_test(a, True)(subject.call.agent) for a in self.agents):
            return False
        if subject.simple is not None:
            return True
        # what a tool is given is only looked through for a tool that the rule names
        return not (self.commands or self.programs) and (bool(self.tools) or not self.arguments)

    # -- wide: deny and ask

    def _catches(self, subject: Subject) -> bool:
        fold = subject.world.case_insensitive
        if self.commands and not any(self._names(p, subject, fold) for p in self.commands):
            return False
        if self.programs and not any(_is_program(p, subject, fold) for p in self.programs):
            return False
        if self.arguments and not all(any(word_test(a)(w) for w in _words(subject)) for a in self.arguments):
            return False
        if self.risks and not subject.risks & set(self.risks):
            return False
        if subject.risks & set(self.without_risks):
            return False
        if self.hosts and not any(word_test(want, True)(host) for want in self.hosts for host in subject.hosts):
            return False
        if self.inside is not None and not any(f.inside == self.inside for f in self._used(subject)):
            return False
        return self.paths is None or any(
            self.paths.match(f.resolved, subject.roots, subject.call.home, fold=fold, wide=True)
            for f in self._used(subject)
        )

    def _names(self, pattern: Pattern, subject: Subject, fold: bool) -> bool:
        if _is_program(pattern.program, subject, fold):
            return fits_widely(pattern, pattern.program.rpartition("/")[2], subject.args)
        return len(pattern.words) > 1 and any(
            fits_widely(pattern, pattern.program.rpartition("/")[2], rest)
            for rest in subject.behind(pattern.program.rpartition("/")[2])
        )

    def _used(self, subject: Subject) -> list[PathFact]:
        return [f for f in subject.paths if covers_use(self.use, f.use)]

    def perhaps(self, subject: Subject) -> str:
        """Why this deny or ask may speak of the subject although it does not for certain, "" where it cannot."""
        if self.effect == "allow" or not self._is_about(subject):
            return ""
        if self.hosts:
            return self._perhaps_host(subject)
        if self.commands or self.programs or self.arguments:
            return ""
        return self._perhaps_path(subject) if self.paths is not None else ""

    def _perhaps_host(self, subject: Subject) -> str:
        maybe = [host for host in subject.maybe_hosts if any(word_test(want, True)(host) for want in self.hosts)]
        if not (UNKNOWN_HOST in subject.hosts or maybe) or not replace(self, hosts=()).matches(subject):
            return ""
        if maybe:
            return f"rule {self.id} speaks of {maybe[0]}, which it may reach"
        return f"which host it reaches is not known, and rule {self.id} speaks of one"

    def _perhaps_path(self, subject: Subject) -> str:
        assert self.paths is not None
        roots, home, fold = subject.roots, subject.call.home, subject.world.case_insensitive
        used = self._used(subject)
        for fact in self._wide(subject):
            if self.paths.covers_part_of(fact.resolved, roots, home, fold=fold):
                return f"it takes a whole folder, and rule {self.id} speaks of files that may be in it"
        for fact in used:
            if fact.kind == "pattern" and self.paths.could_meet(fact.resolved, roots, home, fold=fold):
                return f"rule {self.id} speaks of files that {fact.written} may stand for"
            if fact.kind == "unknown" and fact.certain:
                return f"which files it touches is not known, and rule {self.id} speaks of some"
        for fact in subject.suspects:
            named = self.paths.match(fact.resolved, roots, home, fold=fold)
            if named or self.paths.begins_below(fact.resolved, roots, home, fold=fold):
                return f"rule {self.id} speaks of {fact.written}, which it may touch"
        return ""

    def _wide(self, subject: Subject) -> list[PathFact]:
        return [f for f in subject.wide_paths if covers_use(self.use, f.use)]

    # -- narrow: allow

    def _allows(self, subject: Subject) -> bool:
        if not subject.understood and (subject.simple is not None or not any(t.strip("*?") for t in self.tools)):
            return False  # a tool that nobody knows passes only by an allow that names it
        if not self._allows_command(subject):
            return False
        if self.risks and not subject.risks & set(self.risks):
            return False
        if subject.risks & set(self.without_risks):
            return False
        if self.hosts and not (
            subject.hosts and all(any(word_test(w, True)(h) for w in self.hosts) for h in subject.hosts)
        ):
            return False
        return self._allows_paths(subject)

    def _allows_command(self, subject: Subject) -> bool:
        if subject.simple is None:
            words = _words(subject)
            return not self.arguments or (bool(words) and self._covers(words))
        if not self._allows_variables(subject):
            return False
        if self.commands and not any(
            is_named(p.program, subject) and any(fits_strictly(p, args) for args in _spelled(p, subject))
            for p in self.commands
        ):
            return False
        if self.programs and not any(is_named(p, subject) for p in self.programs):
            return False
        return not self.arguments or self._covers(subject.args)

    def _covers(self, words: Sequence[str]) -> bool:
        """Whether each of the words is one that the rule names."""
        return all(any(word_test(a)(w) for a in self.arguments) for w in words)

    def _allows_variables(self, subject: Subject) -> bool:
        assert subject.simple is not None
        if subject.read_only:
            return True
        return all(name in self.variables for name, _ in subject.simple.assignments)

    def _allows_paths(self, subject: Subject) -> bool:
        used = self._used(subject)
        fold = subject.world.case_insensitive
        if self.inside is not None and not all(f.inside == self.inside for f in used):
            return False
        if self.inside and (any(f.kind == "unknown" for f in subject.paths) or not subject.works_inside):
            return False
        if self.inside and subject.simple is None and not used and subject.tool != "read_artifact":
            return False
        if self.paths is None:
            return True
        if self.use is not None and any(not covers_use(self.use, f.use) for f in subject.paths if f.use != "read"):
            return False
        return bool(used) and all(
            bool(f.resolved) and self.paths.match(f.resolved, subject.roots, subject.call.home, fold=fold) for f in used
        )

    def lifts(self, subject: Subject) -> bool:
        """Whether this allow, which matches, also holds against the boundary of the workspace."""
        return not self.stopped_by(subject)

    def stopped_by(self, subject: Subject) -> str:
        """What of the subject reaches further than this allow, which matches it; "" for nothing."""
        if subject.tool in _FILE_TOOLS and not subject.paths:
            return "which file it touches stands in a field that is not known"
        if subject.objections and not self.guarded_too:
            return subject.objections[0]
        for fact in subject.boundary:
            named = self.paths is not None and fact in subject.paths
            if fact.guard and not self.guarded_too:
                return f"{fact.resolved or fact.written}: {fact.guard}"
            if not fact.inside and not (self.outside_too or named):
                return f"{fact.resolved or fact.written} is outside the workspace"
        if subject.risks & SHOWS_SECRETS and not (self.commands or self.programs):
            return "it shows variables, which may hold secrets"
        if subject.simple is not None and not subject.read_only and not self._lifts_redirects(subject):
            return f"rule {self.id} does not cover where it writes"
        return ""

    def _lifts_redirects(self, subject: Subject) -> bool:
        assert subject.simple is not None
        if self.paths is not None or not (self.commands or self.programs):
            return True
        # the pattern speaks of the program and its words; where the shell then writes is not in it
        return not any(r.writes and not _is_harmless(r.target) for r in subject.simple.redirects)


def _spelled(pattern: Pattern, subject: Subject) -> tuple[Sequence[str], ...]:
    """The words as they are, and those of git without the folder in front: where it works is told by its paths."""
    if pattern.program != "git" or subject.args[:1] == () or subject.args[0][:1] != "-":
        return (subject.args,)
    return subject.args, without_folder(subject.args)


def covers_use(wanted: Use | None, use: Use) -> bool:
    """Whether a rule about `wanted` speaks of a path that is used so: what is deleted counts as written as well."""
    return wanted in (None, use) or (wanted == "write" and use == "delete")


@lru_cache(maxsize=512)
def _is_one(names: tuple[str, ...], tools: tuple[str, ...]) -> bool:
    """Whether a tool that goes by these names is among those of a rule."""
    return any(word_test(tool)(name) for tool in tools for name in names)


def _words(subject: Subject) -> tuple[str, ...]:
    """The words of a command, or every text, number and flag that another tool is given, as JSON writes it."""
    return subject.args if subject.simple is not None else tuple(_leaves(subject.call.input))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def _is_harmless(target: str | None) -> bool:
    return target in ("/dev/null", "/dev/stdout", "/dev/stderr")


def is_named(wanted: str, subject: Subject) -> bool:
    """Whether the program is the one named, narrowly: a path must lead to the very file named in the workspace."""
    if subject.simple is None or not subject.program:
        return False
    if "/" not in wanted or wanted.startswith("/") or ":" in wanted:
        return word_test(wanted)(subject.program)
    where = subject.program_path
    return where is not None and any(where == posixpath.normpath(posixpath.join(r, wanted)) for r in subject.roots)


def _is_program(wanted: str, subject: Subject, fold: bool) -> bool:
    """Whether the program may be the one named, widely: its last component is enough."""
    if subject.simple is None:
        return False
    name = subject.simple.program
    if "/" in wanted and ":" not in wanted:
        tests = (name, name.rpartition("/")[2], subject.program_path or "")
        last = word_test(wanted.rpartition("/")[2], fold)
        return any(word_test(wanted, fold)(t) for t in tests) or last(name.rpartition("/")[2])
    return word_test(wanted, fold)(name.rpartition("/")[2]) or word_test(wanted, fold)(name)
