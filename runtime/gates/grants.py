"""The standing permissions of one gated session (ASK-4).

Promises: a grant covers what the ask offered and no more, and is on record before it covers anything; it ends with the
gate's journal, at its time, or when it is revoked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from interlock.runtime.events.ids import GRANT
from interlock.runtime.events.permission import Approver, GrantMade, GrantRevoked, Scope
from interlock.runtime.journal.writer import JournalWriter, stamp
from interlock.runtime.policy.grant import Grant, Suggestion

TEN_MINUTES = timedelta(minutes=10)


class SessionGrants:
    """What was granted in one session of another agent."""

    def __init__(self, journal: JournalWriter) -> None:
        self._journal = journal
        self._standing: dict[str, Grant] = {}

    def standing(self) -> Sequence[Grant]:
        """All that were made and not revoked; those whose time is over cover nothing."""
        return tuple(self._standing.values())

    def make(self, ask_id: str, intent_id: str, scope: Scope, offered: Suggestion, by: Approver | None) -> Grant:
        """Record a grant and let it stand. Raises JournalWriteError; then it does not stand."""
        expires = self._journal.now() + TEN_MINUTES if scope == "ten_minutes" else None
        grant = Grant(self._journal.ids.new(GRANT), offered.tool, offered.field, offered.value, offered.cwd, expires)
        self._journal.append(
            GrantMade(
                grant_id=grant.id,
                ask_id=ask_id,
                intent_id=intent_id,
                scope=scope,
                tool=grant.tool,
                matches=offered.plain(),
                expires_at=stamp(expires) if expires else None,
                by=by,
            ),
            durable=True,
        )
        self._standing[grant.id] = grant
        return grant

    def revoke(self, grant_id: str, by: Approver) -> bool:
        """End one before its time. False: there is none of that id. Raises JournalWriteError when it is not recorded."""
        if self._standing.pop(grant_id, None) is None:
            return False
        self._journal.append(GrantRevoked(grant_id=grant_id, by=by), durable=True)
        return True
