"""A TOML file read with the place of every table, pair and inline value.

Promises: `data` is what the standard library reads; `statements` are all tables and pairs in their order, each with the
full path of its key. Raises SettingsError, with line and column, for what is no TOML.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.runtime.gates.settings.document import Document, SettingsError

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"(?!"")|\n)*?"""(?:"{1,2}(?!"))?', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''.*?'''(?:'{1,2}(?!'))?", re.DOTALL)
_PLAIN = re.compile(r"[^,\]}#\r\n]+")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")

Key = tuple[str, ...]


@dataclass(slots=True)
class Value:
    """A value and where it stands."""

    kind: Literal["array", "inline", "scalar"]
    start: int
    end: int
    items: list[Value] = field(default_factory=list)
    members: list[tuple[Key, int, Value]] = field(default_factory=list)
    """Of an inline table: key, where the key begins, value."""

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where the elements of an array or inline table begin and end."""
        if self.kind == "inline":
            return [(start, value.end) for _, start, value in self.members]
        return [(item.start, item.end) for item in self.items]


@dataclass(slots=True)
class Statement:
    """One line of the file that is more than a comment: a table header or a pair."""

    kind: Literal["table", "tables", "pair"]
    """`tables`: an element of an array of tables."""
    path: Key
    """From the root of the file."""
    start: int
    end: int
    value: Value | None = None
    own: Key = ()
    """Of a pair: its key as it stands under its header."""


@dataclass(slots=True)
class TomlFile:
    """What a file says and where."""

    data: dict[str, Any]
    statements: list[Statement]


def parse(doc: Document) -> TomlFile:
    """Read a file. Raises SettingsError."""
    try:
        # the standard library wants line feeds; positions are taken from the text as it is
        data = tomllib.loads(doc.text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(str(error) or "nested too deeply") from None
    try:
        return TomlFile(data, list(_statements(doc.text)))
    except (_Lost, RecursionError) as error:
        raise SettingsError(f"it is TOML, but of a form that cannot be edited by position ({error})") from None


class _Lost(Exception):
    """The scanner met what it does not know in a file that is valid."""


def _statements(text: str) -> list[Statement]:
    found: list[Statement] = []
    table: Key = ()
    at = _gap(text, 0)
    while at < len(text):
        start = at
        if text.startswith("[[", at) or text.startswith("[", at):
            width = 2 if text.startswith("[[", at) else 1
            table, at = _key(text, at + width)
            at = _BLANK.match(text, at).end() + width  # type: ignore[union-attr]
            found.append(Statement("tables" if width == 2 else "table", table, start, at))
        else:
            own, at = _key(text, at)
            if not text.startswith("=", at):
                raise _Lost(f"offset {at}")
            value = _value(text, _BLANK.match(text, at + 1).end())  # type: ignore[union-attr]
            found.append(Statement("pair", table + own, start, value.end, value, own))
            at = value.end
        at = _gap(text, at)
    return found


def _gap(text: str, at: int) -> int:
    return _GAP.match(text, at).end()  # type: ignore[union-attr]


def _key(text: str, at: int) -> tuple[Key, int]:
    parts: list[str] = []
    while True:
        at = _BLANK.match(text, at).end()  # type: ignore[union-attr]
        found = _BARE.match(text, at) or _BASIC.match(text, at) or _LITERAL.match(text, at)
        if found is None:
            raise _Lost(f"offset {at}")
        parts.append(_plain_key(found.group()))
        at = _BLANK.match(text, found.end()).end()  # type: ignore[union-attr]
        if not text.startswith(".", at):
            return tuple(parts), at
        at += 1


def _plain_key(written: str) -> str:
    if written[0] == "'":
        return written[1:-1]
    return next(iter(tomllib.loads(f"{written} = 0"))) if written[0] == '"' else written


def _value(text: str, at: int) -> Value:
    if text.startswith("[", at):
        return _array(text, at)
    if text.startswith("{", at):
        return _inline(text, at)
    for pattern in (_LONG_BASIC, _LONG_LITERAL, _BASIC, _LITERAL, _PLAIN):
        if found := pattern.match(text, at):
            return Value("scalar", at, at + len(found.group().rstrip(" \t")))
    raise _Lost(f"offset {at}")


def _array(text: str, start: int) -> Value:
    value = Value("array", start, start)
    at = _gap(text, start + 1)
    while not text.startswith("]", at):
        value.items.append(_value(text, at))
        at = _gap(text, value.items[-1].end)
        if text.startswith(",", at):
            at = _gap(text, at + 1)
        elif not text.startswith("]", at):
            raise _Lost(f"offset {at}")
    value.end = at + 1
    return value


def _inline(text: str, start: int) -> Value:
    value = Value("inline", start, start)
    at = _gap(text, start + 1)
    while not text.startswith("}", at):
        begin = at
        key, at = _key(text, at)
        if not text.startswith("=", at):
            raise _Lost(f"offset {at}")
        value.members.append((key, begin, _value(text, _gap(text, at + 1))))
        at = _gap(text, value.members[-1][2].end)
        if text.startswith(",", at):
            at = _gap(text, at + 1)
        elif not text.startswith("}", at):
            raise _Lost(f"offset {at}")
    value.end = at + 1
    return value
