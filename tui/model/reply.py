"""Replies of the terminal that arrive in the shape of keys (BC-059).

A terminal answers queries with escape sequences; those that come late, split, or unknown to the input parser are handed
on letter by letter, and some of these letters answer asks.
Promises: after the beginning of a sequence nothing is a key until the sequence ends or pauses; what a person types
without such a beginning always passes. Pure: the time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PAUSE_SECONDS = 1.5
"""A sequence that is not continued for so long is over."""
BURST_SECONDS = 0.02
"""Two keys nearer than this were not typed one after the other."""
_STARTS = {"[": "csi", "]": "osc", "P": "string", "_": "string", "^": "string", "X": "string", "O": "ss3"}
_NAMES = {
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "underscore": "_",
    "circumflex_accent": "^",
    "backslash": "\\",
}

Kind = Literal["", "csi", "osc", "string", "ss3"]


@dataclass(slots=True)
class ReplyFilter:
    """Sees every key in order; `swallows` says which of them are none."""

    _kind: str = ""
    _at: float = float("-inf")
    _caret: bool = False
    """The last key stood for an escape character that the parser could not place."""

    def swallows(self, key: str, character: str | None, now: float) -> bool:
        """Whether this key belongs to a reply."""
        near = now - self._at
        if self._kind and near > PAUSE_SECONDS:
            self._kind = ""
        caret, self._caret = self._caret and near < BURST_SECONDS, False
        self._at = now
        letter = _letter(key, character)
        if self._kind and self._goes_on(key, letter):
            return True
        if key.startswith("alt+") and letter in _STARTS:
            self._kind = _STARTS[letter]
            return True
        if caret and letter in _STARTS:
            self._kind = _STARTS[letter]
            return True
        self._caret = key == "circumflex_accent"
        return False

    def _goes_on(self, key: str, letter: str) -> bool:
        if key == "escape" or (key.startswith("alt+") and letter in _STARTS):
            # another sequence begins, or a person wants out; Esc itself never answers
            self._kind = ""
            return False
        if self._kind == "ss3":
            self._kind = ""
        elif self._kind == "csi":
            if not letter or not " " <= letter <= "?":
                self._kind = ""
        elif key in ("ctrl+g", "alt+backslash") or (key.startswith("alt+") and letter == "\\"):
            self._kind = ""
        return True


def _letter(key: str, character: str | None) -> str:
    if character and len(character) == 1 and character != "\x1b":
        return character
    name = key.removeprefix("alt+").removeprefix("shift+")
    return _NAMES.get(name, name if len(name) == 1 else "")
