"""The shape of a shell command: words with their parts, simple commands, compounds, lists.

Promises: plain nodes made by `grammar`, read by `walk`; positions are characters of the source that the outermost caller
gave. Nothing here evaluates anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


class ShellSyntaxError(ValueError):
    """The text is not a shell command that this reader understands; the message says what and where."""


class CapReachedError(ValueError):
    """A limit of depth, size, work or time was reached; the message names it."""


@dataclass(slots=True)
class Lit:
    """Characters that stand for themselves."""

    value: str
    quoted: bool


@dataclass(slots=True)
class Var:
    """A parameter expansion."""

    name: str
    op: str
    """Empty, or what follows the name inside braces: `:-`, `-`, `@P`, `#`, `!`, …"""
    arg: list[Part]
    quoted: bool


@dataclass(slots=True)
class Code:
    """A substitution: its output, or the name of a pipe to it, becomes text."""

    body: Sequence
    via: str
    quoted: bool


@dataclass(slots=True)
class Arith:
    """An arithmetic expansion; `plain` when it holds digits and operators alone."""

    nested: list[Part]
    plain: bool
    text: str
    quoted: bool


@dataclass(slots=True)
class Items:
    """The words of an array assignment."""

    words: list[Word]
    quoted: bool = False


Part = Lit | Var | Code | Arith | Items


@dataclass(slots=True)
class Word:
    """One word before expansion."""

    parts: list[Part]
    text: str
    start: int
    end: int


@dataclass(slots=True)
class Assign:
    """`name=value` in front of a command or alone."""

    name: str
    value: Word
    simple: bool
    """False for arrays, subscripts and `+=`."""
    adds: bool = False
    """`+=`."""


@dataclass(slots=True)
class Redir:
    """A redirect; for a here-document `word` is the body and `literal` says whether its delimiter was quoted."""

    operator: str
    fd: int | None
    word: Word
    literal: bool = False
    named_fd: bool = False


@dataclass(slots=True)
class Simple:
    """A simple command."""

    start: int
    end: int = 0
    assigns: list[Assign] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirs: list[Redir] = field(default_factory=list)
    text: str = ""


Kind = Literal["subshell", "group", "if", "loop", "for", "case", "function", "arith", "test", "coproc"]


@dataclass(slots=True)
class Compound:
    """Everything that holds other commands."""

    kind: Kind
    start: int
    end: int = 0
    bodies: list[Node] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirs: list[Redir] = field(default_factory=list)
    name: str = ""
    plain: bool = True
    """For arithmetic and `[[`: nothing in it can run code that is not in sight."""


@dataclass(slots=True)
class Pipeline:
    """Stages joined by `|`."""

    stages: list[Node]


@dataclass(slots=True)
class Sequence:
    """Pipelines, each with the operator that follows it (`&&`, `||`, `;`, `&`, newline, or empty)."""

    items: list[tuple[Node, str]] = field(default_factory=list)


Node = Simple | Compound | Pipeline | Sequence
