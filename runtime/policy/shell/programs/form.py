"""How a read-only use of a program is described: listed options, bounded operands, a check of its own.

Promises: `Form.verdict` says no to every option that is not listed. Long options may be shortened as getopt allows; a
shortened name that fits several options is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from interlock.runtime.policy.shell.option import Reading, Spec, read_options

Check = Callable[[Reading, Sequence[str]], str]
"""A further look at options and words; returns the reason against, or empty."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The options with which a program only reads."""

    flags: str = ""
    """Letters without a value."""
    values: str = ""
    """Letters with a value."""
    long: frozenset[str] = frozenset()
    """Long names without a value (or with an attached one)."""
    long_values: frozenset[str] = frozenset()
    """Long names whose value may be a word of its own."""
    bad: frozenset[str] = frozenset()
    """Long names that exist but do more than read: known, so that a shortened name is not taken for another."""
    most: int = 1_000_000
    """Operands allowed; one more would be an output."""
    least: int = 0
    reads: str = "files"
    """What operands are: `files`, `none` (text), `first` (the first is text, the rest are files)."""
    option_files: str = ""
    """Options whose value is a file that is read."""
    globs: bool = True
    """A leading pattern is harmless: no file name could be read as a dangerous option."""
    numbers: bool = False
    """`-20` and `+3` are counts."""
    single: bool = False
    check: Check | None = None
    default: str = ""
    """What is read without operands (`.` for ls and find)."""
    stop: bool = False
    attached: str = ""
    """Flags that a number may follow in the same word: `od -w16`."""
    pairs: tuple[str, ...] = ()
    """Long options that take two words: `jq --arg name value`."""

    def spec(self) -> Spec:
        """As the option reader wants it."""
        return _spec(self)

    def read(self, args: Sequence[str]) -> Reading:
        """Options and operands of `args`, counts left out."""
        return _kept(self, tuple(args)) if len(args) <= _KEPT_WORDS else self._read(args)

    def _read(self, args: Sequence[str]) -> Reading:
        if self.attached:
            args = [a.rstrip("0123456789") if a[:1] == "-" and a[1:2] in self.attached else a for a in args]
        if self.pairs and not set(self.pairs).isdisjoint(args):
            args = _without_pairs(args, self.pairs)
        if self.numbers:
            args = ["-" if a[:1] in "-+" and a[1:].isdigit() and a else a for a in args]
        return read_options(args, self.spec())

    def verdict(self, args: Sequence[str]) -> str:
        """The reason against, or empty."""
        reading = self.read(args)
        for option in reading.options:
            if not self._is_listed(option.name):
                return f"the option {option.name} is not listed as reading only"
        if len(reading.operands) > self.most:
            return "one operand more than it reads: the last would be written"
        if len(reading.operands) < self.least:
            return "an operand is missing"
        return self.check(reading, args) if self.check else ""

    def _is_listed(self, name: str) -> bool:
        if name.startswith("--"):
            return name[2:] in self.long or name[2:] in self.long_values
        return name[1:] in self.flags or name[1:] in self.values


_KEPT_WORDS = 50


@lru_cache(maxsize=32)
def _kept(form: Form, args: tuple[str, ...]) -> Reading:
    """The words of one command are read for its verdict, its files and its values."""
    return form._read(args)


def forget_readings() -> None:
    """Keep nothing of what was read; for measuring."""
    _kept.cache_clear()


@cache
def _spec(form: Form) -> Spec:
    return Spec(form.values, form.long_values, form.long | form.bad, form.single, form.stop)


def _without_pairs(args: Sequence[str], pairs: Sequence[str]) -> list[str]:
    """The option again in the place of its two words, so that every other word keeps its place."""
    made = list(args)
    at = 0
    while at < len(made):
        if made[at] in pairs:
            made[at + 1 : at + 3] = [made[at]] * len(made[at + 1 : at + 3])
            at += 2
        at += 1
    return made


def form(
    flags: str = "", values: str = "", long: str = "", long_values: str = "", bad: str = "", **rest: object
) -> Form:
    """A `Form` from space-separated names."""
    names = [frozenset(x.split()) for x in (long, long_values, bad)]
    return Form(flags, values, names[0] | {"help", "version"}, names[1], names[2], **rest)  # type: ignore[arg-type]
