"""What speaks against a command because of what stands in a folder that it names.

Promises: `diff` compares the files of a folder, and follows the links among them: none may lead out, and where there are
more than can be looked at, one may. A pattern at the beginning of a word becomes an option where a file has a name like
one. Python looks for modules in its folder first. Some programs run what a file beside them names. Pure.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Sequence

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.path import path_fact
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
    if simple.below and simple.loose and _falls_apart(name, simple, call, world):
        return ("a name below the folder may hold a blank, which makes two words of it",)
    if name in _COMPARING:
        return _comparing(name, simple, call, world)
    return (*_heeding(name, simple, call, world), *_shadowing(name, simple, call, world))


def _heeding(name: str, simple: SimpleCommand, call: Call, world: World) -> tuple[str, ...]:
    """A file in the folder, or above it, by which another program is run in its place: `rust-toolchain.toml`."""
    usage = read_usage(name, simple.argv[1:])
    heeded = (usage.program.heeds | usage.root.heeds) if usage is not None else frozenset()
    if not heeded:
        return ()
    if simple.cwd is None:
        return (f"which version of {name} runs is known only at run time",)
    folder = posixpath.normpath(posixpath.join(call.cwd, simple.cwd))
    while True:
        for file in sorted(heeded):
            if world.resolve(posixpath.join(folder, file)).exists:
                return (f"{file} says which {name} runs, or what it runs",)
        if folder in ("/", ""):
            return ()
        folder = posixpath.dirname(folder)


_LOADED = sys.stdlib_module_names | names("pip setuptools distutils pkg_resources wheel")


def _shadowing(name: str, simple: SimpleCommand, call: Call, world: World) -> tuple[str, ...]:
    """`python -m` looks for modules in its folder first."""
    usage = read_usage(name, simple.argv[1:])
    modules = usage.of("module") if usage is not None else []
    if usage is None or not modules or {"-I", "-P"} & set(usage.options):
        return ()
    loaded = {modules[0].partition(".")[0], *_LOADED}
    folder = posixpath.join(call.cwd, simple.cwd) if simple.cwd is not None else None
    for pattern in _MODULE_FILES if folder else ():
        found = world.expand(posixpath.join(folder or "", pattern), MOST_NAMES)
        for path in found if found is not None else ("json.py",):
            own = posixpath.relpath(path, folder or "/").partition("/")[0].partition(".")[0]
            if own in loaded:
                return (f"{own} in this folder may be loaded in place of the module of Python",)
    return () if folder else ("which modules it loads is known only at run time",)


_MODULE_FILES = ("*.py", "*.pyc", "*.so", "*/__init__.py", "*/__init__.pyc")


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


MOST_FOUND = 3_000
"""Names below a folder that are looked at, one by one."""


def _falls_apart(name: str, simple: SimpleCommand, call: Call, world: World) -> bool:
    """Whether a name below a folder is taken apart at a blank or a quote, or there are too many names to tell."""
    usage = read_usage(name, simple.argv[1:])
    texts = usage.of("read") if usage is not None else []
    if usage is None or any(map(_is_taken_apart, texts)):
        return True
    facts = [path_fact(text, "read", call, world, cwd=simple.cwd, shell=True) for text in texts]
    left, todo = MOST_FOUND, [fact.resolved for fact in facts if fact.kind == "folder"]
    while todo:
        folder = todo.pop()
        for path in _names_in(folder, world, left):
            left -= 1
            if not path or left < 0 or _is_taken_apart(posixpath.basename(path)):
                return True
            seen = world.resolve_in(folder, posixpath.basename(path)) or world.resolve(path)
            if seen.kind == "folder" and seen.path == path:  # find goes through no link
                todo.append(path)
    return False


def _is_taken_apart(text: str) -> bool:
    return any(c.isspace() or c in "'\"\\" for c in text)


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
