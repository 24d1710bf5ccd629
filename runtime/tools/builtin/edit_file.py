"""`edit_file`: replace one exact piece of text in a file that was read.

Promises: one match, or `replace_all`; several matches are named and nothing is guessed; untouched bytes stay as they
are; the file must be the version that was read.
"""

from __future__ import annotations

from pydantic import Field

from interlock.runtime.tools import change, replacement
from interlock.runtime.tools.definition import Concurrency, Prepared, ToolContext, ToolDefinition, ToolInput
from interlock.runtime.tools.refusal import Refusal, precondition

NAMED_LINES = 20
"""How many of the matching lines a refusal names."""


class EditFileInput(ToolInput):
    """What to replace by what."""

    path: str = Field(min_length=1, max_length=4096, description="File, relative to the workspace.")
    old_string: str = Field(
        min_length=1, max_length=4_000_000, description="The exact text to replace, with enough around it to be unique."
    )
    new_string: str = Field(max_length=4_000_000, description="What stands there afterwards.")
    replace_all: bool = Field(False, description="Replace every place, not one.")


def concurrency(call: EditFileInput, context: ToolContext) -> Concurrency:
    """Exclusive per real path."""
    return change.claims(call.path, context.workspace)


def prepare(call: EditFileInput, context: ToolContext) -> Prepared:
    """Find the place, make the new bytes and the diff. Raises Refusal when it cannot apply."""
    place = context.workspace.locate(call.path)
    if place.kind == "missing":
        raise precondition(
            f"{call.path!r} does not exist", field="path", next_step="Use write_file to make a new file."
        )
    if call.old_string == call.new_string:
        raise precondition("old_string and new_string are the same: there is nothing to change", field="new_string")
    data, baseline = change.known_version(place, context)
    if b"\0" in data[:8192]:
        raise precondition(f"{place.shown} is binary; edit_file changes text", field="path")
    old, new = call.old_string.encode(), call.new_string.encode()
    matches = _matches(call, data, old, place.shown)
    after = replacement.replace(data, matches, old, new)
    if after == data:
        raise precondition("the replacement leaves the file as it is", field="new_string")
    note = f"all {len(matches)} places replaced" if call.replace_all else ""
    made = change.Change(place, data, after, baseline, note)
    return change.prepared(call, made, context, verb="Edit", renewable=True)


def _matches(call: EditFileInput, data: bytes, old: bytes, shown: str) -> list[replacement.Match]:
    found = replacement.find(data, old)
    if not found:
        raise precondition(
            f"old_string does not stand in {shown}",
            field="old_string",
            next_step="Read the file again and copy the text exactly, blanks and indentation included.",
        )
    if call.replace_all:
        return replacement.apart(found)
    if len(found) > 1:
        lines = replacement.line_numbers(data, found)
        named = ", ".join(str(line) for line in lines[:NAMED_LINES]) + (", …" if len(lines) > NAMED_LINES else "")
        raise Refusal(
            "ambiguous_target",
            f"old_string has {len(found)} matches in {shown}, at lines {named}; nothing was changed",
            field="old_string",
            next_step="Give more of the text around the one that is meant, or set replace_all to change all.",
        )
    return found


EDIT_FILE = ToolDefinition(
    name="edit_file",
    version="1",
    description=(
        "Replace text in a file. The file must have been read in this session. old_string must stand in it exactly once, "
        "or set replace_all. Line ends of the file are kept."
    ),
    input_model=EditFileInput,
    risks=frozenset({"read", "write"}),
    read_only=False,
    prepare=prepare,
    concurrency=concurrency,
)
