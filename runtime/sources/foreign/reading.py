"""A foreign log read once, whole: for commands and for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlock.runtime.events.union import AnyEvent, DamagedLine, UnknownEvent
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.tail import TailReader
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.registry import detect
from interlock.runtime.sources.foreign.translation import Translation


def open_log(path: Path, *, session: str = "", part: str | None = None) -> Translation:
    """The translation of a log whose format is found from its content. Raises UnknownFormat, OSError."""
    log_format, framing = detect(path)
    return Translation(path, log_format, framing, session=session or f"{log_format.kind}:{path.stem}", part=part)


def all_events(translation: Translation) -> Iterator[AnyEvent]:
    """Every event of the log, what was held back included."""
    more = True
    while more:
        yield from translation.events()
        more = translation.more
    yield from translation.end()


def facts_of(path: Path, *, part: str | None = None) -> dict[str, Any]:
    """The facts of one log, as `interlock show FILE --facts --json` prints them. Raises UnknownFormat, OSError."""
    translation = open_log(path, part=part)
    facts = SessionFacts(spawning=translation.format.spawning)
    try:
        for event in all_events(translation):
            facts.add(event)
    finally:
        translation.close()
    tally = translation.tally
    return {
        "format": translation.format.kind,
        **facts.to_json(),
        "records": tally.records,
        "eventRecords": tally.eventful,
        "keptRecords": tally.kept,
        "unknownRecords": tally.unknown,
        "damagedLines": tally.damaged,
        "gluedLines": tally.glued_lines,
        "gluedRecovered": tally.glued,
        "longestLine": tally.longest,
        "bytes": path.stat().st_size,
    }


def own_facts(path: Path) -> dict[str, Any]:
    """The same of a journal of ours. Raises OSError."""
    facts, damaged, unknown, longest, records = SessionFacts(), 0, 0, 0, 0
    reader = TailReader(path)
    try:
        more = True
        while more:
            batch = reader.read(limit_bytes=4 * 1024 * 1024)
            for line in batch.lines:
                event = decode_line(line.raw)
                records += 1
                longest = max(longest, line.size)
                damaged += isinstance(event, DamagedLine)
                unknown += isinstance(event, UnknownEvent)
                if not isinstance(event, DamagedLine | UnknownEvent):
                    facts.add(event)
            more = batch.more
    finally:
        reader.close()
    found = {"format": "interlock", **facts.to_json(), "records": records, "unknownRecords": unknown}
    return {**found, "damagedLines": damaged, "longestLine": longest, "bytes": path.stat().st_size}
