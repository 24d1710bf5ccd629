"""The entries of `data/*.toml`, each read when it is first asked for.

Promises: a program has one entry, under its name or as an alias of another; a second one is an EntryError. A name with a
version behind it (`python3.12`) is the program without it where nothing else bears that name. Pure but for the data
files of the package.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from interlock.runtime.policy.programs.entry import EntryError, Program, read_entry

_DIGITS = "0123456789."


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    """Every entry as it stands in the files, by name."""
    found: dict[str, Mapping[str, Any]] = {}
    for file in sorted(files("interlock.runtime.policy.programs").joinpath("data").iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".toml"):
            continue
        for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if name in found:
                raise EntryError(f"{name} stands twice: a program has one entry")
            found[name] = table
    return found


@cache
def _names() -> Mapping[str, str]:
    """Every name and alias -> the entry."""
    found = {name: name for name in _tables()}
    for name, table in _tables().items():
        for alias in str(table.get("aliases", "")).split():
            whole = " ".join((*name.split()[:-1], alias)) if " " in name else alias
            if whole in found:
                raise EntryError(f"{whole} is an alias of {name} and of {found[whole]}, or has an entry of its own")
            found[whole] = name
    return found


@cache
def _entry(name: str) -> Program:
    table = _tables()[name]
    like = table.get("like")
    if like is not None and like not in _tables():
        raise EntryError(f"{name}: it is like {like}, which has no entry")
    return read_entry(name, table, _entry(like) if like is not None else None)


@lru_cache(maxsize=2048)
def program_of(name: str) -> Program | None:
    """The entry of a program, given by its last component; None where there is none."""
    known = _names()
    found = known.get(name)
    if found is None and name[-1:].isdigit():
        found = known.get(name.rstrip(_DIGITS)) or known.get(name.rstrip(_DIGITS).rstrip("-"))
    return _entry(found) if found is not None and " " not in found else None


@lru_cache(maxsize=2048)
def subcommand_of(program: Program, word: str) -> Program | None:
    """The entry of a sub-command: of `git` and `log`; None where there is none."""
    found = _names().get(f"{program.name} {word}")
    return _entry(found) if found is not None else None


@cache
def has_subcommands(program: Program) -> bool:
    """Whether any sub-command of it has an entry."""
    return any(name.startswith(program.name + " ") for name in _tables())


def programs() -> tuple[Program, ...]:
    """Every entry, sub-commands too."""
    return tuple(_entry(name) for name in _tables())
