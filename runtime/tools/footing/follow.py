"""What a file that gives orders names in its turn: scripts that call scripts, Makefiles, package.json, modules.

Promises: every word of such a file that is a file (or folder) beside it or where the command runs is an item, and is
followed in its turn, `MAX_LEVELS` deep; a word that looks like code but is not there is an item too, since it may appear.
Works on text alone, whatever the language; imports of Python are read by their grammar.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence

from interlock.runtime.tools.footing import python
from interlock.runtime.tools.footing.item import Budget, Item
from interlock.runtime.tools.footing.look import MAX_FOLLOWED, look_at, read_small
from interlock.runtime.tools.footing.order_table import CODE_ENDS, OWN_PROGRAMS, TRIED_ENDS

MAX_LEVELS = 12
_MOST_WORDS = 800
"""Different words of one file that are looked at."""
_MOST_FOLLOWED = 300
"""Files that are followed for one call."""
_WORD = re.compile(r"[A-Za-z0-9_@~.+-][A-Za-z0-9_@~./+:-]{0,200}|/[A-Za-z0-9_@~./+-]{2,200}")


class Follower:
    """Follows the files of one call."""

    def __init__(self, base: str, budget: Budget) -> None:
        """`base`: where names are shown from, the directory of the call."""
        self._base = base
        self._budget = budget
        self._seen: set[tuple[str, str]] = set()

    def shown(self, path: str) -> str:
        """A path as a person would write it where the call runs."""
        return path[len(self._base) + 1 :] if path.startswith(self._base + "/") else path

    def file(self, path: str, folder: str, *, own: bool = False, level: int = 0) -> Iterator[Item]:
        """A file that gives orders, and what it names. `folder`: where it runs; `own`: the project's programs count."""
        real = os.path.realpath(path)
        if (real, folder) in self._seen or self._is_too_deep(level):
            return
        self._seen.add((real, folder))
        yield look_at(path, what="order", name=self.shown(path), depth="content", budget=self._budget)
        yield from self._inner(real, folder, own=own, level=level)

    def _inner(self, real: str, folder: str, *, own: bool, level: int) -> Iterator[Item]:
        if self._are_too_many():
            return
        data = read_small(real)
        if data is None:
            if os.path.isfile(real) and _is_text(real):
                self._budget.spent[f"{self.shown(real)} has more than {MAX_FOLLOWED:,} bytes"] = None
            return
        if b"\0" in data[:4096]:
            return
        text = data.decode("utf-8", "replace")
        beside = os.path.dirname(real)
        if real.endswith((".py", ".pyw", ".pyi")) or ("python" in text[:100] and text.startswith("#!")):
            yield from self.python(text, beside, (beside, folder), level=level)
            for path in python.compiled(real):
                yield look_at(path, what="order", name=self.shown(path), depth="content", budget=self._budget)
        yield from self.words(text, (beside, folder), os.path.splitext(real)[1], own=own, level=level)

    def python(self, text: str, package: str, folders: Sequence[str], *, level: int = 0) -> Iterator[Item]:
        """The modules that a Python text imports."""
        for folder in dict.fromkeys(folders):
            yield python.importable(folder, self.shown(folder) + "/", self._budget)
        for path in python.imported(text, package, folders):
            yield from self.module(path, folders, level=level)

    def module(self, path: str, folders: Sequence[str], *, level: int = 0) -> Iterator[Item]:
        """A module by its path without an end. One that is not there is an item where its package is."""
        files = list(python.module_files(path))
        for file in files:
            if os.path.lexists(file):
                yield from self._module_file(file, folders, level)
            elif os.path.dirname(path) not in folders and os.path.isdir(os.path.dirname(file)):
                yield look_at(file, what="order", name=self.shown(file), depth="place", budget=self._budget)

    def _module_file(self, file: str, folders: Sequence[str], level: int) -> Iterator[Item]:
        real = os.path.realpath(file)
        if (real, "python") in self._seen or self._is_too_deep(level):
            return
        self._seen.add((real, "python"))
        yield look_at(file, what="order", name=self.shown(file), depth="content", budget=self._budget)
        for path in python.compiled(file):
            yield look_at(path, what="order", name=self.shown(path), depth="content", budget=self._budget)
        data = read_small(real) if not self._are_too_many() else None
        if data is not None:
            text = data.decode("utf-8", "replace")
            for path in python.imported(text, os.path.dirname(file), folders):
                yield from self.module(path, folders, level=level + 1)

    def words(
        self, text: str, folders: Sequence[str], end: str = "", *, own: bool = False, level: int = 0
    ) -> Iterator[Item]:
        """The words of a text that are files beside it or where it runs."""
        words = list(dict.fromkeys(word.rstrip(".:,") or word for word in _WORD.findall(text)))
        if len(words) > _MOST_WORDS:
            self._budget.spent[f"a file in {self.shown(folders[0])} names more than {_MOST_WORDS} things"] = None
        for word in words[:_MOST_WORDS]:
            for folder in dict.fromkeys(folders):
                yield from self._word(word, folder, end, own=own, level=level)

    def _word(self, word: str, folder: str, end: str, *, own: bool, level: int) -> Iterator[Item]:
        tried = () if word.endswith(CODE_ENDS) else TRIED_ENDS.get(end, ())
        if len(tried) > 1 and not word.startswith(("./", "../", "/")):
            tried = ()  # a name that is no path is looked up among the installed packages
        for name in (word, *(word + one for one in tried)):
            path = os.path.join(folder, name)
            mode = self._mode(path)
            if stat.S_ISREG(mode) and _gives_orders(name, mode):
                yield from self.file(path, folder, own=own, level=level + 1)
            elif stat.S_ISREG(mode):
                yield look_at(path, what="path", name=self.shown(path), depth="content", budget=self._budget)
            elif mode and name == word and word.strip("./"):
                yield look_at(path, what="path", name=self.shown(path), depth="identity", budget=self._budget)
            elif not mode and name.endswith(CODE_ENDS) and not name.startswith(CODE_ENDS):
                yield look_at(path, what="order", name=self.shown(path), depth="place", budget=self._budget)
        if own and "/" not in word:
            yield from self.own_program(word, folder, level=level)

    def own_program(self, word: str, folder: str, *, level: int = 0) -> Iterator[Item]:
        """The project's own program of that name, in the folders that a starter of programs puts before PATH."""
        for place in OWN_PROGRAMS:
            path = os.path.join(folder, place, word)
            if os.path.isdir(os.path.dirname(path)):
                if self._mode(path):
                    yield from self.file(path, folder, level=level + 1)
                else:
                    yield look_at(path, what="order", name=self.shown(path), depth="place", budget=self._budget)

    def _are_too_many(self) -> bool:
        if len(self._seen) > _MOST_FOLLOWED:
            self._budget.spent["more files than are followed"] = None
        return len(self._seen) > _MOST_FOLLOWED

    def _is_too_deep(self, level: int) -> bool:
        if level > MAX_LEVELS:
            self._budget.spent[f"files that are named {MAX_LEVELS} files deep"] = None
        return level > MAX_LEVELS

    def _mode(self, path: str) -> int:
        if not self._budget.probe():
            return 0
        try:
            return os.stat(path).st_mode
        except (OSError, ValueError):
            return 0


def _gives_orders(name: str, mode: int) -> bool:
    """Whether a file may be code: by its end, by having none, or because it may be run."""
    return name.endswith(CODE_ENDS) or "." not in name.rpartition("/")[2][1:] or bool(mode & 0o111)


def _is_text(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return b"\0" not in file.read(4096)
    except OSError:
        return False
