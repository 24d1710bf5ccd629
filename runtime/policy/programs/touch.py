"""Paths that a command touches, as the roles of its words tell them. Texts are given as written. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from interlock.runtime.policy.programs.address import is_remote
from interlock.runtime.policy.programs.role import ROLES, Use
from interlock.runtime.policy.programs.usage import Usage, spills
from interlock.runtime.policy.record import record

ANYWHERE = "<any>"
"""Stands for a target that the text does not name."""

_PIECES = re.compile(r"[^\s'\"();,|<>=@`{}]+")
NO_FILES = frozenset(("", "-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"))


@record
class Touch:
    """One path that a command touches."""

    use: Use
    text: str
    """As written, relative to the folder of the command."""
    cause: str = ""
    """The option that names it, "" for an operand."""
    certain: bool = True
    """Whether it is known to be a path and to be used so."""
    below: bool = False
    """Everything below it counts as well."""
    tracked: bool = False
    """Of what lies below only the files that version control keeps."""


def plain_touches(usage: Usage, *, reads_only: bool = False, wraps: bool = False) -> Iterator[Touch]:
    """What the roles of the words say."""
    below = usage.program.below or usage.has("walk", "outward")
    changed, removed = usage.has("inplace"), usage.has("remove")
    any_read = False
    for word in usage.words:
        role = ROLES[word.role]
        if word.text in NO_FILES:
            any_read = any_read or (not word.option and role.use is not None)
            continue
        if role.use is not None and not (word.role in ("from", "to") and is_remote(word.text)):
            any_read = any_read or (not word.option and role.use in ("read", "write"))
            cause = word.option or ("cd" if word.role == "cd" else "")
            yield Touch(role.use, word.text, cause, True, role.below or (below and not word.option))
            if word.role == "cd" and (usage.program.code or usage.root.code):
                # what it runs there may write anything in that folder
                yield Touch("write", word.text, cause, False, True)
            if not word.option and role.use == "read" and changed:
                yield Touch("write", word.text, cause, True, role.below or below)
            if not word.option and role.use == "read" and removed:
                yield Touch("delete", word.text, cause, True, role.below or below)
        elif word.role in ("loose", "value") and not wraps and looks_like_path(word.text):
            # what is not known may become a folder with anything in it
            yield Touch("read" if reads_only else "write", word.text, word.option, False, not reads_only)
    yield from _unnamed(usage)
    if not any_read and usage.program.default:
        yield Touch("read", usage.program.default, "", True, below)
        if changed:
            yield Touch("write", usage.program.default, "", True, below)


def _unnamed(usage: Usage) -> Iterator[Touch]:
    """Files whose names no word says: those it spills, and those that only begin as a word says."""
    if spills(usage) and usage.program.spills == ANYWHERE:
        yield from anywhere("write")
    elif spills(usage):
        yield Touch("write", usage.program.spills, "", True, True)
    if usage.has("outward"):  # links may lead anywhere
        uses = {"read", *(ROLES[word.role].use for word in usage.words if not word.option)}
        yield from (Touch(use, ANYWHERE, "", False) for use in ("read", "write", "delete") if use in uses)
    for word in usage.words:
        if word.role == "list":
            yield from anywhere("read", word.option)
        elif word.role == "prefix" and any(c in word.text for c in "'\"$( "):
            yield from anywhere("write", word.option)  # an expression, by which names are made
        elif word.role == "prefix":
            yield Touch("write", posixpath.dirname(word.text) or ".", word.option, False, True)


def anywhere(use: Use, cause: str = "") -> Iterator[Touch]:
    """Files that no word names and that may lie anywhere, so also below the folder of the command."""
    yield Touch(use, ANYWHERE, cause, False)
    yield Touch(use, ".", cause, False, True)


def looks_like_path(text: str) -> bool:
    """Whether a word has the form of a path of its own: with a slash or a dot, and no URL."""
    return ("/" in text or "." in text) and "://" not in text and "\n" not in text and len(text) <= 4096


def pieces_of(word: str) -> Iterator[str]:
    """What of a word could be a path: the word, what follows `=`, `:`, `@` or a joined letter, the words of a text."""
    if word[:1] != "-" and "\n" not in word:
        yield word
    if word[:1] == "-" and word[1:2] not in ("", "-"):
        for at in range(2, min(len(word), 6)):
            yield word[at:].lstrip("=")
    if any(c in word for c in "=:@'\"() \t\n,;|<>"):
        parts = _PIECES.findall(word)
        yield from (part.strip(":") for part in parts)
        yield from (piece for part in parts for piece in part.split(":") if piece)
