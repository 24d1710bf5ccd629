"""What an option, the value of one, or an operand can be: the words in which the catalogue speaks.

Promises: a table and no behaviour. A role that is not in it is an error when an entry is loaded. Pure.
"""

from __future__ import annotations

from typing import Literal

from interlock.runtime.policy.record import record

Use = Literal["read", "write", "delete"]


@record
class Role:
    """How a word of a command is to be taken."""

    takes_value: bool = True
    """An option of this role is followed by a value."""
    harmless: bool = False
    """A command that has it may still only read."""
    use: Use | None = None
    """What becomes of the path that the word names; None: it names no path."""
    below: bool = False
    """Everything below the path counts as well."""
    code: bool = False
    """What it names or holds is run: a program, a script, a text in some language."""


FLAGS: dict[str, Role] = {
    "flag": Role(False, True),  # changes only what is shown
    "act": Role(False),  # changes something that no other role describes
    "walk": Role(False, True),  # what the operands name is taken with everything below
    "names": Role(False, True),  # of what the operands name only names, counts or the index are taken, and no content
    "outward": Role(False),  # follows links, which may lead anywhere
    "inplace": Role(False),  # files that are read are written as well
    "remove": Role(False),  # files that are read are deleted as well
    "hidden": Role(False, True),  # makes a walk go into hidden names as well
    "fetch": Role(False),  # makes a program that only sometimes does use the network
}  # fmt: skip
"""Options without a value."""

VALUES: dict[str, Role] = {
    "text": Role(harmless=True),  # says how, never what
    "content": Role(harmless=True),  # a text or a number with which content is looked at or shown
    "value": Role(harmless=True),  # not known what: it may name a file
    "count": Role(harmless=True),  # a number
    "read": Role(harmless=True, use="read"),
    "walked": Role(harmless=True, use="read", below=True),  # a folder that is read with everything below
    "list": Role(use="read"),  # a file that names further files
    "write": Role(use="write"),
    "folder": Role(use="write", below=True),  # a folder that something is written into
    "prefix": Role(use="write"),  # the beginning of the names of files that are written
    "change": Role(use="write"),  # read and changed where it stands
    "delete": Role(use="delete"),
    "discard": Role(use="delete"),  # its content is lost, its name may stay
    "move": Role(use="delete"),  # gone from its place
    "beside": Role(use="read"),  # read, and a file of a name made from it is written beside it
    "cd": Role(harmless=True, use="read"),  # the folder that every other path is relative to
    "archive": Role(harmless=True, use="read"),  # a file that holds others
    "member": Role(harmless=True),  # the name of a file in an archive
    "from": Role(harmless=True, use="read", below=True),  # a path, or a path on another machine
    "to": Role(use="write", below=True),
    "host": Role(),  # a host, an address, a URL
    "proxy": Role(),  # a host on the way
    "listen": Role(),  # an own address, which is no host
    "query": Role(),  # a name that is asked for, `@server` that is asked, or what is asked for
    "filter": Role(harmless=True),  # a filter of sockets, whose names of hosts are looked up
    "conninfo": Role(),  # `host=… dbname=…`, a URL, or a name without a host
    "image": Role(),  # an image of a container, whose registry is a host
    "hosts": Role(use="read"),  # a file of hosts, or hosts with commas
    "socket": Role(code=True),  # `TCP:host:port`, `EXEC:program`, `OPEN:file`
    "program": Role(code=True),  # a program that is run
    "shell": Role(code=True),  # a command line that is run
    "inline": Role(harmless=True, code=True),  # such a program, which the handler of the entry reads
    "script": Role(use="read", code=True),  # a file of such code
    "include": Role(use="read", code=True),  # a module, a plug-in or a library
    "module": Role(harmless=True, code=True),  # a module by its name: what follows are its words
    "config": Role(use="read", code=True),  # settings, which may name programs
    # words of the languages in which a program takes commands
    "exec": Role(code=True), "ssh": Role(code=True), "gdb": Role(code=True), "vim": Role(code=True),
    "psql": Role(code=True), "mysql": Role(code=True), "sqlite": Role(code=True), "apt": Role(code=True),
    "make": Role(code=True), "applescript": Role(code=True), "bind": Role(code=True), "setting": Role(code=True),
    "commas": Role(code=True), "tail": Role(code=True),
}  # fmt: skip
"""Values of options, and operands."""

OPERANDS: dict[str, Role] = {
    **VALUES,
    "loose": Role(),  # not known what it is
    "command": Role(harmless=True),  # words of a program that is run, judged by itself
    "commands": Role(code=True),  # a command line each
    "joined": Role(code=True),  # words that together are a command line
    "pathspec": Role(harmless=True, use="read", below=True),  # what git takes for paths
    "revision": Role(harmless=True),  # what git takes for a commit, or `commit:path`
    "changed": Role(use="write", below=True),  # pathspecs that are written
    "discarded": Role(use="delete", below=True),  # pathspecs whose content is lost
}  # fmt: skip
"""Operands alone know some roles more."""

ROLES: dict[str, Role] = {**FLAGS, **OPERANDS}
