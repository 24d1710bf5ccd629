"""What a shell command would run: facts, never a verdict."""

from interlock.runtime.policy.shell.classify import is_read_only, is_wrapper
from interlock.runtime.policy.shell.model import Effects, ReadOnlyVerdict, Redirect, ShellFacts, SimpleCommand
from interlock.runtime.policy.shell.parse import parse_command

__all__ = [
    "Effects",
    "ReadOnlyVerdict",
    "Redirect",
    "ShellFacts",
    "SimpleCommand",
    "is_read_only",
    "is_wrapper",
    "parse_command",
]
