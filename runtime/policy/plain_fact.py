"""What a simple command says by itself, whatever the machine: its effects, whether it only reads, its hosts.

Promises: depends on the command alone, so what was found for one is kept for the next that is equal. Pure.
"""

from __future__ import annotations

from functools import lru_cache

from interlock.runtime.policy.depth import reads_below
from interlock.runtime.policy.host import hosts_of
from interlock.runtime.policy.option_path import option_paths
from interlock.runtime.policy.own_command import own_command
from interlock.runtime.policy.record import record
from interlock.runtime.policy.shell import effects, is_read_only, is_wrapper
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import Effects, SimpleCommand
from interlock.runtime.policy.shell.programs.form import forget_readings

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
    hosts: tuple[str, ...]
    read_paths: tuple[str, ...]
    """What it reads, with values of options that lead outside."""
    last_name: str = ""
    """The last component of the program."""
    own: str = ""
    """Why it is a command of Interlock's that only a person may give, "" when it is not."""
    reads_below: bool = False
    """Whether it also works on what lies below the folders that it reads."""


def plain_fact(simple: SimpleCommand) -> PlainFact:
    """The facts of `simple`."""
    return _kept(simple) if len(simple.argv) <= _KEPT_WORDS else _found(simple)


def forget_plain_facts() -> None:
    """Keep nothing of what was found; for measuring."""
    _kept.cache_clear()
    forget_readings()


@lru_cache(maxsize=_MOST_KEPT)
def _kept(simple: SimpleCommand) -> PlainFact:
    return _found(simple)


def _found(simple: SimpleCommand) -> PlainFact:
    gate = is_read_only(simple)
    touched = effects(simple, gate.ok)
    reads = tuple(dict.fromkeys((*touched.reads, *option_paths(simple))))
    wraps = gate.ok and is_wrapper(simple)
    program = program_name(simple.program)
    return PlainFact(
        program,
        touched,
        gate.ok,
        gate.why,
        wraps,
        hosts_of(simple),
        reads,
        simple.program.rpartition("/")[2],
        own_command(simple),
        reads_below(program, simple.argv[1:]),
    )
