"""The real machine, as far as a policy decision looks at it.

Promises: links are followed as the kernel follows them; a look never opens what is not a small regular file, so a FIFO
or a device cannot hold it up; a fault is told in the result, never raised.
"""

from __future__ import annotations

import errno
import glob
import os
import stat
import sys
from collections.abc import Iterator
from itertools import islice

from interlock.runtime.policy.call import GitPlace, Kind, Resolved
from interlock.runtime.policy.facts.guard import is_secret, may_be_secret
from interlock.runtime.tools.git_place import find_git_place

_NOT_YOURS = frozenset((".git", "node_modules", "site-packages", "__pycache__", ".tox", ".mypy_cache"))
"""Folders of what was installed from elsewhere or made by programs: samples of keys lie in them, and none of yours."""


class PosixWorld:
    """This machine."""

    case_insensitive = sys.platform == "darwin"

    def resolve(self, path: str) -> Resolved:
        """Where an absolute path leads."""
        return _plainly(path) or self._followed(path)

    def _followed(self, path: str) -> Resolved:
        real = ""
        try:
            real = os.path.realpath(path, strict=False)
            # realpath gives a looping link back unresolved; only a strict look tells
            seen = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return Resolved(real or os.path.realpath(path), False, "missing")
        except (OSError, ValueError) as error:
            code = getattr(error, "errno", None)
            why = "too many links" if code == errno.ELOOP else str(getattr(error, "strerror", None) or error)
            return Resolved(os.path.normpath(path), False, "link" if code == errno.ELOOP else "other", error=why)
        return Resolved(real, True, _kind(seen.st_mode), seen.st_nlink)

    def resolve_in(self, folder: str, name: str) -> Resolved | None:
        """One look instead of one a component, where `name` is no link."""
        path = f"{folder}/{name}"
        try:
            seen = os.lstat(path)
        except FileNotFoundError:
            return Resolved(path, False, "missing")
        except (OSError, ValueError):
            return None
        if stat.S_ISLNK(seen.st_mode) or folder == "/":
            return None
        return Resolved(path, True, _kind(seen.st_mode), seen.st_nlink)

    def expand(self, pattern: str, limit: int) -> tuple[str, ...] | None:
        """The paths that a shell's pattern stands for; hidden names are left out as the shell leaves them out."""
        if "**" in pattern:
            return None
        try:
            found = tuple(islice(glob.iglob(pattern), limit + 1))
        except (OSError, ValueError, RecursionError):
            return None
        return found if len(found) <= limit else None

    def find_secret(self, folder: str, hidden: bool, limit: int) -> str | None:
        """The first file of credentials below `folder`."""
        for number, entry in enumerate(_below(folder, hidden)):
            if number >= limit:
                return None
            if may_be_secret(entry.name) and is_secret(entry.path) and entry.is_file(follow_symlinks=False):
                return entry.path
        return ""

    def git_place(self, folder: str) -> GitPlace | None:
        """The repository that git would find from `folder` upwards."""
        try:
            return find_git_place(folder)
        except (OSError, ValueError) as error:
            return GitPlace((), programs=(f"its configuration cannot be read ({error})",))


def _below(folder: str, hidden: bool) -> Iterator[os.DirEntry[str]]:
    """Everything below a folder but for folders that are not gone into; what cannot be read no command reads either."""
    todo = [folder]
    while todo:
        try:
            with os.scandir(todo.pop()) as entries:
                found = [entry for entry in entries if hidden or not entry.name.startswith(".")]
        except OSError:
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_YOURS:
                todo.append(entry.path)
            yield entry


def _plainly(path: str) -> Resolved | None:
    """The same for a path that is its own real path: one look a component. None where there is a link, a dot or a fault."""
    if path[:1] != "/" or path[-1:] == "/" or "//" in path or "/." in path:
        return None
    at = path.find("/", 1)
    try:
        while at > 0:
            if not stat.S_ISDIR(os.lstat(path[:at]).st_mode):
                return None
            at = path.find("/", at + 1)
        seen = os.lstat(path)
    except FileNotFoundError:
        return Resolved(path, False, "missing")
    except (OSError, ValueError):
        return None
    if stat.S_ISLNK(seen.st_mode):
        return None
    return Resolved(path, True, _kind(seen.st_mode), seen.st_nlink)


def _kind(mode: int) -> Kind:
    if stat.S_ISREG(mode):
        return "file"
    return "folder" if stat.S_ISDIR(mode) else "other"
