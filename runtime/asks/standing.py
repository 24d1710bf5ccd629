"""Standing permissions as asks know them: what an answer may say of one, and who makes, lists and revokes them.

Promises: an answer with a suggestion carries the digest of exactly what was shown, or has no effect; an approver that
knows nothing of suggestions is served as before. What a permission covers is the engine's matter, not known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from interlock.runtime.asks.protocol import AskAnswer, GrantRevokedReply, GrantView, PreviewReply
from interlock.runtime.events.permission import Approver, PermissionAnswered, ToolPermission


@dataclass(frozen=True, slots=True)
class Made:
    """What was made of an answer."""

    grant_id: str = ""
    fault: str = ""
    """Why nothing was made, for a person."""


class Terms(Protocol):
    """What stands behind the suggestions of one ask."""

    def objection(self, answer: AskAnswer) -> str | None:
        """Why a rule that was edited cannot be taken; None: it can."""
        ...

    def settle(self, answered: PermissionAnswered) -> Made:
        """Make the standing permission that a recorded answer asks for. May raise; then none was made."""
        ...

    async def preview(self, digest: str, rule: str | None) -> PreviewReply:
        """What a suggestion, or a rule made of it, would have covered. Raises `Fault`."""
        ...


class GrantDesk(Protocol):
    """The standing permissions of a host."""

    def listed(self) -> Sequence[GrantView]:
        """Those that hold now."""
        ...

    def revoke(self, grant_id: str, session: str | None, by: Approver) -> GrantRevokedReply:
        """End one. Raises `Fault`."""
        ...


class NoGrants:
    """A host that makes none."""

    def listed(self) -> Sequence[GrantView]:
        """None."""
        return ()

    def revoke(self, grant_id: str, session: str | None, by: Approver) -> GrantRevokedReply:
        """There is nothing to end."""
        raise unknown_grant(grant_id)


def unknown_grant(grant_id: str) -> Exception:
    """The fault of a grant that does not hold (any more)."""
    from interlock.runtime.asks.protocol import ErrorName, Fault

    return Fault(
        ErrorName.UNKNOWN_GRANT,
        f"no standing permission {grant_id} holds here: it ended or never was",
        grantId=grant_id,
    )


Refusal = tuple[Literal["mismatch", "not_offered", "rule_refused"], str]


def refusal_of(event: ToolPermission, answer: AskAnswer, terms: Terms | None) -> Refusal | None:
    """Why the suggestion or the rule of an answer cannot be taken; None: it can."""
    standing = answer.answer == "allow" and answer.scope != "once"
    if not standing:
        if answer.suggestion is not None or answer.rule is not None:
            return "not_offered", "a suggestion and a rule go with an allow that stands, not with this answer"
        return None
    if answer.rule is not None and answer.scope != "rule":
        return "not_offered", "the text of a rule goes with the scope `rule` alone"
    if answer.suggestion is None:
        # an approver from before suggestions: the first one is what its `allow.session` always meant
        return ("not_offered", "the scope `rule` needs the digest of a suggestion") if answer.scope == "rule" else None
    chosen = suggestion_of(event, answer.suggestion)
    if chosen is None:
        return "mismatch", "the answer is about another suggestion than those that were shown"
    if answer.scope not in chosen.get("scopes", ()):
        return "not_offered", f"this suggestion is not offered for the scope `{answer.scope}`"
    objection = terms.objection(answer) if terms is not None and answer.rule is not None else None
    return ("rule_refused", objection) if objection else None


def suggestion_of(event: ToolPermission, digest: str) -> Mapping[str, Any] | None:
    """The suggestion of this digest among those of an ask."""
    return next(
        (one for one in event.suggested_rules or () if isinstance(one, Mapping) and one.get("digest") == digest), None
    )


def rule_of(event: ToolPermission, answer: AskAnswer) -> str | None:
    """The text of the rule that an answer by rule is about, as it was suggested; None for any other answer."""
    chosen = suggestion_of(event, answer.suggestion) if answer.scope == "rule" and answer.suggestion else None
    return str(chosen.get("rule")) if chosen is not None and chosen.get("rule") else None
