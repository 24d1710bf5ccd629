"""Reads values out of JSON whose shape is not to be relied on.

Promises: nothing here raises on any value; what is not of the asked kind reads as absent. Pure.
"""

from __future__ import annotations

import json
import math
from typing import Any

_MOST = 2**62
"""A larger count is no count."""


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if isinstance(value, list) else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in the list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: Any) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def some_text(value: Any) -> str | None:
    """The string, or None where it is empty or no string."""
    return value if isinstance(value, str) and value else None


def name_of(value: Any) -> str:
    """An id or a name: a string as it is, a number as its digits, else empty."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST else ""


def count(value: Any) -> int | None:
    """A whole number of 0 or more, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        value = int(value) if math.isfinite(value) and value.is_integer() else None
    return value if isinstance(value, int) and 0 <= value < _MOST else None


def whole(value: Any) -> int | None:
    """A whole number of any sign, or None."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST:
        return value
    return None


def number(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def at(value: Any, *path: str) -> Any:
    """What stands at the end of a path of field names, or None."""
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def parsed(value: Any) -> Any:
    """Of a string that holds JSON, the value; everything else as it is."""
    if isinstance(value, str) and value[:1] in "{[" and value:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def millis(start: Any, end: Any) -> int | None:
    """Milliseconds between two numbers of milliseconds; None where they are not two, or run backwards."""
    first, last = number(start), number(end)
    if first is None or last is None or not 0 <= last - first < _MOST:
        return None
    return int(last - first)
