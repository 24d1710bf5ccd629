"""Facts in, verdict out: allow, ask or deny.

Promises: deny wins over ask, ask over allow, whatever their order; a compound command is never judged more mildly than
any of its parts; what is not understood asks; a fault inside asks; nothing is read but through the World. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from interlock.runtime.policy.builtin import deny_of_part
from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.decision import Decision, Part
from interlock.runtime.policy.grant import Grant, Suggestion
from interlock.runtime.policy.host import hosts_of
from interlock.runtime.policy.layer import Policy
from interlock.runtime.policy.path import PathFact, path_fact
from interlock.runtime.policy.reach import git_elsewhere, is_recursive
from interlock.runtime.policy.risk import risks_of
from interlock.runtime.policy.shell import effects, is_read_only, parse_command
from interlock.runtime.policy.shell.model import Effects, ShellFacts, SimpleCommand
from interlock.runtime.policy.subject import Subject
from interlock.runtime.policy.suggest import suggestions_for
from interlock.runtime.policy.verdict import STRICTNESS, Effect, Verdict

__all__ = ["Decision", "Effect", "Part", "Policy", "World", "decide"]
_PATH_FIELDS = ("path", "file_path", "folder")
_WRITERS = frozenset(("write_file", "edit_file"))
_SEARCHERS = frozenset(("grep", "glob"))


def decide(
    call: Call, policy: Policy, world: World, grants: Sequence[Grant] = (), now: datetime | None = None
) -> Decision:
    """The verdict on one call. Never raises: a fault inside is an ask that says so (a deny in locked mode)."""
    try:
        return _decide(call, policy, world, grants, now)
    except Exception as error:
        why = f"the policy could not judge this call ({type(error).__name__}: {error})"
        effect: Effect = "deny" if policy.mode == "locked" else "ask"
        return Decision(effect, why, "built-in", ("policy-fault",), (why,), understood=False, cwd=call.cwd, firm=True)


def _decide(call: Call, policy: Policy, world: World, grants: Sequence[Grant], now: datetime | None) -> Decision:
    decision, reads = _judged(call, policy, world, now)
    if policy.mode == "read-only" and not reads and decision.effect != "deny":
        said = "the mode is read-only, and this does more than read"
        return _with(decision, Verdict("deny", said, "mode", "read-only"))
    if decision.effect == "ask" and now is not None and not decision.firm:
        decision = _granted(decision, call, policy, world, grants, now)
    if decision.effect == "ask" and policy.mode == "locked":
        said = f"the mode is locked, so what would ask is denied: {decision.reason}"
        return _with(decision, Verdict("deny", said, "mode", "locked"))
    return decision


def _judged(call: Call, policy: Policy, world: World, now: datetime | None) -> tuple[Decision, bool]:
    """The verdict without grants, and whether the call only reads."""
    command = call.input.get("command")
    if isinstance(command, str) and "execute" in call.risks | ({"execute"} if call.tool == "bash" else set()):
        return _shell(call, command, policy, world, now)
    return _tool(call, policy, world, now), call.read_only


def _granted(
    decision: Decision, call: Call, policy: Policy, world: World, grants: Sequence[Grant], now: datetime
) -> Decision:
    """The allow of a standing permission where one covers the call, else the ask as it is."""
    for grant in grants:
        if grant.covers(call, world, now):
            return _with(decision, Verdict("allow", "you allowed this for the session", "session grant", grant.id))
    rules = tuple(rule for grant in grants if (rule := grant.rule(now)))
    if rules and decision.parts:
        wider, _ = _judged(call, replace(policy, rules=policy.rules + rules), world, now)
        return wider if wider.effect == "allow" else decision
    return decision


def _with(decision: Decision, verdict: Verdict) -> Decision:
    return replace(
        decision,
        effect=verdict.effect,
        reason=verdict.reason,
        source=verdict.source,
        policy_ids=(verdict.rule,) if verdict.rule else (),
        suggestions=(),
    )


def _tool(call: Call, policy: Policy, world: World, now: datetime | None) -> Decision:
    use = "write" if call.tool in _WRITERS or "write" in call.risks else "read"
    facts = tuple(
        path_fact(value, use, call, world) for name in _PATH_FIELDS if isinstance(value := call.input.get(name), str)
    )
    verdict = _no_path(facts) or policy.judge_tool(call, _subject_of_tool(call, facts, world), now, _boundary(facts))
    suggestions: tuple[Suggestion, ...] = ()
    if verdict.effect == "ask" and not verdict.firm and use == "write" and facts and not facts[0].guard:
        fact = facts[0]
        suggestions = (Suggestion(call.tool, "path", fact.resolved, call.cwd, f"{call.tool} of {fact.written}"),)
    return Decision(
        verdict.effect,
        verdict.reason,
        verdict.source,
        (verdict.rule,) if verdict.rule else (),
        risks_of(call, (), facts),
        (),
        facts,
        True,
        suggestions,
        cwd=call.cwd,
        firm=verdict.firm,
    )


def _subject_of_tool(call: Call, facts: tuple[PathFact, ...], world: World) -> Subject:
    risks = set(call.risks) | ({"write"} if call.tool in _WRITERS else set()) | ({"read"} if call.read_only else set())
    if call.tool in _SEARCHERS and not facts:
        facts = (path_fact(".", "read", call, world),)
    return Subject(
        tool=call.tool,
        paths=facts,
        risks=frozenset(risks | _risks_of_paths(facts)),
        read_only=call.read_only,
        recursive=call.tool in _SEARCHERS,
        roots=_roots(call, world),
        home=call.home,
        fold_case=world.case_insensitive,
    )


def _no_path(facts: Sequence[PathFact]) -> Verdict | None:
    """The denies that a path alone forces, whatever a rule says."""
    for fact in facts:
        if fact.error == "NUL in a path":
            said = "the path holds a NUL character, so it names no file"
            return Verdict("deny", said, "path boundary", "nul-in-path")
        if fact.own:
            return Verdict("deny", "Interlock's own files are out of an agent's reach", "path boundary", "own-files")
    return None


def _boundary(facts: Sequence[PathFact]) -> Verdict | None:
    """The ask that the paths alone demand."""
    for fact in facts:
        if fact.guard:
            return Verdict("ask", f"{fact.resolved}: {fact.guard}", "path boundary", "guarded-path")
        if fact.error:
            return Verdict("ask", f"{fact.resolved}: {fact.error}", "path boundary", "unreadable-path")
        if not fact.inside:
            return Verdict("ask", f"{fact.resolved} is outside the workspace", "path boundary", "outside-workspace")
    return None


def _shell(call: Call, command: str, policy: Policy, world: World, now: datetime | None) -> tuple[Decision, bool]:
    """The verdict on a shell command, and whether all of it only reads."""
    seen = parse_command(command, cwd="", home=call.home)
    roots = _roots(call, world)
    parts = tuple(_part(call, simple, policy, world, roots, now) for simple in seen.commands)
    paths = tuple(dict.fromkeys(fact for part in parts for fact in part.paths))
    verdict = _whole(seen, parts, policy)
    offered = verdict.effect == "ask" and not any(part.firm and part.verdict == "ask" for part in parts)
    decision = Decision(
        verdict.effect,
        verdict.reason,
        verdict.source,
        (verdict.rule,) if verdict.rule else (),
        risks_of(call, parts, paths),
        parts,
        paths,
        seen.understood,
        suggestions_for(call.tool, command, call.cwd, seen, parts) if offered else (),
        seen.operators,
        call.cwd,
        seen.notes,
        not offered and verdict.effect == "ask",
    )
    return decision, seen.understood and bool(parts) and all(part.read_only for part in parts)


def _part(
    call: Call, simple: SimpleCommand, policy: Policy, world: World, roots: tuple[str, ...], now: datetime | None
) -> Part:
    found = effects(simple)
    paths = tuple(
        [path_fact(p, "read", call, world, cwd=simple.cwd, shell=True) for p in found.reads]
        + [path_fact(p, "write", call, world, cwd=simple.cwd, shell=True) for p in found.writes]
    )
    gate, why = _gate(call, simple, world)
    subject = _subject_of_part(call, simple, found, paths, gate, roots, world)
    verdict = deny_of_part(simple, paths, call) or policy.judge_part(simple, subject, why, now)
    return Part(
        simple.text,
        simple.program,
        simple.depth,
        verdict.effect,
        verdict.reason if policy.rules or verdict.effect == "deny" or gate else why or verdict.reason,
        verdict.rule,
        simple.cwd,
        paths,
        found.network,
        gate,
        simple.understood,
        simple.start,
        simple.end,
        verdict.source,
        verdict.firm,
        simple.argv,
        simple.via,
    )


def _gate(call: Call, simple: SimpleCommand, world: World) -> tuple[bool, str]:
    gate = is_read_only(simple)
    if gate.ok and simple.program.rpartition("/")[2] == "git" and (why := git_elsewhere(call, simple.cwd, world)):
        return False, why
    return gate.ok, gate.why


def _subject_of_part(
    call: Call,
    simple: SimpleCommand,
    found: Effects,
    paths: tuple[PathFact, ...],
    gate: bool,
    roots: tuple[str, ...],
    world: World,
) -> Subject:
    risks = set(found.flags) & {"destructive", "privileged", "interactive", "code", "dynamic", "environment"}
    risks |= {"network"} if found.network else set()
    risks |= {"read"} if found.reads else set()
    risks |= set() if gate else {"execute"}
    risks |= {"write"} if found.writes else set()
    return Subject(
        tool=call.tool,
        paths=paths,
        hosts=hosts_of(simple),
        risks=frozenset(risks | _risks_of_paths(paths)),
        read_only=gate,
        command=simple,
        recursive=is_recursive(simple),
        roots=roots,
        home=call.home,
        fold_case=world.case_insensitive,
    )


def _risks_of_paths(facts: Sequence[PathFact]) -> set[str]:
    found = {"outside"} if any(not fact.inside for fact in facts) else set()
    return found | ({"guarded"} if any(fact.guard for fact in facts) else set())


def _roots(call: Call, world: World) -> tuple[str, ...]:
    return tuple(world.resolve(root).path for root in call.workspace)


def _whole(seen: ShellFacts, parts: Sequence[Part], policy: Policy) -> Verdict:
    worst = max(parts, key=lambda part: (STRICTNESS[part.verdict], part.firm), default=None)
    if worst and worst.verdict == "deny":
        return Verdict("deny", f"{worst.program}: {worst.why}", worst.source, worst.rule)
    if worst and worst.verdict == "ask" and worst.firm:
        return Verdict("ask", f"{worst.program}: {worst.why}", worst.source, worst.rule, firm=True)
    if not seen.understood:
        why = seen.notes[0] if seen.notes else next((n for c in seen.commands for n in c.notes), _AT_RUN_TIME)
        return Verdict("ask", f"not fully understood: {why}", "built-in", "not-understood")
    if worst is None:
        return Verdict("ask", "no command was found in it", "built-in", "not-understood")
    if worst.verdict == "ask":
        if not policy.rules:
            return Verdict("ask", policy.shell_reason, "built-in", worst.rule)
        return Verdict("ask", f"{worst.program or worst.text}: {worst.why}", worst.source, worst.rule)
    if all(part.rule == worst.rule for part in parts):
        return Verdict("allow", worst.why, worst.source, worst.rule)
    ruling = next((part for part in parts if part.source != "built-in"), worst)
    return Verdict("allow", "every part is allowed", ruling.source, ruling.rule)


_AT_RUN_TIME = "a part of it is known only at run time"
