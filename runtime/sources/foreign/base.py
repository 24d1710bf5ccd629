"""What adapters have in common: at least one event a record, and a session that is told again when more is known of it.

Promises: `take` gives at least one event whatever `events` gives; `SessionHead.said` gives an event only when it has
something new to say. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.session import SessionStarted
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.narrator import Narrator
from interlock.runtime.sources.foreign.record import ForeignRecord

_FIELDS = ("session", "version", "cwd", "model", "branch", "parent", "title")


class SessionHead:
    """What is known of the session so far."""

    def __init__(self, say: Narrator, kind: str, agent: str) -> None:
        self._say = say
        self._kind = kind
        self.agent = agent
        self.known: dict[str, str] = {}

    def said(self, **told: str | None) -> Iterator[SessionStarted]:
        """The session with what the record tells of it, if that is new. Fields: those of `Narrator.started`."""
        new = {name: value for name, value in told.items() if value and self.known.get(name) != value}
        if not new and self.known.get("told"):
            return
        self.known |= new
        self.known["told"] = "yes"
        known = {name: self.known[name] for name in _FIELDS if name in self.known}
        yield self._say.started(agent=self.agent, kind=self._kind, **{"session": "", **known})  # pyright: ignore[reportArgumentType]

    def learned(self, **told: str | None) -> None:
        """Something of the session, to be told with the next that is."""
        self.known |= {name: value for name, value in told.items() if value}

    def ensured(self) -> Iterator[SessionStarted]:
        """The session, where the log begins without saying of which it is."""
        if not self.known.get("told"):
            yield from self.said()


class RecordAdapter:
    """An adapter whose work is `events`: what one record tells. It may give none."""

    kind = ""
    agent = ""

    def __init__(self) -> None:
        self.say = Narrator()
        self.head = SessionHead(self.say, self.kind, self.agent)
        self._record: ForeignRecord | None = None
        """The one that is told now."""

    def take(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        """The events of one more record, at least one."""
        self._record = record
        self.say.at(record)
        told, own = False, self.say.origin
        for event in self.events(record):
            # an event of an earlier record, which waited for this one, says nothing of this one
            told = told or event.origin is own
            yield event
        if not told:
            yield self.say.record(self.name(record))

    def end(self) -> Iterator[AnyEvent]:
        """What was held back."""
        yield from ()

    def dated(self, *times: Any) -> None:
        """What comes next is of the first of these times that is one; where none is, of no time."""
        if self._record is not None:
            for when in times:
                self.say.at(self._record, when)
                if self.say.ts:
                    return

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        """What the record tells."""
        raise NotImplementedError

    def name(self, record: ForeignRecord) -> str:
        """What a record that tells nothing is called."""
        kind = record.value.get("type") if isinstance(record.value, dict) else None
        return kind if isinstance(kind, str) and kind else "record"
