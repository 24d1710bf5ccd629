"""What an ask offers besides "once": standing permissions, each with its digest, its scopes and the rule it would write.

Promises: the narrowest first; `rule` is offered only where the rule, put into the user's file, would really have let
this call pass; nothing is offered that the policy did not suggest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from interlock.runtime.engine.rule_text import rule_id, rule_text, suggestion_digest
from interlock.runtime.events.permission import Scope
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.rules.grant import Suggestion
from interlock.runtime.policy.rules.layer import Layer
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.verdict.decide import Decision, Judge

STANDING: tuple[Scope, ...] = ("turn", "session", "ten_minutes")


@dataclass(frozen=True, slots=True)
class Offer:
    """One standing permission that could be made."""

    suggestion: Suggestion
    digest: str
    scopes: tuple[Scope, ...]
    rule: str = ""
    """Its text for a policy file, "" where no rule can say it."""

    @property
    def rule_id(self) -> str:
        """The id of that rule."""
        return rule_id(self.suggestion)

    @property
    def rule_paths(self) -> tuple[str, ...]:
        """The path globs of that rule."""
        layer = layer_of(self.rule, "") if self.rule else None
        paths = layer.rules[0].paths if layer is not None else None
        return paths.texts if paths is not None else ()

    def plain(self) -> dict[str, Any]:
        """As it stands in the ask's event."""
        return {**self.suggestion.plain(), "digest": self.digest, "rule": self.rule, "scopes": list(self.scopes)}


def offers_of(decision: Decision, call: Call, judge: Judge) -> tuple[Offer, ...]:
    """The offers of an ask; a rule is offered only where the call would pass with it."""
    found = []
    for suggestion in decision.suggestions:
        text = rule_text(suggestion)
        layer = layer_of(text, "") if text else None
        keeps = layer is not None and judge.allowing(layers=(layer,)).allows(call)
        text = text if keeps else ""
        scopes = (*STANDING, "rule") if keeps else STANDING
        found.append(Offer(suggestion, suggestion_digest(suggestion, text), scopes, text))
    return tuple(found)


def choices_of(offers: Sequence[Offer]) -> tuple[str, ...]:
    """Every answer that an ask with these offers can be given."""
    scopes = dict.fromkeys(scope for offer in offers for scope in offer.scopes)
    return ("allow.once", *(f"allow.{scope}" for scope in scopes), "deny", "deny.message")


def layer_of(text: str, file: str) -> Layer | None:
    """The user's layer with this one rule; None where it is not exactly one allow without a fault."""
    layer = load_layer(text, file=file, layer="user")
    if layer.problems or len(layer.rules) != 1 or layer.rules[0].effect != "allow" or layer.mode is not None:
        return None
    return layer
