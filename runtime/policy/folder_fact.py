"""What speaks against a command because of what stands in a folder that it names.

Promises: `diff` compares the files of a folder, and follows the links among them: none may lead out, and where there are
more than can be looked at, one may. A pattern at the beginning of a word becomes an option where a file has a name like one. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.path import path_fact
from interlock.runtime.policy.programs import read_usage
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_COMPARING = names("diff sdiff")
"""Programs that take, of a folder, the files that bear the names of the other side."""
_PRINTING = names("echo printf : true false")
MOST_NAMES = 200
"""Files that one pattern may stand for before it counts as not known, which is not allowed."""


def folder_objections(simple: SimpleCommand, call: Call, world: World) -> tuple[str, ...]:
    """The reasons against a command that otherwise only reads."""
    name = program_name(simple.program)
    if simple.globs and name not in _PRINTING and _is_option(simple, call, world):
        return ("a pattern stands for a file whose name would be taken for an option",)
    return _comparing(name, simple, call, world) if name in _COMPARING else ()


def _is_option(simple: SimpleCommand, call: Call, world: World) -> bool:
    if simple.cwd is None:
        return False
    folder = posixpath.join(call.cwd, simple.cwd)
    end = simple.argv.index("--") if "--" in simple.argv else len(simple.argv)
    for i in simple.globs:
        if i < end and simple.argv[i][:1] in ("*", "?", "["):
            found = world.expand(posixpath.join(folder, simple.argv[i]), MOST_NAMES) or ()
            if any(posixpath.relpath(path, folder).startswith("-") for path in found):
                return True
    return False


def _comparing(name: str, simple: SimpleCommand, call: Call, world: World) -> tuple[str, ...]:
    usage = read_usage(name, simple.argv[1:])
    if usage is None or "--no-dereference" in usage.options or "-P" in usage.options:
        return ()
    facts = [path_fact(file, "read", call, world, cwd=simple.cwd, shell=True) for file in usage.of("read")]
    folders = [fact.resolved for fact in facts if fact.kind == "folder"]
    if not folders or not _leads_out(folders, call, world, deep=usage.has("walk")):
        return ()
    return ("it follows the links in a folder, which may lead out of the workspace",)


def _leads_out(folders: Sequence[str], call: Call, world: World, *, deep: bool) -> bool:
    """Whether a name in one of the folders leads out of the workspace, or there are too many names to tell."""
    left, seen, todo = MOST_NAMES, set[str](), list(folders)
    while todo:
        folder = todo.pop()
        if folder in seen:
            continue
        seen.add(folder)
        for name in _names_in(folder, world, left):
            fact = path_fact(name, "read", call, world) if name else None
            left -= 1
            if fact is None or not fact.inside or fact.guard or left < 0:
                return True
            if deep and fact.kind == "folder":
                todo.append(fact.resolved)
    return False


def _names_in(folder: str, world: World, limit: int) -> tuple[str, ...]:
    """The paths of what a folder holds; an empty one where it cannot be told."""
    if limit <= 0 or any(c in folder for c in "*?["):
        return ("",)
    plain, hidden = world.expand(f"{folder}/*", limit), world.expand(f"{folder}/.*", limit)
    if plain is None or hidden is None:
        return ("",)
    return (*plain, *(name for name in hidden if posixpath.basename(name) not in (".", "..")))
