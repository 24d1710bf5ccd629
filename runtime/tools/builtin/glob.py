"""`glob`: find files by name.

Promises: ignore files are honoured; links are not followed; results are sorted and the same with ripgrep and without.
"""

from __future__ import annotations

import asyncio

from pydantic import Field

from interlock.runtime.tools.definition import Prepared, RunContext, ToolContext, ToolDefinition, ToolInput
from interlock.runtime.tools.environment import environment_for
from interlock.runtime.tools.output import ToolOutput, plural
from interlock.runtime.tools.process import CannotStart, run_process
from interlock.runtime.tools.refusal import precondition
from interlock.runtime.tools.search import ignore, ripgrep
from interlock.runtime.tools.search.match import matcher
from interlock.runtime.tools.workspace import Place, Workspace

TIMEOUT_S = 30.0
MAX_TAKEN = 64 * 1024 * 1024
"""Bytes of names that are looked at."""


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
    rg = ripgrep.find_ripgrep()
    partial = ""
    if rg is None:
        paths = await asyncio.to_thread(lambda: list(ignore.walk(place.real)))
    else:
        try:
            paths, partial = await _listed(rg, place, running)
        except CannotStart as error:
            return ToolOutput(
                summary=f"the listing could not start: {error}", ok=False, code="cannot_start", exit="error"
            )
    return await asyncio.to_thread(_shown, call, place, paths, partial, workspace)


async def _listed(rg: str, place: Place, running: RunContext) -> tuple[list[str], str]:
    taken = bytearray()

    def sink(stream: str, data: bytes) -> None:
        if stream == "stdout" and len(taken) < MAX_TAKEN:
            taken.extend(data)

    finished = await run_process(
        ripgrep.list_command(rg, place.real),
        cwd=place.root,
        environment=environment_for(running.host, mark=running.mark),
        mark=running.mark,
        timeout_s=TIMEOUT_S,
        sink=sink,
        cancelled=running.cancelled,
        strays=running.strays,
        grace_s=0.2,
    )
    partial = "" if finished.ended_by == "itself" and len(taken) < MAX_TAKEN else "; not all files were looked at"
    # names are bytes; what is no UTF-8 is shown with U+FFFD, like everywhere
    return [name.decode("utf-8", "replace") for name in bytes(taken).split(b"\0") if name], partial


def _shown(call: GlobInput, place: Place, paths: list[str], partial: str, workspace: Workspace) -> ToolOutput:
    fits = matcher(call.pattern)
    below = len(place.real.rstrip("/")) + 1
    found = sorted((p for p in paths if fits(p[below:])), key=lambda p: p.split("/"))
    clean = [workspace.show(p).encode("utf-8", "replace").decode("utf-8") for p in found]
    return ToolOutput(
        summary=f"{plural(len(found), 'file')} like {call.pattern} in {place.shown}{partial}",
        content="".join(f"{path}\n" for path in clean) or None,
        code="partial" if partial else "ok" if found else "no_match",
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
