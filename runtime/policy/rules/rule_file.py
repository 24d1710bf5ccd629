"""The TOML of a rule file, taken apart so that one bad piece does not take the others with it.

Promises: gives every piece with its line; a piece that is no TOML is given as broken, with what the text still shows of
its effect and its programs. Pure: text in, pieces out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_HEADER = re.compile(r"^\s*\[\[?\s*[A-Za-z0-9_.\"' -]+\s*\]\]?\s*(?:#.*)?$")
_LINE = re.compile(r"at line (\d+)")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'([^\'\n]*)\'')


@dataclass(frozen=True, slots=True)
class Piece:
    """One table of a file, or what stands before the first."""

    line: int
    """Where it begins, from 1."""
    text: str
    name: str = ""
    """`rule` for a `[[rule]]`, "" for the top."""
    table: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    """Why it is no TOML."""
    error_line: int = 0


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a file in order."""
    return [_piece(line, chunk) for line, chunk in _chunks(text) if chunk.strip()]


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """(first line, text) of each part that begins with a header; headers within long strings do not count."""
    start, kept, inside = 1, list[str](), ""
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if not inside and _HEADER.match(line):
            yield start, "".join(kept)
            start, kept = number, []
        inside = _still_inside(line, inside)
        kept.append(line)
    yield start, "".join(kept)


def _still_inside(line: str, inside: str) -> str:
    """Which long quote is open behind this line, "" for none."""
    at = 0
    while at < len(line):
        if inside:
            end = line.find(inside, at)
            if end < 0:
                return inside
            at, inside = end + 3, ""
            continue
        found = re.compile(r"\"\"\"|'''|#|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'").search(line, at)
        if found is None or found[0] == "#":
            return ""
        at = found.end()
        inside = found[0] if found[0] in ('"""', "'''") else ""
    return inside


def _piece(line: int, chunk: str) -> Piece:
    try:
        table = tomllib.loads(chunk)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        at = _LINE.search(str(error))
        where = line + int(at[1]) - 1 if at else line
        return Piece(line, chunk, _header_name(chunk), {}, str(error).partition(" (at")[0], where)
    name = _header_name(chunk)
    for part in name.split(".") if name else ():
        inner = table.get(part)
        table = inner[0] if isinstance(inner, list) and inner else inner if isinstance(inner, dict) else {}
    return Piece(line, chunk, name, table)


def _header_name(chunk: str) -> str:
    first = next((row for row in chunk.splitlines() if row.strip()), "")
    return first.partition("#")[0].strip().strip("[]").strip().strip("\"'") if _HEADER.match(first) else ""


def line_of(piece: Piece, value: str) -> int:
    """The line on which a string stands in a piece; the piece's first line when it is not found."""
    for offset, row in enumerate(piece.text.splitlines()):
        for double, single in _STRING.findall(row):
            if value in (double, single, double.replace('\\"', '"').replace("\\\\", "\\")):
                return piece.line + offset
    return piece.line


def shown_effect(text: str) -> str:
    """What a broken piece seems to say of its effect, "" for nothing."""
    found = re.search(r"effect\s*=\s*[\"']?(\w+)", text)
    return found[1] if found else ""


def shown_programs(text: str) -> tuple[str, ...]:
    """Every word in the strings of a broken piece that could be a program."""
    words: list[str] = []
    for row in text.splitlines():
        if re.match(r"\s*(?:command|commands|program|programs|deny|ask|allow)\b", row) or row.lstrip().startswith(
            ("'", '"')
        ):
            words += program_words(row.partition("=")[2] or row)
    return tuple(dict.fromkeys(words))


def program_words(text: str) -> list[str]:
    """The words of a text that could be names of programs."""
    return [word for word in re.findall(r"[A-Za-z0-9_./+@-]+", text) if re.search(r"[A-Za-z]", word) and word[0] != "-"]
