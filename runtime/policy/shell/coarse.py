"""The reading of last resort, for text over a cap: what stands where a program could stand.

Promises: no understanding at all, only a list for denials to look at. Quotes are dropped, every separator counts, also
inside quotes; each different piece is listed once, up to a limit, and every program has its turn before any has a second.
"""

from __future__ import annotations

import re
from itertools import islice, zip_longest

from interlock.runtime.policy.shell.model import SimpleCommand

MAX_PIECES = 150

_SEPARATORS = dict.fromkeys(map(ord, ";&|()`{}"), "\n")
_DROPPED = re.compile(r"[\"'\\]")
_LONGEST = 2_000
_BEFORE = frozenset(
    ("!", "time", "then", "do", "else", "exec", "command", "{", "if", "while", "until", "elif", "coproc")
)


def coarse_commands(text: str, offset: int, *, why: str) -> list[SimpleCommand]:
    """Pieces of `text` that could be commands, each not understood for the reason `why`."""
    pieces = dict.fromkeys(text.translate(_SEPARATORS).split("\n"))
    by_program: dict[str, list[tuple[list[str], str]]] = {}
    for piece in dict.fromkeys(piece.strip() for piece in pieces):
        words = _DROPPED.sub("", piece[:_LONGEST]).split()
        while words and ("=" in words[0] or words[0] in _BEFORE):
            words.pop(0)
        if words and words[0][:1].isprintable() and not words[0].startswith(("#", "-", "$")):
            by_program.setdefault(words[0], []).append((words, piece))
    turns = (one for turn in zip_longest(*by_program.values()) for one in turn if one is not None)
    return [_piece(words, piece, text.find(piece) + offset, why) for words, piece in islice(turns, MAX_PIECES)]


def _piece(words: list[str], piece: str, start: int, why: str) -> SimpleCommand:
    known = (False,) * len(words)
    return SimpleCommand(
        words[0],
        tuple(words),
        known,
        piece[:_LONGEST],
        start,
        start + len(piece),
        cwd=None,
        understood=False,
        notes=(why,),
    )
