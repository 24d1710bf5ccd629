"""An answer as a person gave it: to which ask, about exactly what, for how long. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from interlock.tui.model.answers import Choice
from interlock.tui.model.ask import Ask, Suggested
from interlock.tui.model.rules import matcher

Scope = Literal["once", "turn", "session", "ten_minutes", "rule"]


@dataclass(frozen=True, slots=True)
class Given:
    """One answer on its way."""

    ask_id: str
    digest: str
    """Of the input that was shown."""
    answer: Literal["allow", "deny"]
    scope: Scope = "once"
    message: str | None = None
    suggestion: str | None = None
    """Digest of the suggestion that was shown."""
    rule: str | None = None
    """Its text where the person edited it."""
    covers: str = ""
    """What a standing permission covers, for a person; foreign."""
    what: str = ""
    """What was asked, for a person; foreign."""
    session: str = ""


def given(
    ask: Ask, choice: Choice, *, message: str | None = None, suggestion: Suggested | None = None, rule: str = ""
) -> Given:
    """The answer to this card. A scope beyond once without a suggestion is about the first, which the card shows."""
    stands = choice.answer == "allow" and choice.scope != "once"
    one = suggestion or (ask.suggestions[0] if stands and ask.suggestions else None)
    edited = rule if stands and one is not None and rule and rule != one.rule else ""
    return Given(
        ask.id,
        ask.digest,
        choice.answer,
        choice.scope,  # type: ignore[arg-type] - the choices name the scopes of the wire
        message,
        (one.digest or None) if stands and one is not None else None,
        edited or None,
        (matcher(edited) if edited else "") or (one.says if one is not None and stands else ""),
        f"{ask.tool} {ask.prompt or ask.command or ''}".strip(),
        ask.session,
    )
