"""The standing permissions of one gated session (ASK-4), and what stands behind the suggestions of its asks.

Promises: a grant covers what the ask offered and no more, and is on record before it covers anything; it ends with the
gate's journal, at its time, or when it is revoked. A permission is made of exactly the suggestion whose digest was answered
with. Does not promise: rules for the policy file, and previews; only asks of our own runtime offer those.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from interlock.runtime.asks.protocol import (
    AskAnswer,
    ErrorName,
    Fault,
    GrantRevokedReply,
    GrantView,
    PreviewReply,
)
from interlock.runtime.asks.standing import Made, unknown_grant
from interlock.runtime.events.ids import GRANT
from interlock.runtime.events.permission import Approver, GrantMade, GrantRevoked, PermissionAnswered, Scope
from interlock.runtime.journal.writer import JournalWriter, stamp
from interlock.runtime.policy.grant import Grant, Suggestion

TEN_MINUTES = timedelta(minutes=10)
SCOPES: tuple[Scope, ...] = ("session", "ten_minutes")
"""How long a permission of a gate can stand; where a turn of the agent ends is not known to every gate."""


def digest_of(suggestion: Suggestion) -> str:
    """What an answer names the suggestion by."""
    text = json.dumps(suggestion.plain(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def offered(suggestion: Suggestion) -> dict[str, Any]:
    """As it stands in the ask's event."""
    return {**suggestion.plain(), "digest": digest_of(suggestion), "rule": "", "scopes": list(SCOPES)}


@dataclass(frozen=True, slots=True)
class GateTerms:
    """The terms of one ask. See `interlock.runtime.asks.standing.Terms`."""

    grants: SessionGrants
    suggestions: tuple[Suggestion, ...]

    def objection(self, answer: AskAnswer) -> str | None:
        """No rule is taken."""
        return "a gate keeps no rules: allow it for the session, or write the rule into your policy file"

    def settle(self, answered: PermissionAnswered) -> Made:
        """Make the grant. Raises JournalWriteError."""
        chosen = answered.suggestion
        # an approver from before suggestions means the first one, the narrowest
        found = [one for one in self.suggestions if chosen in (None, digest_of(one))]
        return Made(self.grants.make(answered, found[0]).id) if found else Made(fault="nothing was offered to stand")

    async def preview(self, digest: str, rule: str | None) -> PreviewReply:
        """There is none. Raises `Fault`."""
        raise Fault(ErrorName.UNKNOWN_SUGGESTION, "a gate has no preview of what a permission would have covered")


class SessionGrants:
    """What was granted in one session of another agent."""

    def __init__(self, journal: JournalWriter) -> None:
        self._journal = journal
        self._standing: dict[str, tuple[Grant, GrantMade]] = {}

    def standing(self) -> Sequence[Grant]:
        """Those that hold now."""
        now = self._journal.now()
        return tuple(grant for grant, _ in self._standing.values() if not grant.is_over(now))

    def make(self, answered: PermissionAnswered, offer: Suggestion) -> Grant:
        """Record a grant and let it stand. Raises JournalWriteError; then it does not stand."""
        expires = self._journal.now() + TEN_MINUTES if answered.scope == "ten_minutes" else None
        grant = Grant(self._journal.ids.new(GRANT), offer.tool, offer.field, offer.value, offer.cwd, expires)
        event = GrantMade(
            grant_id=grant.id,
            ask_id=answered.ask_id,
            intent_id=answered.intent_id,
            scope=answered.scope,
            tool=grant.tool,
            matches={**offer.plain(), "digest": digest_of(offer)},
            expires_at=stamp(expires) if expires else None,
            by=answered.by,
        )
        recorded = self._journal.append(event, durable=True)
        assert isinstance(recorded, GrantMade)
        self._standing[grant.id] = (grant, recorded)
        return grant

    def holds(self, grant_id: str) -> bool:
        """Whether it stands."""
        return any(grant.id == grant_id for grant in self.standing())

    def views(self) -> tuple[GrantView, ...]:
        """Those that hold, for approvers."""
        now = self._journal.now()
        return tuple(_view(made) for grant, made in self._standing.values() if not grant.is_over(now))

    def revoke(self, grant_id: str, by: Approver) -> GrantRevokedReply:
        """End one before its time. Raises `Fault` for one that does not hold, JournalWriteError."""
        if not self.holds(grant_id):
            raise unknown_grant(grant_id)
        self._journal.append(GrantRevoked(grant_id=grant_id, by=by), durable=True)
        _, made = self._standing.pop(grant_id)
        # the answer has let the call that was asked about go on; what the agent did with it is its own affair
        return GrantRevokedReply(grant_id=grant_id, session=made.session, scope=made.scope, call_started=True)


class HostGrants:
    """The grants of all sessions of a host, for its socket."""

    def __init__(self, sessions: Callable[[], Iterable[tuple[str, SessionGrants]]]) -> None:
        self._sessions = sessions

    def listed(self) -> tuple[GrantView, ...]:
        """Those that hold now."""
        return tuple(view for _, grants in self._sessions() for view in grants.views())

    def revoke(self, grant_id: str, session: str | None, by: Approver) -> GrantRevokedReply:
        """End one; without the session its id must be the only one. Raises `Fault`, JournalWriteError."""
        found = [grants for name, grants in self._sessions() if session in (None, name) and grants.holds(grant_id)]
        if len(found) != 1:
            raise unknown_grant(f"{session}/{grant_id}" if session else grant_id)
        return found[0].revoke(grant_id, by)


def _view(made: GrantMade) -> GrantView:
    return GrantView(
        grant_id=made.grant_id,
        session=made.session,
        scope=made.scope,
        tool=made.tool,
        matches=made.matches,
        made_at=made.ts,
        expires_at=made.expires_at,
        by=made.by,
        call_started=True,
    )
