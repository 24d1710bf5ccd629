"""One call, as `interlock policy check` takes it, and the answer as it gives it.

Promises: a call is `{"tool", "input" | "command" | "path", "agent", "cwd", "workspace", "home"}`, or has its tool and input
under `call`, and is made as the gate of that agent makes it; without an agent the tool and its fields mean what they mean
to whichever agent has them. Without a workspace its directory is the workspace; a very long command may be given as
`command_python`, an expression of texts, `+` and `*`. Raises ValueError for what is no call.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from interlock.runtime.cli.text_expression import text_of
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.facts.foreign_table import ANY, OWN, foreign_tool, is_foreign
from interlock.runtime.policy.verdict.decide import Decision, Part, decide
from interlock.runtime.tools.world import PosixWorld

if TYPE_CHECKING:
    from interlock.runtime.policy.facts.path import PathFact
    from interlock.runtime.policy.rules.layer import Policy

_AROUND = ("tool", "input", "cwd", "workspace", "home", "call", "layout", "agent")
"""What stands around a tool's input; everything else on the top is part of it."""
_NOTES = ("id", "name", "note", "comment")
"""What a line may say of itself, beside a tool that is known to take none of these."""


def answer(given: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """The answer on one call."""
    return _told(decide(call_of(given), policy, PosixWorld(), (), datetime.now(UTC)))


def no_call(why: str) -> dict[str, Any]:
    """The answer where a line is no call."""
    decision = Decision("ask", f"this is no call: {why}", "built-in", understood=False)
    return {**_told(decision), "error": why}


def roots_of(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The roots of the call's workspace. Raises ValueError."""
    found = given.get("workspace") or [_text(given, "cwd", os.getcwd())]
    roots = [found] if isinstance(found, str) else found
    if not isinstance(roots, list) or not all(isinstance(root, str) and root.startswith("/") for root in roots):
        raise ValueError("workspace and cwd are absolute paths")
    return tuple(roots)


def call_of(given: Mapping[str, Any]) -> Call:
    """The call of a line. Raises ValueError."""
    inner = given.get("call", given)
    if not isinstance(inner, Mapping):
        raise ValueError("'call' is an object")
    tool = _text(inner, "tool", "")
    notes = _NOTES if foreign_tool(ANY, tool) is not None else ()
    arguments = inner.get("input", {k: v for k, v in inner.items() if k not in _AROUND and k not in notes})
    if not tool:
        raise ValueError("a call has a 'tool', and an 'input', a 'command' or a 'path'")
    if isinstance(arguments, Mapping) and "command" not in arguments:
        arguments = _spelled_out(arguments)
    agent = _text(given, "agent", "")
    call = make_call(
        agent,
        tool,
        arguments,
        cwd=_text(given, "cwd", os.getcwd()),
        workspace=roots_of(given),
        home=_text(given, "home", os.path.expanduser("~")),
        protected=_own_places(),
        form=_form_of(agent),
    )
    if not agent and call.tool == "bash" and not call.input.get("command"):
        raise ValueError("a call of a shell has a 'command'")
    return call


def _form_of(agent: str) -> str:
    """In whose words the call is given: those of an agent behind a gate, or else of one that uses our own tools."""
    if not agent:
        return ANY
    return "" if is_foreign(agent) else OWN


def _spelled_out(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The input with the command that an expression stands for."""
    rest = {key: value for key, value in arguments.items() if key != "command_python"}
    expression = arguments.get("command_python")
    return {**rest, "command": text_of(expression)} if isinstance(expression, str) else arguments


def explained(given: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    """Lines for a person: the verdict, each part, its paths, what could go wrong, what could be allowed."""
    decision = decide(call_of(given), policy, PosixWorld(), (), datetime.now(UTC))
    ids = f", rule {', '.join(decision.policy_ids)}" if decision.policy_ids else ""
    yield f"{decision.effect}: {decision.reason}"
    yield f"  by {decision.source}{ids}; mode {policy.mode}"
    for part in decision.parts:
        yield f"{'  ' * (part.depth + 1)}{part.verdict:5}  {part.text}"
        rule = f" [{part.rule}]" if part.rule else ""
        yield f"{'  ' * (part.depth + 1)}       {part.why}{rule}"
        for fact in part.paths:
            yield f"{'  ' * (part.depth + 1)}       {_of_path(fact)}"
    if not decision.parts:
        for fact in decision.paths:
            yield f"  {_of_path(fact)}"
    for risk in decision.risks:
        yield f"  risk: {risk}"
    for note in decision.notes:
        yield f"  not understood: {note}"
    for suggestion in decision.suggestions:
        yield f"  could be allowed: {suggestion.label}"


def _of_path(fact: PathFact) -> str:
    where = "inside" if fact.inside else "outside"
    guard = f", {fact.guard}" if fact.guard else ""
    return f"{fact.use}s {fact.written} -> {fact.resolved or 'known only at run time'} ({where}{guard})"


def _told(decision: Decision) -> dict[str, Any]:
    parts = decision.parts
    facts = [(part.cwd, fact) for part in parts for fact in part.paths] or [("", fact) for fact in decision.paths]
    return {
        "decision": decision.effect,
        "reason": decision.reason,
        "source": decision.source,
        "policyIds": list(decision.policy_ids),
        "commands": [part.text for part in parts],
        "names": [part.program for part in parts if part.program],
        "readOnly": decision.understood and _reads(parts, decision),
        "reads": _shown(facts, "read"),
        "writes": _shown(facts, "write", "delete"),
        "deletes": _shown(facts, "delete"),
        "network": any(part.network for part in parts),
        "risks": list(decision.risks),
        "understood": decision.understood,
    }


def _reads(parts: tuple[Part, ...], decision: Decision) -> bool:
    if parts:
        return all(part.read_only for part in parts)
    return bool(decision.paths) and all(fact.use == "read" for fact in decision.paths)


def _shown(facts: list[tuple[str | None, PathFact]], *uses: str) -> list[str]:
    """The paths as written, seen from where the call starts."""
    shown = [
        posixpath.normpath(posixpath.join(cwd, fact.written))
        if cwd and fact.written[:1] not in "/~$<"
        else fact.written
        for cwd, fact in facts
        if fact.use in uses
    ]
    return list(dict.fromkeys(shown))


def _text(given: Mapping[str, Any], key: str, otherwise: str) -> str:
    found = given.get(key, otherwise)
    if not isinstance(found, str):
        raise ValueError(f"{key!r} is a text")
    return found


def _own_places() -> tuple[str, ...]:
    from interlock.runtime.journal.place import PlaceError, config_home, run_home, state_home

    places = [str(state_home()), str(config_home())]
    try:
        places.append(str(run_home()))
    except PlaceError:
        pass  # a folder that is refused holds none of our sockets
    return tuple(places)
