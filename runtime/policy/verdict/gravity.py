"""How grave it would be to let a part of a call run unseen: which one an ask names first.

Promises: an order and no verdict. What is lost comes before what is changed, what lies outside before what lies inside,
and what nobody understood before what only has no rule. Pure.
"""

from __future__ import annotations

from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs import program_of


def gravity(subject: Subject) -> int:
    """The graver, the larger."""
    return max((_of_path(fact) for fact in subject.paths), default=0) + _of_mark(subject)


def _of_path(fact: PathFact) -> int:
    away = not fact.inside or bool(fact.guard) or fact.own
    match fact.use:
        case "delete":
            return 90 if away else 60
        case "write":
            return 80 if away else 30
        case "read":
            return 40 if fact.guard else 20 if away else 0


def _of_mark(subject: Subject) -> int:
    if subject.read_only or subject.wrapper:
        return 0
    entry = program_of(subject.program.rpartition("/")[2])
    marks = (("privileged" in subject.risks, 50), ("destructive" in subject.risks, 30), (not subject.understood, 25))
    runs_code = entry is None or bool(entry.code)
    return sum(weight for holds, weight in marks if holds) + (15 if runs_code else 0) + (10 if subject.network else 5)
