"""The files that a patch in the form `*** Begin Patch` adds, updates, deletes and moves.

Promises: every line that could name a file is taken for one, because a file too many asks and one too few passes; what
does not look like such a patch is told. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_BEGIN = "*** Begin Patch"
_NAMED = re.compile(r"\s*\*\*\* (?:Add File|Update File|Delete File|Move to):(.*)")
_OTHER = re.compile(r"\s*\*\*\* (?:Begin Patch|End Patch|End of File|Environment ID:.*)\s*")
_MARK = re.compile(r"\s*\*\*\*")
_MOST_FILES = 400


@dataclass(frozen=True, slots=True)
class PatchFiles:
    """What a patch touches."""

    paths: tuple[str, ...]
    problem: str = ""
    """Why that may not be all, "" when it is."""


def patch_files(text: str) -> PatchFiles:
    """The files of a patch in the order in which it names them."""
    if _BEGIN not in text:
        return PatchFiles((), "it is no patch that begins with `*** Begin Patch`")
    found: list[str] = []
    problem = ""
    for line in text.split("\n"):
        named = _NAMED.fullmatch(line.rstrip("\r"))
        if named:
            found.append(named[1].strip())
        elif _MARK.match(line) and not _OTHER.fullmatch(line):
            problem = problem or f"the patch has a line that is not known: {line.strip()[:40]!r}"
    paths = tuple(dict.fromkeys(found))
    if not paths or not all(paths):
        problem = problem or "the patch names no file"
    if len(paths) > _MOST_FILES:
        problem = f"the patch touches more than {_MOST_FILES} files"
    return PatchFiles(tuple(path for path in paths if path), problem)
