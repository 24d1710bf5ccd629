"""`glob`: find files by name.

Promises: ignore files are honoured; links are not followed; what rules deny and guards hold back is left out and counted;
results are sorted and the same with ripgrep and without.
"""

from __future__ import annotations

import asyncio

from pydantic import Field

from interlock.runtime.tools.definition import Prepared, RunContext, ToolContext, ToolDefinition, ToolInput
from interlock.runtime.tools.output import ToolOutput, plural
from interlock.runtime.tools.process import CannotStart
from interlock.runtime.tools.refusal import precondition
from interlock.runtime.tools.search import ripgrep
from interlock.runtime.tools.search.listing import TIMEOUT_S, Listing, list_files
from interlock.runtime.tools.search.match import matcher
from interlock.runtime.tools.workspace import Place, Workspace


class GlobInput(ToolInput):
    """Which names, and where."""

    pattern: str = Field(min_length=1, max_length=1000, description="For example **/*.py or test_*.")
    path: str = Field(".", min_length=1, max_length=4096, description="Folder to look in.")


def prepare(call: GlobInput, context: ToolContext) -> Prepared:
    """Check pattern and folder. Raises Refusal."""
    place = context.workspace.locate(call.path)
    if place.kind != "folder":
        raise precondition(f"{call.path!r} is no folder", field="path")
    if call.pattern.startswith("/") or ".." in call.pattern.split("/"):
        raise precondition(
            "the pattern is relative to path and stays below it", field="pattern", next_step="Name the folder in path."
        )
    matcher(call.pattern)

    async def run(running: RunContext) -> ToolOutput:
        return await _run(call, place, running, context.workspace)

    title = f"Find {call.pattern} in {place.shown}"
    return Prepared(call, title, title, run, context.workspace.home, timeout_s=TIMEOUT_S + 5)


async def _run(call: GlobInput, place: Place, running: RunContext, workspace: Workspace) -> ToolOutput:
    try:
        listing = await list_files(place, ripgrep.find_ripgrep(), running)
    except CannotStart as error:
        return ToolOutput(summary=f"the listing could not start: {error}", ok=False, code="cannot_start", exit="error")
    return await asyncio.to_thread(_shown, call, place, listing, workspace)


def _shown(call: GlobInput, place: Place, listing: Listing, workspace: Workspace) -> ToolOutput:
    fits = matcher(call.pattern)
    below = len(place.real.rstrip("/")) + 1
    found = sorted((p for p in listing.paths if fits(p[below:])), key=lambda p: p.split("/"))
    clean = [workspace.show(p).encode("utf-8", "replace").decode("utf-8") for p in found]
    return ToolOutput(
        summary=f"{plural(len(found), 'file')} like {call.pattern} in {place.shown}{listing.note}",
        content="".join(f"{path}\n" for path in clean) or None,
        code="ok" if found and listing.whole else "no_match" if listing.whole else "partial",
    )


GLOB = ToolDefinition(
    name="glob",
    version="1",
    description="Find files by name in the workspace, for example **/*.py. Ignored files (.gitignore) are left out.",
    input_model=GlobInput,
    risks=frozenset({"read"}),
    read_only=True,
    prepare=prepare,
)
