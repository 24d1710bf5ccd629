"""A question that an agent asks the person, with the answers it offers, taken from the input of its tool. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """One question. All texts are the agent's."""

    text: str
    header: str
    options: tuple[tuple[str, str], ...]
    """(label, description) of each answer it offers."""
    is_many: bool
    """Whether several answers may be chosen."""


def questions_of(given: Any) -> tuple[Question, ...]:
    """The questions in an input; () when it holds none, or anything besides that a reader of them would not see."""
    listed = given.get("questions") if isinstance(given, Mapping) and set(given) == {"questions"} else None
    if not isinstance(listed, list | tuple) or not listed:
        return ()
    found = [_question(item) for item in listed]
    return tuple(one for one in found if one is not None) if all(found) else ()


def _question(item: Any) -> Question | None:
    known = {"question", "header", "options", "multiSelect"}
    if not isinstance(item, Mapping) or not set(item) <= known or not isinstance(item.get("question"), str):
        return None
    options = item.get("options", ())
    if not isinstance(options, list | tuple) or not all(_is_option(one) for one in options):
        return None
    header, many = item.get("header", ""), item.get("multiSelect", False)
    if not isinstance(header, str) or not isinstance(many, bool):
        return None
    told = tuple((one["label"], one.get("description", "")) for one in options)
    return Question(item["question"], header, told, many)


def _is_option(one: Any) -> bool:
    known = isinstance(one, Mapping) and "label" in one and set(one) <= {"label", "description"}
    return known and all(isinstance(text, str) for text in one.values())
