"""What a person has allowed beyond one call, as rows, and one of them in full (ASK-4).

Promises: every standing permission that holds is listed, those of running sessions and the rules that answers of earlier
sessions left in the policy file; by whom it was made and until when it holds is told. Pure.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from interlock.runtime.events.approver import APPROVER_WORDS
from interlock.tui.model.ask import SCOPES, Ask
from interlock.tui.model.inked import EMPTY, Inked, beside, columns, hanging, ink
from interlock.tui.model.moment import age, day, rough_age
from interlock.tui.safe_text import one_line

if TYPE_CHECKING:
    from interlock.runtime.state.grants import StandingGrant

LABEL = 12


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One row."""

    key: str
    kind: Literal["group", "grant", "kept", "blank"]
    title: str = ""
    """Of a group; of a kept rule, its id."""
    number: int = 0
    grant: StandingGrant | None = None
    session: str = ""
    """The session's name, for a person."""
    text: str = ""
    """Of a kept rule."""

    @property
    def covers(self) -> str:
        """What it allows, in a few foreign words."""
        if self.grant is None:
            return self.title
        # a rule may say less than the suggestion that it was made of
        return (matcher(self.grant.rule) if self.grant.rule else "") or covers(self.grant.matches)


def rows(grants: Iterable[StandingGrant], kept: Sequence[tuple[str, str]], names: Mapping[str, str]) -> list[RuleRow]:
    """All rows. `kept`: id and text of the rules in the policy file; `names`: session -> its name."""
    standing = sorted(grants, key=lambda grant: (-grant.made_at, grant.session, grant.id))
    live = [RuleRow(f"{g.session}/{g.id}", "grant", grant=g, session=names.get(g.session, g.session)) for g in standing]
    known = {grant.rule_id for grant in standing if grant.rule_id}
    left = [RuleRow(f"kept/{name}", "kept", name, text=text) for name, text in kept if name not in known]
    return [*_group("ALLOWED IN RUNNING SESSIONS", live), *_group("RULES KEPT FROM EARLIER ANSWERS", left)]


def _group(title: str, members: list[RuleRow]) -> list[RuleRow]:
    if not members:
        return []
    return [RuleRow(f"group:{title}", "group", title, len(members)), *members, RuleRow(f"blank:{title}", "blank")]


def line(row: RuleRow, width: int, now: int) -> Inked:
    """One row as it is drawn: what, by which tool, in which session, until when, how old."""
    if row.kind == "group":
        return beside(ink((row.title, "bold quiet")), ink((str(row.number), "quiet")), width)
    if row.kind == "kept":
        return beside(ink((row.title, "bold"), ("   ", ""), (matcher(row.text), "")), ink(("for good", "ask")), width)
    if row.grant is None:
        return EMPTY
    last, made = 16, 6
    room = width - last - made - 2
    first = max(room * 5 // 9, 12)
    tool = 11
    rest = max(room - first - tool, 6)
    grant = row.grant
    return columns(
        [
            (ink((one_line(row.covers, first - 1), "bold")), first),
            (ink((one_line(grant.tool, tool - 1), "")), tool),
            (ink((one_line(row.session, rest - 1), "quiet")), rest),
            (ink((until(grant, now), "ask" if grant.scope == "rule" else "")), last),
            (ink((rough_age(now - grant.made_at), "quiet")), -made),
        ]
    )


def matcher(text: str) -> str:
    """The line of a rule that says what it is about."""
    found = (row for row in text.split("\n") if row.startswith(("command", "path", "program")))
    return next(found, "")


def covered_by(ask: Ask, grants: Iterable[StandingGrant]) -> str:
    """Which permission that was given after an ask is one that the ask itself offers: with it, it had not been asked.
    Nothing where none is; a rule counts only as it was offered, for one that was written says something else.
    """
    offered = {one.digest: one for one in ask.suggestions if one.digest}
    for grant in grants:
        one = offered.get(str(grant.matches.get("digest", "")))
        if one is None or grant.made_at < ask.opened_at or (grant.rule and grant.rule.strip() != one.rule.strip()):
            continue
        return f"allowed since this was asked, {_FOR[grant.scope]}: {one.says}"
    return ""


_FOR = {**SCOPES, "rule": "by a rule"}


def until(grant: StandingGrant, now: int) -> str:
    """How long it holds, in a few words."""
    if grant.expires_at:
        return f"{age(grant.expires_at - now)} left"
    return {"turn": "this turn", "session": "this session", "rule": "for good"}.get(grant.scope, grant.scope)


def details(row: RuleRow | None, width: int, now: int) -> list[Inked]:
    """One row in full."""
    if row is None or row.kind in ("group", "blank"):
        return []
    if row.grant is None:
        said = "from an answer of an earlier session; it stands in your policy file"
        return [*hanging("kept", ink((said, "")), width, indent=LABEL), *_rule(row.text, width)]
    grant = row.grant
    made = f"{day(grant.made_at)}, {rough_age(now - grant.made_at)} ago, by {maker(grant.by)}"
    ran = "its call has begun" if grant.call_started else ""
    lines = hanging("covers", ink((row.covers, "bold"), (f"   {grant.tool}", "quiet")), width, indent=LABEL)
    if grant.matches.get("field") == "command":
        lines += hanging("command", ink((str(grant.matches.get("value", "")), "")), width, indent=LABEL, most=3)
        lines += hanging("in", ink((str(grant.matches.get("cwd", "")), "")), width, indent=LABEL)
    lines += hanging("made", ink((made, ""), (f"   {ran}" if ran else "", "quiet")), width, indent=LABEL)
    lines += hanging("holds", ink((_holds(grant), "")), width, indent=LABEL)
    return lines + (_rule(grant.rule, width) if grant.rule else [])


def _rule(text: str, width: int) -> list[Inked]:
    shown = text.strip("\n").split("\n")
    return [
        part
        for number, row in enumerate(shown)
        for part in hanging("rule" if number == 0 else "", ink((row, "accent")), width, indent=LABEL)
    ]


def _holds(grant: StandingGrant) -> str:
    match grant.scope:
        case "turn":
            return "until the agent's turn ends: its final answer, or your next message"
        case "ten_minutes":
            return f"until {day(grant.expires_at)}, or until the session ends"
        case "rule":
            return "in this session and all later ones, until it is revoked; it stands in your policy file"
        case _:
            return "until the session ends"


def maker(by: Any) -> str:
    """Who made it."""
    if by is None:
        return "somebody (not on record)"
    if by.kind != "person":
        return APPROVER_WORDS.get(by.kind) or str(by.kind).replace("_", " ")
    mine = by.uid is None or by.uid == os.getuid()
    who = "you" if mine else f"user {by.uid}"
    return f"{who} at {by.client}" if by.client else str(who)


def covers(matches: Mapping[str, Any]) -> str:
    """What a grant covers, in the host's words where it has some."""
    label, field = matches.get("label") or matches.get("value"), matches.get("field")
    if field == "command" and matches.get("value"):
        return f"exactly {matches['value']}"
    return str(label) if label else ", ".join(f"{k}={v}" for k, v in matches.items())
