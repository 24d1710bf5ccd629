"""Searches of the web have no id that all of their records share: what was looked for tells them apart."""

from __future__ import annotations

import json
from typing import Any

from interlock.runtime.sources.foreign.shape import items, text

_FIELDS = ("query", "url", "pattern")


def search_key(action: dict[str, Any]) -> str:
    """The same for the records of one search, whichever spelling they have."""
    kind = text(action.get("type")).replace("_", "").lower()
    asked = {name: text(action.get(name)) for name in _FIELDS}
    if not asked["query"]:
        asked["query"] = text(next(iter(items(action.get("queries"))), ""))
    return json.dumps([kind, *asked.values()])
