"""What a rule is held against: one simple command of a shell call, or one call of another tool. Pure values."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.runtime.policy.path import PathFact
from interlock.runtime.policy.shell.model import SimpleCommand


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts that matchers look at."""

    tool: str
    paths: tuple[PathFact, ...] = ()
    hosts: tuple[str, ...] = ()
    risks: frozenset[str] = frozenset()
    """read, write, execute, network, delegate; of a command also destructive, privileged, interactive, code, dynamic,
    environment; of any: outside, guarded."""
    read_only: bool = False
    command: SimpleCommand | None = None
    recursive: bool = False
    """Whether it also reaches what lies below its folders."""
    roots: tuple[str, ...] = ()
    """Real paths of the workspace."""
    home: str = ""
    fold_case: bool = False


TOOL_NAMES = {"read": "read_file", "write": "write_file", "edit": "edit_file", "shell": "bash"}
"""Short names of the built-in tools that rules and calls may use."""


def tool_name(written: str) -> str:
    """The name under which a tool is registered."""
    return TOOL_NAMES.get(written, written)
