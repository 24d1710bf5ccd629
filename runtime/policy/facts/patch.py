"""The files that a patch adds, updates, deletes and moves.

Promises: every line that could name a file is taken for one, because a file too many asks and one too few passes. Only
the form `*** Begin Patch` is read in full; of a unified diff the files are given, and that they may not be all. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

BEGIN = "*** Begin Patch"
_NAMED = re.compile(r"\s*\*\*\* (Add File|Update File|Delete File|Move to):(.*)")
_OTHER = re.compile(r"\s*\*\*\* (?:Begin Patch|End Patch|End of File|Environment ID:.*)\s*")
_MARK = re.compile(r"\s*\*\*\*")
_UNIFIED = re.compile(r"^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)", re.MULTILINE)
_MOST_FILES = 400


@dataclass(frozen=True, slots=True)
class PatchFiles:
    """What a patch touches."""

    paths: tuple[str, ...]
    """All of them, in the order in which they are named."""
    deletes: frozenset[str] = frozenset()
    """Those that are gone afterwards: deleted, or moved elsewhere."""
    problem: str = ""
    """Why that may not be all, "" when it is."""


def patch_files(text: str) -> PatchFiles:
    """The files of a patch."""
    if BEGIN not in text:
        return PatchFiles(_unified(text), problem="it is no patch that begins with `*** Begin Patch`")
    found: list[str] = []
    deletes: set[str] = set()
    problem = ""
    for line in text.split("\n"):
        named = _NAMED.fullmatch(line.rstrip("\r"))
        if named:
            path = named[2].strip()
            if named[1] == "Delete File":
                deletes.add(path)
            elif named[1] == "Move to" and found:
                deletes.add(found[-1])
            found.append(path)
        elif _MARK.match(line) and not _OTHER.fullmatch(line):
            problem = problem or f"the patch has a line that is not known: {line.strip()[:40]!r}"
    paths = tuple(dict.fromkeys(found))
    if not paths or not all(paths):
        problem = problem or "the patch names no file"
    if len(paths) > _MOST_FILES:
        problem = f"the patch touches more than {_MOST_FILES} files"
    return PatchFiles(tuple(path for path in paths if path), frozenset(deletes), problem)


def _unified(text: str) -> tuple[str, ...]:
    found = (path.strip() for path in _UNIFIED.findall(text))
    return tuple(dict.fromkeys(path for path in found if path and path != "/dev/null"))
