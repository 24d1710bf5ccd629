"""Tool output as text: what a terminal would show, without what a terminal would do.

Promises: colours and weights (SGR) become style runs in the theme's own colours, so that nothing can be painted
unreadable; links show their target; a line redrawn by carriage returns is shown in its last state and counted; every
other sequence is removed and counted in `removed`; stray controls are shown by `escape`. The full text is
`escape(source)`, one key away. Cost is linear.
Does not promise: a terminal. Cursor moves have no effect.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from interlock.tui.safe_text.escape import Mark, SafeText, escape, warn

_SEQUENCE = re.compile(
    r"(?P<csi>(?:\x1b\[|\x9b)(?P<params>[0-?]*)(?P<mid>[ -/]*)(?P<final>[@-~]))"
    r"|(?P<osc>(?:\x1b\]|\x9d)(?P<text>[^\x07\x1b\x9c\n]*)(?:\x07|\x1b\\|\x9c))"
    r"|(?P<string>(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c))"
    r"|(?P<short>\x1b[ -/]*[0-Z\\^-~])"
)
_COLOURS = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "")
# Black and white are left to the theme: one of them is always the background.


@dataclass(frozen=True, slots=True)
class Pen:
    """How a tool wanted text drawn."""

    colour: str | None = None
    """red, green, yellow, blue, magenta, cyan, or None for the theme's own."""
    bold: bool = False
    italic: bool = False
    underline: bool = False
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class StyleRun:
    """A stretch of `TerminalText.text` drawn with one pen."""

    start: int
    end: int
    pen: Pen


@dataclass(frozen=True, slots=True)
class TerminalText:
    """Tool output ready to be drawn, and an account of what was left out."""

    safe: SafeText
    runs: tuple[StyleRun, ...] = ()
    removed: dict[str, int] = field(default_factory=dict)
    """Sequences left out, by kind: `cursor`, `mode`, `title or clipboard`, `device`, `other`."""
    redrawn: int = 0
    """Earlier states of lines that a carriage return drew over."""
    links: tuple[str, ...] = ()
    """Targets of links, escaped, in order."""

    @property
    def text(self) -> str:
        """What is drawn."""
        return self.safe.text

    @property
    def note(self) -> str:
        """One sentence on what was left out, or nothing."""
        parts = [f"{count} {kind} sequences" for kind, count in self.removed.items()]
        parts += [f"{self.redrawn} overdrawn states"] if self.redrawn else []
        return f"left out: {', '.join(parts)}" if parts else ""


def strip_terminal(text: str, *, colours: bool = True) -> TerminalText:
    """Read tool output as a terminal would, and keep only text and colours. Never raises."""
    if text.isascii() and "\x1b" not in text and "\r" not in text:
        return TerminalText(escape(text))
    walk = _Walk(colours)
    for number, line in enumerate(text.split("\n")):
        if number:
            walk.newline()
        walk.line(line)
    return walk.finished()


class _Walk:
    def __init__(self, colours: bool) -> None:
        self._colours = colours
        self._pieces: list[str] = []
        self._marks: list[Mark] = []
        self._runs: list[StyleRun] = []
        self._removed: Counter[str] = Counter()
        self._links: list[str] = []
        self._length = 0
        self._redrawn = 0
        self._pen = Pen()
        self._target = ""

    def newline(self) -> None:
        self._pieces.append("\n")
        self._length += 1

    def line(self, line: str) -> None:
        """One line: of several states drawn over each other the last that has text, colours carried through.

        What stood before a progress counter (`fetched 10%`, then `50%` alone) is not a state of it, and stays.
        """
        states = [list(_parts(state)) for state in line.split("\r")]
        with_text = [number for number, parts in enumerate(states) if any(isinstance(part, str) for part in parts)]
        last = with_text[-1] if with_text else 0
        self._redrawn += max(len(with_text) - 1, 0)
        kept = _before_progress(*(_plain(states[number]) for number in with_text[:2])) if len(with_text) > 1 else 0
        for number, parts in enumerate(states):
            for part in parts:
                if isinstance(part, re.Match):
                    self._sequence(part, shown=number == last)
                elif number == last:
                    self._write(part)
                elif kept > 0:
                    self._write(part[:kept])
                    kept -= len(part)
        if self._target:
            self._close_link()

    def finished(self) -> TerminalText:
        marks = tuple(self._marks)
        safe = SafeText("".join(self._pieces), marks, warn(marks))
        return TerminalText(safe, tuple(self._runs), dict(self._removed), self._redrawn, tuple(self._links))

    def _write(self, text: str) -> None:
        safe = escape(text)
        self._marks += (Mark(m.start + self._length, m.end + self._length, m.kind, m.count) for m in safe.marks)
        if self._colours and self._pen != Pen():
            self._runs.append(StyleRun(self._length, self._length + len(safe.text), self._pen))
        self._pieces.append(safe.text)
        self._length += len(safe.text)

    def _sequence(self, match: re.Match[str], *, shown: bool) -> None:
        if match["csi"] is not None:
            if match["final"] == "m" and not match["mid"]:
                self._pen = turned(self._pen, match["params"])
            else:
                self._removed["mode" if match["final"] in "hlr" else "cursor"] += 1
        elif match["osc"] is not None:
            self._command(match["text"], shown)
        else:
            self._removed["device" if match["string"] is not None else "other"] += 1

    def _command(self, text: str, shown: bool) -> None:
        if not text.startswith("8;"):
            self._removed["title or clipboard"] += 1
            return
        if self._target:
            self._close_link()
        if shown:
            self._target = text[2:].partition(";")[2]

    def _close_link(self) -> None:
        target, self._target = self._target, ""
        self._links.append(escape(target, keep_newlines=False).text)
        self._write(f" <{target}>")


def _parts(state: str) -> Iterator[str | re.Match[str]]:
    at = 0
    for match in _SEQUENCE.finditer(state):
        if match.start() > at:
            yield state[at : match.start()]
        yield match
        at = match.end()
    if at < len(state):
        yield state[at:]


def _plain(parts: list[str | re.Match[str]]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def _before_progress(first: str, second: str) -> int:
    """How much of the first state stands before what the second draws again, digits aside."""
    shape = r"\d+".join(re.escape(part) for part in re.split(r"\d+", second[:200].strip()))
    found = re.search(rf"{shape}\s*\Z", first[-400:])
    return max(len(first) - 400, 0) + found.start() if found and len(second) <= 200 else 0


def turned(pen: Pen, params: str) -> Pen:
    """The pen after one SGR sequence. Backgrounds, faint, blink and conceal are not kept: they can hide text."""
    codes = [int(part) if part.isdecimal() and len(part) < 5 else 0 for part in re.split("[;:]", params)]
    at = 0
    while at < len(codes):
        code = codes[at]
        if code in (38, 48):
            named, used = _extended(codes[at + 1 :])
            pen = replace(pen, colour=named) if code == 38 else pen
            at += used
        else:
            pen = _simple(pen, code)
        at += 1
    return pen


def _simple(pen: Pen, code: int) -> Pen:
    match code:
        case 0:
            return Pen()
        case 1 | 22:
            return replace(pen, bold=code == 1)
        case 3 | 23:
            return replace(pen, italic=code == 3)
        case 4 | 24:
            return replace(pen, underline=code == 4)
        case 7 | 27:
            return replace(pen, reverse=code == 7)
        case _ if 30 <= code <= 37 or 90 <= code <= 97:
            return replace(pen, colour=_COLOURS[code % 10] or None)
        case 39:
            return replace(pen, colour=None)
        case _:
            return pen


def _extended(rest: list[int]) -> tuple[str | None, int]:
    """The nearest of the eight colours, and how many parameters named it."""
    if len(rest) >= 2 and rest[0] == 5:
        index = rest[1]
        if index < 16:
            return _COLOURS[index % 8] or None, 2
        if index < 232:
            red, rest_of = divmod(index - 16, 36)
            return _nearest(red, rest_of // 6, rest_of % 6), 2
        return None, 2
    if len(rest) >= 4 and rest[0] == 2:
        return _nearest(*rest[1:4]), 4
    return None, len(rest)


def _nearest(red: int, green: int, blue: int) -> str | None:
    half = (max(red, green, blue) + min(red, green, blue)) / 2
    if max(red, green, blue) == min(red, green, blue):
        return None
    return _COLOURS[(red > half) + 2 * (green > half) + 4 * (blue > half)] or None
