"""Ids in an export. Each message and each part stands in it once, so that an id which comes again is another's: a mark that
stands where ids were blacked out for publication. Pure.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from interlock.runtime.sources.foreign.shape import name_of


class Names:
    """The ids of one export, as far as it was read; the same export gives the same ids again."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def one(self, info: dict[str, Any]) -> dict[str, Any]:
        """A message or a part under an id of its own: its own one, counted where it stood before."""
        known = name_of(info.get("id"))
        self._seen[known] += 1
        times = self._seen[known]
        return info if times == 1 and known else {**info, "id": f"{known or 'unnamed'} {times}"}
