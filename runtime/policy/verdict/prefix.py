"""The short pattern that commands like this one begin with: `git commit *`, `npm run lint`, `ls *`.

Promises: never only the program where its first word decides what it does; "" where no short pattern says enough, or
where it would cover code that nobody saw. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from interlock.runtime.policy.programs import Program, Usage, read_usage
from interlock.runtime.policy.programs.catalogue import has_subcommands
from interlock.runtime.policy.programs.git_touch import without_folder
from interlock.runtime.policy.programs.goal import goal_of
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")


def prefix_of(simple: SimpleCommand) -> str:
    """The pattern, or "" where none says enough."""
    program = program_name(simple.program)
    # where git works is no part of what it does: a pattern without the folder covers it in every folder
    args = without_folder(simple.argv[1:]) if program == "git" else simple.argv[1:]
    known = simple.known[len(simple.argv) - len(args) :]
    usage = read_usage(program, args)
    if usage is None or not all(simple.known[:1]):
        return ""
    if args[:1] and args[0] in usage.root.scripts:
        # a script by its name and nothing more; what else such a program could be given is code that nobody saw
        named = len(args) == 2 and bool(goal_of(program, args))
        return _exact(program, args, known) if named else ""
    if reaches_code(usage):
        return ""
    if usage.root.named_by:
        return _grouped(program, usage.root, args, known)
    return f"{shlex.quote(program)} *"


def reaches_code(usage: Usage) -> bool:
    """Whether commands that begin like this one could run code by an option, a script file or an include."""
    if usage.program is usage.root and has_subcommands(usage.root):
        # the options of the program itself stand in front of the sub-command, which the pattern names
        return bool(usage.root.code)
    return bool(usage.root.code) or usage.program.may_run_code


def _exact(program: str, args: Sequence[str], known: Sequence[bool]) -> str:
    if not all(known) or any(word == "*" or not _PLAIN.fullmatch(word) for word in args):
        return ""
    return " ".join((shlex.quote(program), *args))


def _grouped(program: str, root: Program, args: Sequence[str], known: Sequence[bool]) -> str:
    if not args or args[0].startswith("-") or not known[0] or not _PLAIN.fullmatch(args[0]):
        return _exact(program, args, known)  # `git -c x=y status`: options before the word that says what it does
    words = [args[0]]
    if root.groups is None or args[0] in root.groups:
        if len(args) > 1 and known[1] and _PLAIN.fullmatch(args[1]) and not args[1].startswith("-"):
            words.append(args[1])
        else:
            return _exact(program, args, known)
    return " ".join((shlex.quote(program), *words, "*"))
