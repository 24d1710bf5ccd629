"""Reads options as getopt does: clusters, attached values, `--name=value`, unambiguous prefixes, `--`.

Promises: never guesses. A long name that is a prefix of exactly one known name stands for it; a prefix of several known
names is kept as written, so that a table look-up fails.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from interlock.runtime.policy.record import record


def names(text: str) -> frozenset[str]:
    """The words of `text`; tables are written as text, because a list of 80 names hides its shape."""
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Spec:
    """What the reader must know of a program's options."""

    short_values: str = ""
    """Letters that take a value."""
    long_values: frozenset[str] = frozenset()
    """Long names (without dashes) that take a value also as a word of its own."""
    long_names: frozenset[str] = frozenset()
    """All other long names that prefixes are looked up in."""
    single_dash: bool = False
    """Long options are written with one dash (find, ImageMagick, Java style)."""
    stop_at_operand: bool = False
    """Options end at the first operand (wrappers, POSIX programs)."""
    short_optional: str = ""
    """Letters whose value stands behind them in the same word, or nowhere."""


@record
class Option:
    """One option, long names completed."""

    name: str
    """`-x` or `--long`."""
    value: str | None
    index: int
    """The word it began in."""
    value_index: int
    """The word its value is in (the same word when attached)."""


@record
class Reading:
    """Options and operands of a command line."""

    options: tuple[Option, ...]
    operands: tuple[int, ...]
    """Indices of the operand words."""

    def value(self, *names: str) -> str | None:
        """The value of the last option with one of these names."""
        found = [o.value for o in self.options if o.name in names]
        return found[-1] if found else None

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(o.name in names for o in self.options)


def complete(name: str, names: Iterable[str]) -> str:
    """`name` completed to the only known name that it begins; itself otherwise."""
    pool = names if isinstance(names, (set, frozenset)) else frozenset(names)
    if name in pool:
        return name
    ordered = _ordered(pool if isinstance(pool, frozenset) else frozenset(pool))
    at = bisect_left(ordered, name)
    matches = [n for n in ordered[at : at + 2] if n.startswith(name)]
    return matches[0] if len(matches) == 1 else name


@lru_cache(maxsize=4_096)
def _ordered(pool: frozenset[str]) -> tuple[str, ...]:
    """Sorted, so that names with one beginning stand together: a hostile text may have thousands of options."""
    return tuple(sorted(pool))


@lru_cache(maxsize=4_096)
def _long_of(values: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    return values | others


def read_options(args: Sequence[str], spec: Spec) -> Reading:
    """Read `args` (without the program)."""
    options: list[Option] = []
    operands: list[int] = []
    at = 0
    while at < len(args):
        word = args[at]
        if word == "--":
            operands.extend(range(at + 1, len(args)))
            break
        if word.startswith("--") or (spec.single_dash and word.startswith("-") and len(word) > 2):
            at = _long(args, at, spec, options)
        elif word.startswith("-") and len(word) > 1:
            at = _cluster(args, at, spec, options)
        elif spec.stop_at_operand:
            operands.extend(range(at, len(args)))
            break
        else:
            operands.append(at)
            at += 1
    return Reading(tuple(options), tuple(operands))


def _long(args: Sequence[str], at: int, spec: Spec, options: list[Option]) -> int:
    name, equals, value = args[at].lstrip("-").partition("=")
    name = complete(name, _long_of(spec.long_values, spec.long_names))
    if equals:
        options.append(Option(f"--{name}", value, at, at))
    elif name in spec.long_values and at + 1 < len(args):
        options.append(Option(f"--{name}", args[at + 1], at, at + 1))
        return at + 2
    else:
        options.append(Option(f"--{name}", None, at, at))
    return at + 1


def _cluster(args: Sequence[str], at: int, spec: Spec, options: list[Option]) -> int:
    letters = args[at][1:]
    for i, letter in enumerate(letters):
        rest = letters[i + 1 :]
        if letter not in spec.short_values and not (rest and letter in spec.short_optional):
            options.append(Option(f"-{letter}", None, at, at))
            continue
        if rest:
            options.append(Option(f"-{letter}", rest, at, at))
        elif at + 1 < len(args):
            options.append(Option(f"-{letter}", args[at + 1], at, at + 1))
            return at + 2
        else:
            options.append(Option(f"-{letter}", None, at, at))
        return at + 1
    return at + 1
