"""Options and operands of a command in the walk, as the entry of its program lists them. Pure."""

from __future__ import annotations

from dataclasses import replace

from interlock.runtime.policy.programs import program_of, read_usage
from interlock.runtime.policy.programs.option import Reading, Spec, read_options
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame


def read_frame(frame: Frame, name: str = "", *, stop: bool | None = None) -> Reading:
    """The words behind the program of `frame`, read by its entry, or by that of `name`.

    `stop`: whether options end at the first operand, where it is not as the entry says.
    """
    entry = program_of(name or frame.name)
    spec = entry.spec if entry is not None else Spec()
    if stop is not None:
        spec = replace(spec, stop_at_operand=stop)
    return read_options([f.value for f in frame.args], spec)


def words_of(frame: Frame, *roles: str) -> list[Field]:
    """The operands of these roles."""
    usage = read_usage(frame.name, [f.value for f in frame.args])
    found = usage.words if usage is not None else ()
    return [frame.args[word.at] for word in found if not word.option and word.role in roles]
