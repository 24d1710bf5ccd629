"""The policy of a workspace as its files are at this moment (PO-1).

Promises: a file of any layer that came, went or changed counts from the next question on, also what was trusted; while
nothing changed nothing is read. Does not promise: to see a change that keeps a file's place, size and times.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from interlock.runtime.policy.rules.layer import Policy
from interlock.runtime.tools.policy_files import MANAGED, PROJECT_FILES, load_policy, trust_file, user_file

_Seen = tuple[tuple[int, int, int, int] | None, ...]


class LivePolicy:
    """The rules of every layer for one workspace."""

    def __init__(self, roots: Sequence[str | os.PathLike[str]], *, managed: Path = MANAGED) -> None:
        """`roots`: of the workspace; `managed`: the system's own file."""
        self._roots, self._managed = tuple(roots), managed
        self._seen: _Seen | None = None
        self._policy = Policy()

    def __call__(self) -> Policy:
        """The policy now. Never raises for a bad file."""
        # looked at before they are read: what changes meanwhile is read the next time
        seen = tuple(_look(file) for file in self._files())
        if seen != self._seen:
            self._policy = load_policy(self._roots, managed=self._managed)
            self._seen = seen
        return self._policy

    def _files(self) -> list[Path]:
        projects = [Path(os.path.realpath(root)) / name for root in self._roots for name in PROJECT_FILES]
        # trust decides which allows of a project count
        return [self._managed, user_file(), trust_file(), *projects]


def _look(file: Path) -> tuple[int, int, int, int] | None:
    try:
        seen = os.stat(file)
    except OSError:
        return None
    return seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns
