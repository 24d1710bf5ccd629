"""The words of one command, each with what it is: the only place where options and operands are told apart.

Promises: every word that holds a value or is an operand is given once, with its role; an option that no entry lists is
given as unlisted, and what it may hold as loose. Nothing is guessed: a word whose place cannot be told is loose. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from interlock.runtime.policy.programs.catalogue import has_subcommands, program_of, subcommand_of
from interlock.runtime.policy.programs.entry import Program, Slot
from interlock.runtime.policy.programs.option import Option, Reading, Spec, read_options
from interlock.runtime.policy.programs.role import FLAGS, ROLES
from interlock.runtime.policy.record import record

_KEPT_WORDS = 50


@record
class Word:
    """One word, or the part of a word that is the value of an option."""

    text: str
    role: str
    option: str
    """The option whose value it is, "" for an operand."""
    at: int
    """Which word of the arguments it is, or stands in."""


@record
class Usage:
    """How a program is used."""

    program: Program
    """The entry that holds: that of the sub-command where there is one."""
    root: Program
    """The entry of the program itself."""
    verb: str
    """The sub-command as it is written, "" where there is none."""
    words: tuple[Word, ...]
    options: tuple[str, ...]
    """The options given, names completed."""
    unlisted: tuple[str, ...]
    """Those that no entry lists."""
    reading: Reading
    """Options and operands of the words behind the sub-command."""
    args: tuple[str, ...]
    """Those words."""
    whole: tuple[str, ...]
    """All words behind the program."""

    def has(self, *roles: str) -> bool:
        """Whether an option of one of these roles is given."""
        table = self.program.options
        return any(table.get(name) in roles for name in self.options)

    def of(self, *roles: str) -> list[str]:
        """The words of these roles."""
        return [word.text for word in self.words if word.role in roles]

    @property
    def operands(self) -> list[str]:
        """The operands, in their order."""
        return [word.text for word in self.words if not word.option]


def read_usage(name: str, args: Sequence[str]) -> Usage | None:
    """What each of `args`, the words behind the program `name`, is; None for a program without an entry."""
    if len(args) <= _KEPT_WORDS:
        return _kept(name, tuple(args))
    return _read(name, tuple(args))


def forget_usages() -> None:
    """Keep nothing of what was read; for measuring."""
    _kept.cache_clear()


@lru_cache(maxsize=64)
def _kept(name: str, args: tuple[str, ...]) -> Usage | None:
    """The words of one command are looked at by several who ask about it one after the other."""
    return _read(name, args)


def _read(name: str, args: tuple[str, ...]) -> Usage | None:
    root = program_of(name)
    if root is None:
        return None
    words: list[Word] = []
    options: list[Option] = []
    program, verb, start = root, "", 0
    known = dict(root.options)
    while (step := _step(program, args, start)) is not None:
        options += step.own.options
        words += _values(program, step.own, start)
        verb = f"{verb} {step.shown}".lstrip()
        program, start = step.program, step.end
        known |= program.options
    rest = args[start:]
    reading = _reading(program, rest)
    options += reading.options
    words += _values(program, reading, start)
    given = tuple([option.name for option in options])
    words += _operands(program, reading, rest, start, given)
    unlisted = tuple([name for name in given if name not in known])
    return Usage(program, root, verb, tuple(words), given, unlisted, reading, rest, args)


@record
class _Step:
    """From a program to the sub-command, or the module, whose words follow."""

    program: Program
    shown: str
    own: Reading
    """The options in front of it."""
    end: int
    """Where its words begin."""


def _step(program: Program, args: Sequence[str], start: int) -> _Step | None:
    if "module" in program.options.values() and (step := _module(program, args, start)) is not None:
        return step
    if not has_subcommands(program):
        return None
    reading = read_options(args[start:], replace_stop(program.spec))
    at = start + reading.operands[0] if reading.operands else len(args)
    inner = subcommand_of(program, args[at]) if at < len(args) else None
    return _Step(inner, args[at], reading, at + 1) if inner is not None else None


def _module(program: Program, args: Sequence[str], start: int) -> _Step | None:
    """`-m MODULE` ends the options of an interpreter."""
    reading = read_options(args[start:], replace_stop(program.spec))
    named = next((o for o in reading.options if program.options.get(o.name) == "module" and o.value), None)
    if named is None or named.value is None:
        return None
    inner = subcommand_of(program, f"-m {named.value}")
    if inner is None:
        found = program_of(named.value)
        inner = found if found is not None and found.module_too else _ANY_MODULE
    end = start + named.value_index + 1
    return _Step(inner, f"-m {named.value}", read_options(args[start:end], replace_stop(program.spec)), end)


_ANY_MODULE = Program("a module", code="interpreter", standing=False)


def _reading(program: Program, args: Sequence[str]) -> Reading:
    if program.literal and not (len(args) == 1 and args[0] in ("--help", "--version")):
        return Reading((), tuple(range(len(args))))
    if program.bundled and args and args[0][:1] != "-" and args[0].isalnum():
        return _bundled(program, args)
    if program.leading:
        return _led(program, args)
    return read_options(_countless(program, args), program.spec)


def _led(program: Program, args: Sequence[str]) -> Reading:
    """Options, the operands that may stand in front of further options, and those options."""
    options: list[Option] = []
    operands: list[int] = []
    start = 0
    for left in range(program.leading, -1, -1):
        reading = read_options(args[start:], program.spec)
        options += [Option(o.name, o.value, o.index + start, o.value_index + start) for o in reading.options]
        found = [at + start for at in reading.operands]
        operands += found[:1] if left else found
        if not found:
            break
        start = found[0] + 1
    return Reading(tuple(options), tuple(operands))


def _bundled(program: Program, args: Sequence[str]) -> Reading:
    """Letters without a dash in the first word; the words behind it are their values, in their order."""
    options: list[Option] = []
    at = 1
    for letter in args[0]:
        if letter in program.spec.short_values and at < len(args):
            options.append(Option(f"-{letter}", args[at], 0, at))
            at += 1
        else:
            options.append(Option(f"-{letter}", None, 0, 0))
    rest = read_options(args[at:], program.spec)
    options += [Option(o.name, o.value, o.index + at, o.value_index + at) for o in rest.options]
    return Reading(tuple(options), tuple([i + at for i in rest.operands]))


@lru_cache(maxsize=256)
def replace_stop(spec: Spec) -> Spec:
    """The same options, which end at the first operand: what stands behind it is read by the sub-command's entry."""
    return replace(spec, stop_at_operand=True)


def _countless(program: Program, args: Sequence[str]) -> Sequence[str]:
    """The words with counts and pairs put out of the way, each at its place."""
    if program.pairs and not set(program.pairs).isdisjoint(args):
        args = _without_pairs(args, program.pairs)
    if program.numbers:
        args = ["-" if a[:1] in "-+" and a[1:].isdigit() and a else a for a in args]
    return args


def _without_pairs(args: Sequence[str], pairs: Sequence[str]) -> list[str]:
    """The option again in the place of its two words, so that every other word keeps its place."""
    found = list(args)
    at = 0
    while at < len(found):
        if found[at] in pairs:
            found[at + 1 : at + 3] = [found[at]] * len(found[at + 1 : at + 3])
            at += 2
        at += 1
    return found


def _values(program: Program, reading: Reading, start: int) -> list[Word]:
    """The values of options, each with the role of its option."""
    found: list[Word] = []
    for option in reading.options:
        role = program.options.get(option.name)
        if option.value is not None:
            # a value behind `=` of an option that takes none by its entry is not known
            is_known = role is not None and (role not in FLAGS or role == "flag")
            found.append(
                Word(option.value, _value_role(role) if is_known else "loose", option.name, start + option.value_index)
            )
    return found


def _value_role(role: str | None) -> str:
    return "text" if role in (None, "flag") else role


_LOOSE = (Slot("loose", True),)


def _operands(program: Program, reading: Reading, args: Sequence[str], start: int, given: Sequence[str]) -> list[Word]:
    at = [i for i in reading.operands if not (program.numbers and args[i][:1] in "-+" and args[i][1:].isdigit())]
    plus = [i for i in at if program.plus and args[i][:1] == "+"]
    at = [i for i in at if i not in plus]
    slots = next((form for options, form in program.forms if not options.isdisjoint(given)), program.operands)
    if program.verbs and not any(args[i] in program.verbs for i in at[:3]):
        slots = _LOOSE  # another sub-command, which runs nothing that its words name
    if program.given and not program.given.isdisjoint(given) and slots and not slots[0].many:
        slots = slots[1:]
    roles = _roles(slots, len(at))
    words = [Word(args[i], role, "", start + i) for i, role in zip(at, roles, strict=True)]
    return words + [Word(args[i], program.plus, "", start + i) for i in plus]


def _roles(slots: Sequence[Slot], count: int) -> list[str]:
    """The role of each of `count` operands: those behind the slot that repeats are counted from the end."""
    many = next((i for i, slot in enumerate(slots) if slot.many), None)
    if many is None:
        return [slots[i].role if i < len(slots) else "loose" for i in range(count)]
    behind = len(slots) - many - 1
    middle = max(count - many - behind, 0)
    roles = [slot.role for slot in slots[:many]]
    roles += [slots[many].role] * middle
    roles += [slot.role for slot in slots[many + 1 :]]
    # too few for all of them: those at the end stay, because there stands what is written
    return roles[:many][:count] + roles[len(roles) - max(count - many, 0) :] if count < len(roles) else roles


def harmless(usage: Usage) -> str:
    """Why the options and operands given may do more than read, "" where all are listed as harmless."""
    for name in usage.options:
        role = usage.program.options.get(name) or usage.root.options.get(name)
        if role is None or not ROLES[role].harmless:
            return f"the option {name} is not listed as reading only"
    count = 0
    for word in usage.words:
        if word.option:
            continue
        count += 1
        if not ROLES[word.role].harmless:
            return _why(word)
    if spills(usage):
        return "it writes files that its words do not name"
    if usage.program.most is not None and count > usage.program.most:
        return "one operand more than it reads: the last would be written"
    return "an operand is missing" if count < usage.program.least else ""


def spills(usage: Usage) -> bool:
    """Whether it writes files that no word names, into a folder that no word names."""
    program = usage.program
    if not program.spills or any(name in program.shows for name in usage.options):
        return False
    return not any(word.role in ("folder", "prefix") for word in usage.words)


def _why(word: Word) -> str:
    role = ROLES[word.role]
    if role.code:
        return f"{word.text} is code that it runs"
    if role.use == "write":
        return f"it writes {word.text}"
    if role.use == "delete":
        return f"it deletes {word.text}"
    return f"it is not known what it does with {word.text}"
