"""The footing of a call: all that its card shows and all that its run depends on, worked out at one moment.

Promises: made from the call, the policy's decision on it and the machine, and from nothing else, so that two footings of
the same call differ only where the world does; bounded, and what was over a bound is told in `unbound`; changes nothing,
never waits for a pipe or a device, never raises. Runs in a thread.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from uuid import uuid4

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.verdict.decide import Decision
from interlock.runtime.tools.footing.command import Surroundings, command_items, own_places, runs_code
from interlock.runtime.tools.footing.follow import Follower
from interlock.runtime.tools.footing.item import Budget, Footing, Item
from interlock.runtime.tools.footing.look import Depth, look_at
from interlock.runtime.tools.footing.program import program_items

_MOST_COMMANDS = 200
_VERDICT = ("verdict", "why", "rule", "source", "paths")
"""What of a part is the policy's opinion and not a fact of the world; paths are items of their own."""


def footing_of(
    call: Call, decision: Decision, world: World, environment: Mapping[str, str], *, exact: bool = False
) -> Footing:
    """What the call stands on now. `environment`: what it would run with; `exact`: also what a file holds that a tool
    other than a shell would change, where nobody else makes sure of it."""
    budget = Budget()
    items: list[Item] = []
    try:
        items += _places(call, budget)
        items += _facts(call, decision, budget, exact=exact)
        if decision.command:
            items += _commands(call, decision, world, environment, budget)
    except Exception as error:  # a fault of ours must not let a call pass that was looked at in part
        why = f"a fault while it was looked at ({type(error).__name__}: {error})"
        budget.spent[why] = None
        items.append(Item("fault", why, {"kind": uuid4().hex}))  # equal to no other, so nothing runs on it
    return Footing.of(items, tuple(budget.spent))


def _places(call: Call, budget: Budget) -> Iterator[Item]:
    yield look_at(call.cwd, what="folder", name="the folder it runs in", depth="identity", budget=budget)
    for root in call.workspace:
        yield look_at(root, what="folder", name=f"the workspace {root}", depth="identity", budget=budget)


def _facts(call: Call, decision: Decision, budget: Budget, *, exact: bool) -> Iterator[Item]:
    """What the policy found out, field by field, and what stands at each path now."""
    seen: Counter[tuple[str, str]] = Counter()
    for fact in decision.paths:
        seen[fact.use, fact.written] += 1
        what = f"fact:{fact.use}:{seen[fact.use, fact.written]}"
        yield Item(what, fact.written, _texts(fact.on_wire()))
        if fact.resolved and not decision.command:
            # a file tool opens its file without following links; of which version it is, it makes sure itself
            depth: Depth = "identity" if fact.use == "read" else "content" if exact else "place"
            yield look_at(fact.resolved, what="path", name=fact.written, depth=depth, budget=budget)
    for at, part in enumerate(decision.parts):
        told = {key: value for key, value in part.on_wire().items() if key not in _VERDICT}
        yield Item(f"fact:part:{at}", part.text[:80], _texts(told))


def _texts(fields: Mapping[str, object]) -> dict[str, str]:
    return {key: value if isinstance(value, str) else str(value) for key, value in fields.items()}


def _commands(
    call: Call, decision: Decision, world: World, environment: Mapping[str, str], budget: Budget
) -> Iterator[Item]:
    facts = parse_command(decision.command, cwd="", home=call.home or None)
    path = tuple(environment.get("PATH", os.defpath).split(":"))
    yield from program_items("bash", call.cwd, path, budget)
    around = Surroundings(
        cwd=call.cwd,
        home=call.home,
        path=(*own_places(facts.commands, call.home), *path),
        world=world,
        follower=Follower(call.cwd, budget),
        budget=budget,
        runs=any(runs_code(simple) for simple in facts.commands) or not facts.understood,
        reads_only=decision.read_only and decision.understood,
    )
    if len(facts.commands) > _MOST_COMMANDS:
        budget.spent[f"more than {_MOST_COMMANDS} commands"] = None
    for simple in facts.commands[:_MOST_COMMANDS]:
        yield from command_items(simple, around)
