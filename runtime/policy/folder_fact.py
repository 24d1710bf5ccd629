"""What speaks against a command because one of its operands is a folder.

Promises: `diff` compares the files of a folder, and follows the links among them; which those are, nobody looked at. Pure.
"""

from __future__ import annotations

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.path import path_fact
from interlock.runtime.policy.shell.classify import FORMS, program_name
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.shell.option import names

COMPARING = names("diff sdiff")
"""Programs that take, of a folder, the files that bear the names of the other side."""


def folder_objections(simple: SimpleCommand, call: Call, world: World) -> tuple[str, ...]:
    """The reason against, for a comparison of folders."""
    name = program_name(simple.program)
    if name not in COMPARING:
        return ()
    args = simple.argv[1:]
    reading = FORMS[name].read(args)
    if reading.has("--no-dereference"):
        return ()
    files = [args[i] for i in reading.operands]
    files += [o.value for o in reading.options if o.name in ("--from-file", "--to-file") and o.value]
    folders = (path_fact(file, "read", call, world, cwd=simple.cwd, shell=True).kind == "folder" for file in files)
    return ("it follows the links in a folder, which may lead out of the workspace",) if any(folders) else ()
