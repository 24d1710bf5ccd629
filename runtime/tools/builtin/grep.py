"""`grep`: find text in the files of the workspace.

Promises: ignore files are honoured; links are not followed; what rules deny and guards hold back is left out of the search
of a folder and counted; the same results with ripgrep and without (for patterns
that both dialects share); a search that does not end is stopped and what was found is returned and said to be partial.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
from typing import Literal

from pydantic import Field

from interlock.runtime.tools.definition import Prepared, RunContext, ToolContext, ToolDefinition, ToolInput
from interlock.runtime.tools.environment import environment_for
from interlock.runtime.tools.output import ToolOutput, plural
from interlock.runtime.tools.process import CannotStart, Finished, Sink, run_process
from interlock.runtime.tools.refusal import precondition
from interlock.runtime.tools.search import ripgrep
from interlock.runtime.tools.search.listing import Listing, list_files
from interlock.runtime.tools.search.match import matcher
from interlock.runtime.tools.search.result import FileHits, parse
from interlock.runtime.tools.workspace import Place, Workspace

TIMEOUT_S = 30.0
MAX_TAKEN = 64 * 1024 * 1024
"""Bytes of results after which a search is stopped."""
MAX_SHOWN_LINE = 2_000
"""Characters shown of one line; minified files have lines of megabytes."""


class GrepInput(ToolInput):
    """What to look for, and where."""

    pattern: str = Field(min_length=1, max_length=10_000, description="Regular expression, matched line by line.")
    path: str = Field(".", min_length=1, max_length=4096, description="File or folder to search.")
    glob: str | None = Field(None, min_length=1, max_length=1000, description="Only files like this, e.g. **/*.py.")
    mode: Literal["content", "files", "count"] = Field("content", description="Lines, file names, or counts per file.")
    context: int = Field(0, ge=0, le=100, description="Lines shown before and behind each hit.")
    ignore_case: bool = Field(False, description="Upper and lower case are the same.")


def prepare(call: GrepInput, context: ToolContext) -> Prepared:
    """Check the pattern and the place. Raises Refusal."""
    place = context.workspace.locate(call.path)
    if place.kind not in ("file", "folder"):
        raise precondition(
            f"{call.path!r} does not exist" if place.kind == "missing" else f"{call.path!r} is no file and no folder",
            field="path",
        )
    rg = ripgrep.find_ripgrep()
    _check(call.pattern, rg, context)

    async def run(running: RunContext) -> ToolOutput:
        return await _run(call, place, rg, running, context.workspace)

    title = f"Search {call.pattern!r} in {place.shown}"
    return Prepared(call, title, title, run, context.workspace.home, timeout_s=TIMEOUT_S + 5)


def _check(pattern: str, rg: str | None, context: ToolContext) -> None:
    if "\n" in pattern or "\0" in pattern:
        raise precondition("the pattern holds a line end or NUL; lines are searched one by one", field="pattern")
    if rg is None:
        try:
            re.compile(pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise precondition(f"the pattern is no regular expression: {error}", field="pattern") from None
        return
    environment = environment_for(context.host, mark="pattern")
    try:
        done = subprocess.run(
            ripgrep.check_command(rg, pattern),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return  # the search itself will say what is wrong
    if done.returncode == 2:
        said = done.stderr.decode("utf-8", "replace").strip()[:600]
        raise precondition(f"the pattern is no regular expression: {said}", field="pattern")


async def _run(call: GrepInput, place: Place, rg: str | None, running: RunContext, workspace: Workspace) -> ToolOutput:
    options = {"context": call.context if call.mode == "content" else 0, "ignore_case": call.ignore_case}
    argv = (
        ripgrep.search_command(rg, call.pattern, place.real, **options)
        if rg
        else ripgrep.fallback_command(call.pattern, place.real, **options)
    )
    taken, noise = bytearray(), bytearray()
    full = asyncio.Event()

    def sink(stream: str, data: bytes) -> None:
        if stream == "stderr":
            noise.extend(data[:4096] if len(noise) < 4096 else b"")
        elif len(taken) < MAX_TAKEN:
            taken.extend(data)
        else:
            full.set()

    listing = Listing((), frozenset(), True)
    try:
        if place.kind == "folder":
            listing = await list_files(place, rg, running)
        finished = await _process(argv, place, running, sink, full)
    except CannotStart as error:
        return ToolOutput(summary=f"the search could not start: {error}", ok=False, code="cannot_start", exit="error")
    if finished.ended_by == "itself" and finished.exit_code not in (0, 1) and not taken:
        said = noise.decode("utf-8", "replace").strip()[:500]
        return ToolOutput(summary=f"the search failed: {said}", ok=False, code="search_failed", exit="error")
    # a large result takes its time, and the loop must not
    found = await asyncio.to_thread(_found, call, bytes(taken), place, running, workspace)
    return await asyncio.to_thread(_shown, call, found, listing, finished, full.is_set(), workspace)


async def _process(argv: list[str], place: Place, running: RunContext, sink: Sink, full: asyncio.Event) -> Finished:
    stop = asyncio.Event()

    async def watch() -> None:
        waits = {asyncio.create_task(running.cancelled.wait()), asyncio.create_task(full.wait())}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            stop.set()
        finally:
            for wait in waits:
                wait.cancel()

    watcher = asyncio.create_task(watch())
    try:
        return await run_process(
            argv,
            cwd=place.root,
            environment=environment_for(running.host, mark=running.mark),
            mark=running.mark,
            timeout_s=TIMEOUT_S,
            sink=sink,
            cancelled=stop,
            strays=running.strays,
            grace_s=0.2,
        )
    finally:
        watcher.cancel()


def _found(call: GrepInput, data: bytes, place: Place, running: RunContext, workspace: Workspace) -> list[FileHits]:
    """The hits that may be shown; of a folder each file is looked at, also one that was not there a moment ago."""
    fits = matcher(call.glob) if call.glob else None
    files = [f for f in parse(data.split(b"\n")) if fits is None or fits(workspace.show(f.path))]
    return files if place.kind == "file" else [f for f in files if not running.is_left_out(f.path)]


def _shown(
    call: GrepInput, files: list[FileHits], listing: Listing, finished: Finished, full: bool, workspace: Workspace
) -> ToolOutput:
    binary = sum(f.binary for f in files)
    files = [f for f in files if not f.binary]
    hits = sum(f.count for f in files)
    summary = f"{plural(hits, 'line')} in {plural(len(files), 'file')} match {call.pattern!r}"
    if binary:
        summary += f"; {plural(binary, 'binary file')} left out"
    summary += listing.note
    partial = finished.ended_by != "itself"
    if partial:
        why = "more than can be shown" if full else f"stopped after {TIMEOUT_S:g} s"
        summary += f"; not all was searched ({why})"
    cancelled = finished.ended_by == "cancelled" and not full
    code = "cancelled" if cancelled else "partial" if partial else "ok" if files else "no_match"
    return ToolOutput(
        summary=summary,
        content=_content(call, files, workspace) or None,
        ok=not cancelled,
        code=code,
        exit="cancelled" if cancelled else "ok",
    )


def _content(call: GrepInput, files: list[FileHits], workspace: Workspace) -> str:
    if call.mode == "files":
        return "".join(f"{workspace.show(f.path)}\n" for f in files)
    if call.mode == "count":
        return "".join(f"{workspace.show(f.path)}:{f.count}\n" for f in files)
    rows: list[str] = []
    for hits in files:
        shown = workspace.show(hits.path)
        last = 0
        for line in hits.lines:
            if call.context and rows and line.number != last + 1:
                rows.append("--")
            mark = ":" if line.hit else "-"
            rows.append(f"{shown}{mark}{line.number}{mark}{_line(line.text)}")
            last = line.number
    return "".join(row + "\n" for row in rows)


def _line(text: str) -> str:
    rest = len(text) - MAX_SHOWN_LINE
    return text if rest <= 0 else f"{text[:MAX_SHOWN_LINE]} … {rest:,} more characters in this line"


GREP = ToolDefinition(
    name="grep",
    version="1",
    description=(
        "Search the files of the workspace for a regular expression. Ignored files (.gitignore) are left out. "
        "mode: content (default), files or count."
    ),
    input_model=GrepInput,
    risks=frozenset({"read"}),
    read_only=True,
    prepare=prepare,
)
