"""Files of credentials below a folder that a command, or another agent's tool, reads with all that is in it.

Promises: looked for only where a call reads what lies below; a folder with more files than are looked at counts as one
that may hold some. Our own tools leave such files out and have nothing to be looked for. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.path import PathFact, path_fact

MOST_FILES = 30_000
"""Names that are looked at below one folder; about a tenth of a second."""


def secrets_below(folders: Iterable[PathFact], hidden: bool, call: Call, world: World) -> list[PathFact]:
    """One fact for each folder that is read with what is in it, hidden names too or not, and holds credentials."""
    if call.leaves_out:
        return []
    read = [f for f in folders if f.use == "read" and f.inside and not f.guard and not f.tracked]
    return [fact for folder in read if (fact := _in_folder(folder, hidden, call, world)) is not None]


def _in_folder(folder: PathFact, hidden: bool, call: Call, world: World) -> PathFact | None:
    found = world.find_secret(folder.resolved, hidden, MOST_FILES)
    if found is None:
        return PathFact(folder.written, folder.resolved, False, "read", "folder", "more files than are looked at")
    return path_fact(found, "read", call, world) if found else None
