"""One entry of the catalogue, checked when it is read.

Promises: an entry with a key or a role that nobody knows is an EntryError that names the program and the key, so that a
misspelt role can never make a program look more harmless than it is. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from interlock.runtime.policy.programs.option import Spec
from interlock.runtime.policy.programs.role import FLAGS, OPERANDS, VALUES

CODE_KINDS = ("shell", "interpreter", "project", "packages", "tasks", "remote", "editor")
"""What kind of code of its own a program runs: a command language, a programming language, what the project's files
say, what a package brings, targets of a build, programs on another machine or in a container, macros of an editor."""


class EntryError(ValueError):
    """An entry that cannot be meant; says which and why."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One place among the operands: `text`, `read*`."""

    role: str
    many: bool = False


@dataclass(frozen=True, eq=False)
class Program:
    """What the catalogue says of one program, or of one sub-command of it."""

    name: str
    """`sort`, or `git log` for a sub-command."""
    aliases: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    """`-o`, `--output` -> role."""
    operands: tuple[Slot, ...] = (Slot("loose", True),)
    forms: tuple[tuple[frozenset[str], tuple[Slot, ...]], ...] = ()
    """Options -> the operands where one of them is given; the first that fits holds: `cp -t FOLDER`."""
    given: frozenset[str] = frozenset()
    """Options in whose presence the first operand is not the text, script or program that it is otherwise."""
    default: str = ""
    """What is read when there is no operand: `.` for ls."""
    only_reads: bool = False
    """With the options that are listed as harmless it changes nothing, and runs nothing that is not listed itself."""
    below: bool = False
    """It always works on what lies below the folders that it is given."""
    visible: bool = False
    """A walk passes over hidden names, unless an option of the role `hidden` is given."""
    check: str = ""
    """The handler in code that looks at what data cannot say."""
    touches: str = ""
    """The handler in code that tells what it touches, where the roles of its words do not."""
    spills: str = ""
    """The folder below which it writes files that no word names, unless one names a folder or the beginning of names."""
    shows: frozenset[str] = frozenset()
    """Options with one of which it only shows, and spills nothing: `unzip -l`."""
    plus: str = ""
    """The role of an operand that begins with `+`: `vim +q`."""
    most: int | None = None
    least: int = 0
    numbers: bool = False
    """`-20` and `+3` are counts."""
    one_dash: bool = False
    """Long options are written with one dash, so that `-o` and `--o` are one."""
    stop: bool = False
    """Options end at the first operand."""
    leading: int = 0
    """With `stop`: so many operands may stand in front of further options, as the host of ssh does."""
    optional: frozenset[str] = frozenset()
    """Options whose value stands in the same word or nowhere: `od -w16`, `sed -i.bak`, `--backup=numbered`."""
    pairs: tuple[str, ...] = ()
    """Long options that take two words: `jq --arg name value`."""
    safe_globs: bool = True
    """A pattern that begins a word is harmless: no file name could be read as a dangerous option."""
    network: bool = False
    """It uses the network whatever its words say."""
    fetches: frozenset[str] = frozenset()
    """Words with which it uses the network."""
    marks: tuple[str, ...] = ()
    """What a person should know at once: privileged, destructive, interactive."""
    code: str = ""
    """The kind of code of its own that it runs, one of CODE_KINDS."""
    version: frozenset[str] = frozenset()
    """Words that alone make it tell its version or its help, and nothing more."""
    literal: bool = False
    """It takes no options: every word is an operand."""
    bundled: bool = False
    """Its first word may hold letters of options without a dash, whose values follow in their order: `tar cf A B`."""
    transparent: bool = False
    """Does nothing itself: what it runs is judged by itself."""
    shell_alone: bool = False
    """Without a command of its own it starts a shell, which does what it is fed."""
    verbs: frozenset[str] = frozenset()
    """The inner command stands behind one of these words; other sub-commands run nothing."""
    dashes: bool = False
    """The inner command stands behind `--`."""
    assigns: bool = False
    """`NAME=value` in front of the inner command sets a variable."""
    elsewhere: bool = False
    """What it runs does not run in the folder, or not on the machine, of the command."""
    standing: bool = True
    """A standing permission for commands that begin alike may be offered."""
    named_by: int = 0
    """How many words behind the program say what it does."""
    groups: frozenset[str] | None = frozenset()
    """First words that are only a group, whose second says it; None: all of them."""
    scripts: frozenset[str] = frozenset()
    """First words behind which the name of a script stands: `npm run`."""
    links: bool = False
    """It may put links, or other folders, where it writes: what its paths lead to is not known afterwards."""
    exact: bool = False
    """Its words are targets, so a standing permission names all of them."""
    prints: str = ""
    """`words`: it prints the words it is given, or nothing; `names`: of a file its name, its size or its digest."""
    tree: str = ""
    """What becomes of the files that pathspecs name: read, write, delete; "": only names or the index are looked at."""
    into: str = ""
    """The folder that it writes into where no option names one."""
    gone: str = ""
    """What of the repository is lost: always, or with an option of the role `remove`, and then of the name given."""
    hooks: frozenset[str] = frozenset()
    """The hooks of the repository that it can start; `*`: any."""
    module_too: bool = False
    """It is a module of Python as well: `python -m` runs it."""
    heeds: frozenset[str] = frozenset()
    """Files that, in the folder of the command or above it, say which program or version is really run."""
    goal: str = ""
    """What it verifies: tests, lint, types, build, format."""

    @cached_property
    def spec(self) -> Spec:
        """As the option reader wants it."""
        valued = {name for name, role in self.options.items() if role in VALUES} - self.optional
        return Spec(
            "".join(name[1:] for name in valued if not name.startswith("--")),
            frozenset(name[2:] for name in valued if name.startswith("--")),
            frozenset(name[2:] for name in self.options if name.startswith("--") and name not in valued),
            self.one_dash,
            self.stop,
            "".join(name[1:] for name in self.optional if not name.startswith("--")),
        )

    @cached_property
    def may_run_code(self) -> bool:
        """Whether it runs code of its own, or can by an option, a script file or an include."""
        slots = (*self.operands, *(slot for _, form in self.forms for slot in form))
        roles = {*self.options.values(), *(slot.role for slot in slots)}
        return bool(self.code) or any(OPERANDS[role].code for role in roles if role in OPERANDS)


_LISTS = {"aliases", "given", "pairs", "fetches", "marks", "version", "verbs", "scripts", "hooks", "heeds"}
_TEXTS = {"default", "check", "touches", "code", "goal", "prints", "tree", "into", "gone", "spills", "plus"}
_NUMBERS = {"most", "least", "named_by", "leading"}
_SWITCHES = {
    "only_reads", "below", "numbers", "one_dash", "stop", "safe_globs", "network", "transparent", "dashes", "elsewhere",
    "assigns",    "standing", "exact", "links", "shell_alone", "visible", "literal", "bundled", "module_too",
}  # fmt: skip


def read_entry(name: str, table: Mapping[str, Any], like: Program | None = None) -> Program:
    """The entry `name` of a data file; `like`: the entry whose keys hold where this one has none. Raises EntryError."""
    made: dict[str, Any] = {}
    options = dict(like.options) if like else {}
    for key, value in table.items():
        field_name = key.replace("-", "_")
        if key in FLAGS or key in VALUES:
            for option in option_names(_text(name, key, value)):
                options[option] = key
        elif key == "operands":
            made["operands"] = _slots(name, _text(name, key, value))
        elif key == "forms":
            made["forms"] = _forms(name, value)
        elif key in ("optional", "shows"):
            made[key] = frozenset(option_names(_text(name, key, value)))
        elif key == "groups":
            made["groups"] = None if value == "*" else frozenset(_text(name, key, value).split())
        elif field_name in _LISTS:
            words = _text(name, key, value).split()
            made[field_name] = tuple(words) if field_name in ("aliases", "marks", "pairs") else frozenset(words)
        elif field_name in _TEXTS:
            made[field_name] = _text(name, key, value)
        elif field_name in _NUMBERS or field_name in _SWITCHES:
            if type(value) is not (int if field_name in _NUMBERS else bool):
                raise EntryError(f"{name}: {key} takes a {'number' if field_name in _NUMBERS else 'true or false'}")
            made[field_name] = value
        elif key != "like":
            raise EntryError(f"{name}: nobody knows the key {key}")
    if made.get("tree", "") not in ("", "read", "write", "delete"):
        raise EntryError(f"{name}: tree is one of read, write, delete")
    if made.get("code", "") not in ("", *CODE_KINDS):
        raise EntryError(f"{name}: code is one of {', '.join(CODE_KINDS)}")
    if made.get("plus", "text") not in OPERANDS:
        raise EntryError(f"{name}: an operand cannot be {made['plus']}")
    if made.get("one_dash", like is not None and like.one_dash):
        options = {**{name[1:]: role for name, role in options.items() if len(name) == 3}, **options}
        options = {**{f"-{name}": role for name, role in options.items() if len(name) == 2}, **options}
    base = like if like is not None else Program(name)
    return replace(base, **{"aliases": (), **made, "name": name, "options": options})


def option_names(text: str) -> list[str]:
    """`-ab --long` -> `-a`, `-b`, `--long`; a name of one letter is written with one dash everywhere."""
    found: list[str] = []
    for word in text.split():
        found += [word] if word.startswith("--") and len(word) > 3 else [f"-{letter}" for letter in word.lstrip("-")]
    return found


def _text(name: str, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise EntryError(f"{name}: {key} takes a text")
    return value


def _forms(name: str, table: object) -> tuple[tuple[frozenset[str], tuple[Slot, ...]], ...]:
    if not isinstance(table, dict):
        raise EntryError(f"{name}: forms takes a table")
    rows = [(str(options), value) for options, value in table.items()]
    return tuple([(frozenset(option_names(o)), _slots(name, _text(name, "forms", value))) for o, value in rows])


def _slots(name: str, text: str) -> tuple[Slot, ...]:
    slots = tuple(Slot(word.rstrip("*"), word.endswith("*")) for word in text.split())
    for slot in slots:
        if slot.role not in OPERANDS:
            raise EntryError(f"{name}: an operand cannot be {slot.role}")
    if sum(slot.many for slot in slots) > 1:
        raise EntryError(f"{name}: only one kind of operand can be there any number of times")
    return slots
