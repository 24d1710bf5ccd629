"""The verdict on one subject over all layers.

Promises: the floor first, then any deny, then any ask, then an allow that reaches as far as the subject does, then the
default, which asks. The order of rules and layers changes at most which rule is named. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.facts.subject import MOST_WORDS, Subject
from interlock.runtime.policy.rules.layer import Layer
from interlock.runtime.policy.rules.rule import Rule, Verdict
from interlock.runtime.policy.rules.rule_index import RuleIndex, Standing
from interlock.runtime.policy.verdict.floor import floor_verdict


def judge_subject(subject: Subject, indexes: Sequence[RuleIndex[Layer]], now: datetime | None) -> Verdict:
    """Allow, ask or deny for one subject."""
    if (verdict := floor_verdict(subject)) is not None:
        return verdict
    standing = [index.about(subject) for index in indexes]
    asks = _each(standing, "asks")
    if len(asks) > 1:
        asks = sorted(asks, key=_not_managed)
    for layer, rule in (*_each(standing, "denies"), *asks):
        if not rule.is_over(now) and rule.matches(subject):
            return _of_rule(layer, rule, rule.reason or f"{rule.effect} by rule {rule.id}")
    if len(subject.paths) > MOST_WORDS:
        return Verdict("ask", subject.objections[-1], "path boundary", "objection")
    guards = _each(standing, "guards")
    for layer, rule in sorted(guards, key=_not_managed) if guards else ():
        if rule.effect == "deny" and subject.call.leaves_out:
            continue  # what it denies is left out of the walk, so nothing of it is shown
        if not rule.is_over(now) and (why := rule.perhaps(subject)):
            return Verdict("ask", why, layer.name, rule.id)
    return _permitted(subject, [pair for pair in _each(standing, "allows") if not pair[1].is_over(now)])


def _not_managed(pair: tuple[Layer, Rule]) -> bool:
    return pair[0].name != "managed"


_Kind = Literal["denies", "asks", "allows", "guards"]


def _each(standing: Sequence[Standing[Layer]], kind: _Kind) -> Sequence[tuple[Layer, Rule]]:
    if len(standing) == 1:
        return getattr(standing[0], kind)
    return [pair for one in standing for pair in getattr(one, kind)]


def _of_rule(layer: Layer, rule: Rule, reason: str) -> Verdict:
    return Verdict(rule.effect, reason, layer.name, rule.id, rule.wait_seconds)


def _permitted(subject: Subject, standing: Sequence[tuple[Layer, Rule]]) -> Verdict:
    """An allow that holds, or the reason why none does."""
    stopped: Rule | None = None
    for layer, rule in standing:
        if not rule.matches(subject):
            continue
        if rule.lifts(subject):
            return _of_rule(layer, rule, rule.reason or f"allowed by rule {rule.id}")
        stopped = stopped or rule
    if subject.wrapper and not subject.boundary and not subject.objections:
        return Verdict("allow", "it does nothing itself; what it runs is judged by itself", "built-in", "wrapper")
    return _default(subject, stopped)


def _default(subject: Subject, stopped: Rule | None) -> Verdict:
    if subject.objections:
        return Verdict("ask", subject.objections[0], "path boundary", "objection")
    facts = subject.boundary if stopped else [f for f in subject.paths if not f.inside or f.guard]
    for fact in facts:
        if fact.kind != "unknown" and (told := boundary_reason(fact)):
            return Verdict("ask", *told)
    if stopped:
        return Verdict("ask", stopped.stopped_by(subject), "path boundary", "beyond-the-rule")
    if any(fact.kind == "unknown" for fact in subject.paths) and not subject.why_not:
        return Verdict("ask", "which files it touches is known only at run time", "path boundary", "unknown-path")
    if subject.simple is not None:
        return Verdict("ask", subject.why_not or "no rule allows it", "built-in", "shell-asks")
    return Verdict("ask", subject.why_not or "no rule allows it", "built-in", "else-asks")


def boundary_reason(fact: PathFact) -> tuple[str, str, str] | None:
    """(reason, source, id) for a path that alone is a reason to ask; None for any other."""
    shown = fact.resolved or fact.written
    if fact.error:
        return f"{shown}: {fact.error}", "path boundary", "unreadable-path"
    if fact.guard:
        return f"{shown}: {fact.guard}", "path boundary", "guarded-path"
    if not fact.inside:
        return f"{shown} is outside the workspace", "path boundary", "outside-workspace"
    return None
