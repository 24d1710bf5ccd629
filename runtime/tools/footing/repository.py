"""What a git command would take its orders from: settings, hooks and attributes of the repositories that it enters.

Promises: hooks in the default place and in that of `core.hooksPath`, of the repository and of every submodule in it, each
with what it names; settings of the system, the user and the repository with the files they include; what is absent, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from interlock.runtime.tools.footing.follow import Follower
from interlock.runtime.tools.footing.item import Budget, Item
from interlock.runtime.tools.footing.look import look_at, read_small
from interlock.runtime.tools.footing.order_table import HOOK_FILES
from interlock.runtime.tools.git_place import Repository, find_repository, hooks_folder, settings, submodules

_SYSTEM = ("/etc/gitconfig",)
_AT_HOME = (".gitconfig", ".config/git/config", ".config/git/attributes")
_MOST_HOOKS = 60
_MOST_INCLUDES = 20
_MOST_REVISIONS = 30


def git_items(
    folder: str, home: str, follower: Follower, budget: Budget, *, words: Sequence[str], writes: bool
) -> Iterator[Item]:
    """All of it for a git command in `folder`. `writes`: what it changes depends on where its `words` and HEAD point."""
    try:
        found = find_repository(os.path.realpath(folder))
        inner = submodules(found) if found is not None else ()
    except (OSError, ValueError) as error:
        yield Item("repository", f"the repository of {follower.shown(folder)}", {"kind": f"unreadable: {error}"})
        return
    fields = {"real": found.git, "common": found.common, "top": found.top} if found else {"kind": "missing"}
    yield Item("repository", f"the repository of {follower.shown(folder)}", fields)
    personal = (*_SYSTEM, *(os.path.join(home, name) for name in _AT_HOME))
    for path in personal:
        yield from _setting_file(path, follower, budget)
    if found is None:
        return
    for path in _revisions(found, words) if writes else ():
        yield look_at(path, what="order", name=follower.shown(path), depth="content", budget=budget)
    for repository in (found, *inner):
        yield from _repository(repository, personal, follower, budget)


def _revisions(repository: Repository, words: Sequence[str]) -> Iterator[str]:
    """The files that say which commits HEAD and the words stand for."""
    yield f"{repository.git}/HEAD"
    yield f"{repository.common}/packed-refs"
    data = read_small(f"{repository.git}/HEAD") or b""
    names = [data[5:].decode("utf-8", "replace").strip()] if data.startswith(b"ref: ") else []
    for word in words[:_MOST_REVISIONS]:
        if word and not word.startswith(("-", "/", ".")) and "\n" not in word and "\0" not in word:
            names += [f"refs/{place}{word}" for place in ("", "heads/", "tags/", "remotes/")]
    yield from (os.path.join(repository.common, name) for name in dict.fromkeys(names))


def _repository(
    repository: Repository, personal: tuple[str, ...], follower: Follower, budget: Budget
) -> Iterator[Item]:
    top, common = repository.top, repository.common
    for path in (f"{top}/.git", *repository.folders):
        yield look_at(path, what="order", name=follower.shown(path), depth="identity", budget=budget)
    for path in repository.config_files:
        yield from _setting_file(path, follower, budget)
    for path in (
        f"{top}/.gitattributes",
        f"{top}/.gitmodules",
        f"{common}/info/attributes",
        f"{repository.git}/commondir",
    ):
        yield look_at(path, what="order", name=follower.shown(path), depth="content", budget=budget)
    yield from _hooks(hooks_folder(repository, personal), top, follower, budget)


def _setting_file(path: str, follower: Follower, budget: Budget, level: int = 0) -> Iterator[Item]:
    """A file of settings, the files that it includes, and the programs of the project that it names."""
    yield look_at(path, what="order", name=follower.shown(path), depth="content", budget=budget)
    data = read_small(path)
    if data is None or level > 3:
        return
    for key, value in list(settings(data.decode("utf-8", "replace")))[: 40 * _MOST_INCLUDES]:
        if key == "include.path" or (key.startswith("includeif.") and key.endswith(".path")):
            inner = os.path.join(os.path.dirname(path), os.path.expanduser(value))
            yield from _setting_file(inner, follower, budget, level + 1)
        elif ("/" in value or value.startswith("!")) and not key.startswith(("remote.", "url.", "branch.")):
            # a filter, a driver, an alias that runs a script of the work tree
            yield from follower.words(value, (os.path.dirname(os.path.dirname(path)),), level=2)


def _hooks(folder: str, top: str, follower: Follower, budget: Budget) -> Iterator[Item]:
    shown = follower.shown(folder)
    yield look_at(folder, what="order", name=shown, depth="identity", budget=budget)
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            found = sorted(e.path for e in entries if not e.name.endswith(".sample") and os.access(e.path, os.X_OK))
    except (OSError, ValueError):
        pass
    yield Item("hooks", f"{shown}/", {"names": "\0".join(os.path.basename(path) for path in found[:_MOST_HOOKS])})
    if len(found) > _MOST_HOOKS:
        budget.spent[f"{shown} has more hooks than are looked at"] = None
    for path in found[:_MOST_HOOKS]:
        yield from follower.file(path, top, level=1)
        if os.path.basename(folder) == "_":
            # a folder of starters: each runs the file of its own name in the folder above
            yield from follower.file(os.path.join(os.path.dirname(folder), os.path.basename(path)), top, level=1)
    for name in HOOK_FILES if found else ():
        yield from follower.file(os.path.join(top, name), top, own=True, level=1)
