"""A change to one file, worked out before it is asked for, and made exactly as it was shown.

Promises: the diff that a person sees is made from the very bytes that are written; the write happens only while the
file is still the version that the diff was made against.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.tools.atomic import write_atomic
from interlock.runtime.tools.baseline import Baseline, read_whole
from interlock.runtime.tools.definition import (
    Claim,
    Concurrency,
    Prepared,
    RunContext,
    ToolContext,
    ToolInput,
    Watched,
)
from interlock.runtime.tools.diff import Diff, unified
from interlock.runtime.tools.output import ToolOutput, plural
from interlock.runtime.tools.refusal import Refusal, precondition
from interlock.runtime.tools.workspace import Place, Workspace


@dataclass(frozen=True, slots=True)
class Change:
    """New bytes of one file."""

    place: Place
    before: bytes | None
    """None: a new file."""
    after: bytes
    baseline: Baseline | None
    note: str = ""
    """What else is to be said about it."""


def claims(path: str, workspace: Workspace) -> Concurrency:
    """A change has its file for itself, and no shell command runs beside it."""
    real = workspace.locate(path).real
    return Concurrency("keyed", real, (Claim(f"file:{real}", "exclusive"), Claim("tree", "edit")), early=("file:",))


def known_version(place: Place, context: ToolContext) -> tuple[bytes, Baseline]:
    """The bytes of a file that the model knows as it is now.

    Raises Refusal when it was not read in this session, or is another version now.
    """
    known = context.ledger.version(place.real)
    if known is None:
        raise precondition(
            f"{place.shown} was not read in this session",
            field="path",
            next_step="Read it with read_file first, then change it.",
        )
    data, baseline = read_whole(place)
    if not context.accept_current and not known.same_content(baseline):
        raise Refusal(
            "stale_file_baseline",
            f"{place.shown} changed since it was read",
            field="path",
            next_step="Read it again, then make the change on what it holds now.",
        )
    return data, baseline


def prepared(call: ToolInput, change: Change, context: ToolContext, *, verb: str, renewable: bool) -> Prepared:
    """The change as a call that can be asked for and run."""
    shown = change.place.shown
    diff = unified(change.before, change.after, shown)
    title = f"{verb} {shown}"

    async def run(_: RunContext) -> ToolOutput:
        return await asyncio.to_thread(_write, change, diff, context, title)

    return Prepared(
        input=call,
        title=title,
        prompt=f"{title} (+{diff.added} -{diff.removed})",
        run=run,
        cwd=context.workspace.home,
        timeout_s=60.0,
        diff=diff,
        watched=(Watched(change.place, change.baseline),),
        renewable=renewable,
    )


def _write(change: Change, diff: Diff, context: ToolContext, title: str) -> ToolOutput:
    place = change.place
    try:
        baseline = write_atomic(place, change.after, expected=change.baseline)
    except Refusal as refusal:
        return ToolOutput(
            summary=refusal.message,
            ok=False,
            code=refusal.code,
            retryable=True,
            next_step=refusal.next_step,
            exit="error",
        )
    except OSError as error:
        return ToolOutput(
            summary=f"{place.shown} could not be written: {error.strerror}; it is as it was",
            ok=False,
            code="write_failed",
            exit="error",
        )
    context.ledger.wrote(place.real, baseline)
    new = change.before is None
    effect = SideEffect(
        kind="file.created" if new else "file.changed", path=place.shown, added=diff.added, removed=diff.removed
    )
    what = f"{place.shown}: {'created' if new else 'changed'}, {plural(diff.added, 'line')} added, {diff.removed:,} removed"
    return ToolOutput(
        summary=what + (f"; {change.note}" if change.note else ""),
        content=diff.text,
        title=title,
        format="diff",
        side_effects=(effect,),
        output_bytes=len(change.after),
    )
