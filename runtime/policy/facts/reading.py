"""From a call to what is judged: the simple commands of a shell text, or the call itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.made_link import with_made_links
from interlock.runtime.policy.facts.subject import Subject, command_subject, tool_subject
from interlock.runtime.policy.facts.tool import command_of, tool_kind
from interlock.runtime.policy.record import record
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.shell.model import ShellFacts, SimpleCommand

_MOST_JUDGED = 600
"""Parts that are judged one by one; the reader of commands stops at about as many."""


@record
class Reading:
    """What a call would do."""

    subjects: tuple[Subject, ...]
    shell: ShellFacts | None = None
    """The facts of the command text, None for other tools."""
    command: str = ""
    over: int = 0
    """Parts beyond those judged."""


def read_call(call: Call, world: World) -> Reading:
    """Every subject of a call. A tool that may execute and carries a command is a shell."""
    command = command_of(call.input)
    runs = "execute" in call.risks or tool_kind(call.tool).name == "bash"
    if command is None or not runs:
        return Reading((tool_subject(call, world),))
    facts = parse_command(command, cwd="", home=call.home or None)
    judged = facts.commands[:_MOST_JUDGED]
    subjects = with_made_links(tuple(_subjects(call, judged, world)), command)
    return Reading(subjects, facts, command, len(facts.commands) - len(judged))


def _subjects(call: Call, commands: Sequence[SimpleCommand], world: World) -> Iterator[Subject]:
    """One a command; those that differ only in their place share their facts."""
    if len(commands) == 1:
        yield command_subject(call, commands[0], world)
        return
    known: dict[object, Subject] = {}
    for simple in commands:
        key = _key(simple)
        if key not in known:
            known[key] = command_subject(call, simple, world)
        yield known[key] if known[key].simple is simple else known[key].elsewhere(simple)


def _key(simple: SimpleCommand) -> object:
    """All of a command that its facts may depend on: all but its place, its depth and how it is written."""
    return (
        simple.argv,
        simple.known,
        simple.assignments,
        simple.redirects,
        simple.cwd,
        simple.elsewhere,
        simple.via,
        simple.understood,
        simple.notes,
        simple.globs,
        simple.loose,
        simple.below,
    )
