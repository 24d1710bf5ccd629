"""Which repository git would work on in a folder, without asking git.

Promises: looks as git looks (the folder and those above, a `.git` folder, a `.git` file with `gitdir:`, a bare
repository; submodules that it would enter), reads small regular files alone, and trusts nothing that they say: it only
tells where they point and which settings or hooks start a program. Raises OSError or ValueError for what cannot be read.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from interlock.runtime.policy.call import GitPlace
from interlock.runtime.tools.git_index import gitlinks

_MOST_BYTES = 262_144
"""No configuration written by hand is larger; a larger one is not read and counts as not readable."""
_MOST_SUBMODULES = 200
_MOST_HOOKS = 200
_PROGRAM_KEYS = re.compile(
    r"^(?:core\.(?:fsmonitor|pager|editor|sshcommand|askpass|alternaterefscommand|hookspath)|diff\.external"
    r"|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|pager\..*|gpg\.(?:.*\.)?program"
    r"|merge\..*\.driver|uploadpack\.packobjectshook|sequence\.editor|hook\..*\.command|gc\.recentobjectshook"
    r"|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)|tar\..*\.command|trailer\..*\.(?:command|cmd)"
    r"|interactive\.difffilter|include\.path|includeif\..*\.path|credential\.(?:.*\.)?helper)$"
)
"""Settings that make a command which only reads start a program, or that bring in more settings."""
_HARMLESS = frozenset(("", "true", "false", "yes", "no", "0", "1", "on", "off", "cat", "less", "git-lfs"))
_WORKTREE = re.compile(r"^\s*worktree\s*=\s*([^\"\n#;\\]+)$", re.MULTILINE)
_SECTION = re.compile(r'^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$')
_ENTRY = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*$")


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository, as git would find it."""

    git: str
    """Real path of its git directory."""
    common: str
    """That of the directory which it shares with other work trees; the same where it shares none."""
    top: str
    """Folder of the work tree; of a bare one, its own."""
    bare: bool = False
    worktree: str = ""
    """The same folder where it is a linked work tree, and the repository says so too."""

    @property
    def folders(self) -> tuple[str, ...]:
        """Both git directories, once each."""
        return tuple(dict.fromkeys((self.git, self.common)))

    @property
    def config_files(self) -> tuple[str, ...]:
        """The files that its settings stand in, whether they are there or not."""
        return tuple(f"{folder}/{name}" for folder in self.folders for name in ("config", "config.worktree"))


def find_git_place(folder: str) -> GitPlace | None:
    """The repository of `folder`, which is given by its real path, with what it would start; None: there is none."""
    repository = find_repository(folder)
    if repository is None:
        return None
    said = _said(repository)
    programs, hooks = list(_programs(repository, said)), _hooks(repository, said)
    entered = submodules(repository)
    for inner in entered:
        theirs = _said(inner)
        programs += [f"{told} (in {os.path.relpath(inner.top, repository.top)})" for told in _programs(inner, theirs)]
        hooks += _hooks(inner, theirs)
    return GitPlace(
        repository.folders,
        repository.bare,
        tuple(dict.fromkeys(programs)),
        repository.worktree,
        "" if repository.bare else repository.top,
        tuple(hooks),
        tuple(dict.fromkeys([f"{key[6:]} = {value[:100]}" for key, value in said if key.startswith("alias.")])),
        _remotes(said),
        tuple([inner.top for inner in entered]),
    )


def _said(repository: Repository) -> list[tuple[str, str]]:
    """Every setting of the repository itself, each file read once."""
    texts = [_read_if_there(file) for file in repository.config_files]
    return [pair for text in texts if text for pair in settings(text)]


def _remotes(said: Sequence[tuple[str, str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Name of a remote -> its addresses; "" -> the settings that rewrite addresses."""
    found: dict[str, list[str]] = {}
    for key, value in said:
        if key.startswith("remote.") and key.endswith((".url", ".pushurl")):
            found.setdefault(key[7:].rpartition(".")[0], []).append(value)
        elif key.startswith("url.") and key.endswith("insteadof"):
            found.setdefault("", []).append(key)
    return tuple((name, tuple(addresses)) for name, addresses in found.items())


def _hooks(repository: Repository, said: Sequence[tuple[str, str]]) -> list[str]:
    """The programs that stand as hooks; samples are none."""
    try:
        with os.scandir(_hooks_place(repository, said)) as entries:
            paths = sorted(entry.path for entry in entries if not entry.name.endswith(".sample"))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [path for path in paths[:_MOST_HOOKS] if os.access(path, os.X_OK)]


def find_repository(folder: str) -> Repository | None:
    """The repository of `folder`, which is given by its real path, or None."""
    at = folder
    while True:
        found = repository_in(at)
        if found is not None or at == os.path.dirname(at):
            return found
        at = os.path.dirname(at)


def repository_in(folder: str) -> Repository | None:
    """The repository that git would take in this very folder."""
    dot = os.path.join(folder, ".git")
    mode = _mode(dot)
    if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(dot)):
        # git passes over a folder of that name that holds no repository, and goes on above
        if _holds_repository(dot):
            return _repository(os.path.realpath(dot) if stat.S_ISLNK(mode) else dot, folder)
    elif mode:
        git = _pointed(dot)
        return _repository(git, folder, worktree=folder if _points_back(git, dot) else "")
    return _repository(folder, folder, bare=True) if _looks_bare(folder) else None


def _repository(git: str, top: str, *, bare: bool = False, worktree: str = "") -> Repository:
    named = _read_if_there(f"{git}/commondir")
    common = git if named is None else os.path.realpath(os.path.join(git, named.strip()))
    return Repository(git, common, top, bare, worktree)


def submodules(repository: Repository) -> tuple[Repository, ...]:
    """The repositories that git would enter from this one, and those that it would enter from them.

    At most `_MOST_SUBMODULES`; raises ValueError where there are more.
    """
    found: dict[str, Repository] = {}
    todo = [repository]
    while todo:
        outer = todo.pop()
        for path in _nested(outer):
            try:
                inner = repository_in(os.path.realpath(os.path.join(outer.top, path)))
            except (FileNotFoundError, NotADirectoryError):
                continue
            if inner is None or inner.bare or inner.git in found or inner.git == repository.git:
                continue
            if len(found) >= _MOST_SUBMODULES:
                raise ValueError(f"there are more than {_MOST_SUBMODULES} submodules")
            found[inner.git] = inner
            todo.append(inner)
    return tuple(found.values())


def _nested(repository: Repository) -> tuple[str, ...]:
    """Paths of work trees inside this one: those of its index, and those of `.gitmodules`."""
    if repository.bare:
        return ()
    listed = _read_if_there(f"{repository.top}/.gitmodules")
    named = [value for key, value in settings(listed) if key.endswith(".path")] if listed else []
    named_by_hash = dict(_said(repository)).get("extensions.objectformat", "").lower() == "sha256"
    return tuple(dict.fromkeys([*named, *gitlinks(repository.git, 32 if named_by_hash else 20)]))


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


def _programs(repository: Repository, said: Sequence[tuple[str, str]]) -> Iterator[str]:
    """The settings that make a command start a program, or work on another tree."""
    for key, value in said:
        moves = key == "core.worktree" and not _same(os.path.join(repository.git, value), repository.top)
        if moves or _names_program(key.lower(), value):
            yield f"{key} = {value[:100]}"


def _same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def hooks_folder(repository: Repository, more: Sequence[str] = ()) -> str:
    """Where its hooks lie: the last `core.hooksPath` of `more` and its own settings, else the default place."""
    said: list[tuple[str, str]] = []
    for file in (*more, *repository.config_files):
        try:
            text = _read_if_there(file)
        except (OSError, ValueError):
            continue
        said += settings(text) if text else ()
    return _hooks_place(repository, said)


def _hooks_place(repository: Repository, said: Sequence[tuple[str, str]]) -> str:
    found = ""
    for key, value in said:
        if key == "core.hookspath" and value:
            found = os.path.expanduser(value)
    return os.path.join(repository.top, found) if found else f"{repository.common}/hooks"


@lru_cache(maxsize=64)
def settings(text: str) -> tuple[tuple[str, str], ...]:
    """Every setting of a git configuration as `section.name.key` and value; section and key in small letters."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in text.replace("\\\n", "").split("\n"):
        if head := _SECTION.match(line):
            section = head[1].lower() + (f".{head[2]}" if head[2] is not None else "")
            line = head[3]
        entry = _ENTRY.match(line)
        if entry and not line.lstrip().startswith(("#", ";")):
            found.append((f"{section}.{entry[1].lower()}", (entry[2] or "").strip().strip('"')))
    return tuple(found)


def program_settings(text: str) -> tuple[str, ...]:
    """The settings in a git configuration that name a program, as `core.fsmonitor = ./x`."""
    return tuple(f"{key} = {value[:100]}" for key, value in settings(text) if _names_program(key.lower(), value))


def _names_program(key: str, value: str) -> bool:
    if key.startswith("submodule.") and key.endswith(".update"):
        return value.startswith("!")
    return bool(_PROGRAM_KEYS.match(key)) and value.lower() not in _HARMLESS and not _is_lfs(key, value)


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
