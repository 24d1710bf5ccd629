"""Which repository git would work on in a folder, without asking git.

Promises: looks as git looks (the folder and those above, a `.git` folder, a `.git` file with `gitdir:`, a bare
repository), reads small regular files and the index alone, and trusts nothing that they say: it only tells where they
point, which settings name a program, which hooks stand there, and the same of the submodules that git would enter. Raises
OSError or ValueError for what cannot be read.
"""

from __future__ import annotations

import os
import stat

from interlock.runtime.policy.call import GitPlace
from interlock.runtime.tools.git_index import gitlinks
from interlock.runtime.tools.git_settings import Settings, read_settings

_MOST_BYTES = 262_144
"""No configuration written by hand is larger; a larger one is not read and counts as not readable."""
_MOST_HOOKS = 200
_MOST_SUBMODULES = 200
_MOST_DEPTH = 5


def find_git_place(folder: str) -> GitPlace | None:
    """The repository of `folder`, which is given by its real path, or None."""
    at = folder
    while True:
        dot = os.path.join(at, ".git")
        mode = _mode(dot)
        if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(dot)):
            # git passes over a folder of that name that holds no repository, and goes on above
            if _holds_repository(dot):
                return _place(os.path.realpath(dot) if stat.S_ISLNK(mode) else dot, bare=False, top=at)
        elif mode:
            return _place(_pointed(dot), bare=False, top=at)
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


def _place(git: str, *, bare: bool, top: str = "", depth: int = 0) -> GitPlace:
    folders = [git]
    common = _read_if_there(f"{git}/commondir")
    if common is not None:
        folders.append(os.path.realpath(os.path.join(git, common.strip())))
    found = [settings for place in dict.fromkeys(folders) for settings in _settings(place)]
    programs = [text for settings in found for text in settings.programs]
    for settings in found:
        if settings.worktree and os.path.realpath(os.path.join(git, settings.worktree)) != os.path.realpath(top):
            programs.append(f"core.worktree = {settings.worktree}")
    width = 32 if any(settings.sha256 for settings in found) else 20
    inner = _submodules(git, top, width, depth) if top else []
    for place in inner:
        programs += place.programs
    hooks = [*_hooks(folders[-1]), *(hook for place in inner for hook in place.hooks)]
    return GitPlace(
        tuple(dict.fromkeys(folders)),
        bare,
        tuple(dict.fromkeys(programs)),
        top,
        common is not None and _is_known(git, top),
        tuple(hooks),
        tuple(dict.fromkeys(text for settings in found for text in settings.aliases)),
        _remotes([pair for settings in found for pair in settings.remotes]),
        tuple(place.top for place in inner),
    )


def _settings(place: str) -> list[Settings]:
    texts = [_read_if_there(f"{place}/{name}") for name in ("config", "config.worktree")]
    return [read_settings(text) for text in texts if text]


def _remotes(pairs: list[tuple[str, str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: dict[str, list[str]] = {}
    for name, address in pairs:
        found.setdefault(name, []).append(address)
    return tuple((name, tuple(addresses)) for name, addresses in found.items())


def _is_known(git: str, top: str) -> bool:
    """Whether the repository says itself that `top` is a work tree of its own: its note points back."""
    note = _read_if_there(f"{git}/gitdir")
    return note is not None and os.path.realpath(os.path.join(git, note.strip())) == f"{os.path.realpath(top)}/.git"


def _hooks(common: str) -> list[str]:
    """The files in the folder of hooks that can be run; samples are none."""
    try:
        with os.scandir(f"{common}/hooks") as entries:
            names = sorted(entry.name for entry in entries if not entry.name.endswith(".sample"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    paths = [f"{common}/hooks/{name}" for name in names[:_MOST_HOOKS]]
    return [path for path in paths if os.access(path, os.X_OK)]


def _submodules(git: str, top: str, width: int, depth: int) -> list[GitPlace]:
    """The repositories in it that its index names, and those in them."""
    found: list[GitPlace] = []
    for path in gitlinks(git, width):
        if depth >= _MOST_DEPTH or len(found) >= _MOST_SUBMODULES:
            raise ValueError("it holds more submodules than are looked at")
        inner = os.path.join(top, path)
        mode = _mode(os.path.join(inner, ".git"))
        if not mode:
            continue  # not checked out: nothing is entered
        where = os.path.join(inner, ".git") if stat.S_ISDIR(mode) else _pointed(os.path.join(inner, ".git"))
        place = _place(where, bare=False, top=os.path.realpath(inner), depth=depth + 1)
        found += [place, *(GitPlace((), top=below) for below in place.submodules)]
    return found


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
