"""Globs of paths in rules: relative ones count from each root of the workspace, `~/` from the home, others as they are.

Promises: matched against real paths; `*` stays within one component, `**` does not; a folder named outright covers all
below it; hidden names are names like others. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from wcmatch import glob

from interlock.runtime.policy.path import is_below
from interlock.runtime.policy.tool import fixed_part

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX


class GlobError(ValueError):
    """This text is no glob; the message says why."""


@dataclass(frozen=True, slots=True)
class PathGlobs:
    """The globs of one rule."""

    texts: tuple[str, ...]

    def match(self, path: str, roots: Sequence[str], home: str, *, fold: bool = False) -> bool:
        """Whether the real path is covered."""
        return any(_compiled(full, fold).match(path) for full in self._absolute(roots, home))

    def covers_part_of(self, folder: str, roots: Sequence[str], home: str) -> bool:
        """Whether something below `folder` may be covered, although the folder itself is not."""
        for text in self.texts:
            fixed = fixed_part(text)
            for place in _places(fixed, roots, home):
                if is_below(place, folder) or (fixed != text and is_below(folder, place)):
                    return True
        return False

    def _absolute(self, roots: Sequence[str], home: str) -> list[str]:
        found: list[str] = []
        for text in self.texts:
            if text.startswith("~/"):
                found.append(_escaped(home) + text[1:])
            elif text.startswith("/"):
                found.append(text)
            else:
                found += [posixpath.join(_escaped(root), text) for root in roots]
        return found


def _places(fixed: str, roots: Sequence[str], home: str) -> list[str]:
    """Where the part of a glob in front of its first pattern lies."""
    if fixed.startswith("~"):
        return [home + fixed[1:]]
    if fixed.startswith("/"):
        return [fixed]
    return [root if fixed == "." else posixpath.join(root, fixed) for root in roots]


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
            _compiled(text, False)
        except Exception as error:
            raise GlobError(f"{text!r} is no glob ({error})") from None
    return PathGlobs(tuple(texts))


@lru_cache(maxsize=2048)
def _compiled(text: str, fold: bool) -> glob.WcMatcher[str]:
    flags = _FLAGS | (glob.IGNORECASE if fold else glob.CASE)
    # a folder named outright stands for all that is in it
    return glob.compile([text, text.rstrip("/") + "/**"], flags=flags)


def _escaped(text: str) -> str:
    return glob.escape(text, unix=True)
