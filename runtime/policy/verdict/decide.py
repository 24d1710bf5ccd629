"""Facts in, verdict out: allow, ask or deny.

Promises: deny wins over ask, ask over allow, whatever their order; a compound command is never judged more mildly than
any of its parts; what is not understood asks; a fault inside asks; nothing is read but through the World. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.glance import Glance
from interlock.runtime.policy.facts.path import PathFact
from interlock.runtime.policy.facts.reading import Reading, read_call
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.rules.grant import Grant, Suggestion, grant_layer
from interlock.runtime.policy.rules.layer import Layer, Policy, with_layers
from interlock.runtime.policy.rules.rule import STRENGTH, Verdict
from interlock.runtime.policy.rules.rule_index import RuleIndex
from interlock.runtime.policy.verdict.decision import Decision, Effect, Part, no_offers, no_reason
from interlock.runtime.policy.verdict.gravity import gravity
from interlock.runtime.policy.verdict.mode import in_mode
from interlock.runtime.policy.verdict.one_subject import judge_subject
from interlock.runtime.policy.verdict.risk import risks_of
from interlock.runtime.policy.verdict.suggest import suggest_for_shell, suggest_for_tool, why_no_folder, why_none

__all__ = ["Decision", "Effect", "Judge", "Part", "Policy", "World", "decide"]


@dataclass(frozen=True, slots=True)
class Judge:
    """Whoever decides by one policy, on one machine, with what stands, at one moment.

    The engine, the gates, `policy check` and previews all judge through one of these, so that they cannot differ.
    """

    policy: Policy
    world: World
    grants: tuple[Grant, ...] = ()
    now: datetime | None = None
    """Without it no grant holds, and no rule with an expiry allows."""

    def decide(self, call: Call) -> Decision:
        """The verdict, with its facts and what could be allowed for longer. Never raises."""
        return decide(call, self.policy, self.world, self.grants, self.now)

    def allows(self, call: Call) -> bool:
        """Whether the call would pass with nobody asked."""
        return self.decide(call).effect == "allow"

    def allowing(self, *, grant: Grant | None = None, layers: Sequence[Layer] = ()) -> Judge:
        """The same with one more permission, to be tried: a grant, or rules as layers of their own."""
        grants = self.grants if grant is None else (*self.grants, grant)
        return Judge(with_layers(self.policy, layers), self.world, grants, self.now)


def decide(
    call: Call, policy: Policy, world: World, grants: Sequence[Grant] = (), now: datetime | None = None
) -> Decision:
    """The verdict on one call.

    Never raises: a fault inside is an ask that says so, or a deny in the modes that allow no asks.
    """
    try:
        return _decide(call, policy, world, grants, now)
    except Exception as error:
        why = f"policy fault: this call could not be judged ({type(error).__name__}: {error})"
        effect: Effect = "deny" if policy.mode in ("locked", "read-only") else "ask"
        return Decision(effect, why, "built-in", ("policy-fault",), (why,), understood=False, cwd=call.cwd)


def _decide(call: Call, policy: Policy, world: World, grants: Sequence[Grant], now: datetime | None) -> Decision:
    world = Glance(world, call.workspace)
    reading = read_call(call, world)
    granted = grant_layer(grants, now) if now is not None else None
    indexes = (policy.index, RuleIndex((granted, rule) for rule in granted.rules)) if granted else (policy.index,)
    verdicts = [judge_subject(subject, indexes, now) for subject in reading.subjects]
    verdict = _worst(reading, verdicts)
    if call.unclear and (verdict.effect == "allow" or verdict.rule in _DEFAULTS):
        verdict = Verdict("ask", f"not fully understood: {call.unclear}", "built-in", "not-understood")
    verdict = in_mode(verdict, call, reading, policy.mode)
    if verdict.effect == "ask" and now is not None:
        verdict = _granted(verdict, call, world, grants, now, reading) or verdict
    return _decision(call, reading, verdicts, verdict)


def _worst(reading: Reading, verdicts: Sequence[Verdict]) -> Verdict:
    """The strictest verdict of all parts; a text that is not understood asks whatever its parts say."""
    # a managed ask stands first, because no answer that was given before may stand in for it
    worst = verdicts[0] if len(verdicts) == 1 else max(verdicts, key=_strength, default=None)
    if reading.shell is None:
        assert worst is not None
        return worst
    if worst is not None and worst.effect == "deny":
        at = verdicts.index(worst)
        return _because(worst, f"{_name(reading.subjects[at])}: {worst.reason}")
    if not reading.shell.understood or reading.over:
        notes = reading.shell.notes or tuple(n for c in reading.shell.commands for n in c.notes)
        why = notes[0] if notes else "a part of it is known only at run time"
        # a rule that asks about a part is the better reason
        return (
            worst
            if worst and worst.source in _FILES and worst.effect == "ask"
            else Verdict("ask", f"not fully understood: {why}", "built-in", "not-understood")
        )
    if worst is None:
        return Verdict("ask", "no command was found in it", "built-in", "not-understood")
    if worst.effect == "allow":
        return _all_allowed(verdicts)
    asking = [i for i, verdict in enumerate(verdicts) if _strength(verdict) == _strength(worst)]
    at = max(asking, key=lambda i: (verdicts[i].source in _FILES, gravity(reading.subjects[i])))
    return _because(verdicts[at], _asking(reading, verdicts, at))


def _because(verdict: Verdict, reason: str) -> Verdict:
    return Verdict(verdict.effect, reason, verdict.source, verdict.rule, verdict.wait_seconds)


def _strength(verdict: Verdict) -> tuple[int, bool]:
    return STRENGTH[verdict.effect], verdict.source == "managed"


_DEFAULTS = ("shell-asks", "else-asks")
"""Asks for want of a rule, where what is not clear is the better reason."""
_FILES = ("managed", "user", "project")


def _all_allowed(verdicts: Sequence[Verdict]) -> Verdict:
    if len(verdicts) == 1:
        return verdicts[0]
    named = next((v for v in verdicts if v.rule != "wrapper"), verdicts[0])
    return _because(named, "every part of it is allowed")


def _asking(reading: Reading, verdicts: Sequence[Verdict], at: int) -> str:
    name = _name(reading.subjects[at])
    more = sum([verdict.effect == "ask" for verdict in verdicts]) - 1
    others = {0: "", 1: " (and one more part asks)"}.get(more, f" (and {more} more parts ask)")
    return f"{name}: {verdicts[at].reason}{others}"


def _name(subject: Subject) -> str:
    simple = subject.simple
    if simple is not None and simple.program:
        return simple.program
    # a test, or a redirect without a program
    return "a variable" if simple is None or simple.assignments else "the shell itself"


def _granted(
    verdict: Verdict, call: Call, world: World, grants: Sequence[Grant], now: datetime, reading: Reading
) -> Verdict | None:
    """The allow of a grant for this very call. What a managed rule asks about is asked each time."""
    if not grants or verdict.source in ("managed", "mode") or call.unclear or not _is_understood(call, reading):
        return None
    if any(s.objections or any(fact.guard or fact.error for fact in s.boundary) for s in reading.subjects):
        return None
    for grant in grants:
        if grant.covers(call, world, now):
            return Verdict("allow", "you allowed this before", "session grant", grant.id)
    return None


def _decision(call: Call, reading: Reading, verdicts: Sequence[Verdict], verdict: Verdict) -> Decision:
    subjects = reading.subjects
    shell = reading.shell
    one = len(subjects) == 1
    paths = subjects[0].paths if one else tuple(dict.fromkeys([fact for s in subjects for fact in s.paths]))
    objections = subjects[0].objections if one else tuple(dict.fromkeys([o for s in subjects for o in s.objections]))
    parts = tuple([_part(s, v) for s, v in zip(subjects, verdicts, strict=True)]) if shell else ()
    return Decision(
        verdict.effect,
        verdict.reason,
        verdict.source,
        _policy_ids(verdicts, verdict),
        (*risks_of(call, parts, paths), *objections),
        parts,
        paths,
        _is_understood(call, reading),
        partial(_offers, call, reading, verdicts, verdict, paths) if verdict.effect == "ask" else no_offers,
        partial(_why_once, call, reading, verdict, paths) if verdict.effect == "ask" else no_reason,
        shell.operators if shell else (),
        call.cwd,
        (*((call.unclear,) if call.unclear else ()), *(shell.notes if shell else ())),
        reading.command,
        verdict.wait_seconds,
    )


def _policy_ids(verdicts: Sequence[Verdict], verdict: Verdict) -> tuple[str, ...]:
    """The rules behind the verdict: that of the part that decided first, then those that say the same."""
    ids = (verdict.rule,) if verdict.rule else ()
    if verdict.effect == "ask" and verdict.source not in _FILES:
        return ids
    same = [v.rule for v in verdicts if v.effect == verdict.effect and v.rule and v.rule != "wrapper"]
    return tuple(dict.fromkeys((*ids, *same)))


def _offers(
    call: Call, reading: Reading, verdicts: Sequence[Verdict], verdict: Verdict, paths: tuple[PathFact, ...]
) -> tuple[Suggestion, ...]:
    """What a person could allow for longer instead of answering this ask."""
    if verdict.source == "managed" or call.unclear:
        return ()
    asking = [s for s, v in zip(reading.subjects, verdicts, strict=True) if v.effect == "ask"]
    offers = suggest_for_shell(call, reading, asking) if reading.shell else suggest_for_tool(call, paths)
    if verdict.source in _FILES:
        # an ask of a rule stands above every allow of a pattern or a folder; only this very call can be carried on
        return tuple(offer for offer in offers if offer.field in ("command", "path"))
    return offers


def _why_once(call: Call, reading: Reading, verdict: Verdict, paths: tuple[PathFact, ...]) -> str:
    """Why nothing longer than once is offered."""
    if verdict.source == "managed":
        return "a managed rule asks each time"
    if call.unclear:
        return "what it does is not fully understood"
    if reading.shell is not None:
        return why_none(reading)
    return why_no_folder(paths)


def _is_understood(call: Call, reading: Reading) -> bool:
    if reading.shell is not None:
        return reading.shell.understood and not call.unclear
    return not call.unclear and all(subject.understood for subject in reading.subjects)


def _part(subject: Subject, verdict: Verdict) -> Part:
    simple = subject.simple
    assert simple is not None
    return Part(
        simple.text,
        simple.program,
        simple.depth,
        verdict.effect,
        verdict.reason,
        verdict.rule,
        simple.cwd,
        subject.paths,
        subject.network,
        subject.read_only,
        simple.understood,
        simple.start,
        simple.end,
        verdict.source,
        simple.via,
    )
