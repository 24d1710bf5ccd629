"""`read_file`: lines of a text file, with a baseline for later edits.

Promises: at most `limit` lines from `offset`; says what was left out and how to go on; the same lines of the same
version are not sent twice; a FIFO, a device, a folder, a binary or a huge file never blocks and is never read whole.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from dataclasses import dataclass

from pydantic import Field

from interlock.runtime.tools.baseline import MAX_WHOLE, Baseline, ReadLedger
from interlock.runtime.tools.definition import (
    Claim,
    Concurrency,
    Prepared,
    RunContext,
    ToolContext,
    ToolDefinition,
    ToolInput,
)
from interlock.runtime.tools.output import ToolOutput, decode, plural
from interlock.runtime.tools.refusal import precondition
from interlock.runtime.tools.workspace import Place, open_file

DEFAULT_LINES = 2_000
"""Lines shown when no limit is given (RT-9)."""
MAX_SCAN = 256 * 1024 * 1024
"""Bytes looked through for the lines asked for."""
MAX_TAKEN = 4 * 1024 * 1024
"""Bytes of lines that are returned at most; the cap cuts further."""
SNIFF = 8192
"""Bytes that are looked at to tell text from binary."""


class ReadFileInput(ToolInput):
    """What to read."""

    path: str = Field(min_length=1, max_length=4096, description="File, relative to the workspace.")
    offset: int = Field(1, ge=1, description="First line, counted from 1.")
    limit: int = Field(DEFAULT_LINES, ge=1, le=100_000, description="How many lines at most.")


@dataclass(frozen=True, slots=True)
class _Lines:
    data: bytes
    count: int
    more: bool
    """Whether there are lines behind them."""
    total: int | None
    """Lines of the file; None when it was not read to its end."""
    left_out: int
    """Bytes from the first line not shown to the end of the file."""


def concurrency(call: ReadFileInput, context: ToolContext) -> Concurrency:
    """Reads run together; a read waits for an edit of the same file that was asked for before it."""
    real = context.workspace.locate(call.path).real
    return Concurrency("safe", real, (Claim(f"file:{real}", "read"),), early=("file:",))


def prepare(call: ReadFileInput, context: ToolContext) -> Prepared:
    """Check that there is a regular file inside the workspace."""
    place = context.workspace.locate(call.path)
    if place.kind == "missing":
        raise precondition(f"{call.path!r} does not exist", field="path", next_step="Use glob to find the right name.")
    if place.kind == "folder":
        raise precondition(f"{call.path!r} is a folder", field="path", next_step="Use glob to list what is in it.")
    os.close(open_file(place))

    async def run(_: RunContext) -> ToolOutput:
        return await asyncio.to_thread(_read, call, place, context.ledger)

    title = f"Read {place.shown}"
    return Prepared(call, title, title, run, context.workspace.home, timeout_s=30.0)


def _read(call: ReadFileInput, place: Place, ledger: ReadLedger) -> ToolOutput:
    handle = open_file(place)
    with os.fdopen(handle, "rb", buffering=0) as file:
        state = os.fstat(handle)
        start = os.pread(handle, SNIFF, 0)
        if b"\0" in start:
            return _binary(place, start, state.st_size)
        whole = _whole(handle, state.st_size)
        baseline = Baseline(
            state.st_size, state.st_mtime_ns, hashlib.sha256(whole).hexdigest() if whole is not None else None
        )
        asked = (call.offset, call.limit)
        if ledger.has_shown(place.real, baseline, asked):
            return _unchanged(place)
        lines = _take(whole, call) if whole is not None else _scan(file.fileno(), state.st_size, call)
    ledger.saw(place.real, baseline, asked)
    return _shown(call, place, lines, state.st_size)


def _whole(handle: int, size: int) -> bytes | None:
    if size > MAX_WHOLE:
        return None
    parts: list[bytes] = []
    at = 0
    while at <= MAX_WHOLE and (part := os.pread(handle, 1 << 20, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)


def _take(data: bytes, call: ReadFileInput) -> _Lines:
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    chosen = lines[call.offset - 1 : call.offset - 1 + call.limit]
    before = sum(len(line) + 1 for line in lines[: call.offset - 1])
    size = min(sum(len(line) + 1 for line in chosen), len(data) - before) if chosen else 0
    more = call.offset - 1 + len(chosen) < len(lines)
    return _Lines(data[before : before + size], len(chosen), more, len(lines), len(data) - before - size)


def _scan(handle: int, size: int, call: ReadFileInput) -> _Lines:
    """The lines of a file that is too large to be held, reading no further than needed."""
    skip, taken, at = call.offset - 1, bytearray(), 0
    begin = 0
    while at < MAX_SCAN and (chunk := os.pread(handle, 1 << 20, at)):
        at += len(chunk)
        if skip:
            chunk, skip = _skipped(chunk, skip)
            begin = at - len(chunk)
        if not skip:
            taken += chunk
            if taken.count(b"\n") >= call.limit or len(taken) >= MAX_TAKEN:
                break
    pieces = bytes(taken[:MAX_TAKEN]).split(b"\n", call.limit)
    data = (
        bytes(taken[: len(taken[:MAX_TAKEN]) - len(pieces[-1])])
        if len(pieces) > call.limit
        else bytes(taken[:MAX_TAKEN])
    )
    end = begin + len(data)
    count = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return _Lines(data, count, end < size, None, size - end)


def _skipped(chunk: bytes, skip: int) -> tuple[bytes, int]:
    here = chunk.count(b"\n")
    if here < skip:
        return b"", skip - here
    return chunk.split(b"\n", skip)[skip], 0


def _binary(place: Place, start: bytes, size: int) -> ToolOutput:
    shown = start[:256]
    rows = [
        f"{at:08x}  {shown[at : at + 16].hex(' '):<47}  "
        + "".join(chr(b) if 32 <= b < 127 else "." for b in shown[at : at + 16])
        for at in range(0, len(shown), 16)
    ]
    return ToolOutput(
        summary=f"{place.shown}: binary, {size:,} bytes, the first {len(shown)} shown, {size - len(shown):,} bytes dropped",
        content="\n".join(rows) + "\n",
        code="binary_file",
        omitted=size - len(shown),
        output_bytes=size,
    )


def _unchanged(place: Place) -> ToolOutput:
    return ToolOutput(
        summary=f"{place.shown}: unchanged since these lines were read; they stand further up",
        code="file_unchanged",
        title=f"Read {place.shown} (unchanged)",
    )


def _shown(call: ReadFileInput, place: Place, lines: _Lines, size: int) -> ToolOutput:
    text, replaced = decode(lines.data)
    last = call.offset + lines.count - 1
    total = f" of {lines.total:,}" if lines.total is not None else ""
    if size == 0:
        summary = f"{place.shown}: empty"
    elif not lines.count:
        summary = f"{place.shown}: has {lines.total or 0:,} lines, none from line {call.offset:,} on"
    elif not lines.more and call.offset == 1:
        summary = f"{place.shown}: {plural(lines.count, 'line')}, {size:,} bytes"
    else:
        summary = f"{place.shown}: lines {call.offset:,}-{last:,}{total}, {size:,} bytes in all"
    if lines.more and lines.count:
        summary += f"; the rest from offset {last + 1}"
    if replaced:
        summary += f"; not UTF-8: {plural(replaced, 'byte')} replaced"

    def resume(kept: str) -> dict[str, object] | None:
        return {"tool": "read_file", "input": {"path": call.path, "offset": call.offset + kept.count("\n")}}

    go_on = (
        {"tool": "read_file", "input": {"path": call.path, "offset": last + 1}} if lines.more and lines.count else None
    )
    return ToolOutput(
        summary=summary,
        content=text or None,
        lossy=bool(replaced) or None,
        suggested_next_tool=go_on,
        next_step=f"Go on with offset {last + 1}." if go_on else None,
        resume=resume,
        output_bytes=len(lines.data),
    )


READ_FILE = ToolDefinition(
    name="read_file",
    version="1",
    description=(
        "Read lines of a text file in the workspace. Shows the first 2,000 lines unless offset and limit say otherwise. "
        "A file must be read before it can be edited. Reading the same lines of an unchanged file again returns "
        "`file_unchanged` and no content."
    ),
    input_model=ReadFileInput,
    risks=frozenset({"read"}),
    read_only=True,
    prepare=prepare,
    concurrency=concurrency,
)
