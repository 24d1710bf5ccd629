"""The standing permissions of one session, folded from its events (ASK-4).

Promises: the fold of a replay is equal to the fold of the live stream; an event counts at most once, by its seq; a grant
of a turn ends when the turn does (a final answer, or the person's next message), one of a session with the session, one
with a time at its time, any at its revocation. What a rule file holds outlives its session, and is told apart. Pure: no
files, the time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from interlock.runtime.events.message import FinalAnswer, UserMessage
from interlock.runtime.events.moment import micros
from interlock.runtime.events.permission import Approver, GrantMade, GrantRevoked, Scope
from interlock.runtime.events.session import SessionEnded
from interlock.runtime.events.tool import InvocationStarted


@dataclass(frozen=True, slots=True)
class StandingGrant:
    """One standing permission as its journal tells it."""

    id: str
    session: str
    ask_id: str
    scope: Scope
    tool: str
    matches: dict[str, Any]
    made_at: int
    """Microseconds since 1970."""
    expires_at: int = 0
    """Microseconds since 1970; 0: no time of its own."""
    intent_id: str = ""
    by: Approver | None = None
    rule_id: str = ""
    rule: str = ""
    call_started: bool = False
    """Whether the call that was asked about has begun to run."""

    def is_over(self, now: int) -> bool:
        """Whether its time is over."""
        return bool(self.expires_at) and now >= self.expires_at


@dataclass(slots=True)
class GrantFold:
    """All grants of one session. `add` changes it in place."""

    seq: int = -1
    made: dict[str, StandingGrant] = field(default_factory=dict)
    """Those that were neither revoked nor ended by their turn or session."""
    revoked: dict[str, StandingGrant] = field(default_factory=dict)
    ended: bool = False
    """Whether the session has."""

    def add(self, event: object) -> None:
        """Take one event; those of no interest change nothing."""
        match event:
            case GrantMade() if self._is_new(event.seq):
                self.made[event.grant_id] = _standing(event)
            case GrantRevoked() if self._is_new(event.seq):
                self._revoke(event.grant_id)
            case UserMessage() | FinalAnswer() if self._is_new(event.seq):
                self._keep(lambda grant: grant.scope != "turn")
            case SessionEnded() if self._is_new(event.seq):
                self.ended = True
                self._keep(lambda grant: grant.scope == "rule")
            case InvocationStarted() if self._is_new(event.seq):
                self._started(event.intent_id)
            case _:
                pass

    def standing(self, now: int) -> tuple[StandingGrant, ...]:
        """Those that hold at this moment, in microseconds since 1970."""
        return tuple(grant for grant in self.made.values() if not grant.is_over(now))

    def _is_new(self, seq: int) -> bool:
        if seq <= self.seq:
            return False
        self.seq = seq
        return True

    def _revoke(self, grant_id: str) -> None:
        grant = self.made.pop(grant_id, None)
        if grant is not None:
            self.revoked[grant_id] = grant

    def _keep(self, stays: Any) -> None:
        self.made = {grant.id: grant for grant in self.made.values() if stays(grant)}

    def _started(self, intent_id: str) -> None:
        for held in (self.made, self.revoked):
            for grant in held.values():
                if grant.intent_id == intent_id:
                    held[grant.id] = replace(grant, call_started=True)


def _standing(event: GrantMade) -> StandingGrant:
    return StandingGrant(
        id=event.grant_id,
        session=event.session,
        ask_id=event.ask_id,
        scope=event.scope,
        tool=event.tool,
        matches=event.matches,
        made_at=micros(event.ts),
        expires_at=micros(event.expires_at) if event.expires_at else 0,
        intent_id=event.intent_id or "",
        by=event.by,
        rule_id=event.rule_id or "",
        rule=event.rule or "",
    )
