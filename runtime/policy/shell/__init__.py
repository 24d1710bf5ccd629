from interlock.runtime.policy.shell.classify import effects, is_read_only
from interlock.runtime.policy.shell.model import Effects, ReadOnlyVerdict, Redirect, ShellFacts, SimpleCommand
from interlock.runtime.policy.shell.parse import parse_command

__all__ = [
    "Effects",
    "ReadOnlyVerdict",
    "Redirect",
    "ShellFacts",
    "SimpleCommand",
    "effects",
    "is_read_only",
    "parse_command",
]
