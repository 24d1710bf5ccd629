"""A file that was named on the command line, opened as the log that it is."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.runtime.cli.fault import CommandFault
from interlock.runtime.cli.reading import Reading

if TYPE_CHECKING:
    from interlock.runtime.events.union import Decoded
    from interlock.runtime.journal.tail import Line
    from interlock.runtime.library.catalog import SessionSummary
    from interlock.runtime.sources.foreign.home import LogRef
    from interlock.runtime.sources.foreign.translation import Translation


def own_journal(file: Path) -> bool:
    """Whether the file is a journal of ours. Raises CommandFault where it cannot be read."""
    from interlock.runtime.journal.envelope import brief
    from interlock.runtime.journal.tail import read_line_at

    try:
        if not stat.S_ISREG(file.stat().st_mode):
            return False
        first = brief(read_line_at(file, 0))
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror}.") from None
    return first is not None and first.type == "session.started" and first.seq >= 0


class ForeignReading:
    """One pass over the log of another agent, in the manner of `Reading`."""

    def __init__(self, file: Path, part: str | None = None, gates: Sequence[Path] = ()) -> None:
        """`gates`: journals of the gates that answered for the session."""
        self.path = file
        self._part = part
        self._gates = tuple(gates)

    def decoded(self) -> Iterator[tuple[Line, Decoded]]:
        """Each event of the log with the line that it would be in a journal of ours."""
        from interlock.runtime.journal.tail import Line
        from interlock.runtime.sources.foreign.gated import GateRecord
        from interlock.runtime.sources.foreign.reading import all_events

        record = GateRecord()
        for gate in self._gates:
            record.attach(gate)
        with opened(self.path, self._part) as log:
            for told in all_events(log):
                for event in record.merged(told):
                    offset, size = (event.origin.offset, event.origin.size) if event.origin else (0, 0)
                    yield Line(offset, b"", size), event
        record.close()

    def close(self) -> None:
        """Nothing was held; damaged records are told among the others."""


def session_reading(name: str) -> tuple[Reading | ForeignReading, SessionSummary]:
    """A session of ours or of another agent, by its id or how it begins, or a log by its path. Raises CommandFault."""
    from interlock.runtime.cli.lookup import session_folder
    from interlock.runtime.cli.reading import unreadable
    from interlock.runtime.library.catalog import SessionSummary, summarise

    file = Path(name)
    if "/" in name and file.is_file() and not own_journal(file):
        seen = file.stat()
        with opened(file) as log:
            agent = log.format.agent
        return ForeignReading(file), SessionSummary(
            file.stem, file, seen.st_size, seen.st_mtime, agent=agent, partial=True
        )
    try:
        path = session_folder(name) / "events.jsonl"
    except CommandFault:
        other = _other(name)
        if other is None:
            raise
        return other
    try:
        return Reading(path), summarise(path)
    except OSError as error:
        raise unreadable(path, error) from None


def _other(name: str) -> tuple[ForeignReading, SessionSummary] | None:
    import time

    from interlock.runtime.library.others import AmbiguousSession, find_other, summary_of
    from interlock.runtime.sources.homes import foreign_source

    source = foreign_source()
    try:
        ref = find_other(name, source)
    except AmbiguousSession as error:
        raise CommandFault(str(error)) from None
    seen = source.seen(ref.id, time.time_ns() // 1000) if ref is not None else None
    if seen is None:
        return None
    return ForeignReading(seen.ref.path, seen.ref.part, _gates(seen.ref)), summary_of(seen)


def _gates(ref: LogRef) -> list[Path]:
    """The journals of the gates that answered for a session, the oldest first."""
    from interlock.runtime.journal.place import sessions_home
    from interlock.runtime.library.catalog import list_sessions

    # the hooks of a sub-agent tell the gate the session that it works for
    about = {(ref.kind, ref.session), (ref.kind, ref.parent or ref.session)}
    found = [s for s in list_sessions(sessions_home()) if (s.agent_kind, s.foreign_session) in about]
    return [summary.path for summary in reversed(found)]


@contextlib.contextmanager
def opened(file: Path, part: str | None = None) -> Iterator[Translation]:
    """The log of another agent. Raises CommandFault where no format claims it or it cannot be read."""
    from interlock.runtime.sources.foreign.reading import open_log
    from interlock.runtime.sources.foreign.registry import UnknownFormat

    try:
        log = open_log(file, part=part)
    except UnknownFormat as error:
        raise CommandFault(str(error)) from None
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror or error}.") from None
    try:
        yield log
    except OSError as error:
        raise CommandFault(f"cannot read {file}: {error.strerror or error}.") from None
    finally:
        log.close()
