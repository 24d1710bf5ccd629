"""The entries of `data/*.toml`, each read when it is first asked for.

Promises: a program has one entry, under its name or as an alias of another; a second one is an EntryError. A name with a
version behind it (`python3.12`) is the program without it where nothing else bears that name. Pure but for the data
files of the package.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from interlock.runtime.policy.programs.entry import EntryError, Program, read_entry

_DIGITS = "0123456789."
_HEADING = re.compile(r"\A\[\"?([^\"\]]+|\])\"?\]")
_ALIASES = re.compile(r"""^aliases = (?:'{3}(.*?)'{3}|'([^']*)'$|"([^"]*)"$)""", re.M | re.S)


def data_files() -> list[Traversable]:
    """The data files of the package, in the order of their names."""
    folder = files("interlock.runtime.policy.programs").joinpath("data")
    return sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)


@cache
def _texts() -> Mapping[str, str]:
    """Every entry as it stands in the files, by name: parsing all of them would take longer than most decisions are for."""
    found: dict[str, str] = {}
    for file in data_files():
        for text in re.split(r"(?m)^(?=\[)", file.read_text(encoding="utf-8"))[1:]:
            heading = _HEADING.match(text)
            name = heading[1] if heading else text[:40]
            if heading is None or name in found:
                raise EntryError(f"{name} in {file.name} stands twice, or has no heading: a program has one entry")
            found[name] = text
    return found


@cache
def table_of(name: str) -> Mapping[str, Any]:
    """One entry as TOML reads it."""
    return tomllib.loads(_texts()[name])[name]


@cache
def _names() -> Mapping[str, str]:
    """Every name and alias -> the entry."""
    found = {name: name for name in _texts()}
    for name, text in _texts().items():
        for alias in _aliases(name, text):
            whole = " ".join((*name.split()[:-1], alias)) if " " in name else alias
            if whole in found:
                raise EntryError(f"{whole} is an alias of {name} and of {found[whole]}, or has an entry of its own")
            found[whole] = name
    return found


def _aliases(name: str, text: str) -> list[str]:
    found = _ALIASES.search(text)
    if found is None and re.search(r"^aliases\b", text, re.M):
        raise EntryError(f"{name}: its aliases are not written as one text")
    return "".join(part or "" for part in found.groups()).split() if found else []


@cache
def _entry(name: str) -> Program:
    table = table_of(name)
    like = table.get("like")
    if like is not None and like not in _texts():
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
    return any(name.startswith(program.name + " ") for name in _texts())


def programs() -> tuple[Program, ...]:
    """Every entry, sub-commands too."""
    return tuple(_entry(name) for name in _texts())
