"""Read a unified diff into lines that can be drawn. Pure; computes no diff of files (the runtime does).

Promises: every line of the input is a line of the result, also those that are understood by nobody; counts are counted
from the lines, not taken from the heads; a removed line that looks like a head stays a removed line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

LineKind = Literal["file", "meta", "hunk", "context", "add", "remove", "note"]

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)", re.DOTALL)
_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
LONGEST_WORDS = 1000
"""Characters of a line up to which words are compared; a longer line has its changed middle marked."""
LEAST_ALIKE = 0.35
"""Share that two lines have in common below which marks would only be noise."""
MOST_PAIRS = 4000
"""Pairs of equal tokens up to which they are matched: bounds the cost of lines of repeated words."""


class DiffLine(NamedTuple):
    """One line of a diff."""

    kind: LineKind
    text: str
    """Foreign text without its sign; a CR at its end is still there."""
    old: int = 0
    """Line number before, 0 when it has none."""
    new: int = 0
    mate: int = -1
    """Place of the line that replaces or is replaced by this one, -1 for none."""
    no_newline: bool = False
    """Whether the file ends here without a newline."""


@dataclass(slots=True)
class DiffFile:
    """One file of a diff."""

    name: str
    start: int
    """Place of its first line."""
    added: int = 0
    removed: int = 0
    hunks: int = 0


@dataclass(slots=True)
class Diff:
    """A diff as lines, files and counts."""

    lines: list[DiffLine] = field(default_factory=list)
    files: list[DiffFile] = field(default_factory=list)

    @property
    def added(self) -> int:
        """Lines added."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(file.removed for file in self.files)

    @property
    def hunks(self) -> int:
        """Hunks."""
        return sum(file.hunks for file in self.files)

    @property
    def summary(self) -> str:
        """Files, lines and hunks in one line, in our own words."""
        files, hunks = len(self.files), self.hunks
        parts = [f"{files:,} {'file' if files == 1 else 'files'}"] if files else ["no file"]
        return f"{parts[0]}   +{self.added:,} -{self.removed:,}   {hunks:,} {'hunk' if hunks == 1 else 'hunks'}"


def read_diff(text: str) -> Diff:
    """Read a unified diff, of git or of `diff -u`. Never raises; what is no diff becomes notes."""
    return _Reader().over(text)


def diff_of_new_file(text: str, name: str) -> Diff:
    """A new file in full, as a diff that only adds."""
    lines = text.split("\n")
    ends = lines[-1] == ""
    body = lines[:-1] if ends else lines
    drawn = [DiffLine("add", line, 0, number + 1) for number, line in enumerate(body)]
    if drawn and not ends:
        drawn[-1] = drawn[-1]._replace(no_newline=True)
    head = DiffLine("file", f"{name}   new file")
    return Diff([head, *drawn], [DiffFile(name, 0, added=len(drawn), hunks=1 if drawn else 0)])


class _Reader:
    def __init__(self) -> None:
        self._diff = Diff()
        self._old = self._new = 0
        self._old_left = self._new_left = 0
        self._removed: list[int] = []
        self._added: list[int] = []
        self._from = ""

    def over(self, text: str) -> Diff:
        lines = text.split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        for line in lines:
            if self._old_left > 0 or self._new_left > 0:
                self._in_hunk(line)
            else:
                self._between(line)
        self._pair()
        return self._diff

    def _between(self, line: str) -> None:
        if line.startswith("\\"):
            self._no_newline(line)
        elif found := _HUNK.match(line):
            self._hunk(found, line)
        elif line.startswith("diff --git "):
            self._pair()
            self._from = ""
            self._open(line[len("diff --git ") :].rpartition(" b/")[2] or line, line)
        elif line.startswith("--- "):
            self._pair()
            self._from = _path(line[4:])
            self._put(DiffLine("meta", line))
        elif line.startswith("+++ "):
            self._named(_path(line[4:]), line)
        else:
            self._put(DiffLine("meta" if self._diff.files and line else "note", line))

    def _named(self, path: str, line: str) -> None:
        name = self._from if path == "/dev/null" else path
        last = self._diff.files[-1] if self._diff.files else None
        if last is None or last.hunks:
            at = len(self._diff.lines) - 1
            self._put(DiffLine("meta", line))
            self._diff.lines.insert(max(at, 0), DiffLine("file", name))
            self._diff.files.append(DiffFile(name, max(at, 0)))
            return
        last.name = name
        self._diff.lines[last.start] = DiffLine("file", name)
        self._put(DiffLine("meta", line))

    def _open(self, name: str, _line: str) -> None:
        self._diff.files.append(DiffFile(name, len(self._diff.lines)))
        self._put(DiffLine("file", name))

    def _hunk(self, found: re.Match[str], line: str) -> None:
        self._pair()
        if not self._diff.files:
            self._open("(no file named)", "")
        old, old_count, new, new_count = found.group(1, 2, 3, 4)
        self._old, self._new = _number(old), _number(new)
        self._old_left = _number(old_count) if old_count is not None else 1
        self._new_left = _number(new_count) if new_count is not None else 1
        self._diff.files[-1].hunks += 1
        self._put(DiffLine("hunk", line))

    def _in_hunk(self, line: str) -> None:
        sign, text, file = line[:1], line[1:], self._diff.files[-1]
        match sign:
            case "-" if self._old_left > 0:
                if self._added:
                    self._pair()
                self._removed.append(len(self._diff.lines))
                self._put(DiffLine("remove", text, self._old, 0))
                self._old, self._old_left = self._old + 1, self._old_left - 1
                file.removed += 1
            case "+" if self._new_left > 0:
                self._added.append(len(self._diff.lines))
                self._put(DiffLine("add", text, 0, self._new))
                self._new, self._new_left = self._new + 1, self._new_left - 1
                file.added += 1
            case " " | "":
                self._pair()
                self._put(DiffLine("context", text, self._old, self._new))
                self._old, self._new = self._old + 1, self._new + 1
                self._old_left, self._new_left = self._old_left - 1, self._new_left - 1
            case "\\":
                self._no_newline(line)
            case _:
                # The head promised more lines than there are: read on as between hunks, lose nothing.
                self._old_left = self._new_left = 0
                self._between(line)

    def _no_newline(self, line: str) -> None:
        if self._diff.lines and self._diff.lines[-1].kind in ("add", "remove", "context"):
            self._diff.lines[-1] = self._diff.lines[-1]._replace(no_newline=True)
        else:
            self._put(DiffLine("note", line))

    def _pair(self) -> None:
        for removed, added in zip(self._removed, self._added, strict=False):
            self._diff.lines[removed] = self._diff.lines[removed]._replace(mate=added)
            self._diff.lines[added] = self._diff.lines[added]._replace(mate=removed)
        self._removed, self._added = [], []

    def _put(self, line: DiffLine) -> None:
        self._diff.lines.append(line)


def _number(text: str) -> int:
    """A number of a head; absurd ones cannot hold up the reader."""
    return int(text) if len(text) < 10 else 0


def _path(text: str) -> str:
    name = text.partition("\t")[0].rstrip("\r")
    return name[2:] if name.startswith(("a/", "b/")) else name


def sides(lines: Sequence[DiffLine]) -> list[tuple[int, int]]:
    """For side by side: pairs of places (left, right), -1 where a side is empty; heads stand on both (place, place)."""
    rows: list[tuple[int, int]] = []
    for place, line in enumerate(lines):
        if line.kind == "remove":
            rows.append((place, line.mate))
        elif line.kind == "add":
            if line.mate < 0:
                rows.append((-1, place))
        else:
            rows.append((place, place))
    return rows


class WordMarks(NamedTuple):
    """Stretches (start, end) of the two lines that differ."""

    old: list[tuple[int, int]]
    new: list[tuple[int, int]]


def word_marks(old: str, new: str) -> WordMarks:
    """Which words of two lines differ; nothing when the lines have little in common. Cost is bounded for any input."""
    if max(len(old), len(new)) <= LONGEST_WORDS and (marks := _by_tokens(old, new)) is not None:
        return marks
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    if head + tail < max(len(old), len(new)) * LEAST_ALIKE:
        return WordMarks([], [])
    return WordMarks(_span(head, old[head : len(old) - tail]), _span(head, new[head : len(new) - tail]))


def _common(one: str, other: str) -> int:
    limit = min(len(one), len(other))
    low = 0
    step = 256
    while low < limit and one[low : low + step] == other[low : low + step]:
        low += step
    low = min(low, limit)
    while low < limit and one[low] == other[low]:
        low += 1
    return low


def _span(start: int, text: str) -> list[tuple[int, int]]:
    return [(start, start + len(text))] if text else []


def _by_tokens(old: str, new: str) -> WordMarks | None:
    """Marks of whole words, or None when the lines repeat so much that matching would be slow."""
    ones, others = _TOKEN.findall(old), _TOKEN.findall(new)
    first, second = Counter(ones), Counter(others)
    if sum(count * second[token] for token, count in first.items()) > MOST_PAIRS:
        return None
    matcher = SequenceMatcher(None, ones, others, autojunk=False)
    if matcher.ratio() < LEAST_ALIKE:
        return WordMarks([], [])
    ends_old, ends_new = _offsets(ones), _offsets(others)
    marks = WordMarks([], [])
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            marks.old.extend([(ends_old[a], ends_old[b])] if b > a else [])
            marks.new.extend([(ends_new[c], ends_new[d])] if d > c else [])
    return marks


def _offsets(tokens: list[str]) -> list[int]:
    offsets = [0]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    return offsets
