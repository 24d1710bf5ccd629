"""A settings file as text that is edited by position, so that all the user wrote stays as it was.

Promises: decoding and encoding an unedited document gives the same bytes; edits keep the byte order mark, the line ends and
the indentation that the file uses. A file that is no UTF-8 is refused, never guessed at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_INDENT = re.compile(r"^([ \t]+)(?=[^\s])", re.MULTILINE)


class SettingsError(Exception):
    """A settings file cannot be read or edited; the message says where in it and why."""


class Splice(NamedTuple):
    """Replace `text[start:end]` by `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Document:
    """The text of a settings file and its manner."""

    text: str
    bom: bool = False

    @classmethod
    def decode(cls, data: bytes) -> Document:
        """Read bytes. Raises SettingsError for what is no UTF-8."""
        bom = data.startswith(_BOM)
        body = data[len(_BOM) :] if bom else data
        try:
            return cls(body.decode("utf-8"), bom)
        except UnicodeDecodeError as error:
            raise SettingsError(f"byte {error.start + len(data) - len(body)} is not UTF-8") from None

    def encode(self) -> bytes:
        """The bytes of the file."""
        return (_BOM if self.bom else b"") + self.text.encode("utf-8")

    @property
    def newline(self) -> str:
        """The line end of the first line; `\\n` where there is none."""
        at = self.text.find("\n")
        return "\r\n" if at > 0 and self.text[at - 1] == "\r" else "\n"

    @property
    def unit(self) -> str:
        """One step of indentation, as the first indented line has it; two spaces where there is none."""
        found = _INDENT.search(self.text)
        return found.group(1) if found else "  "

    def with_splices(self, splices: Iterable[Splice]) -> Document:
        """The document with these parts replaced; of two at one place the first one given comes first."""
        text = self.text
        for _, splice in sorted(enumerate(splices), key=lambda one: (one[1].start, one[0]), reverse=True):
            text = text[: splice.start] + splice.new + text[splice.end :]
        return Document(text, self.bom)


def position(text: str, offset: int) -> str:
    """`line 3, column 7` of an offset, both from 1."""
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return f"line {line}, column {column}"


def indent_at(text: str, offset: int) -> str:
    """The white space that the line of `offset` begins with."""
    start = text.rfind("\n", 0, offset) + 1
    end = start
    while end < len(text) and text[end] in " \t":
        end += 1
    return text[start : min(end, offset)]
