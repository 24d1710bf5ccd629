"""What stands behind the suggestions of one ask: the very call that was shown, the offers, the policy of that moment.

Promises: an edited rule is judged against the call that was shown and the policy that holds when it is judged; a
permission is made of exactly the suggestion whose digest was answered with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interlock.runtime.asks.protocol import AskAnswer, ErrorName, Fault, PreviewReply
from interlock.runtime.asks.standing import Made
from interlock.runtime.engine.edited_rule import RuleRefused, read_edited
from interlock.runtime.engine.offer import Offer
from interlock.runtime.engine.preview import preview_of, trial_of
from interlock.runtime.events.permission import PermissionAnswered
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.rules.layer import Layer

if TYPE_CHECKING:
    from interlock.runtime.engine.ground import Ground


@dataclass(frozen=True, slots=True)
class AskTerms:
    """The terms of one ask. See `interlock.runtime.asks.standing.Terms`."""

    setting: Ground
    call: Call
    offers: tuple[Offer, ...]
    ask_id: str
    intent_id: str

    def objection(self, answer: AskAnswer) -> str | None:
        """Why the edited rule of an answer cannot be taken."""
        offer = self._offer(answer.suggestion)
        if answer.rule is None or offer is None or answer.rule == offer.rule:
            return None
        try:
            self._edited(answer.rule, offer)
        except RuleRefused as refused:
            return str(refused)
        return None

    def settle(self, answered: PermissionAnswered) -> Made:
        """Make the grant. Raises JournalWriteError."""
        offer = self._offer(answered.suggestion)
        if offer is None:
            return Made(fault="the ask offers nothing that could stand")
        return self.setting.grants.make(self.setting.journal, answered, offer)

    async def preview(self, digest: str, rule: str | None) -> PreviewReply:
        """What the suggestion, or the edited rule, would have covered. Raises `Fault`."""
        offer = self._offer(digest)
        if offer is None:
            raise Fault(ErrorName.UNKNOWN_SUGGESTION, "the ask has no such suggestion", askId=self.ask_id)
        layer = None
        if rule is not None and rule != offer.rule:
            try:
                layer = self._edited(rule, offer)
            except RuleRefused as refused:
                raise Fault(ErrorName.RULE_REFUSED, str(refused), askId=self.ask_id) from None
        asked = f"{self.setting.journal.session}/{self.intent_id}"
        seen = await preview_of(self.setting, self.call, trial_of(offer, layer), but=asked)
        return seen.model_copy(update={"ask_id": self.ask_id, "suggestion": digest})

    def _offer(self, digest: str | None) -> Offer | None:
        if digest is None:
            return self.offers[0] if self.offers else None
        return next((offer for offer in self.offers if offer.digest == digest), None)

    def _edited(self, text: str, offer: Offer) -> Layer:
        setting = self.setting
        if not offer.rule:
            raise RuleRefused("this suggestion is no rule: no policy file could say it")
        now, grants = setting.journal.now(), setting.grants.standing()
        return read_edited(text, offer, self.offers, self.call, setting.policy, setting.world, grants, now)
