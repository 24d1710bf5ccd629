"""Command patterns held against one simple command, and patterns made from words.

Promises: pure. Strictly, for an allow: only words literally known are compared, and a program in a folder of its own is
not the plain one. Widely, for an ask or a deny: the program in any folder and in any case.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence

from interlock.runtime.policy.pattern import Pattern, PatternError, fits_strictly, fits_widely, word_test
from interlock.runtime.policy.shell.classify import program_name
from interlock.runtime.policy.shell.model import SimpleCommand

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^*?")


def of_words(words: Sequence[str]) -> Pattern:
    """The pattern of these words. Raises PatternError when it would cover every program."""
    further = len(words) > 1 and words[-1] == "*"
    pattern = Pattern(" ".join(map(_quoted, words)), tuple(words[:-1] if further else words), further)
    return named(pattern)


def named(pattern: Pattern) -> Pattern:
    """The pattern, if its first word names a program. Raises PatternError."""
    if not pattern.words or not pattern.program.strip("*?"):
        raise PatternError("the first word has to name a program")
    return pattern


def exactly(words: Sequence[str], *, further: bool = False) -> str | None:
    """The text of a pattern for these words and, if `further`, whatever follows. None: a word cannot be in a pattern."""
    if any("*" in word or "?" in word for word in words):
        return None
    return " ".join([*map(_quoted, words), *(["*"] if further else [])])


def covers_strictly(pattern: Pattern, command: SimpleCommand) -> bool:
    """Whether every word is as the pattern has it."""
    known = command.known[: len(pattern.words)]
    same = word_test(pattern.program)(program_name(command.program))
    return same and all(known) and fits_strictly(pattern, command.argv[1:])


def covers_widely(pattern: Pattern, command: SimpleCommand) -> bool:
    """Whether the command does what the pattern names, however it is written."""
    program = posixpath.basename(command.program)
    test = word_test(posixpath.basename(pattern.program), True)
    if not test(program) and not word_test(pattern.program, True)(command.program):
        return False
    return fits_widely(pattern, program.lower(), command.argv[1:])


def _quoted(word: str) -> str:
    return word if word and set(word) <= _BARE else shlex.quote(word)
