"""What could go wrong with a call, in words for a person. States facts; guesses nothing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.programs import program_of


class PartLike(Protocol):
    """What is needed of a part."""

    @property
    def program(self) -> str: ...
    @property
    def network(self) -> bool: ...
    @property
    def understood(self) -> bool: ...
    @property
    def read_only(self) -> bool: ...


def risks_of(call: Call, parts: Sequence[PartLike], paths: Sequence[PathFact]) -> tuple[str, ...]:
    """One short sentence a risk, the gravest first."""
    grave = sorted((fact for fact in paths if fact.guard or not fact.inside), key=lambda fact: _ORDER[fact.use])
    found = [_of_path(fact) for fact in grave]
    found += _named("deletes", paths, "delete")
    if any(not part.understood for part in parts):
        found.append("a part of it is known only when it runs")
    names = list(dict.fromkeys([part.program.rpartition("/")[2] for part in parts if part.program]))
    if names:
        found.append(f"runs {', '.join(names)}")
    code = next((name for name in names if _runs_code(name)), "")
    if code and not all(part.read_only for part in parts):
        found.append(f"{code} runs code of the project: scripts, tests, hooks")
    if any(part.network for part in parts):
        found.append("uses the network")
    found += _named("writes", paths, "write")
    return tuple(dict.fromkeys(found))


_ORDER = {"delete": 0, "write": 1, "read": 2}


def _named(verb: str, paths: Sequence[PathFact], use: str) -> list[str]:
    """One sentence for what is used so inside the workspace."""
    facts = [fact for fact in paths if fact.use == use and fact.inside and not fact.guard]
    names = list(dict.fromkeys(fact.written for fact in facts))
    return [f"{verb} {', '.join(names[:5])}{' and more' if len(names) > 5 else ''}"] if names else []


def _runs_code(name: str) -> bool:
    entry = program_of(name)
    return entry is not None and entry.code in ("interpreter", "project", "packages", "tasks")


def _of_path(fact: PathFact) -> str:
    if fact.guard:
        return f"{fact.use}s {fact.written}: {fact.guard}"
    if fact.resolved:
        return f"{fact.use}s outside the workspace: {fact.resolved}"
    return f"may {fact.use} anywhere: the command does not say where"
