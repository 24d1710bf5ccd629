"""The standing permissions of one gated session (ASK-4): those of our own runtime, but for what a gate cannot know.

Promises: an ask offers the session, ten minutes and a rule, and no turn, since where a turn of the agent ends is not known to
every gate; a grant covers what the ask offered and no more, and is on record before it covers anything. A rule holds by
standing in the user's policy file, which every gate reads anew when it changes; one that is taken out there ends here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from interlock.runtime.asks.protocol import ErrorName, Fault, GrantRevokedReply, GrantView
from interlock.runtime.asks.standing import unknown_grant
from interlock.runtime.engine.grants import Grants
from interlock.runtime.engine.offer import Offer, offers_of
from interlock.runtime.events.permission import Approver
from interlock.runtime.gates.rules import Rules
from interlock.runtime.journal.writer import JournalWriteError, JournalWriter
from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.policy.verdict.decide import Decision, Judge

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class SessionGrants:
    """What was granted in one session of another agent; the ground that its asks' terms stand on."""

    journal: JournalWriter
    rules: Rules
    roots: tuple[str, ...]
    grants: Grants = field(default_factory=lambda: Grants(rules_are_read=True))
    previewing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def world(self) -> World:
        """The files of this machine."""
        return self.rules.world

    @property
    def policy(self) -> Policy:
        """The rules that hold at this moment, kept ones included."""
        return self.grants.over(self.rules.policy(self.roots))

    def standing(self) -> Sequence[Grant]:
        """Those that hold now, but for rules, which stand in the policy."""
        now = self.journal.now()
        return tuple(grant for grant in self.grants.standing() if not grant.is_over(now))

    def decide(self, call: Call) -> Decision:
        """What the policy says of a call at this moment, the rules and grants of this session included. Never raises."""
        self._notice_removed()
        return self.judge().decide(call)

    def judge(self) -> Judge:
        """Who decides at this moment."""
        return Judge(self.policy, self.world, tuple(self.standing()), self.journal.now())

    def _notice_removed(self) -> None:
        """Record as taken back what stands no longer in the policy file. Never raises: it covers nothing in any case."""
        try:
            self.grants.notice_removed(self.rules.policy(self.roots), self.journal)
        except JournalWriteError as error:
            _log.error("%s: %s", self.journal.session, error)

    def offers(self, decision: Decision, call: Call) -> tuple[Offer, ...]:
        """What an ask about this call offers to let stand, the narrowest first."""
        found = offers_of(decision, call, self.judge())
        return tuple(replace(one, scopes=tuple(scope for scope in one.scopes if scope != "turn")) for one in found)

    def holds(self, grant_id: str) -> bool:
        """Whether it stands."""
        return any(view.grant_id == grant_id for view in self.views())

    def views(self) -> tuple[GrantView, ...]:
        """Those that hold, for approvers."""
        # the answer has let the call that was asked about go on; what the agent did with it is its own affair
        return tuple(one.model_copy(update={"call_started": True}) for one in self.grants.views(self.journal.now()))

    def revoke(self, grant_id: str, by: Approver) -> GrantRevokedReply:
        """End one before its time. Raises `Fault` for one that does not hold, JournalWriteError."""
        if self.journal.failed:
            self.journal.recover()
        return self.grants.revoke(self.journal, grant_id, by).model_copy(update={"call_started": True})


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
        if len(found) > 1:
            raise Fault(
                ErrorName.UNKNOWN_GRANT,
                f"{grant_id} stands in {len(found)} sessions: say of which with `session`",
                grantId=grant_id,
            )
        if not found:
            raise unknown_grant(f"{session}/{grant_id}" if session else grant_id)
        return found[0].revoke(grant_id, by)
