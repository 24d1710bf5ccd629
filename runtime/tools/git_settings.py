"""The settings in a git configuration that matter to a decision, read as text.

Promises: reads what git would take for a setting, and trusts none of it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

_PROGRAM_KEYS = re.compile(
    r"^(?:core\.(?:fsmonitor|pager|editor|sshcommand|askpass|alternaterefscommand|hookspath)|diff\.external"
    r"|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|pager\..*|gpg\.(?:.*\.)?program"
    r"|merge\..*\.driver|uploadpack\.packobjectshook|sequence\.editor|hook\..*\.command"
    r"|gc\.recentobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs|proxy)"
    r"|interactive\.difffilter|include\.path|includeif\..*\.path|credential\.(?:.*\.)?helper)$"
)
"""Settings that make a command start a program, or that bring in more settings."""
_HARMLESS = frozenset(("", "true", "false", "yes", "no", "0", "1", "on", "off", "cat", "less", "git-lfs"))
_SECTION = re.compile(r'^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$')
_ENTRY = re.compile(r"^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*?))?\s*$")
_MOST_SHOWN = 100


@dataclass(frozen=True, slots=True)
class Settings:
    """What one configuration says."""

    programs: tuple[str, ...] = ()
    """Settings that name a program, as `core.fsmonitor = ./x`."""
    aliases: tuple[str, ...] = ()
    """`co = checkout`."""
    remotes: tuple[tuple[str, str], ...] = ()
    """(name, address), and ("", text) for a setting that rewrites addresses."""
    worktree: str = ""
    """`core.worktree`: where the work tree lies instead."""
    sha256: bool = False
    """Objects are named by 32 bytes."""


@lru_cache(maxsize=32)
def read_settings(text: str) -> Settings:
    """The settings in the text of a configuration."""
    programs: list[str] = []
    aliases: list[str] = []
    remotes: list[tuple[str, str]] = []
    worktree, sha256 = "", False
    for key, value in _entries(text):
        lowered = key.lower()
        if _names_program(key, value):
            programs.append(f"{key} = {value[:_MOST_SHOWN]}")
        elif lowered.startswith("alias."):
            aliases.append(f"{key[6:]} = {value[:_MOST_SHOWN]}")
        elif lowered.startswith("remote.") and lowered.endswith((".url", ".pushurl")):
            remotes.append((key[7:].rpartition(".")[0], value))
        elif lowered.startswith("url.") and lowered.endswith("insteadof"):
            remotes.append(("", key))
        elif lowered == "core.worktree":
            worktree = value
        elif lowered == "extensions.objectformat":
            sha256 = value.lower() == "sha256"
    return Settings(tuple(programs), tuple(aliases), tuple(remotes), worktree, sha256)


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Each `section.name` with its value, quotes at its ends taken off."""
    section = ""
    for line in text.replace("\\\r\n", "").replace("\\\n", "").split("\n"):
        if head := _SECTION.match(line):
            section = head[1].lower() + (f".{head[2]}" if head[2] is not None else "")
            line = head[3]
        entry = _ENTRY.match(line)
        if not entry or line.lstrip().startswith(("#", ";")):
            continue
        yield f"{section}.{entry[1].lower()}", (entry[2] or "").strip().strip('"')


def _names_program(key: str, value: str) -> bool:
    lowered = key.lower()
    if lowered.startswith("submodule.") and lowered.endswith(".update"):
        return value.startswith("!")
    return bool(_PROGRAM_KEYS.match(lowered)) and value.lower() not in _HARMLESS and not _is_lfs(key, value)


def _is_lfs(key: str, value: str) -> bool:
    # large-file filters are in countless repositories; their program is found on PATH, not in the repository
    return key.lower().startswith("filter.lfs.") and value.startswith("git-lfs ") and not set(value) & set(";|&$`<>()")
