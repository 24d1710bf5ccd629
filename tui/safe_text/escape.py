"""Turn foreign text into text that is safe to draw.

Promises: the result holds printable characters, spaces and (when kept) newlines only; text stays in logical order; every
character that was replaced is marked, so that `<U+202E>` from us differs from the same letters written by an agent;
the same input always gives the same output; cost is linear in the length of the input.
Does not promise: that two different inputs look different. Look-alike letters are the matter of `lookalike`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rich.cells import cell_len, get_character_cell_size

MarkKind = Literal[
    "control",
    "newline",
    "tab",
    "bidi",
    "invisible",
    "blank",
    "separator",
    "surrogate",
    "private",
    "unassigned",
    "combining",
    "byte",
    "spaces",
    "joiner",
]

TAB_SIZE = 4
MOST_MARKS = 2
"""Combining marks that one base may carry: Vietnamese and Thai need two; more is a pile that spills over its line."""
MOST_JOINERS = 4
"""Joiners in one emoji. The longest recommended emoji sequences have three."""
LONGEST_BLANKS = 64
"""A longer run of spaces is folded to a mark with its count, so that it pushes nothing off the screen."""
LONGEST_REPEAT = 4
"""A longer run of one escaped character is folded to one escape with its count."""

_QUIET: frozenset[str] = frozenset({"newline", "tab", "joiner"})
# Letters of the most written scripts: assigned, visible, without combining marks; taken in stretches for speed.
_LETTERS = "\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2026\u2500-\u259f"
_LETTERS += "\u3041-\u3096\u30a1-\u30fa\u4e00-\u9ffc\uac00-\ud7a3"
_PLAIN = re.compile(rf"[^\n\x20-\x7e{_LETTERS}]+| {{{LONGEST_BLANKS + 1},}}")
_PLAIN_LINE = re.compile(_PLAIN.pattern.replace("\\n", ""))
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# These are letters, marks or symbols by category, and draw nothing.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\ufffc")
_NAMES: dict[str, str] = {
    "control": "control character(s)",
    "bidi": "direction control(s)",
    "invisible": "invisible character(s)",
    "blank": "blank(s) that are no space",
    "separator": "line separator(s)",
    "surrogate": "half character(s)",
    "private": "private character(s)",
    "unassigned": "unassigned character(s)",
    "combining": "stray or piled combining mark(s)",
    "byte": "byte(s) that are not UTF-8",
    "spaces": "long run(s) of spaces",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """One place in the shown text that does not stand for itself."""

    start: int
    """Index into `SafeText.text`."""
    end: int
    kind: MarkKind
    count: int = 1
    """How many source characters it stands for."""


@dataclass(frozen=True, slots=True)
class SafeText:
    """Text that may be drawn, with the places that were escaped and what a reader should be warned of."""

    text: str
    marks: tuple[Mark, ...] = ()
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text

    @property
    def is_plain(self) -> bool:
        """Whether nothing in it deserves a warning (tabs, kept joiners and shown newlines do not)."""
        return not self.warnings

    def count(self, kind: MarkKind) -> int:
        """How many source characters of this kind were met."""
        return sum(mark.count for mark in self.marks if mark.kind == kind)

    def shown_at(self, index: int) -> int:
        """The place in `text` of a place in the source that was escaped."""
        moved = 0
        for mark in self.marks:
            if mark.start - moved >= index:
                break
            moved += (mark.end - mark.start) - mark.count
        return min(max(index + moved, 0), len(self.text))

    def slice(self, start: int, end: int) -> SafeText:
        """The part between two indexes, with its marks; the warnings stay with the whole."""
        inside = tuple(
            Mark(max(mark.start, start) - start, min(mark.end, end) - start, mark.kind, mark.count)
            for mark in self.marks
            if mark.start < end and mark.end > start
        )
        return SafeText(self.text[start:end], inside)

    def joined(self, other: SafeText) -> SafeText:
        """This text and then the other."""
        moved = tuple(Mark(m.start + len(self.text), m.end + len(self.text), m.kind, m.count) for m in other.marks)
        return SafeText(self.text + other.text, self.marks + moved, warn(self.marks + moved))


def escape(text: str, *, keep_newlines: bool = True, raw_bytes: bool = False) -> SafeText:
    """Make foreign text safe to draw.

    `keep_newlines=False` shows each newline as a mark, for text that must stay on one line. `raw_bytes=True` reads
    U+DC80 to U+DCFF as undecodable bytes (`surrogateescape`) and shows `<0x80>`. Never raises.
    """
    if not (_PLAIN if keep_newlines else _PLAIN_LINE).search(text):
        return SafeText(text)
    run = _Run(keep_newlines, raw_bytes)
    return run.over(text)


def warn(marks: tuple[Mark, ...]) -> tuple[str, ...]:
    """One sentence for each kind of escaped character, in the order in which they first occur."""
    counts: Counter[str] = Counter()
    for mark in marks:
        if mark.kind not in _QUIET:
            counts[mark.kind] += 1 if mark.kind == "spaces" else mark.count
    return tuple(
        f"{count} {_NAMES[kind].replace('(s)', '' if count == 1 else 's')} shown" for kind, count in counts.items()
    )


@lru_cache(maxsize=4096)
def kind_of(char: str) -> MarkKind | None:
    """What hides in one character when nothing is known of its neighbours, or None when it may be drawn."""
    code, category = ord(char), unicodedata.category(char)
    if char in _BIDI:
        return "bidi"
    if char in _INVISIBLE or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return "invisible"
    by_category: dict[str, MarkKind] = {
        "Cc": "control",
        "Cf": "invisible",
        "Cs": "surrogate",
        "Co": "private",
        "Cn": "unassigned",
        "Zl": "separator",
        "Zp": "separator",
        "Zs": "blank",
    }
    if char == "\x85":
        return "separator"
    return None if char == " " else by_category.get(category)


def name_of(char: str) -> str:
    """How an escaped character is written: a control picture for C0 and DEL, `<U+202E>` for the rest."""
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return f"<U+{code:04X}>"


def is_pictograph(char: str) -> bool:
    """Whether a character can be part of an emoji (symbols above U+2190, skin tones, and © ®)."""
    if char in "\xa9\xae\u203c\u2049\u2122\u2139\u3030\u303d":
        return True
    return ord(char) >= 0x2190 and unicodedata.category(char) in ("So", "Sm", "Sk")


class _Run:
    """One walk over one text."""

    def __init__(self, keep_newlines: bool, raw_bytes: bool) -> None:
        self._keep_newlines = keep_newlines
        self._raw_bytes = raw_bytes
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._length = 0
        self._column = 0
        self._base = ""
        self._stacked = 0
        self._joined = 0
        self._repeated = ""

    def over(self, text: str) -> SafeText:
        at = 0
        pattern = _PLAIN if self._keep_newlines else _PLAIN_LINE
        for found in pattern.finditer(text):
            self._plain(text[at : found.start()])
            at = found.end()
            if found.group().startswith(" "):
                self._mark(f"[{at - found.start()} spaces]", "spaces", at - found.start())
            else:
                self._odd(text, found.start(), at)
        self._plain(text[at:])
        marks = tuple(self._marks)
        return SafeText("".join(self._pieces), marks, warn(marks))

    def _plain(self, piece: str) -> None:
        if piece:
            self._append(piece)
            newline = piece.rfind("\n")
            last = piece[newline + 1 :]
            width = len(last) if last.isascii() else cell_len(last)
            self._column = width if newline >= 0 else self._column + width
            self._base, self._stacked, self._joined = piece[-1], 0, 0

    def _odd(self, text: str, start: int, end: int) -> None:
        for at, count in _repeats(text, start, end):
            char = text[at]
            if char == "\t":
                for _ in range(count):
                    self._tab()
            elif (kind := self._kind(text, at)) is None:
                self._letters(char, count)
            elif kind == "joiner":
                self._marks.append(Mark(self._length, self._length + 1, "joiner"))
                self._joined += 1
                self._append(char)
            else:
                self._escaped(char, kind, count)

    def _kind(self, text: str, at: int) -> MarkKind | None:
        """What the character at this place is, seen with its neighbours."""
        char = text[at]
        following = text[at + 1] if at + 1 < len(text) else ""
        if char == "\n":
            return "newline"
        if char == "\u200d" and self._base and is_pictograph(self._base) and self._joined < MOST_JOINERS:
            return "joiner" if following and is_pictograph(following) and kind_of(following) is None else "invisible"
        if char in "\ufe0e\ufe0f" and self._stacked == 0 and self._takes_selector(following):
            return None
        if self._raw_bytes and "\udc80" <= char <= "\udcff":
            return "byte"
        return kind_of(char)

    def _takes_selector(self, following: str) -> bool:
        return bool(self._base) and (
            is_pictograph(self._base) or (self._base in "0123456789#*" and following == "\u20e3")
        )

    def _letters(self, char: str, count: int) -> None:
        """Characters that may be drawn; those without a width of their own need a base that bears them."""
        if get_character_cell_size(char) == 0 or unicodedata.category(char) in ("Mn", "Me"):
            while count and self._bears(char):
                self._stacked += 1
                self._append(char)
                count -= 1
            if count:
                self._escaped(char, "combining", count)
            return
        self._append(char * count)
        self._column += get_character_cell_size(char) * count
        if not 0x1F3FB <= ord(char) <= 0x1F3FF:
            self._base = char
            self._stacked = 0
        if not is_pictograph(char):
            self._joined = 0

    def _bears(self, char: str) -> bool:
        if not self._base or self._stacked >= MOST_MARKS:
            return False
        if char in "\ufe0e\ufe0f\u20e3":
            return self._base in "0123456789#*" or is_pictograph(self._base)
        return unicodedata.category(self._base)[0] in "LN" or (not self._base.isascii() and self._base.isprintable())

    def _tab(self) -> None:
        width = TAB_SIZE - self._column % TAB_SIZE
        self._mark("→" + " " * (width - 1), "tab", 1)

    def _escaped(self, char: str, kind: MarkKind, count: int) -> None:
        name = f"<0x{ord(char) - 0xDC00:02X}>" if kind == "byte" else name_of(char)
        if count > LONGEST_REPEAT:
            name = f"{name[:-1]} ×{count}>" if name.startswith("<") else f"<{name} ×{count}>"
            self._mark(name, kind, count)
            return
        for _ in range(count):
            self._mark(name, kind, 1)

    def _mark(self, shown: str, kind: MarkKind, count: int) -> None:
        self._marks.append(Mark(self._length, self._length + len(shown), kind, count))
        self._append(shown)
        self._column += len(shown)
        # A mark bears nothing: what would combine with it stands for itself.
        self._base, self._stacked, self._joined = "", 0, 0

    def _append(self, piece: str) -> None:
        self._pieces.append(piece)
        self._length += len(piece)


def _repeats(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of a stretch, each with how often its character follows itself there."""
    at = start
    while at < end:
        stop = at + 1
        if text[at] not in "\ufe0e\ufe0f":
            while stop < end and text[stop] == text[at]:
                stop += 1
        yield at, stop - at
        at = stop
