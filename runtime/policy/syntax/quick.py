"""The shape of the commonest texts, read in one pass: plain and quoted words, joined by `|`, `&&`, `||` and `;`.

Promises: gives exactly what `grammar.Grammar` gives for the same text, or nothing at all, which sends the text the long
way; the tests compare the two. It takes no text with a variable, a pattern, a redirect, a comment, a line end, a
backslash, an assignment or a reserved word in it. Pure.
"""

from __future__ import annotations

import re

from interlock.runtime.policy.syntax.syntax import Lit, Node, Part, Pipeline, Sequence, Simple, Word

_MOST_SIZE = 400
"""Characters; so short a text cannot reach the cap of work, so that nothing has to be counted here."""
_PIECE = r"""[A-Za-z0-9_./,:=+@%^-]++|'[^'\n]*+'|"[^"$`\\\n]*+\""""
_PIECES = re.compile(_PIECE)
_WORDS = re.compile(f"(?:{_PIECE})++")
_COMMAND = re.compile(rf"[ \t]*+((?:{_PIECE})++(?:[ \t]++(?:{_PIECE})++)*+)[ \t]*+(&&|\|\||\||;|\Z)")
_RESERVED = frozenset(
    ("if", "then", "elif", "else", "fi", "do", "done", "esac", "for", "case", "select", "while", "until", "function",
     "coproc", "time")
)  # fmt: skip


def quick_sequence(text: str) -> Sequence | None:
    """The commands of `text`; None when it is not plain enough."""
    if len(text) > _MOST_SIZE:
        return None
    items: list[tuple[Node, str]] = []
    stages: list[Node] = []
    at, operator = 0, ";"
    while (found := _COMMAND.match(text, at)) is not None:
        node = _command(text, *found.span(1))
        if node is None:
            return None
        stages.append(node)
        at, operator = found.end(), found[2]
        if operator != "|":
            items.append((stages[0] if len(stages) == 1 else Pipeline(stages), operator))
            stages = []
        if not operator:
            return Sequence(items)
    return Sequence(items) if items and operator == ";" and not text[at:].strip(" \t") else None


def _command(text: str, start: int, end: int) -> Simple | None:
    words = [_word(found[0], found.start()) for found in _WORDS.finditer(text, start, end)]
    first = words[0].text
    if first in _RESERVED or "=" in first:
        return None
    return Simple(start, end, [], words, [], text[start:end])


def _word(text: str, start: int) -> Word:
    if "'" not in text and '"' not in text:
        return Word([Lit(text, False)], text, start, start + len(text))
    parts: list[Part] = []
    for piece in _PIECES.findall(text):
        if piece[0] == "'":
            parts.append(Lit(piece[1:-1], True))
        elif piece[0] == '"':
            parts += [Lit("", True), Lit(piece[1:-1], True)] if len(piece) > 2 else [Lit("", True)]
        else:
            parts.append(Lit(piece, False))
    return Word(parts, text, start, start + len(text))
