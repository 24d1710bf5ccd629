"""A foreign log read once, whole: for commands and for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from interlock.runtime.events.union import AnyEvent, DamagedLine, UnknownEvent
from interlock.runtime.journal.codec import decode_line
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.tail import TailReader, read_line_at
from interlock.runtime.sources.foreign.compressed import check_members, is_compressed, unpacked
from interlock.runtime.sources.foreign.copies import Copies
from interlock.runtime.sources.foreign.facts import SessionFacts
from interlock.runtime.sources.foreign.registry import UnknownFormat, detect
from interlock.runtime.sources.foreign.translation import Translation

_ADDED = (
    "records",
    "eventRecords",
    "keptRecords",
    "unknownRecords",
    "damagedLines",
    "gluedLines",
    "gluedRecovered",
    "bytes",
)


def open_log(path: Path, *, session: str = "", part: str | None = None) -> Translation:
    """The translation of a log whose format is found from its content. Raises UnknownFormat, OSError."""
    with ExitStack() as beside:
        plain = beside.enter_context(unpacked(path)) if is_compressed(path) else path
        try:
            log_format, framing = detect(plain)
        except UnknownFormat as error:
            raise UnknownFormat(str(error).replace(str(plain), str(path))) from None
        if framing == "archive":
            check_members(plain)
        name = session or f"{log_format.kind}:{path.stem.removesuffix('.jsonl')}"
        return Translation(plain, log_format, framing, session=name, part=part, beside=beside.pop_all())


def all_events(translation: Translation) -> Iterator[AnyEvent]:
    """Every event of the log, what was held back included."""
    more = True
    while more:
        yield from translation.events()
        more = translation.more
    yield from translation.end()


def facts_of(path: Path, *, part: str | None = None) -> dict[str, Any]:
    """The facts of one log, as `interlock show FILE --facts --json` prints them. Raises UnknownFormat, OSError."""
    return _counted(path, part, None)[1]


def facts_of_several(paths: Sequence[Path]) -> dict[str, Any]:
    """`files`: the facts of each log, in the order given; `total`: of all together, every message counted once.

    What a resume or a fork copied counts where it stands first: in the log that began first, of two that began at the
    same time in the one that was given first. Raises UnknownFormat, OSError.
    """
    copies, total, found = Copies(), SessionFacts(), dict[int, tuple[SessionFacts, dict[str, Any]]]()
    for place in sorted(range(len(paths)), key=lambda place: (_began(paths[place]), place)):
        found[place] = _counted(paths[place], None, copies)
        total.joined(found[place][0])
    files = [{"file": str(paths[place]), **found[place][1]} for place in range(len(paths))]
    sums = {name: sum(file.get(name, 0) for file in files) for name in _ADDED}
    longest = max((file["longestLine"] for file in files), default=0)
    return {"files": files, "total": {**total.to_json(), **sums, "longestLine": longest}}


def _began(path: Path) -> str:
    """The first time in a log; empty where none stands near its beginning."""
    if _is_own(path):
        return ""
    translation = open_log(path)
    try:
        return next((event.ts for event in islice(translation.events(256 * 1024), 200) if event.ts), "")
    finally:
        translation.close()


def _is_own(path: Path) -> bool:
    first = brief(read_line_at(path, 0)) if path.is_file() else None
    return first is not None and first.type == "session.started" and first.seq >= 0


def _counted(path: Path, part: str | None, copies: Copies | None) -> tuple[SessionFacts, dict[str, Any]]:
    if _is_own(path):
        return _own(path)
    translation = open_log(path, part=part)
    facts = SessionFacts(spawning=translation.format.spawning)
    try:
        events = all_events(translation)
        for event in events if copies is None else copies.marked(str(path), events):
            facts.add(event)
    finally:
        translation.close()
    tally = translation.tally
    return facts, {
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
    return _own(path)[1]


def _own(path: Path) -> tuple[SessionFacts, dict[str, Any]]:
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
    return facts, {**found, "damagedLines": damaged, "longestLine": longest, "bytes": path.stat().st_size}
