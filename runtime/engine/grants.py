"""The standing permissions of one session, made from answers (ASK-4).

Promises: a grant covers what the ask offered and no more, and is on record before it covers anything; it ends with its
turn, its session, at its time, or when it is revoked; what holds is the fold of the journal and nothing else. A rule
holds here at once and, in the user's policy file, for all later sessions; when the file cannot take it, the grant is
taken back on record and whoever answered is told.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from interlock.runtime.asks.protocol import GrantRevokedReply, GrantView
from interlock.runtime.asks.standing import Made, unknown_grant
from interlock.runtime.engine.offer import Offer, layer_of
from interlock.runtime.events.ids import GRANT
from interlock.runtime.events.moment import micros
from interlock.runtime.events.permission import Approver, GrantMade, GrantRevoked, PermissionAnswered
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.journal.writer import JournalWriter, stamp
from interlock.runtime.policy.rules.grant import Grant
from interlock.runtime.policy.rules.layer import Layer, Policy, with_layers
from interlock.runtime.state.grants import GrantFold, StandingGrant
from interlock.runtime.tools.kept_rule import KeptRuleError, drop_rule, keep_rule

TEN_MINUTES = timedelta(minutes=10)


class Grants:
    """What was granted in this session. `add` is to hear every event of the journal."""

    def __init__(self, *, rules_are_read: bool = False) -> None:
        """`rules_are_read`: whether the session reads the user's policy file anew, so that a rule counts by standing there."""
        self.fold = GrantFold()
        self._rules_are_read = rules_are_read
        self._kept: dict[str, Layer] = {}
        """The rule of each grant by rule."""
        self._ended: frozenset[str] = frozenset()
        """Ids of rules that were revoked here and could not be taken out of the file."""
        self._joined: tuple[int, tuple[str, ...], frozenset[str], Policy, Policy] | None = None

    def add(self, event: AnyEvent) -> None:
        """Take an event that was recorded."""
        self.fold.add(event)

    def standing(self) -> list[Grant]:
        """All that hold or whose time is over, but for rules; those whose time is over cover nothing."""
        return [found for grant in self.fold.made.values() if (found := _grant(grant)) is not None]

    def over(self, policy: Policy) -> Policy:
        """The policy with the rules that were allowed in this session, and without those that ended here alone."""
        held = tuple(grant_id for grant_id in self._kept if grant_id in self.fold.made)
        ended = self._ended - {grant.rule_id for grant in self.fold.made.values()}
        if not held and not ended:
            return policy
        if self._joined is None or self._joined[:3] != (id(policy), held, ended):
            layers = [self._kept[grant_id] for grant_id in held]
            # the policy itself is held too, so that its id is no other's
            self._joined = (id(policy), held, ended, policy, with_layers(_without(policy, ended), layers))
        return self._joined[-1]

    def notice_removed(self, policy: Policy, journal: JournalWriter) -> None:
        """Record as taken back what stands no longer in the policy file that it was put into. Raises JournalWriteError."""
        mine = [grant for grant in self.fold.made.values() if grant.rule_id] if self._rules_are_read else []
        layers = [layer for layer in policy.layers if layer.name == "user"] if mine else []
        if any(layer.problems for layer in layers):
            return  # what the file holds is not known
        there = {rule.id for layer in layers for rule in layer.rules}
        for grant in mine:
            if grant.rule_id not in there:
                why = f"its rule {grant.rule_id} was taken out of the policy file"
                self._record_revoked(journal, grant.id, Approver(kind="runtime"), why)

    def was_revoked(self, grant_id: str | None) -> bool:
        """Whether it was made and taken back."""
        return grant_id in self.fold.revoked

    def make(self, journal: JournalWriter, answered: PermissionAnswered, offer: Offer) -> Made:
        """Record the grant that an answer asks for and let it stand. Raises JournalWriteError; then it does not."""
        now = journal.now()
        expires = now + TEN_MINUTES if answered.scope == "ten_minutes" else None
        text = (answered.rule or offer.rule) if answered.scope == "rule" else ""
        layer = layer_of(text, "") if text else None
        if answered.scope == "rule" and layer is None:
            return Made(fault="the rule could not be read, so nothing was kept")
        rule_id = layer.rules[0].id if layer is not None else None
        grant_id = journal.ids.new(GRANT)
        made = journal.append(
            GrantMade(
                grant_id=grant_id,
                ask_id=answered.ask_id,
                intent_id=answered.intent_id,
                scope=answered.scope,
                tool=offer.suggestion.tool,
                matches={**offer.suggestion.plain(), "digest": offer.digest},
                expires_at=stamp(expires) if expires else None,
                by=answered.by,
                rule_id=rule_id,
                rule=text or None,
            ),
            durable=True,
        )
        self.add(made)
        if layer is None or rule_id is None:
            return Made(grant_id)
        return self._keep(journal, grant_id, rule_id, text, now)

    def _keep(self, journal: JournalWriter, grant_id: str, rule_id: str, text: str, now: datetime) -> Made:
        try:
            file = str(keep_rule(text, rule_id, now))
        except KeptRuleError as error:
            why = f"allowed once, and no rule was kept: {error}"
            self._record_revoked(journal, grant_id, Approver(kind="runtime"), why)
            return Made(fault=why)
        layer = layer_of(text, file)
        assert layer is not None
        if not self._rules_are_read:
            self._kept[grant_id] = layer
        return Made(grant_id)

    def revoke(self, journal: JournalWriter, grant_id: str, by: Approver) -> GrantRevokedReply:
        """End one before its time; from the next decision on it covers nothing.

        Raises `Fault` `unknown_grant` when none of that id holds, JournalWriteError when it cannot be recorded.
        """
        grant = self.fold.made.get(grant_id)
        if grant is None or grant.is_over(micros(stamp(journal.now()))):
            raise unknown_grant(grant_id)
        self._record_revoked(journal, grant_id, by)
        removed: bool | None = None
        problem: str | None = None
        if grant.rule_id:
            try:
                removed = drop_rule(grant.rule_id)
            except KeptRuleError as error:
                self._ended |= {grant.rule_id}
                removed, problem = False, f"it ends here, but its rule {grant.rule_id} still stands: {error}"
        return GrantRevokedReply(
            grant_id=grant_id,
            session=grant.session,
            scope=grant.scope,
            call_started=grant.call_started,
            rule_removed=removed,
            problem=problem,
        )

    def _record_revoked(self, journal: JournalWriter, grant_id: str, by: Approver, why: str | None = None) -> None:
        self.add(journal.append(GrantRevoked(grant_id=grant_id, by=by, message=why), durable=True))

    def views(self, now: datetime) -> tuple[GrantView, ...]:
        """Those that hold, for approvers."""
        return tuple(view_of(grant) for grant in self.fold.standing(micros(stamp(now))))


def view_of(grant: StandingGrant) -> GrantView:
    """A grant for approvers."""
    return GrantView(
        grant_id=grant.id,
        session=grant.session,
        scope=grant.scope,
        tool=grant.tool,
        matches=grant.matches,
        made_at=_text(grant.made_at),
        expires_at=_text(grant.expires_at) if grant.expires_at else None,
        by=grant.by,
        rule_id=grant.rule_id or None,
        rule=grant.rule or None,
        call_started=grant.call_started,
    )


def _text(at: int) -> str:
    return stamp(_moment(at))


def _moment(at: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=at)


def _grant(grant: StandingGrant) -> Grant | None:
    """As the policy takes it; None for a rule, which stands in a layer of its own."""
    if grant.scope == "rule":
        return None
    matches = grant.matches
    expires = _moment(grant.expires_at) if grant.expires_at else None
    return Grant(grant.id, grant.tool, matches["field"], matches["value"], matches["cwd"], expires)


def _without(policy: Policy, rule_ids: frozenset[str]) -> Policy:
    """The policy without these rules of the user's."""
    layers = tuple(
        replace(layer, rules=tuple(rule for rule in layer.rules if rule.id not in rule_ids))
        if layer.name == "user"
        else layer
        for layer in policy.layers
    )
    return replace(policy, layers=layers) if rule_ids else policy


class SessionGrants:
    """The grants of one session, for its socket."""

    def __init__(self, journal: JournalWriter, grants: Grants) -> None:
        self._journal, self._grants = journal, grants

    def listed(self) -> tuple[GrantView, ...]:
        """Those that hold now."""
        return self._grants.views(self._journal.now())

    def revoke(self, grant_id: str, session: str | None, by: Approver) -> GrantRevokedReply:
        """End one. Raises `Fault`, JournalWriteError."""
        if session is not None and session != self._journal.session:
            raise unknown_grant(f"{session}/{grant_id}")
        if self._journal.failed:
            self._journal.recover()
        return self._grants.revoke(self._journal, grant_id, by)
