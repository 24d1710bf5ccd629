"""Codex writes much of what is said twice or thrice: as an event, as an item of the response, as a completed item.

Promises: of any number of equal texts on several channels, each is told as often as the channel with most of them has
it, whichever comes first. Pure.
"""

from __future__ import annotations

import re

_HIDDEN = re.compile(r"<(oai-mem-citation|proposed_plan)>.*?</\1>", re.DOTALL)
_IMAGE_TAGS = re.compile(r"</?image\b[^>]*>")


class Mirror:
    """What was told of one kind of thing."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int], int] = {}
        self._told: dict[int, int] = {}

    def fresh(self, channel: str, text: str) -> bool:
        """Whether this channel has it more often than it was told until now."""
        ahead = self.ahead(channel, text)
        if ahead:
            self.tell(channel, text)
        return ahead

    def ahead(self, channel: str, text: str) -> bool:
        """The same, of a text that is not told yet."""
        key = hash(text)
        seen = self._seen.get((channel, key), 0) + 1
        self._seen[(channel, key)] = seen
        return seen > self._told.get(key, 0)

    def tell(self, channel: str, text: str) -> None:
        """It was told as often as this channel has it."""
        key = hash(text)
        self._told[key] = max(self._told.get(key, 0), self._seen.get((channel, key), 0))


def plain(text: str) -> str:
    """A text without what only one of its channels carries: citations, plans, image tags, space around it."""
    if "<" in text:
        text = _IMAGE_TAGS.sub("", _HIDDEN.sub("", text))
    return text.strip()


def plans_in(text: str) -> list[str]:
    """The proposed plans that a message carries."""
    if "<proposed_plan>" not in text:
        return []
    return [part.strip() for part in re.findall(r"<proposed_plan>(.*?)</proposed_plan>", text, re.DOTALL)]
