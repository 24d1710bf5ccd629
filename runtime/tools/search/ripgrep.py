"""The command lines that search, with ripgrep or without.

Promises: both forms print the same JSON lines (ripgrep's, of which the fallback prints `match`, `context` and `end`);
no configuration of the user's changes what is found.
"""

from __future__ import annotations

import json
import os
import shutil
import sys

_FLAGS = ["--no-config", "--hidden", "--no-require-git", "--no-ignore-global", "--no-ignore-exclude", "--glob", "!.git"]


def find_ripgrep() -> str | None:
    """`rg` from the PATH, or from the environment this runs in."""
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    return shutil.which("rg") or (beside if os.access(beside, os.X_OK) else None)


def list_command(rg: str, start: str) -> list[str]:
    """Prints the files below `start` that are not ignored, each ended by NUL."""
    return [rg, *_FLAGS, "--files", "--null", "--", start]


def search_command(rg: str, pattern: str, start: str, *, context: int, ignore_case: bool) -> list[str]:
    """Searches the files below `start`."""
    flags = ["--json", "--crlf", "--encoding", "none", "--sort", "path", "--context", str(context)]
    case = ["--ignore-case"] if ignore_case else []
    return [rg, *_FLAGS, *flags, *case, "--regexp", pattern, "--", start]


def fallback_command(pattern: str, start: str, *, context: int, ignore_case: bool) -> list[str]:
    """The same in Python, in a process of its own so that a pattern that never ends can be stopped."""
    order = {"pattern": pattern, "start": start, "context": context, "ignoreCase": ignore_case}
    return [sys.executable, "-m", "interlock.runtime.tools.search.fallback", json.dumps(order)]


def check_command(rg: str, pattern: str) -> list[str]:
    """Fails with a message when the pattern is none."""
    return [rg, "--no-config", "--quiet", "--regexp", pattern, "--", os.devnull]
