"""Command patterns: `git commit *`, `rm -rf`, `"C:/Program Files/x.exe" *`.

Promises: a pattern is a list of words, quoted as in a shell, each with `*` and `?` for parts of a word; a lone `*` at
the end stands for any further words. Two readings of the same text: *strict*, for allow, where the words must be those
and no others, in that order; *wide*, for deny and ask, where options may stand anywhere, be joined, be written long
or shortened, and more words may follow. What is no pattern is a PatternError, which says why. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from interlock.runtime.policy.rules.spelling import letters_of, options_of, spelled

_OPERATORS = set("();|&<>`$\n\r\0")
_MOST = 200
"""Characters. A pattern is read by a person in one look."""


class PatternError(ValueError):
    """This text is no command pattern; the message says why."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One command pattern, read."""

    text: str
    words: tuple[str, ...]
    """Without the lone `*` at the end."""
    open_ended: bool
    """Whether it ends with a lone `*`."""

    @property
    def program(self) -> str:
        """Its first word."""
        return self.words[0]


@lru_cache(maxsize=1024)
def read_pattern(text: str) -> Pattern:
    """The pattern in `text`. Raises PatternError."""
    if not text.strip():
        raise PatternError("the pattern is empty")
    if len(text) > _MOST:
        raise PatternError(f"the pattern is longer than {_MOST} characters")
    if re.match(r"[A-Za-z_]+\(.*\)", text):
        raise PatternError("`Tool(...)` is another program's form; write the command alone, as `git commit *`")
    bare = re.sub(r"""'[^']*'|"[^"]*\"""", "", text)
    if wrong := sorted(_OPERATORS & set(bare)):
        raise PatternError(f"{wrong[0]!r} has no place in a pattern; one pattern covers one command")
    try:
        words = shlex.split(text, posix=True)
    except ValueError as error:
        raise PatternError(f"the quotes do not match ({error})") from None
    open_ended = len(words) > 1 and words[-1] == "*"
    return Pattern(text, tuple(words[:-1] if open_ended else words), open_ended)


@lru_cache(maxsize=4096)
def word_test(word: str, fold: bool = False) -> Callable[[str], bool]:
    """Whether a word fits one with `*` and `?` in it."""
    if not any(c in word for c in "*?"):
        return (lambda text: text.lower() == word.lower()) if fold else word.__eq__
    shape = "".join(".*" if c == "*" else "." if c == "?" else re.escape(c) for c in word)
    return re.compile(shape, re.DOTALL | (re.IGNORECASE if fold else 0)).fullmatch  # type: ignore[return-value]


def fits_strictly(pattern: Pattern, args: Sequence[str]) -> bool:
    """Whether the arguments are those of the pattern and no others. The program is compared by the caller."""
    wanted = pattern.words[1:]
    if len(args) < len(wanted) or (len(args) > len(wanted) and not pattern.open_ended):
        return False
    return all(word_test(want)(word) for want, word in zip(wanted, args, strict=False))


def fits_widely(pattern: Pattern, program: str, args: Sequence[str]) -> bool:
    """Whether the arguments do what the pattern names, however they are written."""
    wanted = [word for word in pattern.words[1:] if word != "*"]
    options = [word for word in wanted if word.startswith("-") and word != "-"]
    operands = [word for word in wanted if not word.startswith("-") or word == "-"]
    given = options_of(args)
    for option in options:
        if option not in given.words and not all(spelled(program, p, given) for p in letters_of(program, option)):
            return False
    return _in_order(operands, args)


def _in_order(wanted: Sequence[str], args: Sequence[str]) -> bool:
    """Whether the wanted operands are the first ones, in order.

    A word behind an option may be that option's value, and a variable may be an option, so these may be passed over; no
    other word may.
    """
    states = {0}
    if not wanted:
        return True
    for i, word in enumerate(args):
        if word.startswith("-") and word != "-":
            continue
        after_option = i > 0 and args[i - 1].startswith("-") and "=" not in args[i - 1]
        step = {at + 1 for at in states if word_test(wanted[at])(word)}
        if len(wanted) in step:
            return True
        states = step | (states if after_option or "$" in word or "`" in word else set())
        if not states:
            return False
    return False
