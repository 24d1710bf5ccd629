"""Reads a command text into facts.

Promises: `parse_command` never raises. What is not understood is said in `notes` and makes `understood` False; commands
seen before a fault or a cap are still listed, so that denies apply to them.
"""

from __future__ import annotations

from collections.abc import Callable

from interlock.runtime.policy.shell.budget import MAX_SIZE, Budget
from interlock.runtime.policy.shell.grammar import Grammar
from interlock.runtime.policy.shell.model import ShellFacts
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.syntax import CapReachedError, Pipeline, Sequence, ShellSyntaxError
from interlock.runtime.policy.shell.unwrap import unwrap
from interlock.runtime.policy.shell.walk import Walk


def parse_command(
    source: str, *, cwd: str = "", home: str | None = None, clock: Callable[[], float] | None = None
) -> ShellFacts:
    """The facts of `source`, started in `cwd` (empty: the start itself) by a user whose home is `home`.

    `clock` (seconds) adds the time cap to the caps of depth, size and work.
    """
    budget = Budget(clock)
    walk = Walk(budget, source, unwrap)
    operators: tuple[str, ...] = ()
    try:
        operators = _read(source, walk, State(home, cwd), budget)
    except CapReachedError as error:
        walk.note(str(error))
    except RecursionError:
        walk.note("nested too deeply")
    understood = not walk.notes and all(c.understood for c in walk.commands)
    return ShellFacts(tuple(walk.commands), understood, tuple(walk.notes), operators)


def _read(source: str, walk: Walk, state: State, budget: Budget) -> tuple[str, ...]:
    if len(source) > MAX_SIZE:
        walk.note(f"longer than {MAX_SIZE} characters")
        source = source[:MAX_SIZE]
    reader = Grammar(source, budget)
    try:
        found = reader.whole()
    except (ShellSyntaxError, CapReachedError) as error:
        walk.note(str(error))
        walk.budget = Budget()
        walk.salvage(reader, state)
        return ()
    for doubt in reader.doubts:
        walk.note(doubt)
    if not found.items:
        walk.note("there is no command in the text")
    walk.sequence(found, state)
    return _operators(found)


def _operators(found: Sequence) -> tuple[str, ...]:
    seen: list[str] = []
    for i, (node, operator) in enumerate(found.items):
        if isinstance(node, Pipeline):
            seen.extend("|" * (len(node.stages) - 1))
        if operator and not (operator in ("\n", ";") and i == len(found.items) - 1):
            seen.append(";" if operator == "\n" else operator)
    return tuple(seen)
