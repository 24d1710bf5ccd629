"""Collect the journal's lines of one call for the details (UI-7). Reads files; run it in a thread.

Promises: every line that names the intent, its ask or its invocation, from the intent to the observation; a gap that is
too wide to be read line by line is told by `gap`, and the lines that are known by their place are there all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.envelope import EnvelopeBrief, brief
from interlock.runtime.state.timeline import Row
from interlock.tui.feed import Feed
from interlock.tui.model.call import CallRecord, RecordLine

MOST_LINES = 4000
"""Lines between intent and observation that are looked at; a call that waited long has those of others between."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found."""

    record: CallRecord
    gap: bool = False
    """Whether some lines of the call may not have been looked for."""


def read_call(feed: Feed, row: Row) -> Reading:
    """The lines of a row."""
    if row.kind != "call":
        return Reading(CallRecord(_lines(feed, row, [row.offset]), row.index + 1))
    known = {row.offset, row.permission_offset, row.answer_offset, row.observation_offset} - {-1}
    found, gap = _between(feed, row)
    return Reading(CallRecord(_lines(feed, row, sorted(known | set(found))), row.index + 1), gap)


def _between(feed: Feed, row: Row) -> tuple[list[int], bool]:
    columns = feed.follower.columns
    start = columns.find_offset(row.offset)
    if feed.is_partial or start is None or row.generation != feed.follower.generation:
        return [], True
    first = brief(feed.raw(row.offset, row.generation) or b"")
    if first is None:
        return [], False
    names = {first.intent_id}
    offsets: list[int] = []
    for place in range(start + 1, min(start + 1 + MOST_LINES, len(columns))):
        offset = columns.row(place).offset
        seen = brief(feed.raw(offset, row.generation) or b"")
        if seen is not None and _belongs(seen, names):
            offsets.append(offset)
        if offset == row.observation_offset:
            return offsets, False
    return offsets, start + 1 + MOST_LINES < len(columns)


def _belongs(seen: EnvelopeBrief, names: set[str | None]) -> bool:
    mine = seen.intent_id in names or (seen.invocation_id is not None and seen.invocation_id in names)
    mine = mine or (seen.ask_id is not None and seen.ask_id in names)
    if mine and seen.type.startswith("tool."):
        names.update(name for name in (seen.intent_id, seen.invocation_id, seen.ask_id) if name)
    return mine


def _lines(feed: Feed, row: Row, offsets: list[int]) -> tuple[RecordLine, ...]:
    found = []
    for offset in offsets:
        raw = feed.raw(offset, row.generation)
        if raw is not None:
            found.append(RecordLine(offset, raw, decode_line(raw)))
    return tuple(found)
