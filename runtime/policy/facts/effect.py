"""What a command touches, as far as its words and redirects say it: paths with their use, hosts, marks for a person.

Promises: operands are given as written. For a program without an entry in the catalogue every operand that looks like a
path counts as written, so that nothing is taken for harmless by silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from interlock.runtime.policy.programs.catalogue import program_of
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.programs.touch import ANYWHERE, Touch
from interlock.runtime.policy.programs.touched import Touched, touched_by
from interlock.runtime.policy.programs.usage import read_usage
from interlock.runtime.policy.programs.variable import holds_no_secret
from interlock.runtime.policy.shell.classify import is_read_only, is_wrapper, program_name
from interlock.runtime.policy.shell.model import DYNAMIC, Effects, SimpleCommand

_DEVICE = re.compile(r"^/dev/(?:tcp|udp)/([^/]+)/")


def effects(command: SimpleCommand, reads_only: bool | None = None) -> Effects:
    """What `command` touches. `reads_only`: whether it only reads, where that was worked out before."""
    name = program_name(command.program).rpartition("/")[2]
    args = command.argv[1:]
    reads_only = is_read_only(command).ok if reads_only is None else reads_only
    touched = _of_words(name, command, reads_only)
    touches = [
        *_files_alone(touched.touches, command),
        *_spread(name, command),
        *_of_variables(command),
        *_of_redirects(command),
    ]
    if command.below:
        touches = [replace(t, below=True) if t.use == "read" and not t.cause else t for t in touches]
    reached = [at[1].lower() for r in command.redirects if (at := _DEVICE.match(r.target or ""))]
    return Effects(
        tuple(dict.fromkeys(touches)),
        touched.suspects,
        tuple(dict.fromkeys((*touched.hosts, *reached))),
        touched.network or bool(reached),
        _flags(name, args, command),
    )


def _of_words(name: str, command: SimpleCommand, reads_only: bool) -> Touched:
    if not name or name == DYNAMIC:
        return Touched((Touch("write", ANYWHERE, "", False),) if name else ())
    args = command.argv[1:]
    found = touched_by(name, args, reads_only=reads_only, wraps=is_wrapper(command))
    entry = program_of(name)
    if entry is not None and entry.code == "interpreter" and not reads_only:
        return Touched(
            (*found.touches, Touch("write", ANYWHERE, "", False)), found.suspects, found.hosts, found.network
        )
    if found.network and not all(command.known):
        return Touched(found.touches, found.suspects, (*found.hosts, "*unknown*"), found.network)
    return found


def _of_redirects(command: SimpleCommand) -> Iterator[Touch]:
    for redirect in command.redirects:
        if redirect.target == "/dev/null":
            continue
        if redirect.operator in ("<", "<>") and redirect.target:
            yield Touch("read", redirect.target, redirect.operator)
        if redirect.writes:
            yield Touch("write", redirect.target or ANYWHERE, redirect.operator, bool(redirect.target))


def _files_alone(touches: tuple[Touch, ...], command: SimpleCommand) -> list[Touch]:
    """Without the pipes of `<(…)`; with every pattern, because the shell looks for its files."""
    if not command.globs and all(command.known):
        return list(touches)
    known = {word for word, is_known in zip(command.argv, command.known, strict=True) if is_known}
    pipes = {word for word in command.argv if word.startswith("<(") and word not in known}
    listed = {touch.text for touch in touches}
    patterns = [word for word in (command.argv[i] for i in command.globs) if word not in listed and word[:1] != "-"]
    return [*(touch for touch in touches if touch.text not in pipes), *(Touch("read", text) for text in patterns)]


_PLACES = names("GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_INDEX_FILE")
"""Variables that name the repository that git works on, or a part of it."""


def _of_variables(command: SimpleCommand) -> Iterator[Touch]:
    yield from (Touch("write", value, name, True, True) for name, value in command.assignments if name in _PLACES)


def _spread(name: str, command: SimpleCommand) -> Iterator[Touch]:
    """A pattern in a place for one word: the further files that it stands for are operands (`touch -r *.txt`)."""
    usage = read_usage(name, command.argv[1:]) if command.globs else None
    if usage is None:
        return
    forms = (form for options, form in usage.program.forms if not options.isdisjoint(usage.options))
    slots = next(forms, usage.program.operands)
    many = {slot.role for slot in slots if slot.many}
    for word in usage.words:
        if word.at + 1 not in command.globs or not (word.option or word.role not in many):
            continue
        for slot in slots:
            if (use := ROLES[slot.role].use) is not None:
                yield Touch(use, word.text, word.option, False)


def _flags(name: str, args: tuple[str, ...], command: SimpleCommand) -> tuple[str, ...]:
    found: list[str] = []
    if command.assignments and command.program:
        found.append("env_prefix")
    if _shows_variables(name, command) or (any("/environ" in a for a in args) and name):
        found.append("environment")
    entry = program_of(name) if name else None
    if entry is not None:
        found += entry.marks
        found += ["code"] if entry.code == "interpreter" else []
    elif name.startswith("mkfs"):
        found.append("destructive")
    if command.program == DYNAMIC:
        found.append("dynamic")
    return tuple(found)


def _shows_variables(name: str, command: SimpleCommand) -> bool:
    """Whether it shows variables that may hold a secret."""
    named = [word for word in command.argv[1:] if word[:1] != "-"]
    if name == "printenv" and named and all(map(holds_no_secret, named)):
        return False
    return name in ("env", "printenv") and not is_wrapper(command)
