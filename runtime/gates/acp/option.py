"""Which of an agent's options stands for a person's answer (AG-5).

Promises: an allow is only ever the one option of kind `allow_once`, a deny only the one of kind `reject_once`; standing options
(`allow_always`, `reject_always`) are never chosen; where a deny has no option, the outcome is `cancelled`, never an allow.
Several options of one kind that answers once are a question with choices, which only the editor can put. Pure.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

ALLOW, REJECT = "allow_once", "reject_once"
KINDS = (ALLOW, "allow_always", REJECT, "reject_always")
_CANCELLED = {"outcome": {"outcome": "cancelled"}}


class Options:
    """The options of one request."""

    def __init__(self, given: Any) -> None:
        listed = given if isinstance(given, list) else []
        whole = [one for one in listed if _is_option(one)]
        self.is_readable = isinstance(given, list) and len(whole) == len(listed)
        self._kind_of = {one["optionId"]: one["kind"] for one in whole}
        self._id_of = {one["kind"]: one["optionId"] for one in reversed(whole)}
        self._count = Counter(one["kind"] for one in whole)
        self._names = {one["optionId"]: str(one.get("name", "")) for one in whole}
        self.is_readable = self.is_readable and len(self._kind_of) == len(whole)

    @property
    def question(self) -> str:
        """Why this is a question and no permission; "" for a permission."""
        if not self.is_readable:
            return "its options cannot be read, so only the editor can answer it"
        many = [kind for kind in (ALLOW, REJECT) if self._count[kind] > 1]
        if many:
            return (
                f"it has {self._count[many[0]]} options of kind {many[0]}: a question, which only the editor can answer"
            )
        unknown = sorted(set(self._kind_of.values()) - set(KINDS))
        if unknown:
            return f"it has options of an unknown kind ({', '.join(unknown)[:80]}), so only the editor can answer it"
        return ""

    @property
    def can_allow(self) -> bool:
        """Whether an allow for this once can be said."""
        return not self.question and self._count[ALLOW] == 1

    def names(self) -> list[str]:
        """As the editor shows them."""
        return list(self._names.values())

    def result(self, decision: Literal["allow", "deny"]) -> dict[str, Any] | None:
        """The result of the response for this decision; None: it cannot be said, so the editor has to answer."""
        if decision == "allow":
            return _selected(self._id_of[ALLOW]) if self.can_allow else None
        return _selected(self._id_of[REJECT]) if self._count[REJECT] == 1 and self.is_readable else _CANCELLED

    def said(self, result: Any) -> Literal["allow", "deny", "cancelled", "unknown"]:
        """What a response of the editor says."""
        outcome = result.get("outcome") if isinstance(result, dict) else None
        if not isinstance(outcome, dict):
            return "unknown"
        if outcome.get("outcome") == "cancelled":
            return "cancelled"
        kind = self._kind_of.get(str(outcome.get("optionId")), "")
        return "allow" if kind.startswith("allow") else "deny" if kind.startswith("reject") else "unknown"


def _is_option(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("optionId"), str) and isinstance(one.get("kind"), str)


def _selected(option: str) -> dict[str, Any]:
    return {"outcome": {"outcome": "selected", "optionId": option}}
