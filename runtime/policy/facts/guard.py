"""Paths that are guarded although they may lie in the workspace: whoever writes them makes something else run or trust,
whoever reads them learns a secret.

Promises: compared component by component, in lower case, so that no spelling passes on a file system that ignores
case; a guarded folder guards all that is in it, but for the worktrees of the project that an agent keeps there; says in
words what the path decides. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Literal

from interlock.runtime.policy.facts.guard_table import (
    WORKTREES,
    agent_folders,
    credentials,
    is_own_file,
    samples,
    writes,
)


def is_own_rule_file(path: str) -> bool:
    """Whether this path holds a project's rules for Interlock: what the agent itself is bound by."""
    return any(is_own_file(part) for part in path.lower().split("/"))


@lru_cache(maxsize=4_096)
def guard_of(path: str, use: Literal["read", "write", "delete"]) -> str:
    """Why this real path is guarded against this use, "" when it is not."""
    if path.startswith(("/proc/", "/dev/fd", "/dev/std")) or path == "/proc":
        return "a path of a process, not of a file"
    parts = [part.lower() for part in path.split("/") if part]
    secrets = credentials()
    for at in range(len(parts)):
        if (why := secrets.reason_at(parts, at)) and not _is_sample(parts, at):
            return why
    return writes().reason(_outside_worktrees(parts)) if use != "read" else ""


@lru_cache(maxsize=65_536)
def may_be_secret(name: str) -> bool:
    """Whether a file of this name may be one of credentials; for those who walk down and look at very many."""
    parts = [name.lower()]
    return parts[0] in _last_of_runs() or (bool(credentials().reason_at(parts, 0)) and not _is_sample(parts, 0))


def is_secret(path: str) -> bool:
    """Whether the last components make a path one of credentials."""
    parts = [part.lower() for part in path.rsplit("/", 3)[-3:] if part]
    secrets = credentials()
    return any(secrets.reason_at(parts, at) and not _is_sample(parts, at) for at in range(len(parts)))


@cache
def _last_of_runs() -> frozenset[str]:
    """The last components of those credentials that are told by several in a row."""
    return credentials().last_of_runs()


def _is_sample(parts: Sequence[str], at: int) -> bool:
    # `ca-key.pem` is named after a certificate and is none
    is_private = ("key" in parts[at] or "priv" in parts[at]) and "pub" not in parts[at]
    return not is_private and bool(samples().reason_at(parts, at))


def _outside_worktrees(parts: list[str]) -> list[str]:
    """The components without those that lead to a worktree in an agent's folder, `.claude/worktrees/NAME`."""
    for at in range(len(parts) - 3, -1, -1):
        if parts[at] in _agents() and parts[at + 1] in WORKTREES:
            parts = parts[:at] + parts[at + 3 :]
    return parts


@cache
def _agents() -> frozenset[str]:
    return agent_folders()
