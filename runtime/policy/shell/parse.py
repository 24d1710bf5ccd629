"""Reads a command text into facts.

Promises: `parse_command` never raises. What is not understood is said in `notes` and makes `understood` False; commands
seen before a fault or a cap are still listed, so that denies apply to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from interlock.runtime.policy.shell.coarse import coarse_commands
from interlock.runtime.policy.shell.model import ShellFacts, SimpleCommand
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.unwrap import unwrap
from interlock.runtime.policy.shell.walk import Walk
from interlock.runtime.policy.syntax.budget import MAX_SIZE, Budget
from interlock.runtime.policy.syntax.grammar import Grammar
from interlock.runtime.policy.syntax.quick import quick_sequence
from interlock.runtime.policy.syntax.syntax import CapReachedError, Pipeline, Sequence, ShellSyntaxError

_KEPT_SIZE = 2_000
_MOST_KEPT = 500
_SALVAGE_STEPS = 400
_COARSE_SIZE = 250_000
"""Characters that the coarse reading looks at, from each end."""


def parse_command(
    source: str, *, cwd: str = "", home: str | None = None, clock: Callable[[], float] | None = None
) -> ShellFacts:
    """The facts of `source`, started in `cwd` (empty: the start itself) by a user whose home is `home`.

    `clock` (seconds) adds the time cap to the caps of depth, size and work. Without it the facts depend on the text
    alone, so those of short texts are kept: an agent sends the same ones again, and each is judged more than once.
    """
    if clock is None and len(source) <= _KEPT_SIZE:
        return _kept(source, cwd, home)
    return _parse(source, cwd, home, clock)


def forget_read_commands() -> None:
    """Keep nothing of what was read; for measuring."""
    _kept.cache_clear()


@lru_cache(maxsize=_MOST_KEPT)
def _kept(source: str, cwd: str, home: str | None) -> ShellFacts:
    return _parse(source, cwd, home, None)


def _parse(source: str, cwd: str, home: str | None, clock: Callable[[], float] | None) -> ShellFacts:
    walk = Walk(Budget(clock), source, unwrap)
    text = _readable(source, walk)
    operators: tuple[str, ...] = ()
    try:
        operators = _read(text[:MAX_SIZE], walk, State(home, cwd))
    except CapReachedError as error:
        walk.note(str(error))
        if not str(error).startswith("nested"):
            _list_coarsely(text[:MAX_SIZE], 0, walk)
    except Exception as error:  # a fault of ours must never look like a harmless command
        walk.note(f"the reader failed: {type(error).__name__}")
        _list_coarsely(text[:MAX_SIZE], 0, walk)
    if len(text) > MAX_SIZE:
        walk.note(f"longer than {MAX_SIZE} characters")
        _list_coarsely(text[MAX_SIZE:], MAX_SIZE, walk)
    understood = not walk.notes and all(c.understood for c in walk.commands)
    return ShellFacts(tuple(walk.commands), understood, tuple(walk.notes), operators)


def _readable(source: str, walk: Walk) -> str:
    """The text without what no shell could be given."""
    if "\0" in source:
        walk.note("there is a NUL in the text")
        source = source.replace("\0", "")
    if any("\ud800" <= c <= "\udfff" for c in source) if not source.isascii() else False:
        walk.note("there is a broken character in the text")
        source = source.encode("utf-8", "replace").decode("utf-8")
    if not source.isascii() or not source.isprintable():
        unseen = _UNSEEN.search(source)
        if unseen:
            walk.note(f"an invisible character (U+{ord(unseen[0]):04X}) stands in the text")
    return source


_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
    "|(?<![\u2190-\u3299\ufe0f\U0001f000-\U0001faff])\u200d"  # the joiner within one picture is seen
)
"""What a terminal shows as nothing, or by which it shows the rest in another order: nobody could tell what is allowed."""


def _read(source: str, walk: Walk, state: State) -> tuple[str, ...]:
    if (plain := quick_sequence(source)) is not None:
        walk.sequence(plain, state)
        return _operators(plain)
    reader = Grammar(source, walk.budget)
    try:
        found = reader.whole()
    except (ShellSyntaxError, CapReachedError) as error:
        walk.note(str(error))
        walk.budget = Budget(steps=_SALVAGE_STEPS)
        walk.salvage(reader, state)
        if not str(error).startswith("nested"):
            _list_coarsely(source, 0, walk)
        return ()
    for doubt in reader.doubts:
        walk.note(doubt)
    if not found.items:
        walk.note("there is no command in the text")
    walk.sequence(found, state)
    return _operators(found)


def _list_coarsely(text: str, offset: int, walk: Walk) -> None:
    seen: set[tuple[str, ...]] = {c.argv for c in walk.commands}
    programs = {c.program for c in walk.commands}
    pieces = [(text, offset)]
    if len(text) > 2 * _COARSE_SIZE:
        walk.note("a part in the middle was not read")
        pieces = [(text[:_COARSE_SIZE], offset), (text[-_COARSE_SIZE:], offset + len(text) - _COARSE_SIZE)]
    for command in (c for p, o in pieces for c in coarse_commands(p, o, why="read only coarsely, over a limit")):
        if command.argv not in seen and not _tail_of(command, programs):
            walk.commands.append(command)


def _tail_of(command: SimpleCommand, programs: set[str]) -> bool:
    # one long word cut in two is no second program
    return len(command.argv) == 1 and len(command.program) > 255 and bool(programs)


def _operators(found: Sequence) -> tuple[str, ...]:
    seen: list[str] = []
    for i, (node, operator) in enumerate(found.items):
        if isinstance(node, Pipeline):
            seen.extend("|" * (len(node.stages) - 1))
        if operator and not (operator in ("\n", ";") and i == len(found.items) - 1):
            seen.append(";" if operator == "\n" else operator)
    return tuple(seen)
