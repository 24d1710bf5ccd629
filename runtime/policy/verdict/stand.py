"""Whether a command may be allowed for longer than once at all, and why not.

Promises: a command that runs code of its own, which may be another the next time, never may; the exceptions are the
tests, the lint and the build of a project, exactly as they are written. One reason in words for a person. Pure.
"""

from __future__ import annotations

from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs import Usage, read_usage
from interlock.runtime.policy.programs.goal import goal_of
from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_SEEN = frozenset(("inline", "command", "commands", "joined", "shell", "exec", "setting", "program", "tail"))
"""Code that stands in the words of the command itself, so that it is the same the next time."""
_KINDS = {
    "shell": "is a shell, which runs any command",
    "interpreter": "runs code, which may be other code the next time",
    "project": "runs code of the project, which may be other code the next time",
    "packages": "runs code that a package or the project brings",
    "tasks": "runs tasks of the project, which may be others the next time",
    "remote": "runs commands elsewhere",
    "editor": "can run any command from within",
}


def verifies(simple: SimpleCommand) -> str:
    """The goal of a command that verifies a project, "" for any other."""
    return goal_of(program_name(simple.program), simple.argv[1:]) if all(simple.known) else ""


def why_only_once(subject: Subject) -> str:
    """Why no standing permission may be offered for this command, "" where one may."""
    simple = subject.simple
    if simple is None or not simple.program or subject.wrapper or subject.read_only or verifies(simple):
        return ""
    name = program_name(simple.program)
    if "/" in name:
        return f"{name} runs whatever that file then holds"
    usage = read_usage(name, simple.argv[1:])
    if usage is None:
        return f"what {name} may run is not known"
    return _of_usage(name, usage)


def _of_usage(name: str, usage: Usage) -> str:
    shown = f"{name} {usage.verb}" if usage.verb else name
    kind = usage.program.code or usage.root.code
    if kind:
        return f"{shown} {_KINDS[kind]}"
    if not usage.program.standing or (usage.program is usage.root and not usage.root.standing):
        return f"{shown} can do too much to be allowed in general"
    for word in usage.words:
        role = ROLES[word.role]
        if role.code and word.role not in _SEEN:
            return f"{shown} runs what is in {word.text}, which may be other code the next time"
    words = usage.operands
    is_grouped = bool(words) and words[0] in (usage.root.groups or ())
    if is_grouped and words[1:2] and words[1] in ("delete", "merge", "close", "archive"):
        return f"{shown} {words[0]} {words[1]} cannot be undone"
    if any(word.role in ("command", "commands", "joined") for word in usage.words):
        return f"{shown} runs the command that its words name"
    return ""
