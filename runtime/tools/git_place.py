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

_MOST_BYTES = 262_144
"""No configuration written by hand is larger; a larger one is not read and counts as not readable."""
_MOST_INDEX = 64 * 1024 * 1024
_MOST_SUBMODULES = 200
_GITLINK = b"\0\0\xe0\0"
"""The mode of a submodule in an entry of the index; `_MODE_AT` and `_NAME_AT` are the places of mode and name in it."""
_MODE_AT, _NAME_AT = 24, 62
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
    programs, hooks = list(_programs(repository)), _hooks(repository)
    entered = submodules(repository)
    for inner in entered:
        programs += [f"{said} (in {os.path.relpath(inner.top, repository.top)})" for said in _programs(inner)]
        hooks += _hooks(inner)
    said = list(_said(repository))
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


def _said(repository: Repository) -> Iterator[tuple[str, str]]:
    """Every setting of the repository itself."""
    for file in repository.config_files:
        text = _read_if_there(file)
        yield from settings(text) if text else ()


def _remotes(said: Sequence[tuple[str, str]]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Name of a remote -> its addresses; "" -> the settings that rewrite addresses."""
    found: dict[str, list[str]] = {}
    for key, value in said:
        if key.startswith("remote.") and key.endswith((".url", ".pushurl")):
            found.setdefault(key[7:].rpartition(".")[0], []).append(value)
        elif key.startswith("url.") and key.endswith("insteadof"):
            found.setdefault("", []).append(key)
    return tuple((name, tuple(addresses)) for name, addresses in found.items())


def _hooks(repository: Repository) -> list[str]:
    """The programs that stand as hooks; samples are none."""
    try:
        with os.scandir(hooks_folder(repository)) as entries:
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
    try:
        seen = os.stat(f"{repository.git}/index")
    except OSError:
        return tuple(named)
    linked = _linked(f"{repository.git}/index", seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    return tuple(dict.fromkeys([*named, *linked]))


@lru_cache(maxsize=64)
def _linked(index: str, _number: int, size: int, _written: int, _changed: int) -> tuple[str, ...]:
    """The entries of an index that are commits of other repositories (mode 160000)."""
    if size > _MOST_INDEX:
        raise ValueError(f"{index} is larger than is looked at")
    with open(index, "rb") as file:
        data = file.read(_MOST_INDEX)
    if data[4:8] == b"\0\0\0\4":
        return tuple(_linked_in_short_form(data))
    found: list[str] = []
    at = data.find(_GITLINK)
    while at >= 0:
        name = at - _MODE_AT + _NAME_AT
        end = data.find(b"\0", name)
        if end > name and end - name < 4096:
            # what only looks like an entry leads to no repository, and no harm is done
            found.append(data[name:end].decode("utf-8", "surrogateescape"))
        at = data.find(_GITLINK, at + 1)
    return tuple(found)


def _linked_in_short_form(data: bytes) -> Iterator[str]:
    """The same of an index of version 4, where each name is told by what differs from the one before."""
    at, name = 12, b""
    for _ in range(int.from_bytes(data[8:12])):
        mode, flags = data[at + _MODE_AT : at + _MODE_AT + 4], int.from_bytes(data[at + 60 : at + 62])
        at += _NAME_AT + (2 if flags & 0x4000 else 0)
        cut = data[at] & 0x7F
        while data[at] & 0x80:
            at += 1
            cut = ((cut + 1) << 7) | (data[at] & 0x7F)
        end = data.index(b"\0", at + 1)
        name = name[: len(name) - cut] + data[at + 1 : end]
        at = end + 1
        if mode == _GITLINK:
            yield name.decode("utf-8", "surrogateescape")


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


def _programs(repository: Repository) -> Iterator[str]:
    """The settings that make a command start a program, or work on another tree."""
    for file in repository.config_files:
        text = _read_if_there(file)
        yield from program_settings(text) if text else ()
    for key, value in _said(repository):
        if key == "core.worktree" and not _same(os.path.join(repository.git, value), repository.top):
            yield f"{key} = {value[:100]}"


def _same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)


def hooks_folder(repository: Repository, more: Sequence[str] = ()) -> str:
    """Where its hooks lie: the last `core.hooksPath` of `more` and its own settings, else the default place."""
    found = ""
    for file in (*more, *repository.config_files):
        try:
            text = _read_if_there(file)
        except (OSError, ValueError):
            continue
        for key, value in settings(text) if text else ():
            if key.lower() == "core.hookspath" and value:
                found = os.path.expanduser(value)
    return os.path.join(repository.top, found) if found else f"{repository.common}/hooks"


def settings(text: str) -> Iterator[tuple[str, str]]:
    """Every setting of a git configuration as `section.name.key` and value; the key in small letters."""
    section = ""
    for line in text.replace("\\\n", "").split("\n"):
        if head := _SECTION.match(line):
            section = head[1].lower() + (f".{head[2]}" if head[2] is not None else "")
            line = head[3]
        entry = _ENTRY.match(line)
        if entry and not line.lstrip().startswith(("#", ";")):
            yield f"{section}.{entry[1].lower()}", (entry[2] or "").strip().strip('"')


@lru_cache(maxsize=32)
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
