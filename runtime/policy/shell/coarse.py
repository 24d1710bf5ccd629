"""The reading of last resort, for text over a cap: what stands where a program could stand.

Promises: no understanding at all, only a list for denials to look at. Quotes are dropped, every separator counts, also
inside quotes; each different piece is listed once, up to a limit.
"""

from __future__ import annotations

import re

from interlock.runtime.policy.shell.model import SimpleCommand

MAX_PIECES = 500

_SEPARATORS = dict.fromkeys(map(ord, ";&|()`{}"), "\n")
_DROPPED = re.compile(r"[\"'\\]")
_LONGEST = 2_000


def coarse_commands(text: str, offset: int, *, why: str) -> list[SimpleCommand]:
    """Pieces of `text` that could be commands, each not understood for the reason `why`."""
    pieces = dict.fromkeys(text.translate(_SEPARATORS).split("\n"))
    seen = dict.fromkeys(piece.strip() for piece in pieces)
    found: list[SimpleCommand] = []
    for piece in seen:
        words = _DROPPED.sub("", piece[:_LONGEST]).split()
        while words and ("=" in words[0] or words[0] in ("!", "time", "then", "do", "else", "exec", "command")):
            words.pop(0)
        if words and words[0][:1].isprintable() and not words[0].startswith(("#", "-", "$")):
            found.append(_piece(words, piece, text.find(piece) + offset, why))
        if len(found) >= MAX_PIECES:
            break
    return found


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
