"""The gate for allow: which commands only read, program by program and option by option.

Promises: a program, an option or a form that no table lists is not read-only. The verdict names the first reason.
"""

from __future__ import annotations

from interlock.runtime.policy.shell.model import Effects, ReadOnlyVerdict, SimpleCommand


def is_read_only(command: SimpleCommand) -> ReadOnlyVerdict:
    """Whether `command` only reads."""
    if not command.understood:
        return ReadOnlyVerdict(False, command.notes[0] if command.notes else "not understood")
    if command.program in ("ls", "cat", "echo") and not command.redirects and not command.assignments:
        return ReadOnlyVerdict(True)
    return ReadOnlyVerdict(False, f"{command.program or 'an assignment'} is not listed as reading only")


def effects(command: SimpleCommand) -> Effects:
    """What `command` touches."""
    writes = tuple(r.target or "<any>" for r in command.redirects if r.writes)
    return Effects(writes=writes)
