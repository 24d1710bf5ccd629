"""Which records of a rollout are its own, and which were copied from the session it was forked from.

Promises: the session is the one of the first `session_meta`; a record counts as copied only on evidence, which is, in
this order: its ordinal against the one that the head names, the time inside the id of its turn against the time inside
the id of the session, and, where the parent's `session_meta` stands right behind the session's own, its time: a copy
is written in one go, in less than `BURST` between two records. Pure.
"""

from __future__ import annotations

from typing import Any

from interlock.runtime.events.moment import micros
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, text

BURST = 1_000_000
"""Microseconds."""


class Lineage:
    """Where a rollout comes from."""

    def __init__(self) -> None:
        self.session = ""
        self.parent = ""
        self._own_from: int | None = None
        self._born = 0
        """Milliseconds: the time inside the session's id."""
        self._started = 0
        self._last = 0
        """Microseconds: of the head, and of the last copied record."""
        self._copying = False
        self._at_head = True
        self.inherited = False
        """Whether the last record that `owns` was asked about was copied."""

    def head(self, payload: dict[str, Any], ts: str) -> str:
        """What a `session_meta` is: `first`, `parent` (copied with the parent's records) or `resumed`."""
        session = name_of(payload.get("id")) or name_of(payload.get("session_id"))
        if not self._started and not self.session and self._at_head:
            self._first(session, payload, ts)
            return "first"
        if self._at_head and session and session != self.session:
            self.parent = self.parent or session
            self._copying = True
            return "parent"
        return "parent" if self._copying else "resumed"

    def _first(self, session: str, payload: dict[str, Any], ts: str) -> None:
        self.session = session
        self.parent = parent_of(payload)
        # a head with `history_base` says where the history stands in another log: nothing of it is copied
        self._own_from = count(payload.get("subagent_history_start_ordinal"))
        self._born = uuid_millis(session)
        self._started = self._last = micros(ts) or 1

    def owns(self, record: dict[str, Any], payload: dict[str, Any], ts: str) -> bool:
        """Whether the record, which is no `session_meta`, is the session's own."""
        self._at_head = False
        self.inherited = not self._own(record, payload, ts)
        return not self.inherited

    def _own(self, record: dict[str, Any], payload: dict[str, Any], ts: str) -> bool:
        if not self._copying and not self.parent:
            return True
        ordinal = count(record.get("ordinal"))
        if self._own_from is not None and ordinal is not None:
            self._copying = ordinal < self._own_from
            return not self._copying
        turn = uuid_millis(text(payload.get("turn_id")))
        if turn and self._born:
            self._copying = turn < self._born
            self._last = micros(ts) or self._last
            return not self._copying
        return self._own_by_time(micros(ts))

    def _own_by_time(self, now: int) -> bool:
        if not self._copying:
            return True
        if now and now >= self._started:
            if now - max(self._last, self._started) > BURST:
                self._copying = False
                return True
            self._last = max(self._last, now)
        return False


def parent_of(payload: dict[str, Any]) -> str:
    """The id of the session that started or gave this one, as its `session_meta` names it; empty: none."""
    spawn = mapping(at(payload, "source", "subagent", "thread_spawn"))
    for value in (payload.get("parent_thread_id"), spawn.get("parent_thread_id"), payload.get("forked_from_id")):
        if name_of(value):
            return name_of(value)
    return ""


def sub_agent_of(payload: dict[str, Any]) -> str:
    """What a session that another one started is called there; empty: it is no sub-agent, or has no name."""
    found = at(payload, "source", "subagent")
    if isinstance(found, str):
        return found
    spawn = mapping(mapping(found).get("thread_spawn"))
    names = (spawn.get("agent_path"), spawn.get("agent_nickname"), spawn.get("agent_role"), mapping(found).get("other"))
    return next((text(name) for name in names if text(name)), "")


def uuid_millis(name: str) -> int:
    """The time inside a UUID of version 7, in milliseconds since 1970; 0 where it is none."""
    if len(name) != 36 or name[14] != "7" or name[8] != "-":
        return 0
    try:
        return int(name[:8] + name[9:13], 16)
    except ValueError:
        return 0
