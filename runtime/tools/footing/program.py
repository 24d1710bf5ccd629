"""Which program a name stands for: the first on PATH, and what its first line says it is run by.

Promises: looks as a shell looks, folder by folder, also in folders named relative to where the command runs; a program is
told by its real path, number, size and times.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence

from interlock.runtime.tools.footing.item import Budget, Item, quick
from interlock.runtime.tools.footing.look import look_at, read_small

_MOST_STEPS = 4
"""Programs that are named by the first line of another."""
_SMALL = 64 * 1024
"""Bytes of a program that is read to be compared; a larger one is told by its times."""


def program_items(program: str, folder: str, path: Sequence[str], budget: Budget, steps: int = 0) -> Iterator[Item]:
    """The program, and those that it is run by."""
    if "/" in program:
        found = os.path.join(folder, program)
        yield look_at(found, what="program", name=program, depth="content", budget=budget)
    else:
        found = find_on(path, program, folder, budget)
        stamp = quick(found) if found else None
        yield Item("program", program, _fields(found, budget) if stamp else {"kind": "missing"}, found, stamp)
    if found and steps < _MOST_STEPS:
        for name in _run_by(found):
            yield from program_items(name, folder, path, budget, steps + 1)


def find_on(path: Sequence[str], program: str, folder: str, budget: Budget) -> str:
    """The file that would run, "" for none."""
    for place in path:
        budget.probe()
        candidate = os.path.join(folder, place, program)
        try:
            seen = os.stat(candidate)
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(seen.st_mode) and os.access(candidate, os.X_OK):
            return candidate
    return ""


def _fields(found: str, budget: Budget) -> dict[str, str]:
    seen = os.stat(found)
    stated = f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ctime_ns}"
    if seen.st_size <= _SMALL:
        stated = look_at(found, what="", name="", depth="content", budget=budget).fields.get("content", stated)
    return {
        "kind": "file",
        "resolved": found,
        "real": os.path.realpath(found),
        "identity": f"{seen.st_dev}:{seen.st_ino}",
        "content": stated,
    }


def _run_by(found: str) -> list[str]:
    """The programs in the first line of a script: the interpreter, and what `env` is to look up."""
    head = read_small(found, 1 << 20)
    if head is None or not head.startswith(b"#!"):
        return []
    words = head[2:512].split(b"\n", 1)[0].decode("utf-8", "replace").split()
    if words and os.path.basename(words[0]) == "env":
        rest = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        return [words[0], *rest[:1]]
    return words[:1]
