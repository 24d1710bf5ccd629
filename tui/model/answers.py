"""The answer line of a card: which keys answer, whether they are live, and if not, why not.

Promises: only what the host can honour is offered; a key that is not live is not drawn as one; the reason is said in
words. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from interlock.tui.model.ask import Ask, Suggested
from interlock.tui.model.inked import Inked, ink


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to answer."""

    command: str
    """Name of the command, which knows the key."""
    offer: str
    """Its name among the choices of an ask."""
    answer: Literal["allow", "deny"]
    scope: str
    label: str


CHOICES: tuple[Choice, ...] = (
    Choice("allow_once", "allow.once", "allow", "once", "once"),
    Choice("allow_turn", "allow.turn", "allow", "turn", "turn"),
    Choice("allow_session", "allow.session", "allow", "session", "session"),
    Choice("allow_ten_minutes", "allow.ten_minutes", "allow", "ten_minutes", "10 minutes"),
    Choice("allow_by_rule", "allow.rule", "allow", "rule", "by rule"),
    Choice("deny", "deny", "deny", "once", "deny"),
    Choice("deny_and_say", "deny.message", "deny", "once", "deny and say…"),
    Choice("ask_to_explain", "deny.message", "deny", "once", "explain…"),
)
BY_COMMAND = {choice.command: choice for choice in CHOICES}
ON_CARD = frozenset({"allow_once", "allow_session", "deny", "deny_and_say", "ask_to_explain"})
"""Answers of the card itself; the others are given where all that they would cover is shown."""
WRITTEN: dict[str, tuple[str, str]] = {
    "deny_and_say": ("deny, and say why: Enter sends, Esc goes back without an answer", ""),
    "ask_to_explain": (
        "deny for now, and have it explained: Enter sends, Esc goes back without an answer",
        "Not yet. Explain what this does and why it is needed; then you may ask again.",
    ),
}
"""Answers with words of the person: what the card says while they are written, and what stands there to begin with."""


def offered(ask: Ask | None) -> tuple[Choice, ...]:
    """What the host of an ask can honour now and the card answers, in the order of the line."""
    return () if ask is None else tuple(c for c in CHOICES if c.command in ON_CARD and ask.offers(c.offer))


def standing(ask: Ask | None, suggestion: Suggested | None) -> tuple[Choice, ...]:
    """For how long a suggestion can be allowed, from the shortest."""
    if ask is None or suggestion is None:
        return ()
    return tuple(
        c
        for c in CHOICES
        if c.scope in suggestion.scopes and c.scope != "once" and c.answer == "allow" and ask.offers(c.offer)
    )


def may_stand(ask: Ask | None) -> bool:
    """Whether anything can be allowed beyond once, with a digest that says what."""
    return ask is not None and any(one.digest and standing(ask, one) for one in ask.suggestions)


def why_only_once(ask: Ask) -> str:
    """Why it cannot be allowed for longer, as the policy says it."""
    said = ask.facts.get("onlyOnce")
    return said if isinstance(said, str) and said else "nothing that could stand is offered for this ask"


def lock_of(ask: Ask, *, end_seen: bool, rows_below: int, folded: int, end_asked: bool) -> str:
    """Why allow is not live whatever the time, or nothing. A deny is never locked."""
    if not ask.is_whole:
        return "the rest of this ask is on its way"
    if not end_seen:
        more = f"{rows_below:,} more lines below" if rows_below else "more below"
        return f"{more}: read to the end to allow"
    if folded and not end_asked:
        return f"{folded:,} blank lines are folded: End to allow"
    return ""


_MORE = 17
"""Cells of what ends the answer line."""


def line(
    ask: Ask,
    keys: dict[str, str],
    *,
    armed: frozenset[str],
    lock: str,
    whole_key: str,
    help_key: str,
    for_key: str = "",
    room: int = 0,
) -> Inked:
    """The answer line: of `keys` (command -> key label) those that are offered. `armed`: commands whose key would count
    now; `for_key`: what opens the longer allows; `room`: cells, for what the help tells as well."""
    # the first sign says without colours whether keys count now
    found = ink(("▸ ", "bold ok")) if armed else ink(("· ", "quiet"))
    for choice in offered(ask):
        if choice.command not in keys:
            continue
        if for_key and choice.answer == "deny":
            found, for_key = found.joined(ink((for_key, "bold"), " for…   ")), ""
        live = choice.command in armed and not (lock and choice.answer == "allow")
        style = ("bold ok" if choice.answer == "allow" else "bold denied") if live else "quiet"
        label = f" {choice.label}   "
        if choice.command == "ask_to_explain" and found.width + len(label) + 1 > room - _MORE:
            continue
        found = found.joined(ink((keys[choice.command], style), (label, "" if live else "quiet")))
    if room >= 60:
        found = found.joined(ink((f"{whole_key} whole   {help_key} more", "quiet")))
    return found


def state_of(ask: Ask) -> tuple[str, str]:
    """(words, style) of what has become of an ask that is not open; nothing while it is."""
    if ask.stage == "held":
        return "answered together with others; not sent yet, and can be taken back", "mark"
    if ask.stage == "sending":
        return "sending your answer…", "quiet"
    if ask.stage == "sent":
        return "sent; waiting for the record of it", "quiet"
    if ask.stage == "answered":
        return ask.outcome, "bold ok" if ask.outcome.startswith("allowed") else "bold denied"
    return (ask.outcome, "bold failed") if ask.stage == "closed" else ("", "")
