"""Facts in, verdict out: allow, ask or deny.

Promises: deny wins over ask, ask over allow, whatever their order; a compound command is never judged more mildly than
any of its parts; what is not understood asks; a fault inside asks; nothing is read but through the World. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.grant import Grant, Suggestion
from interlock.runtime.policy.path import PathFact, path_fact
from interlock.runtime.policy.risk import risks_of
from interlock.runtime.policy.rule import Policy, Verdict, deny_of_part, is_destructive
from interlock.runtime.policy.shell import effects, is_read_only, parse_command
from interlock.runtime.policy.shell.model import ShellFacts, SimpleCommand

Effect = Literal["allow", "ask", "deny"]
_PATH_FIELDS = ("path", "file_path", "folder")
_WRITERS = frozenset(("write_file", "edit_file"))


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command of a shell call, with its own verdict."""

    text: str
    program: str
    depth: int
    verdict: Effect
    why: str
    rule: str | None
    cwd: str | None
    paths: tuple[PathFact, ...]
    network: bool
    read_only: bool
    understood: bool
    start: int
    end: int

    def on_wire(self) -> dict[str, Any]:
        """As it stands in an ask's facts."""
        return {
            "text": self.text,
            "program": self.program,
            "depth": self.depth,
            "verdict": self.verdict,
            "why": self.why,
            **({"rule": self.rule} if self.rule else {}),
            "cwd": self.cwd,
            "paths": [fact.on_wire() for fact in self.paths],
            "network": self.network,
            "readOnly": self.read_only,
            "understood": self.understood,
            "start": self.start,
            "end": self.end,
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict and all that led to it."""

    effect: Effect
    reason: str
    source: str
    policy_ids: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    paths: tuple[PathFact, ...] = ()
    understood: bool = True
    suggestions: tuple[Suggestion, ...] = ()
    operators: tuple[str, ...] = ()
    cwd: str = ""
    notes: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """The `facts` of a tool.permission event."""
        facts: dict[str, Any] = {
            "cwd": self.cwd,
            "understood": self.understood,
            "paths": [fact.on_wire() for fact in self.paths],
        }
        if self.parts:
            facts |= {
                "parts": [part.on_wire() for part in self.parts],
                "network": any(part.network for part in self.parts),
                "readOnly": all(part.read_only for part in self.parts),
                "operators": list(self.operators),
            }
        if self.notes:
            facts["notes"] = list(self.notes)
        return facts


def decide(
    call: Call, policy: Policy, world: World, grants: Sequence[Grant] = (), now: datetime | None = None
) -> Decision:
    """The verdict on one call. Never raises: a fault inside is an ask that says so."""
    try:
        return _decide(call, policy, world, grants, now)
    except Exception as error:
        why = f"the policy could not judge this call ({type(error).__name__}: {error})"
        return Decision("ask", why, "built-in", ("policy-fault",), (why,), understood=False, cwd=call.cwd)


def _decide(call: Call, policy: Policy, world: World, grants: Sequence[Grant], now: datetime | None) -> Decision:
    command = call.input.get("command")
    if isinstance(command, str) and "execute" in call.risks | ({"execute"} if call.tool == "bash" else set()):
        decision = _shell(call, command, policy, world)
    else:
        decision = _tool(call, policy, world)
    if decision.effect == "ask" and now is not None:
        for grant in grants:
            if grant.covers(call, world, now):
                return _with(decision, Verdict("allow", "you allowed this for the session", "session grant", grant.id))
    return decision


def _with(decision: Decision, verdict: Verdict) -> Decision:
    from dataclasses import replace

    return replace(
        decision,
        effect=verdict.effect,
        reason=verdict.reason,
        source=verdict.source,
        policy_ids=(verdict.rule,) if verdict.rule else (),
        suggestions=(),
    )


def _tool(call: Call, policy: Policy, world: World) -> Decision:
    use = "write" if call.tool in _WRITERS or "write" in call.risks else "read"
    facts = tuple(
        path_fact(value, use, call, world) for name in _PATH_FIELDS if isinstance(value := call.input.get(name), str)
    )
    verdict = _judge_paths(facts) or policy.judge_tool(call)
    suggestions: tuple[Suggestion, ...] = ()
    if verdict.effect == "ask" and use == "write" and facts and not facts[0].guard:
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
    )


def _judge_paths(facts: Sequence[PathFact]) -> Verdict | None:
    """The verdict that the paths alone force, or None."""
    for fact in facts:
        if fact.error == "NUL in a path":
            return Verdict(
                "deny", "the path holds a NUL character, so it names no file", "path boundary", "nul-in-path"
            )
        if fact.own:
            return Verdict("deny", "Interlock's own files are out of an agent's reach", "path boundary", "own-files")
    for fact in facts:
        if fact.guard:
            return Verdict("ask", f"{fact.resolved}: {fact.guard}", "path boundary", "guarded-path")
        if not fact.inside:
            return Verdict("ask", f"{fact.resolved} is outside the workspace", "path boundary", "outside-workspace")
    return None


def _shell(call: Call, command: str, policy: Policy, world: World) -> Decision:
    seen = parse_command(command, cwd="", home=call.home)
    parts = tuple(_part(call, simple, policy, world) for simple in seen.commands)
    paths = tuple(dict.fromkeys(fact for part in parts for fact in part.paths))
    verdict = _whole(seen, parts, policy)
    suggestions: tuple[Suggestion, ...] = ()
    if verdict.effect == "ask" and seen.understood and not any(is_destructive(s) for s in seen.commands):
        suggestions = (Suggestion(call.tool, "command", command, call.cwd, "exactly this command, in this folder"),)
    return Decision(
        verdict.effect,
        verdict.reason,
        verdict.source,
        (verdict.rule,) if verdict.rule else (),
        risks_of(call, parts, paths),
        parts,
        paths,
        seen.understood,
        suggestions,
        seen.operators,
        call.cwd,
        seen.notes,
    )


def _part(call: Call, simple: SimpleCommand, policy: Policy, world: World) -> Part:
    found = effects(simple)
    paths = tuple(
        [path_fact(p, "read", call, world, cwd=simple.cwd, shell=True) for p in found.reads]
        + [path_fact(p, "write", call, world, cwd=simple.cwd, shell=True) for p in found.writes]
    )
    gate = is_read_only(simple)
    verdict = deny_of_part(simple, paths, call) or policy.judge_part(simple, gate.ok, paths)
    return Part(
        simple.text,
        simple.program,
        simple.depth,
        verdict.effect,
        verdict.reason if verdict.effect == "deny" or gate.ok else gate.why or verdict.reason,
        verdict.rule,
        simple.cwd,
        paths,
        found.network,
        gate.ok,
        simple.understood,
        simple.start,
        simple.end,
    )


def _whole(seen: ShellFacts, parts: Sequence[Part], policy: Policy) -> Verdict:
    for part in parts:
        if part.verdict == "deny":
            return Verdict("deny", f"{part.program}: {part.why}", "built-in", part.rule)
    if not seen.understood:
        why = seen.notes[0] if seen.notes else "a part of it is known only at run time"
        return Verdict("ask", f"not fully understood: {why}", "built-in", "not-understood")
    if not parts:
        return Verdict("ask", "no command was found in it", "built-in", "not-understood")
    asking = next((part for part in parts if part.verdict == "ask"), None)
    if asking is not None:
        return Verdict("ask", policy.shell_reason, "built-in", asking.rule)
    return Verdict("allow", "every part only reads inside the workspace", "built-in", "read-only-shell")
