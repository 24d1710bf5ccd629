"""`read_artifact`: look into the full evidence of an earlier call.

Promises: reads this session's artifacts alone; finds the lines around a text, or pages by line; memory stays bounded
whatever the size.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pydantic import Field

from interlock.runtime.tools.definition import Prepared, RunContext, ToolContext, ToolDefinition, ToolInput
from interlock.runtime.tools.output import ToolOutput, decode, plural
from interlock.runtime.tools.refusal import precondition

AROUND_LINES = 20
"""Lines shown before and behind each place that is found, unless `limit` says otherwise."""
MAX_PLACES = 20
"""Places shown of a text that stands there more often."""
MAX_LINE = 65_536
"""Bytes of one line that are shown."""
_ID = re.compile(r"art_[0-9]+")


class ReadArtifactInput(ToolInput):
    """Which artifact, and which part of it."""

    artifact: str = Field(min_length=1, max_length=64, description="Its id, for example art_3.")
    around: str | None = Field(None, min_length=1, max_length=1000, description="Show the lines around this text.")
    offset: int = Field(1, ge=1, description="First line, counted from 1.")
    limit: int | None = Field(
        None, ge=1, le=100_000, description="Lines: how many at most; with around: how many before and behind."
    )


def prepare(call: ReadArtifactInput, context: ToolContext) -> Prepared:
    """Find the artifact. Raises Refusal when there is none of that id."""
    path = _find(call.artifact, context.artifact_folder)

    async def run(_: RunContext) -> ToolOutput:
        return await asyncio.to_thread(_around if call.around is not None else _page, call, path)

    title = f"Read artifact {call.artifact}"
    return Prepared(call, title, title, run, context.workspace.home, timeout_s=30.0)


def _find(artifact: str, folder: str) -> Path:
    if _ID.fullmatch(artifact) and os.path.isdir(folder):
        for name in sorted(os.listdir(folder)):
            if name.startswith(artifact + "-") and os.path.isfile(os.path.join(folder, name)):
                return Path(folder, name)
    raise precondition(
        f"this session has no artifact {artifact!r}",
        field="artifact",
        next_step="Use an id that an observation of this session named, for example art_3.",
    )


def _page(call: ReadArtifactInput, path: Path) -> ToolOutput:
    limit = call.limit or 2_000
    taken: list[bytes] = []
    size = 0
    more = False
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            if number < call.offset:
                continue
            if len(taken) == limit or size > 4 * 1024 * 1024:
                more = True
                break
            taken.append(line)
            size += len(line)
    text, replaced = decode(b"".join(taken))
    last = call.offset + len(taken) - 1
    where = f"lines {call.offset:,}-{last:,}" if taken else f"no line from {call.offset:,} on"
    go_on = {"tool": "read_artifact", "input": {"artifact": call.artifact, "offset": last + 1}} if more else None

    def resume(kept: str) -> dict[str, object]:
        at = call.offset + kept.count("\n")
        return {"tool": "read_artifact", "input": {"artifact": call.artifact, "offset": at}}

    return ToolOutput(
        summary=f"{call.artifact}: {where}, {path.stat().st_size:,} bytes in all",
        content=text or None,
        lossy=bool(replaced) or None,
        suggested_next_tool=go_on,
        next_step=f"Go on with offset {last + 1}." if go_on else None,
        resume=resume,
    )


def _around(call: ReadArtifactInput, path: Path) -> ToolOutput:
    wanted = (call.around or "").encode()
    reach = call.limit or AROUND_LINES
    before: deque[tuple[int, bytes]] = deque(maxlen=reach)
    shown: list[bytes] = []
    places = behind = last = 0
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), 1):
            hit = wanted in line
            places += hit
            if hit and places <= MAX_PLACES:
                first = before[0][0] if before else number
                if shown and first > last + 1:
                    shown.append(b"--\n")
                shown += [_numbered(n, text) for n, text in before]
                before.clear()
                behind = reach
            elif behind:
                behind -= 1
            else:
                before.append((number, line))
                continue
            shown.append(_numbered(number, line))
            last = number
    text, replaced = decode(b"".join(shown))
    more = f", the first {MAX_PLACES} shown" if places > MAX_PLACES else ""
    return ToolOutput(
        summary=f"{call.artifact}: {plural(places, 'line holds', 'lines hold')} {call.around!r}{more}",
        content=text or None,
        code="ok" if places else "no_match",
        lossy=bool(replaced) or None,
    )


def _numbered(number: int, line: bytes) -> bytes:
    return f"{number:>6}  ".encode() + line + (b"" if line.endswith(b"\n") else b"\n")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines of a binary file; a longer one than `MAX_LINE` is shown as its first bytes."""
    while line := file.readline(MAX_LINE):
        rest = 0
        while not line.endswith(b"\n") and (piece := file.readline(MAX_LINE)):
            rest += len(piece)
            if piece.endswith(b"\n"):
                break
        yield line if not rest else line + f" … {rest:,} more bytes in this line\n".encode()


READ_ARTIFACT = ToolDefinition(
    name="read_artifact",
    version="1",
    description=(
        "Read the full output, diff or other evidence of an earlier call by its artifact id: page with offset and limit, "
        "or show the lines around a text."
    ),
    input_model=ReadArtifactInput,
    risks=frozenset({"read"}),
    read_only=True,
    prepare=prepare,
)
