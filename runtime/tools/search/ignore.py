"""Which files of a folder are searched: ignore files as ripgrep reads them.

Promises: `.rgignore`, `.ignore` and `.gitignore` of a folder and of those above it (`.gitignore` up to the repository's
root) are honoured, the nearest decisive line wins; `.git` and links are left out; hidden files are kept; entries come
in the order of their paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from pathspec import GitIgnoreSpec

NAMES = (".rgignore", ".ignore", ".gitignore")
"""Strongest first."""


class _Rules(NamedTuple):
    folder: str
    specs: dict[str, GitIgnoreSpec]


def walk(start: str) -> Iterator[str]:
    """Absolute paths of the regular files below `start` that are not ignored."""
    yield from _walk(start, _above(start))


def _above(start: str) -> list[_Rules]:
    """The rules of the folders above, nearest last."""
    rules: list[_Rules] = []
    folder, in_repository = start, not os.path.exists(os.path.join(start, ".git"))
    while folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        specs = _specs(folder)
        if not in_repository:
            specs.pop(".gitignore", None)
        rules.append(_Rules(folder, specs))
        in_repository = in_repository and not os.path.exists(os.path.join(folder, ".git"))
    return rules[::-1]


def _specs(folder: str) -> dict[str, GitIgnoreSpec]:
    specs: dict[str, GitIgnoreSpec] = {}
    for name in NAMES:
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                specs[name] = GitIgnoreSpec.from_lines(file.read(1 << 20).split("\n"))
        except (OSError, ValueError):
            continue
    return specs


def _walk(folder: str, above: list[_Rules]) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    rules = [*above, _Rules(folder, _specs(folder))]
    for entry in found:
        if entry.name == ".git" or entry.is_symlink():
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        if _ignored(entry.path, is_folder, rules):
            continue
        if is_folder:
            yield from _walk(entry.path, rules)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _ignored(path: str, is_folder: bool, rules: list[_Rules]) -> bool:
    for name in NAMES:
        for folder, specs in reversed(rules):
            if name in specs:
                relative = os.path.relpath(path, folder) + ("/" if is_folder else "")
                verdict = specs[name].check_file(relative).include
                if verdict is not None:
                    return verdict
    return False
