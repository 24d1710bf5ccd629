"""The gate for allow: whether a program, with the words it is given, only reads.

Promises: a program, an option or a form that the catalogue does not list as harmless is not reading only; the reason is
the first one found. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.programs.catalogue import program_of
from interlock.runtime.policy.programs.check import CHECKS
from interlock.runtime.policy.programs.git import git_verdict
from interlock.runtime.policy.programs.usage import harmless, read_usage


def against_reading(name: str, args: Sequence[str]) -> str:
    """Why `name` with `args` may do more than read, "" where it only reads."""
    if asks_version(name, args):
        return ""
    usage = read_usage(name, args)
    if usage is None:
        return f"{name} is not listed as reading only"
    if usage.root.check == "git":  # its sub-commands are the handler's business
        return git_verdict(args)
    if not usage.program.only_reads:
        what = f"{name} {usage.verb}" if usage.verb else name
        return f"{what} is not listed as reading only"
    if usage.program.check in ("find", "tar", "ip", "set", "kill", "test", "printf"):
        return CHECKS[usage.program.check](usage)
    why = harmless(usage)
    if not why and usage.program.check:
        why = CHECKS[usage.program.check](usage)
    return why


def asks_version(name: str, args: Sequence[str]) -> bool:
    """Whether a program is only asked for its version or its help."""
    if len(args) != 1:
        return False
    entry = program_of(name)
    return entry is not None and args[0] in entry.version
