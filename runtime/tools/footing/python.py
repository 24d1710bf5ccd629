"""Which files a Python program takes its modules from, as far as its text says.

Promises: every module that an `import` names and that lies in a folder given is found, with its packages, also relative
ones, and those named to `import_module`. Does not promise: names that are made at run time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from interlock.runtime.tools.footing.item import Budget, Item

_IMPORT = re.compile(
    r"(?:^|[;:])[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]*import[ \t]*(\([^)]*\)|[^\n;#(]+)|import[ \t]+([\w., \t]+))"
    r"|(?:import_module|__import__|run_module)\(\s*[\"']([\w.]+)",
    re.MULTILINE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")
_RENAMED = re.compile(r"\bas[ \t]+\w+|#[^\n]*")
MODULE_ENDS = (".py", ".pyc", ".so", ".pyd")
_MOST_IMPORTS = 300


def imported(text: str, package: str, folders: Sequence[str]) -> Iterator[str]:
    """Paths without their ends, such as `/w/shop/cart`, that the text's imports could stand for.

    `package`: the folder of the file, for relative imports; `folders`: where modules are looked up.
    """
    found: dict[str, None] = {}
    for level, module, names in _imports(text):
        bases = list(folders)
        if level:
            base = package
            for _ in range(level - 1):
                base = os.path.dirname(base)
            bases = [base]
        parts = [part for part in module.split(".") if part]
        for base in bases:
            for end in range(1, len(parts) + 1):
                found[os.path.join(base, *parts[:end])] = None
            for name in names:
                found[os.path.join(base, *parts, name)] = None
        if len(found) > _MOST_IMPORTS:
            break
    yield from list(found)[:_MOST_IMPORTS]


def _imports(text: str) -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Level of a relative import, module, names taken from it; read by lines, since a file may be no Python at all."""
    for source, names, plain, called in _IMPORT.findall(text.replace("\\\n", " ")):
        if source:
            module = source.lstrip(".")
            yield len(source) - len(module), module, tuple(_NAME.findall(_RENAMED.sub("", names)))
        for name in _RENAMED.sub("", plain).split(","):
            if words := name.split():
                yield 0, words[0], ()
        if called:
            yield 0, called, ()


def module_files(path: str) -> Iterator[str]:
    """The files that a module without its end could be."""
    for end in (".py", "/__init__.py", "/__main__.py"):
        yield path + end


def compiled(path: str) -> Iterator[str]:
    """What Python would run in place of a source file: its compiled forms that are there."""
    folder, name = os.path.split(path)
    stem = name.rpartition(".")[0]
    try:
        with os.scandir(os.path.join(folder, "__pycache__")) as entries:
            found = sorted(e.path for e in entries if e.name.startswith(f"{stem}.") and e.name.endswith(".pyc"))
    except (OSError, ValueError):
        return
    yield from found


def importable(folder: str, name: str, budget: Budget, most: int = 2_000) -> Item:
    """The names that Python would find in a folder before all others: a new one takes the place of any module."""
    budget.look()
    found: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(MODULE_ENDS) or (
                    entry.is_dir() and os.path.lexists(os.path.join(entry.path, "__init__.py"))
                ):
                    found.append(entry.name)
                if len(found) > most:
                    budget.spent[f"{name} has more names than are looked at"] = None
                    break
    except (OSError, ValueError):
        pass
    return Item("modules", name, {"names": "\0".join(sorted(found[:most]))})
