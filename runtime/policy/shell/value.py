"""What an expansion makes of a value that the text gave: arrays, parts, cuts, replacements, case.

Promises: guesses for denials; None where the text does not say. A pattern is matched as bash matches it, as far as
`fnmatch` knows the forms. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate

_SLICE = re.compile(r":\s*(-?\d+)\s*(?::\s*(-?\d+)\s*)?\Z")
_MOST = 2_000
"""Characters of a value that are looked at."""
_MOST_CUT = 400
"""Characters of a value that is cut by a pattern: each of its ends is tried."""


def transformed(value: str, op: str, arg: str) -> str | None:
    """`value` after `${name<arg>}`, where `op` is how `arg` begins."""
    if len(value) > _MOST or len(arg) > _MOST:
        return None
    if op[:1] == "@":
        return {"@L": value.lower(), "@U": value.upper(), "@u": value[:1].upper() + value[1:]}.get(op, value)
    if op[:1] in ("#", "%") and len(value) > _MOST_CUT:
        return None
    change = _CHANGES.get(op[:1])
    return change(value, arg) if change else None


def _sliced(value: str, arg: str) -> str | None:
    found = _SLICE.match(arg)
    if not found:
        return None
    first = int(found[1])
    rest = value[first:]
    if found[2] is None:
        return rest
    last = int(found[2])
    return rest[:last]


def _from_front(value: str, arg: str) -> str | None:
    longest = arg.startswith("##")
    fits = _test(arg.lstrip("#"))
    ends = range(len(value), -1, -1) if longest else range(len(value) + 1)
    return next((value[i:] for i in ends if fits(value[:i])), value)


def _from_back(value: str, arg: str) -> str | None:
    longest = arg.startswith("%%")
    fits = _test(arg.lstrip("%"))
    starts = range(len(value) + 1) if longest else range(len(value), -1, -1)
    return next((value[:i] for i in starts if fits(value[i:])), value)


def _replaced(value: str, arg: str) -> str | None:
    every = arg.startswith("//")
    pattern, _, new = arg.lstrip("/").partition("/")
    if not pattern or any(c in pattern for c in "*?["):
        return None
    return value.replace(pattern, new) if every else value.replace(pattern, new, 1)


def _cased(value: str, arg: str) -> str | None:
    fold = str.lower if arg[0] == "," else str.upper
    return fold(value) if arg in (",,", "^^") else fold(value[:1]) + value[1:]


_CHANGES: dict[str, Callable[[str, str], str | None]] = {
    ":": _sliced,
    "#": _from_front,
    "%": _from_back,
    "/": _replaced,
    ",": _cased,
    "^": _cased,
}


def _test(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern), re.DOTALL).match


def element(index: str) -> str:
    """How an element of an array is named among the values: `@` for all of them."""
    return "[@]" if index in ("@", "*") else f"[{index.strip()}]"


def split_by(value: str, separators: object) -> list[str]:
    """The words of a value that stands without quotes, where IFS was set in sight."""
    if isinstance(separators, str) and separators.strip(" \t\n"):
        value = value.translate({ord(c): " " for c in separators})
    return value.split()
