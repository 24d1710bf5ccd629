"""Allow for longer: what a standing permission would cover, for how long, and what it would have covered before (ASK-4).

Promises: what would be granted stands first and whole: the rule as the file would get it, or the exact command; what is
known of past calls is told as a count over what was looked at; nothing is said to be known that is not. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.tui.model.answers import Choice
from interlock.tui.model.ask import Ask, Suggested
from interlock.tui.model.inked import EMPTY, Inked, hanging, ink
from interlock.tui.model.moment import count, day

LABEL = 12


@dataclass(frozen=True, slots=True)
class Preview:
    """What a suggestion would have covered, as far as it is known."""

    state: str = "asked"
    """`asked`, `known` or `fault`."""
    fault: str = ""
    """Why it is not known, or why an edited rule cannot be kept."""
    refused: bool = False
    """Whether the rule cannot be kept."""
    calls: int = 0
    sessions: int = 0
    since: int = 0
    """Microseconds since 1970."""
    whole: bool = True
    covered: int = 0
    still_asks: int = 0
    covers_this: bool | None = None
    """Whether the call in hand would pass; it is in none of the numbers."""
    examples: tuple[str, ...] = ()
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """One suggestion as it stands in the panel, with the person's own text of its rule."""

    suggestion: Suggested
    edited: str = ""
    """The rule as the person left it; empty: as it was suggested."""

    @property
    def rule(self) -> str:
        """The text that would be kept."""
        return self.edited or self.suggestion.rule

    @property
    def is_edited(self) -> bool:
        """Whether the text is another than the suggested one."""
        return bool(self.edited) and self.edited != self.suggestion.rule


def offers(ask: Ask) -> tuple[Suggested, ...]:
    """The suggestions that can be answered with: those with a digest."""
    return tuple(one for one in ask.suggestions if one.digest)


def row(one: Suggested, number: int, width: int, *, picked: bool) -> list[Inked]:
    """A suggestion in the list, whole."""
    sign = ink(("▌" if picked else " ", "bold ask"), (f"{number} ", "quiet"))
    style = "bold" if picked else ""
    lines = ink((one.label, style)).wrapped(max(width - sign.width, 8))
    return [
        (sign if n == 0 else ink(("▌" if picked else " ", "bold ask"), "  ")).joined(line)
        for n, line in enumerate(lines)
    ]


_FIELDS = {
    "command": "exactly this command, and only in this folder",
    "path": "changes of this one file",
    "pattern": "commands of this form in any folder; by rule, in every project",
    "reading": "these programs in any folder, as long as they are understood to only read",
    "folder": "changes of every file in this folder and below",
}


MOST_EXAMPLES = 5


def body(chosen: Chosen, preview: Preview | None, width: int, height: int) -> list[Inked]:
    """What would be granted, then what it would have covered; fewer examples where `height` rows would not do."""
    granted, most = _granted(chosen, width), MOST_EXAMPLES
    while len(lines := [*granted, EMPTY, *_preview(preview, width, most)]) > height and most > 1:
        most -= 1
    return lines


def _granted(chosen: Chosen, width: int) -> list[Inked]:
    one = chosen.suggestion
    said = "what your rule says" if chosen.is_edited else _FIELDS.get(one.field, one.label)
    lines = hanging("covers", ink((said, "")), width, indent=LABEL)
    if one.field == "command":
        lines += [*_block("", one.value, width), *hanging("in", ink((one.cwd, "")), width, indent=LABEL)]
    if one.rule:
        lines += [*_block("your rule" if chosen.is_edited else "as a rule", chosen.rule.strip("\n"), width)]
    return lines


def _block(label: str, text: str, width: int) -> list[Inked]:
    rows = [row for line in text.split("\n") for row in ink((line, "accent")).wrapped(max(width - LABEL, 8))]
    return [ink((f"{label if n == 0 else '':<{LABEL}}", "quiet")).joined(row) for n, row in enumerate(rows)]


def _preview(preview: Preview | None, width: int, most: int) -> list[Inked]:
    if preview is None or preview.state == "asked":
        return hanging("before", ink(("looking through past calls…", "quiet")), width, indent=LABEL)
    if preview.state == "fault":
        style = "bold failed" if preview.refused else "quiet"
        words = f"this rule cannot be kept: {preview.fault}" if preview.refused else preview.fault
        return hanging("before", ink((words, style)), width, indent=LABEL)
    lines: list[Inked] = []
    if preview.covers_this is not None:
        words, style = ("passes", "ok") if preview.covers_this else ("still asks", "ask")
        lines += hanging("this one", ink((words, style)), width, indent=LABEL)
    lines += hanging("before", ink((_over(preview), "quiet")), width, indent=LABEL)
    asked = preview.covered + preview.still_asks
    if not preview.calls:
        return lines
    if not asked:
        return [*lines, *hanging("", ink(("none of them would be asked about now", "quiet")), width, indent=LABEL)]
    lines += _counted(
        f"{preview.covered} of the {asked} that asked before would pass", preview.examples[:most], "pass ", "ok", width
    )
    if preview.near:
        lines += _counted("still asked, though much like it", preview.near[:most], "ask  ", "ask", width)
    return lines


def _counted(words: str, examples: Sequence[str], sign: str, style: str, width: int) -> list[Inked]:
    lines = hanging("", ink((words, "bold" if sign == "pass " else "")), width, indent=LABEL)
    for text in examples:
        lines += hanging("", ink((sign, style), (text.split("\n")[0], "")), width, indent=LABEL + 2, most=2)
    return lines


def _over(preview: Preview) -> str:
    if not preview.calls:
        return "no call of this tool is on record"
    number = count(preview.calls, "call")
    all_of_them = f"all {number} on record" if preview.calls > 1 else "the one call on record"
    which = all_of_them if preview.whole else f"the last {number}, no older ones"
    since = f", since {day(preview.since)[:10]}" if preview.since else ""
    return f"{which} ({count(preview.sessions, 'session')}{since})"


def lock_of(ask: Ask, *, card_lock: str, end_seen: bool) -> str:
    """Why nothing here can be allowed now whatever the time, or nothing. `card_lock`: why the card itself is locked."""
    if card_lock:
        return f"to read only, because the ask itself is locked: {card_lock}"
    if not ask.is_whole:
        return "the rest of this ask is on its way"
    if not end_seen:
        return "more below: read to the end to allow"
    return ""


def rule_lock(chosen: Chosen, preview: Preview | None) -> str:
    """Why the rule as it stands cannot be kept, or nothing. An edited one has to be looked at by its host first."""
    if not chosen.is_edited:
        return ""
    if preview is None or preview.state == "asked":
        return "the host looks at your rule"
    return f"not kept like this: {preview.fault}" if preview.refused else ""


EDITED_ALONE = "your own text can be kept as a rule alone; e and an empty text bring the suggestion back"


def line(
    choices: Sequence[Choice], keys: dict[str, str], armed: frozenset[str], *, edit_key: str, back_key: str
) -> Inked:
    """The keys of the panel. `armed`: commands whose key would count now."""
    found = ink(("▸ ", "bold ok")) if armed else ink(("· ", "quiet"))
    for choice in choices:
        live = choice.command in armed
        found = found.joined(
            ink(
                (keys[choice.command], "bold ok" if live else "quiet"),
                (f" {WORDS[choice.scope]}   ", "" if live else "quiet"),
            )
        )
    if edit_key:
        found = found.joined(ink((edit_key, "bold"), (" edit it   ", "quiet")))
    return found.joined(ink((back_key, "bold"), (" back", "quiet")))


WORDS = {"turn": "turn", "session": "session", "ten_minutes": "10 min", "rule": "rule, for good"}
