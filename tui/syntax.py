"""Colours of code, one visible line at a time.

Promises: lexes no more than it is given, and never more than `LONGEST` characters of a line; never raises for a text.
A line is lexed alone, so the inside of a string of many lines is coloured as code.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pygments.lexer import Lexer

SyntaxPart = Literal["keyword", "name", "string", "number", "comment", "operator"]
PARTS: tuple[SyntaxPart, ...] = ("keyword", "name", "string", "number", "comment", "operator")
LONGEST = 500
"""Characters of a line that are lexed; the rest of it keeps the plain colour."""


@lru_cache(maxsize=64)
def lexer_for(name: str) -> Lexer | None:
    """The lexer for a file name, None for a name that says nothing. Imported at the first call."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(name.rpartition("/")[2], stripnl=False, ensurenl=False)
    except (ClassNotFound, ValueError):
        return None


@lru_cache(maxsize=4096)
def syntax_spans(name: str, line: str) -> tuple[tuple[int, int, SyntaxPart], ...]:
    """Stretches of one line that have a colour, by the kind of word."""
    lexer = lexer_for(name)
    if lexer is None:
        return ()
    spans: list[tuple[int, int, SyntaxPart]] = []
    for start, kind, value in lexer.get_tokens_unprocessed(line[:LONGEST]):
        if (part := _part(str(kind))) and value.strip():
            spans.append((start, start + len(value), part))
    return tuple(spans)


def _part(kind: str) -> SyntaxPart | None:
    for prefix, part in _KINDS:
        if kind.startswith(prefix):
            return part
    return None


_KINDS: tuple[tuple[str, SyntaxPart], ...] = (
    ("Token.Comment", "comment"),
    ("Token.Keyword", "keyword"),
    ("Token.Operator.Word", "keyword"),
    ("Token.Literal.String", "string"),
    ("Token.Literal.Number", "number"),
    ("Token.Name.Function", "name"),
    ("Token.Name.Class", "name"),
    ("Token.Name.Builtin", "name"),
    ("Token.Name.Decorator", "name"),
    ("Token.Name.Tag", "name"),
    ("Token.Operator", "operator"),
    ("Token.Punctuation", "operator"),
)
