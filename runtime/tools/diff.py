"""The unified diff of a change, made from bytes.

Promises: lines are split at LF alone, so a changed line end is a changed line; carriage returns, invalid bytes and a
missing last line end are marked; time is bounded whatever the input: repeated lines cannot make it run for minutes.
"""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import NamedTuple

MAX_PAIRS = 2_000_000
"""Sum over repeated lines of count x count up to which an exact match is affordable (about a second).

2,000 lines of two repeated values are 2,000,000 pairs and took 78 s unguarded (performance.md, section 7) because each
recursion pays them again; so the guard counts pairs times the depth it may reach, see `_affordable`."""

CONTEXT = 3
"""Unchanged lines shown around a change."""


class Diff(NamedTuple):
    """A diff and its size."""

    text: str
    added: int
    removed: int


def unified(before: bytes | None, after: bytes, name: str) -> Diff:
    """The diff from `before` (None: the file is new, all of it is shown) to `after`."""
    old = _lines(before) if before is not None else []
    new = _lines(after)
    front, back = _shared_ends(old, new)
    blocks = _blocks(old[front : len(old) - back], new[front : len(new) - back], front)
    blocks = [(0, 0, front), *blocks, (len(old) - back, len(new) - back, back), (len(old), len(new), 0)]
    changes = _changes(blocks)
    body = [line for group in _grouped(changes) for line in _hunk(group, old, new)]
    head = [f"--- {'/dev/null' if before is None else 'a/' + name}", f"+++ b/{name}"]
    added = sum(j2 - j1 for _, _, j1, j2 in changes)
    removed = sum(i2 - i1 for i1, i2, _, _ in changes)
    return Diff("\n".join([*head, *body]) + "\n", added, removed)


def _lines(data: bytes) -> list[bytes]:
    lines = data.split(b"\n")
    last = lines.pop()
    ended = [line + b"\n" for line in lines]
    return [*ended, last] if last else ended


def _shared_ends(old: list[bytes], new: list[bytes]) -> tuple[int, int]:
    limit = min(len(old), len(new))
    front = 0
    while front < limit and old[front] == new[front]:
        front += 1
    back = 0
    while back < limit - front and old[-1 - back] == new[-1 - back]:
        back += 1
    return front, back


def _affordable(old: list[bytes], new: list[bytes]) -> bool:
    there = Counter(new)
    pairs = sum(count * there[line] for line, count in Counter(old).items())
    # every level of the recursion looks at the pairs again; repeated lines make it deep
    return pairs <= max(len(old), len(new)) * 40 and pairs <= MAX_PAIRS


def _blocks(old: list[bytes], new: list[bytes], shift: int) -> list[tuple[int, int, int]]:
    if not old or not new:
        return []
    if not _affordable(old, new):
        # one replaced block: true, if coarse, and made in no time
        return []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [(i + shift, j + shift, n) for i, j, n in matcher.get_matching_blocks() if n]


def _changes(blocks: list[tuple[int, int, int]]) -> list[tuple[int, int, int, int]]:
    changes: list[tuple[int, int, int, int]] = []
    i = j = 0
    for block_i, block_j, size in blocks:
        if i < block_i or j < block_j:
            changes.append((i, block_i, j, block_j))
        i, j = block_i + size, block_j + size
    return changes


def _grouped(changes: list[tuple[int, int, int, int]]) -> list[list[tuple[int, int, int, int]]]:
    groups: list[list[tuple[int, int, int, int]]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(group: list[tuple[int, int, int, int]], old: list[bytes], new: list[bytes]) -> list[str]:
    first, last = group[0], group[-1]
    lead = min(CONTEXT, first[0])
    trail = min(CONTEXT, len(old) - last[1])
    i1, i2, j1, j2 = first[0] - lead, last[1] + trail, first[2] - lead, last[3] + trail
    lines = [f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@"]
    at = i1
    for a1, a2, b1, b2 in group:
        lines += [text for line in old[at:a1] for text in _shown(" ", line)]
        lines += [text for line in old[a1:a2] for text in _shown("-", line)]
        lines += [text for line in new[b1:b2] for text in _shown("+", line)]
        at = a2
    return lines + [text for line in old[at:i2] for text in _shown(" ", line)]


def _range(start: int, stop: int) -> str:
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _shown(mark: str, line: bytes) -> list[str]:
    text = line.decode("utf-8", "backslashreplace")
    body = text[:-1] if text.endswith("\n") else text
    # a carriage return would be invisible, and is just what a changed line end is about
    lines = [mark + body.replace("\r", "␍")]
    return lines if text.endswith("\n") else [*lines, "\\ No newline at end of file"]
