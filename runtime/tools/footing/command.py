"""What one simple command of a shell text stands on: its program, its words, and the files it takes orders from.

Promises: every word that could be a path is an item, there or not, also behind `=`, `@` or joined to an option; a pattern
with all names that it stands for; of a program that runs code also what its files name. Over a cap it is said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from interlock.runtime.policy.call import World
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.tools.footing import order_table as table
from interlock.runtime.tools.footing.follow import Follower
from interlock.runtime.tools.footing.item import Budget, Item
from interlock.runtime.tools.footing.look import Depth, look_at
from interlock.runtime.tools.footing.program import program_items
from interlock.runtime.tools.footing.repository import git_items
from interlock.runtime.tools.footing.tree import folder_items, project_items

_MOST_WORDS = 400
_MOST_NAMES = 1_000
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all commands of one call share."""

    cwd: str
    home: str
    path: tuple[str, ...]
    """The folders of PATH."""
    world: World
    follower: Follower
    budget: Budget
    runs: bool
    """Whether any command of the call runs code that is in files."""
    reads_only: bool
    """Whether all of the call is known to only read: then it matters which files, not what they hold."""


def command_items(simple: SimpleCommand, around: Surroundings) -> Iterator[Item]:
    """Everything that the command stands on."""
    if simple.cwd is None:
        around.budget.spent["a folder that is known only at run time"] = None
    folder = os.path.join(around.cwd, simple.cwd or "").rstrip("/") or "/"
    if folder != around.cwd:
        yield look_at(
            folder, what="path", name=_short(simple.cwd or "", around), depth="identity", budget=around.budget
        )
    path = _search_path(simple, around, folder)
    if simple.program and simple.known[:1] == (True,):
        yield from program_items(simple.program, folder, path, around.budget)
    texts = list(_words(simple, around))
    if len(texts) > _MOST_WORDS:
        around.budget.spent[f"a command with more than {_MOST_WORDS} words"] = None
    for text, depth in texts[:_MOST_WORDS]:
        yield from _word_items(text, folder, depth, around)
    yield from _patterns(simple, folder, around)
    yield from _orders(simple, folder, [text for text, _ in texts[:_MOST_WORDS]], around)


def _search_path(simple: SimpleCommand, around: Surroundings, folder: str) -> tuple[str, ...]:
    """PATH, with what a starter of programs puts before it."""
    started = [os.path.join(folder, place) for place in table.OWN_PROGRAMS] if _name(simple) in table.STARTING else ()
    return (*started, *around.path)


def own_places(commands: Sequence[SimpleCommand], home: str) -> Iterator[str]:
    """The folders that the commands themselves put on PATH, in front of a program or for all that follow."""
    for simple in commands:
        values = [value for name, value in simple.assignments if name == "PATH"]
        values += [word[5:] for word in simple.argv[1:] if word.startswith("PATH=")]
        for place in (place for value in values for place in value.strip("\"'").split(":")):
            if "PATH" not in place:
                yield _at_home(place, home)


def _name(simple: SimpleCommand) -> str:
    return table.plain_name(simple.program)


def runs_code(simple: SimpleCommand) -> bool:
    """Whether the command runs, or works by, code that is in a file."""
    name = simple.program
    return bool(name) and ("/" in name or name.startswith("<") or table.runs_files(name))


def _words(simple: SimpleCommand, around: Surroundings) -> Iterator[tuple[str, Depth]]:
    """Everything that could be a path, and how closely what is there is held."""
    depth: Depth = "identity" if around.reads_only else "content"
    if "/" in simple.program:
        yield simple.program, "content"
    for at, word in enumerate(simple.argv[1:], 1):
        if simple.known[at : at + 1] == (True,) or word.startswith(("$HOME/", "${HOME}/", "~/")):
            for text in _forms(word):
                yield _at_home(text, around.home), depth
    for _, value in simple.assignments:
        for text in value.split(":"):
            yield _at_home(text, around.home), depth
    for redirect in simple.redirects:
        if redirect.target and redirect.operator not in ("<<", "<<<"):
            yield _at_home(redirect.target, around.home), "identity" if redirect.operator in (">>", "&>>") else depth


def _forms(word: str) -> Iterator[str]:
    """A word, and what of it could be a path by itself."""
    if not word.startswith("-"):
        yield word
    elif len(word) > 2 and word[1] != "-":
        yield word[2:]
    if "=" in word:
        yield word.partition("=")[2]
    for sign in ("@", "="):
        head, found, rest = word.rpartition(sign)
        if found and rest and head != word:
            yield rest.lstrip("@<")
    if ":" in word and "://" not in word:
        yield word.rpartition(":")[2]


def _at_home(text: str, home: str) -> str:
    for sign in ("~", "$HOME", "${HOME}"):
        if text == sign or text.startswith(sign + "/"):
            return home + text[len(sign) :]
    return text


def _word_items(text: str, folder: str, depth: Depth, around: Surroundings) -> Iterator[Item]:
    if not text or "\n" in text or "\0" in text or len(text) > 4_096:
        return
    path = os.path.join(folder, text)
    parts = text.rstrip("/").split("/") if not text.startswith("/") else []
    for end in range(1, min(len(parts) + text.endswith("/"), 8)):
        above = os.path.join(folder, *parts[:end])
        yield look_at(above, what="path", name=_short(above, around), depth="identity", budget=around.budget)
    yield look_at(path, what="path", name=_short(path, around), depth=depth, budget=around.budget)


def _short(path: str, around: Surroundings) -> str:
    shown = around.follower.shown(path)
    return shown[2:] if shown.startswith("./") and len(shown) > 2 else shown


def _patterns(simple: SimpleCommand, folder: str, around: Surroundings) -> Iterator[Item]:
    """Every name that the patterns of the command stand for."""
    for at in simple.globs:
        pattern = os.path.join(folder, _at_home(simple.argv[at], around.home))
        names = around.world.expand(pattern, _MOST_NAMES)
        if names is None:
            around.budget.spent[f"the names that {simple.argv[at]} stands for"] = None
            continue
        yield Item("names", simple.argv[at], {"names": "\0".join(sorted(map(around.follower.shown, names)))})
        depth: Depth = "identity" if around.reads_only else "content"
        for name in names:
            yield look_at(name, what="path", name=_short(name, around), depth=depth, budget=around.budget)


def _orders(simple: SimpleCommand, folder: str, texts: Sequence[str], around: Surroundings) -> Iterator[Item]:
    """The files that it takes orders from: those it is given, those it looks for, and what they name."""
    name = _name(simple)
    for file in table.AT_HOME.get(name, "").split():
        path = os.path.join(around.home, file)
        yield look_at(path, what="order", name=path, depth="content", budget=around.budget)
    folders = _folders(texts, folder)
    if name == "git":
        for place in dict.fromkeys((folder, *folders)):
            yield from git_items(
                place, around.home, around.follower, around.budget, words=texts, writes=not around.reads_only
            )
    if not around.reads_only:
        for place in folders:
            if not _holds(place, around.cwd):
                yield from folder_items(place, around.follower.shown, around.budget)
    if around.runs and not around.reads_only and name != "git":
        yield from _followed(simple, folder, texts, folders, around)


def _holds(folder: str, cwd: str) -> bool:
    """Whether a folder is the call's own or above it: what a whole project holds changes too often to be held."""
    real = os.path.realpath(folder).rstrip("/") + "/"
    return (os.path.realpath(cwd) + "/").startswith(real)


def _followed(
    simple: SimpleCommand, folder: str, texts: Sequence[str], folders: Sequence[str], around: Surroundings
) -> Iterator[Item]:
    """The files that a program that runs code takes it from."""
    name, follower = _name(simple), around.follower
    if name in table.WHOLE or not table.WHOLE.isdisjoint(simple.argv[1:]):
        yield from project_items(folder, follower.shown, around.budget)
    own = name in table.STARTING
    beside = [os.path.dirname(os.path.join(folder, text)) for text in texts if "/" in text]
    for place in dict.fromkeys((folder, *folders, *(b for b in beside if os.path.isdir(b)))):
        for file in _implicit(name, place, around):
            yield from follower.file(file, folder, own=own)
    ends = ("", *table.PLAIN_ENDS.get(name, "").split())
    for text in texts:
        for path in (os.path.join(folder, text + end) for end in ends if "\0" not in text and len(text) < 4_096):
            if os.path.isfile(path):
                yield from follower.file(path, folder, own=own)
        if own and "/" not in text:
            yield from follower.own_program(text, folder)
    yield from _code_in_words(simple, folder, around)
    if name in ("python", "pypy") or name in table.WHOLE:
        yield from _modules(simple, folder, texts, around)


def _folders(texts: Sequence[str], folder: str) -> list[str]:
    found = [os.path.join(folder, text) for text in texts if text and "\0" not in text and len(text) < 4_096]
    return [path for path in dict.fromkeys(found) if os.path.isdir(path)][:20]


def _implicit(name: str, folder: str, around: Surroundings) -> Iterator[str]:
    """The files a program looks for in a folder and, as most do, in those above it within the call's."""
    files = table.IMPLICIT.get(name, "").split()
    at = folder
    while files:
        yield from (os.path.join(at, file) for file in files)
        if at == os.path.dirname(at) or not (at + "/").startswith(around.cwd.rstrip("/") + "/") or at == around.cwd:
            return
        at = os.path.dirname(at)


def _code_in_words(simple: SimpleCommand, folder: str, around: Surroundings) -> Iterator[Item]:
    """The files that code on the command line names: `-c`, `-e`, a here-document."""
    bodies = [r.target for r in simple.redirects if r.target and r.operator in ("<<", "<<<", "<<-")]
    words = [word for word in simple.argv[1:] if len(word) > 8 and not set(word).isdisjoint(" (\n;\"'")]
    for text in (*bodies, *words):
        yield from around.follower.words(text, (folder,), level=1)
        if _name(simple) in ("python", "pypy"):
            yield from around.follower.python(text, folder, _module_folders(simple, folder, around), level=1)


def _module_folders(simple: SimpleCommand, folder: str, around: Surroundings) -> list[str]:
    own = [value for name, value in simple.assignments if name == "PYTHONPATH"]
    return [folder, *(os.path.join(folder, _at_home(p, around.home)) for value in own for p in value.split(":") if p)]


def _modules(simple: SimpleCommand, folder: str, texts: Sequence[str], around: Surroundings) -> Iterator[Item]:
    """The modules that Python is told to run or test."""
    follower, folders = around.follower, _module_folders(simple, folder, around)
    words = set(simple.argv[1:])
    is_script = any(os.path.isfile(os.path.join(folder, text)) for text in texts) and "-m" not in words
    if not is_script:
        yield from follower.python("", folder, folders)
        for text in texts:
            if _DOTTED.match(text):
                for base in folders:
                    yield from follower.module(os.path.join(base, *text.split(".")), folders)
