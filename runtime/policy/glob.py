"""Path globs of rules against path facts, by wcmatch. Pure: no file is looked at.

Promises: the resolved path is compared, never the raw text. `**` goes through folders, `*` does not, names with a dot in
front are matched too. A glob without `/` matches that name at any depth, `~/` and `/` begin absolute ones, every other
is below a root of the workspace.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interlock.runtime.policy.path import PathFact
    from interlock.runtime.policy.subject import Subject

_SIGNS = frozenset("*?[{")


class BadGlobError(ValueError):
    """The glob cannot be read; the message says why."""


def check_glob(glob: str) -> None:
    """Raises BadGlobError when the glob can match nothing or cannot be read."""
    if not glob.strip("/ "):
        raise BadGlobError("the glob is empty")
    if "\0" in glob or "\n" in glob:
        raise BadGlobError("the glob holds a NUL or a line end")
    if ".." in glob.split("/"):
        raise BadGlobError("'..' in a glob: paths are compared after '..' is resolved, so it would match nothing")
    if glob.count("[") != glob.count("]") or glob.count("{") != glob.count("}"):
        raise BadGlobError("a bracket does not close")
    try:
        _compiled(glob, False)
    except Exception as error:  # wcmatch raises what `re` and its own limits raise
        raise BadGlobError(f"the glob cannot be read: {error}") from None


def path_matches(glob: str, fact: PathFact, subject: Subject) -> bool:
    """Whether the place that the path leads to is one of the glob's."""
    matcher = _compiled(_absolute(glob, subject.home), subject.fold_case)
    names = [fact.resolved] if glob.startswith(("/", "~")) else _below(fact.resolved, subject)
    return any(bool(matcher.match(name)) for name in names)


def may_reach(glob: str, fact: PathFact, subject: Subject) -> bool:
    """Whether a folder that is worked through, or a name written as a pattern, may hold a place of the glob."""
    pattern = any(sign in fact.written for sign in _SIGNS)
    if not pattern and not subject.recursive:
        return False
    folder = fact.resolved.rpartition("/")[0] if pattern else fact.resolved
    while any(sign in folder for sign in _SIGNS):
        folder = folder.rpartition("/")[0]
    if glob.startswith(("/", "~")):
        return _overlap(_fixed(_absolute(glob, subject.home)), folder)
    if "/" not in glob:
        return True
    return any(_overlap(f"{root.rstrip('/')}/{_fixed(glob)}".rstrip("/"), folder) for root in subject.roots)


def _overlap(fixed: str, folder: str) -> bool:
    return (fixed + "/").startswith(folder.rstrip("/") + "/") or (folder + "/").startswith(fixed.rstrip("/") + "/")


def _fixed(glob: str) -> str:
    """The folders in front of the first pattern."""
    kept: list[str] = []
    for part in glob.split("/"):
        if any(sign in part for sign in _SIGNS):
            break
        kept.append(part)
    return "/".join(kept)


def _absolute(glob: str, home: str) -> str:
    return home + glob[1:] if glob == "~" or glob.startswith("~/") else glob


def _below(path: str, subject: Subject) -> list[str]:
    names = [
        path[len(r.rstrip("/")) + 1 :] or "." for r in subject.roots if (path + "/").startswith(r.rstrip("/") + "/")
    ]
    # outside every root only a bare name can be meant
    return names or [path.rpartition("/")[2]]


@lru_cache(maxsize=512)
def _compiled(glob: str, fold_case: bool) -> Any:
    from wcmatch import glob as wcmatch

    flags = wcmatch.GLOBSTAR | wcmatch.DOTMATCH | wcmatch.BRACE | wcmatch.FORCEUNIX
    flags |= wcmatch.IGNORECASE if fold_case else wcmatch.CASE
    patterns = [glob] if "/" in glob else [glob, f"**/{glob}"]
    if glob.endswith("/**"):
        patterns.append(glob[:-3])
    return wcmatch.compile(patterns, flags=flags, limit=500)
