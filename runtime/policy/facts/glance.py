"""One look at the machine for one decision: each thing is looked at once, and not without end.

Promises: a second question has the same answer as the first, so that no part of a decision is made about another machine
than the rest; over a cap the answer is "cannot be told", which asks. Pure but for the World behind it.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.runtime.policy.call import GitPlace, Resolved, World

_MOST_PATHS = 2_000
"""Different paths of one call; a look costs about 15 us on a warm file system."""
_MOST_PATTERNS = 100
_MOST_GIT = 50


class Glance:
    """A World that remembers."""

    def __init__(self, world: World, places: Iterable[str] = ()) -> None:
        """`places` are looked at first: what lies right in one of them is then one step away."""
        self._world = world
        self.case_insensitive = world.case_insensitive
        self._paths: dict[str, Resolved] = {}
        self._patterns: dict[str, tuple[str, ...] | None] = {}
        self._git: dict[str, GitPlace | None] = {}
        self._secrets: dict[tuple[str, bool], str | None] = {}
        for place in places:
            self.resolve(place)

    def resolve(self, path: str) -> Resolved:
        """Where an absolute path leads."""
        seen = self._paths.get(path)
        if seen is None:
            if len(self._paths) >= _MOST_PATHS:
                return Resolved(path, False, "other", error="more paths than are looked at")
            seen = self._paths[path] = self._in_known_folder(path) or self._world.resolve(path)
        return seen

    def resolve_in(self, folder: str, name: str) -> Resolved | None:
        """As the World says it."""
        return self._world.resolve_in(folder, name)

    def _in_known_folder(self, path: str) -> Resolved | None:
        """One step from a folder that was looked at before, instead of all the way from the root."""
        head, _, name = path.rpartition("/")
        above = self._paths.get(head)
        if above is None or above.kind != "folder" or above.error or name in ("", ".", ".."):
            return None
        return self._world.resolve_in(above.path, name)

    def expand(self, pattern: str, limit: int) -> tuple[str, ...] | None:
        """The paths that a shell's pattern stands for; `limit` is the same in all of a decision."""
        if pattern not in self._patterns:
            if len(self._patterns) >= _MOST_PATTERNS:
                return None
            self._patterns[pattern] = self._world.expand(pattern, limit)
        return self._patterns[pattern]

    def find_secret(self, folder: str, hidden: bool, limit: int) -> str | None:
        """As the World says it, once for a folder."""
        key = (folder, hidden)
        if key not in self._secrets:
            self._secrets[key] = self._world.find_secret(folder, hidden, limit)
        return self._secrets[key]

    def git_place(self, folder: str) -> GitPlace | None:
        """The repository that git would work on in `folder`."""
        if folder not in self._git:
            if len(self._git) >= _MOST_GIT:
                return GitPlace((), programs=("more folders than are looked at",))
            self._git[folder] = self._world.git_place(self.resolve(folder).path)
        return self._git[folder]
