"""Paths that an earlier part of the same text may have made lead elsewhere: `ln -sf ../x a; cat a`, `mv link z; cat z`.

Promises: what is resolved on the machine holds before the text runs; a path at or below what a part of the text may put a
link to, or move a folder to, is told as it stands now and as not known. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from interlock.runtime.policy.facts.path import PathFact, is_below
from interlock.runtime.policy.facts.subject import Subject
from interlock.runtime.policy.programs import read_usage

_NOT_IN_TURN = re.compile(
    r"(?<!\|)\|(?!\|)|(?<![&<>])&(?![&>])|\b(?:for|while|until|select|function|trap|alias|coproc)\b|\(\)|[<>]\("
)
"""What lets a part of a text run again, later than it is written, or beside others."""


def with_made_links(subjects: Sequence[Subject], command: str) -> tuple[Subject, ...]:
    """The same subjects; those whose paths another part may change know it."""
    places = [tuple(_places(subject)) for subject in subjects]
    if not any(places):
        return tuple(subjects)
    in_turn = _NOT_IN_TURN.search(command) is None
    found: list[Subject] = []
    for at, subject in enumerate(subjects):
        others = places[:at] if in_turn else [*places[:at], *places[at + 1 :]]
        made = tuple(dict.fromkeys(place for one in others for place in one))
        found.append(_led(subject, made) if made else subject)
    return tuple(found)


def _places(subject: Subject) -> Iterator[tuple[str, bool]]:
    """Where it may put a link or another folder, and whether only below that place, because the folder itself stays."""
    usage = read_usage(subject.program.rpartition("/")[2], subject.args) if subject.simple is not None else None
    if usage is None or not (usage.program.links or usage.root.links):
        return
    for fact in subject.paths:
        if fact.use == "write" and fact.resolved:
            yield fact.resolved, fact.below and fact.kind == "folder"


def _led(subject: Subject, made: Sequence[tuple[str, bool]]) -> Subject:
    lost = [fact for fact in subject.paths if fact.resolved and any(_is_led(fact, subject, place) for place in made)]
    if not lost:
        return subject
    unknown = [PathFact(fact.written, "", False, fact.use, "unknown") for fact in lost]
    why = f"where {lost[0].written} leads is not known: another part of the command may put a link there"
    return replace(
        subject,
        paths=tuple(dict.fromkeys((*subject.paths, *unknown))),
        objections=(*subject.objections, why),
    )


def _is_led(fact: PathFact, subject: Subject, place: tuple[str, bool]) -> bool:
    folder, only_below = place
    cwd = subject.simple.cwd if subject.simple is not None else ""
    written = posixpath.normpath(posixpath.join(subject.call.cwd, cwd or "", fact.written))
    if fact.kind == "pattern" and is_below(folder, fact.resolved.partition("*")[0].rpartition("/")[0]):
        return True
    return any(is_below(path, folder) and not (only_below and path == folder) for path in (written, fact.resolved))
