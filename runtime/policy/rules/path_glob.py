"""Globs of paths in rules: relative ones count from each root of the workspace, `~/` from the home, others as they are.

Promises: matched against real paths; `*` stays within one component, `**` does not; a folder named outright covers all
below it; hidden names are names like others. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from bracex import expand as expand_braces
from wcmatch import glob

from interlock.runtime.policy.facts.path import is_below
from interlock.runtime.policy.facts.tool import fixed_part

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX


class GlobError(ValueError):
    """This text is no glob; the message says why."""


@dataclass(frozen=True, slots=True)
class PathGlobs:
    """The globs of one rule."""

    texts: tuple[str, ...]

    def match(self, path: str, roots: Sequence[str], home: str, *, fold: bool = False, wide: bool = False) -> bool:
        """Whether the real path is covered. `wide`: so is a folder of which everything is."""
        return _matcher(self.texts, tuple(roots), home, fold, wide).match(path)

    def covers_part_of(self, folder: str, roots: Sequence[str], home: str, *, fold: bool = False) -> bool:
        """Whether something below `folder` may be covered, although the folder itself is not."""
        folder = folder.lower() if fold else folder
        return any(
            is_below(place, folder) or (is_open and is_below(folder, place))
            for place, is_open in _places(self.texts, tuple(roots), home, fold)
        )

    def begins_below(self, folder: str, roots: Sequence[str], home: str, *, fold: bool = False) -> bool:
        """Whether `folder` holds the place at which one of the globs begins: `keep` for `keep/**`."""
        folder = folder.lower() if fold else folder
        return any(is_below(place, folder) for place, _ in _places(self.texts, tuple(roots), home, fold))

    def could_meet(self, pattern: str, roots: Sequence[str], home: str, *, fold: bool = False) -> bool:
        """Whether a path that the shell pattern `pattern`, absolute, stands for now or later may be covered."""
        pattern = pattern.lower() if fold else pattern
        shapes = [shape for text in _absolute(self.texts, tuple(roots), home) for shape in expand_braces(text)]
        return any(could_meet(pattern.split("/"), (shape.lower() if fold else shape).split("/")) for shape in shapes)


@lru_cache(maxsize=2048)
def _absolute(texts: tuple[str, ...], roots: tuple[str, ...], home: str) -> tuple[str, ...]:
    found: list[str] = []
    for text in texts:
        if text.startswith("~/"):
            found.append(_escaped(home) + text[1:])
        elif text.startswith("/"):
            found.append(text)
        else:
            found += [posixpath.join(_escaped(root), text) for root in roots]
    return tuple(found)


@lru_cache(maxsize=2048)
def _places(texts: tuple[str, ...], roots: tuple[str, ...], home: str, fold: bool) -> tuple[tuple[str, bool], ...]:
    """Where the part of each glob in front of its first pattern lies, and whether a pattern follows."""
    found: list[tuple[str, bool]] = []
    for text in texts:
        fixed = fixed_part(text)
        if fixed.startswith("~"):
            found.append((home + fixed[1:], fixed != text))
        elif fixed.startswith("/"):
            found.append((fixed, fixed != text))
        else:
            found += [(root if fixed == "." else posixpath.join(root, fixed), fixed != text) for root in roots]
    return tuple((place.lower(), is_open) for place, is_open in found) if fold else tuple(found)


@lru_cache(maxsize=2048)
def places_of(texts: tuple[str, ...], roots: tuple[str, ...], home: str) -> tuple[str, ...]:
    """The folders outside of which no path is covered: what stands in front of each glob's first pattern."""
    return tuple("/" + posixpath.normpath(place).lstrip("/") for place, _ in _places(texts, roots, home, False))


def read_globs(texts: Sequence[str]) -> PathGlobs:
    """Check the globs. Raises GlobError."""
    for text in texts:
        if not text or "\0" in text or "\n" in text:
            raise GlobError("a path glob is one line of text and not empty")
        if len(text) > 500 or text.count("{") > 8:
            raise GlobError("a path glob has at most 500 characters and 8 braces")
        if text.startswith("~") and not text.startswith("~/"):
            raise GlobError(f"{text!r}: only your own home can be named, as `~/`")
        if ".." in text.split("/"):
            raise GlobError(f"{text!r}: `..` never matches, because paths are resolved before they are compared")
        try:
            _matcher((text,), ("/",), "/", False, False)
        except Exception as error:
            raise GlobError(f"{text!r} is no glob ({error})") from None
    return PathGlobs(tuple(_without_dots(text) for text in texts))


def _without_dots(text: str) -> str:
    """The glob as resolved paths are written, without components that only say `here`."""
    while text.startswith("./") and len(text) > 2:
        text = text[2:].lstrip("/")
    while "/./" in text:
        text = text.replace("/./", "/")
    return text


@lru_cache(maxsize=2048)
def _matcher(texts: tuple[str, ...], roots: tuple[str, ...], home: str, fold: bool, wide: bool) -> glob.WcMatcher[str]:
    flags = _FLAGS | (glob.IGNORECASE if fold else glob.CASE)
    # a folder named outright stands for all that is in it
    absolute = _absolute(texts, roots, home)
    full = [shape for text in absolute for shape in (text, text.rstrip("/") + "/**")]
    if wide:
        full += [text[:-3] for text in absolute if text.endswith("/**") and text[:-3].strip("/*")]
    return glob.compile(full, flags=flags)


def _escaped(text: str) -> str:
    return glob.escape(text, unix=True)


_MARKS = frozenset("*?[")


def could_meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether some path fits the components of both patterns, or lies below what fits the second.

    Two components with patterns in both are taken to meet where their fixed beginnings and ends allow it.
    """
    if not other or (one and one[0] == "**"):
        return True
    if not one:
        return all(part == "**" for part in other)
    if other[0] == "**":
        return could_meet(one, other[1:]) or could_meet(one[1:], other)
    return _parts_meet(one[0], other[0]) and could_meet(one[1:], other[1:])


def _parts_meet(one: str, other: str) -> bool:
    if _MARKS.isdisjoint(one):
        return fnmatchcase(one, other)
    if _MARKS.isdisjoint(other):
        return fnmatchcase(other, one)
    return _fit(_fixed(one), _fixed(other)) and _fit(_fixed(one[::-1]), _fixed(other[::-1]))


def _fixed(part: str) -> str:
    """What stands in front of the first pattern."""
    return part[: next((i for i, c in enumerate(part) if c in "*?[]"), len(part))]


def _fit(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)
