"""What a simple command says by itself, whatever the machine: its effects, whether it only reads, its hosts.

Promises: depends on the command alone, so what was found for one is kept for the next that is equal. Pure.
"""

from __future__ import annotations

from functools import lru_cache

from interlock.runtime.policy.facts.effect import effects
from interlock.runtime.policy.facts.own_command import own_command
from interlock.runtime.policy.programs.usage import forget_usages
from interlock.runtime.policy.record import record
from interlock.runtime.policy.shell import is_read_only, is_wrapper
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import Effects, SimpleCommand

_MOST_KEPT = 1_000
_KEPT_WORDS = 50
"""Words of a command that is kept; longer ones are rare and would fill the memory."""


@record
class PlainFact:
    """The facts of one simple command that need no look at the machine."""

    program: str
    """The program without a system folder."""
    effects: Effects
    reads_only: bool
    why_not: str
    wraps: bool
    """Does nothing itself; what it runs is judged by itself."""
    last_name: str = ""
    """The last component of the program."""
    own: str = ""
    """Why it is a command of Interlock's that only a person may give, "" when it is not."""


def plain_fact(simple: SimpleCommand) -> PlainFact:
    """The facts of `simple`."""
    return _kept(simple) if len(simple.argv) <= _KEPT_WORDS else _found(simple)


def forget_plain_facts() -> None:
    """Keep nothing of what was found; for measuring."""
    _kept.cache_clear()
    forget_usages()


@lru_cache(maxsize=_MOST_KEPT)
def _kept(simple: SimpleCommand) -> PlainFact:
    return _found(simple)


def _found(simple: SimpleCommand) -> PlainFact:
    gate = is_read_only(simple)
    touched = effects(simple, gate.ok)
    wraps = gate.ok and is_wrapper(simple)
    program = program_name(simple.program)
    return PlainFact(
        program,
        touched,
        gate.ok,
        gate.why,
        wraps,
        simple.program.rpartition("/")[2],
        own_command(simple),
    )
