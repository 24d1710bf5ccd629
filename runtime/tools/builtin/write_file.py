"""`write_file`: the whole content of a file, new or known.

Promises: an existing file must have been read and be unchanged since; its mode, CRLF line ends and byte-order mark are
kept; a new file never replaces one that appeared meanwhile; missing folders are made.
"""

from __future__ import annotations

from pydantic import Field

from interlock.runtime.tools import change, replacement
from interlock.runtime.tools.definition import Concurrency, Prepared, ToolContext, ToolDefinition, ToolInput
from interlock.runtime.tools.refusal import precondition


class WriteFileInput(ToolInput):
    """The file and what it shall hold."""

    path: str = Field(min_length=1, max_length=4096, description="File, relative to the workspace.")
    content: str = Field(max_length=8_000_000, description="The whole content.")


def concurrency(call: WriteFileInput, context: ToolContext) -> Concurrency:
    """Exclusive per real path."""
    return change.claims(call.path, context.workspace)


def prepare(call: WriteFileInput, context: ToolContext) -> Prepared:
    """Make the new bytes and the diff. Raises Refusal when it cannot apply."""
    place = context.workspace.locate(call.path)
    if place.kind == "folder" or not place.parts:
        raise precondition(f"{call.path!r} is a folder", field="path")
    if call.path.endswith("/"):
        raise precondition(f"{call.path!r} names a folder, not a file", field="path")
    content = call.content.encode()
    if place.kind == "missing":
        made = change.Change(place, None, content, None)
        return change.prepared(call, made, context, verb="Create", renewable=False)
    data, baseline = change.known_version(place, context)
    after, kept = replacement.like_file(content, data)
    if after == data:
        raise precondition(f"{place.shown} holds exactly this already: there is nothing to change", field="content")
    note = f"kept its {' and '.join(kept)}" if kept else ""
    made = change.Change(place, data, after, baseline, note)
    return change.prepared(call, made, context, verb="Overwrite", renewable=False)


WRITE_FILE = ToolDefinition(
    name="write_file",
    version="1",
    description=(
        "Write the whole content of a file, making missing folders. A file that exists must have been read in this "
        "session. To change a part of a file use edit_file."
    ),
    input_model=WriteFileInput,
    risks=frozenset({"write"}),
    read_only=False,
    prepare=prepare,
    concurrency=concurrency,
)
