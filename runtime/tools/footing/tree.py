"""Everything below a folder, for commands that work on all of it or read a project by their own rules.

Promises: each file is an item by its number, size and times, each link by where it leads; folders that hold what was built
or installed are left out of a project; at most `MOST_FILES` of one folder, and more is told.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from interlock.runtime.tools.footing.item import Budget, Item

MOST_FILES = 2_000
_OWN = "node_modules venv env target dist build out coverage htmlcov vendor site-packages __pycache__"
_BUILT = frozenset(_OWN.split())
"""Folders of a project that it makes itself, or that come from elsewhere."""
PROJECT_ENDS = (
    ".py", ".js", ".cjs", ".mjs", ".jsx", ".ts", ".tsx", ".json", ".go", ".mod", ".sum", ".rs", ".toml", ".java", ".kt", ".kts",
    ".scala", ".gradle", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".rb", ".php", ".ex", ".exs", ".swift", ".zig", ".sh", ".yml",
    ".yaml", ".tf", ".xml", ".cfg", ".ini", ".sql", ".proto", ".vue", ".svelte", ".jar", ".class",
)  # fmt: skip
"""Ends of files that a builder or a runner of tests takes for code."""


def project_items(folder: str, shown: Callable[[str], str], budget: Budget) -> Iterator[Item]:
    """The code of a project."""
    yield from _items(folder, shown, budget, PROJECT_ENDS, _BUILT)


def folder_items(folder: str, shown: Callable[[str], str], budget: Budget) -> Iterator[Item]:
    """All that is below a folder."""
    yield from _items(folder, shown, budget, (), frozenset({"__pycache__"}))


def _items(
    folder: str, shown: Callable[[str], str], budget: Budget, ends: tuple[str, ...], without: frozenset[str]
) -> Iterator[Item]:
    left, todo = MOST_FILES, [folder]
    while todo:
        at = todo.pop()
        try:
            with os.scandir(at) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in without and not (ends and entry.name.startswith(".")):
                    todo.append(entry.path)
            elif not ends or entry.name.endswith(ends) or entry.is_symlink():
                left -= 1
                budget.files -= 1
                if left < 0 or budget.files < 0:
                    budget.spent[f"more files below {shown(folder)} than are looked at"] = None
                    return
                yield Item("tree", shown(entry.path), _fields(entry))


def _fields(entry: os.DirEntry[str]) -> dict[str, str]:
    try:
        seen = entry.stat(follow_symlinks=False)
        if entry.is_symlink():
            return {"kind": "link", "link": os.readlink(entry.path), "real": os.path.realpath(entry.path)}
    except OSError:
        return {"kind": "missing"}
    return {
        "kind": "file",
        "identity": f"{seen.st_dev}:{seen.st_ino}",
        "content": f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns}",
    }
