"""Which session a transcript is of: told when it is known, and told again when a record says otherwise.

Promises: a second session id in one log is a resume, and both ids are told; a record that was copied from another
session says so where its version does; a log whose first record belongs to a sub-agent is that agent's own session.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.base import SessionHead
from interlock.runtime.sources.foreign.narrator import Narrator, version_in

_TITLES_KEPT = 1000
"""Characters of a title."""


class Identity:
    """What the records say of their session."""

    def __init__(self, say: Narrator, head: SessionHead) -> None:
        self._say = say
        self.head = head
        self.sub_agent = ""
        """Id of the sub-agent whose own log this is."""
        self.forked_from = ""
        """The session of which this log begins with a copy."""
        self.sessions: set[str] = set()
        self.versions: set[str] = set()
        self._named = False
        """The person named it: no generated title counts any more."""
        self._summaries: dict[str, str] = {}
        """Record -> title of the conversation that ends with it."""

    def seen(self, record: dict[str, Any], *, side: bool) -> Iterator[AnyEvent]:
        """What a record of the conversation tells of its session."""
        session = shape.text(record.get("sessionId")) or shape.text(record.get("session_id"))
        version = version_in(record.get("version")) or version_in(record.get("claude_code_version"))
        if source := copied_from(record):
            yield from self._forked(source)
        if session in self.sessions and (not version or version in self.versions) and self.head.known.get("cwd"):
            return
        if not self.head.known.get("told") and side:
            self.sub_agent = shape.text(record.get("agentId"))
        told = self._new_session(session) | self._new_version(version)
        if not self.head.known.get("cwd"):
            told["cwd"] = shape.text(record.get("cwd"))
        if not self.head.known.get("branch"):
            told["branch"] = shape.text(record.get("gitBranch"))
        yield from self._divided(told, first=not self.head.known.get("told"))
        yield from self.head.said(**told)

    def _new_session(self, session: str) -> dict[str, str]:
        if not session or session in self.sessions:
            return {}
        first = not self.sessions
        self.sessions.add(session)
        if self.sub_agent:
            return {"session": self.sub_agent, "parent": session} if first else {}
        return {"session": session}

    def _new_version(self, version: str) -> dict[str, str]:
        if not version or version in self.versions:
            return {}
        self.versions.add(version)
        return {"version": version}

    def _forked(self, source: str) -> Iterator[AnyEvent]:
        if not self.forked_from and not self.sub_agent:
            self.forked_from = source
            yield self._say.boundary("forked", f"begins with a copy of session {source[:200]}")

    def _divided(self, told: dict[str, str], *, first: bool) -> Iterator[AnyEvent]:
        known = self.head.known
        if not first and told.get("session") and known.get("session"):
            yield self._say.boundary("resumed", f"goes on as session {told['session'][:200]}")
        if told.get("version") and known.get("version"):
            yield self._say.boundary("version_changed", f"{known['version'][:80]} to {told['version'][:80]}")

    def titled(self, title: str, *, by_person: bool) -> Iterator[AnyEvent]:
        """The session has a title; before the session itself is known it is kept for then."""
        title = " ".join(title[: _TITLES_KEPT * 4].split())[:_TITLES_KEPT]
        if not title or (self._named and not by_person):
            return
        self._named |= by_person
        if self.head.known.get("told"):
            yield from self.head.said(title=title)
        else:
            self.head.known["title"] = title

    def summarised(self, leaf: str, title: str) -> None:
        """A summary names the record that its conversation ends with; many are of other sessions."""
        self._summaries[leaf] = title

    def reached(self, uuid: str) -> Iterator[AnyEvent]:
        """A record of this log: a summary that names it is this session's."""
        if self._summaries and uuid in self._summaries:
            yield from self.titled(self._summaries.pop(uuid), by_person=False)


def copied_from(record: dict[str, Any]) -> str:
    """The session that a record was copied from; empty for one of this log's own.

    Some versions name it (`forkedFrom`); 2.1.332 leaves the session that asked for a response (`requestSessionId`).
    """
    if "forkedFrom" not in record and "requestSessionId" not in record:
        return ""
    forked = shape.text(shape.at(record, "forkedFrom", "sessionId"))
    asked = shape.text(record.get("requestSessionId"))
    return forked or (asked if asked != record.get("sessionId") else "")
