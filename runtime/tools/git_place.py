"""Which repository git would work on in a folder, without asking git.

Promises: looks as git looks (the folder and those above, a `.git` folder, a `.git` file with `gitdir:`, a bare
repository), reads small regular files alone, and trusts nothing that they say: it only tells where they point and
which settings name a program. Raises OSError or ValueError for what cannot be read.
"""

from __future__ import annotations

import os
import re
import stat
from functools import lru_cache

from interlock.runtime.policy.call import GitPlace

_MOST_BYTES = 262_144
"""No configuration written by hand is larger; a larger one is not read and counts as not readable."""
_PROGRAM_KEYS = re.compile(
    r"^(?:core\.(?:fsmonitor|pager|editor|sshcommand|askpass|alternaterefscommand|hookspath)|diff\.external"
    r"|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|pager\..*|gpg\.(?:.*\.)?program"
    r"|interactive\.difffilter|include\.path|includeif\..*\.path|credential\.(?:.*\.)?helper)$"
)
"""Settings that make a command which only reads start a program, or that bring in more settings."""
_HARMLESS = frozenset(("", "true", "false", "yes", "no", "0", "1", "on", "off", "cat", "less", "git-lfs"))
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*([^\"\n#;\\]+)$", re.MULTILINE)
_SECTION = re.compile(r'^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$')
_ENTRY = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*$")


def find_git_place(folder: str) -> GitPlace | None:
    """The repository of `folder`, which is given by its real path, or None."""
    at = folder
    while True:
        dot = os.path.join(at, ".git")
        mode = _mode(dot)
        if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(dot)):
            # git passes over a folder of that name that holds no repository, and goes on above
            if _holds_repository(dot):
                return _place(os.path.realpath(dot) if stat.S_ISLNK(mode) else dot, bare=False)
        elif mode:
            git = _pointed(dot)
            return _place(git, bare=False, worktree=at if _points_back(git, dot) else "")
        if _looks_bare(at):
            return _place(at, bare=True)
        if at == os.path.dirname(at):
            return None
        at = os.path.dirname(at)


def _mode(path: str) -> int:
    """What stands there itself, 0 for nothing."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _holds_repository(dot: str) -> bool:
    return _looks_bare(dot) or os.path.lexists(os.path.join(dot, "commondir"))


def _looks_bare(folder: str) -> bool:
    return all(os.path.lexists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))


def _pointed(dot: str) -> str:
    text = _read(dot).strip()
    if not text.startswith("gitdir:"):
        raise ValueError(f"{dot} is no repository")
    return os.path.realpath(os.path.join(os.path.dirname(dot), text[len("gitdir:") :].strip()))


def _points_back(git: str, dot: str) -> bool:
    """Whether the repository knows the `.git` file that leads to it: as a worktree's, or as a submodule's."""
    text = _read_if_there(f"{git}/gitdir")
    if text is not None:
        return os.path.realpath(os.path.join(git, text.strip())) == os.path.realpath(dot)
    named = _WORKTREE.findall(_read_if_there(f"{git}/config") or "")
    return len(named) == 1 and os.path.realpath(os.path.join(git, named[0].strip())) == os.path.dirname(dot)


def _place(git: str, *, bare: bool, worktree: str = "") -> GitPlace:
    folders = [git]
    common = _read_if_there(f"{git}/commondir")
    if common is not None:
        folders.append(os.path.realpath(os.path.join(git, common.strip())))
    programs: list[str] = []
    for place in dict.fromkeys(folders):
        for name in ("config", "config.worktree"):
            text = _read_if_there(f"{place}/{name}")
            programs += program_settings(text) if text else ()
    return GitPlace(tuple(dict.fromkeys(folders)), bare, tuple(dict.fromkeys(programs)), worktree)


@lru_cache(maxsize=32)
def program_settings(text: str) -> tuple[str, ...]:
    """The settings in a git configuration that name a program, as `core.fsmonitor = ./x`."""
    found: list[str] = []
    section = ""
    for line in text.replace("\\\n", "").split("\n"):
        if head := _SECTION.match(line):
            section = head[1].lower() + (f".{head[2]}" if head[2] is not None else "")
            line = head[3]
        entry = _ENTRY.match(line)
        if not entry or line.lstrip().startswith(("#", ";")):
            continue
        value = (entry[2] or "").strip().strip('"')
        key = f"{section}.{entry[1].lower()}"
        if _PROGRAM_KEYS.match(key.lower()) and value.lower() not in _HARMLESS and not _is_lfs(key, value):
            found.append(f"{key} = {value[:100]}")
    return tuple(found)


def _is_lfs(key: str, value: str) -> bool:
    # large-file filters are in countless repositories; their program is found on PATH, not in the repository
    return key.lower().startswith("filter.lfs.") and value.startswith("git-lfs ") and not set(value) & set(";|&$`<>()")


def _read_if_there(path: str) -> str | None:
    try:
        return _read(path)
    except FileNotFoundError:
        return None


def _read(path: str) -> str:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        seen = os.fstat(handle)
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > _MOST_BYTES:
            raise ValueError(f"{path} is no small regular file")
        return os.read(handle, _MOST_BYTES + 1).decode("utf-8", "replace")
    finally:
        os.close(handle)
