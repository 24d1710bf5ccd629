"""What an adapter is: records of one agent's log in, our events out.

An adapter is pure and incremental: it is given records one by one, in the order of the log, and gives the events of
each; the same records give the same events however they were cut into reads. It never invents: what a log does not
record is left out (`None`), never guessed. It never raises on a record: what it does not know becomes
`foreign.unknown`, what it knows and has no event for becomes `foreign.record`, so that every record leaves at least one
event. It never looks at the name of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.record import ForeignRecord, Framed

Framing = Literal["lines", "document", "archive", "rows"]
"""How the bytes are taken apart. `document`: the file is rewritten or read whole; `rows`: a database."""


class Adapter(Protocol):
    """Turns the log of one session into events. One object a session and read."""

    def take(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        """The events of one more record, at least one. `seq`, `session` and `prev` are given by the caller;
        `ts` and `origin` by the adapter (`ts` is empty where the record has no time that can be read).

        For a document that was rewritten: given the whole again, it gives the events of what is new in it alone.
        """
        ...

    def end(self) -> Iterator[AnyEvent]:
        """Nothing more will come: what was held back until the next record. Called at most once, for a whole file."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """The beginning of a log, for finding out whose it is."""

    records: Sequence[Any]
    """Its first values, at most 50; none where it is no JSON."""
    framing: Framing
    head: bytes
    """Its first bytes, at most 64 KiB."""


class RowReader(Protocol):
    """Reads one session out of a database of the agent's, without ever writing to it."""

    more: bool
    """Whether the last read stopped at its limit."""

    def read(self, limit_bytes: int) -> Sequence[Framed]:
        """Rows that are new or changed since the last read, oldest first. Raises OSError."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of foreign log."""

    kind: str
    """For example `claude_code`: `agent.kind` of its sessions, and the `format` that commands print."""
    agent: str
    """For a person: `Claude Code`."""
    framing: tuple[Framing, ...]
    claims: Callable[[Sample], int]
    """How sure it is, from the content alone: 0 no, 100 nothing else looks like this."""
    adapter: Callable[[], Adapter]
    rows: Callable[[Path, str | None], RowReader] | None = None
    """Of a database: its reader, for one session of it (None: the newest)."""
    spawning: frozenset[str] = frozenset()
    """Tools that start an agent of its own, by the names that calls have."""
