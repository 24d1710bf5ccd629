"""Find text in a file's bytes and replace it, touching nothing else.

Promises: works on bytes, so what is not matched stays as it was, whatever its encoding and line ends; text with LF
line ends matches CRLF (and CR) lines; line ends of lines that stay are kept, new lines take those of their neighbours;
more than one possible place is never guessed at.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Match:
    """One place in the bytes."""

    start: int
    end: int


def find(data: bytes, old: bytes) -> list[Match]:
    """Every place where `old` stands, overlapping ones too; exact bytes first, else with any line ends."""
    exact = _whole(
        data, [Match(m.start(), m.start() + len(old)) for m in re.finditer(b"(?=" + re.escape(old) + b")", data)]
    )
    if exact or b"\n" not in old:
        return exact
    lines = [re.escape(line) for line in old.replace(b"\r\n", b"\n").split(b"\n")]
    # a CR that belongs to a CRLF is no line end of its own
    pattern = re.compile(b"(?=(" + rb"(?:\r\n|\n|\r(?!\n))".join(lines) + b"))")
    return _whole(data, [Match(m.start(1), m.end(1)) for m in pattern.finditer(data)])


def _whole(data: bytes, matches: list[Match]) -> list[Match]:
    """The matches that do not begin between the two bytes of a CRLF: replacing those would leave a bare CR."""
    return [m for m in matches if not (data[m.start : m.start + 1] == b"\n" and data[m.start - 1 : m.start] == b"\r")]


def apart(matches: list[Match]) -> list[Match]:
    """The matches that do not overlap, from the left."""
    kept: list[Match] = []
    for match in matches:
        if not kept or match.start >= kept[-1].end:
            kept.append(match)
    return kept


def line_numbers(data: bytes, matches: list[Match]) -> list[int]:
    """The line (from 1) on which each match begins; a lone CR counts as a line end only where there is no LF."""
    end = b"\n" if b"\n" in data else b"\r"
    return [data.count(end, 0, match.start) + 1 for match in matches]


def replace(data: bytes, matches: list[Match], old: bytes, new: bytes) -> bytes:
    """The bytes with every match replaced."""
    usual = _usual_end(data)
    pieces: list[bytes] = []
    at = 0
    for match in matches:
        pieces.append(data[at : match.start])
        pieces.append(_fitted(data, match, old, new, usual))
        at = match.end
    pieces.append(data[at:])
    return b"".join(pieces)


def _usual_end(data: bytes) -> bytes:
    ends = Counter(_END.findall(data))
    return ends.most_common(1)[0][0] if ends else b"\n"


def _fitted(data: bytes, match: Match, old: bytes, new: bytes, usual: bytes) -> bytes:
    if b"\r" in old or b"\r" in new or b"\n" not in new:
        return new  # the model wrote line ends itself, or there is none to fit
    region = data[match.start : match.end]
    ends = _END.findall(region)
    was, now = old.split(b"\n"), new.split(b"\n")
    count = len(now) - 1
    front = _common(was, now, limit=min(len(ends), count))
    back = _common(was[::-1], now[::-1], limit=min(len(ends), count) - front)
    middle = ends[front] if front < len(ends) - back else (ends[0] if ends else _neighbour(data, match, usual))
    chosen = ends[:front] + [middle] * (count - front - back) + (ends[len(ends) - back :] if back else [])
    return b"".join(line + end for line, end in zip(now, [*chosen, b""], strict=True))


def _common(was: list[bytes], now: list[bytes], *, limit: int) -> int:
    count = 0
    while count < limit and was[count] == now[count]:
        count += 1
    return count


def _neighbour(data: bytes, match: Match, usual: bytes) -> bytes:
    after = _END.search(data, match.end)
    return after.group() if after else usual


def like_file(new: bytes, existing: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Whole new content with the byte-order mark and the uniform CRLF line ends of the file it replaces.

    Also says in words what was kept.
    """
    kept: list[str] = []
    ends = set(_END.findall(existing))
    if ends == {b"\r\n"} and b"\r" not in new and b"\n" in new:
        new = new.replace(b"\n", b"\r\n")
        kept.append("CRLF line ends")
    if existing.startswith(b"\xef\xbb\xbf") and not new.startswith(b"\xef\xbb\xbf"):
        new = b"\xef\xbb\xbf" + new
        kept.append("byte-order mark")
    return new, tuple(kept)
