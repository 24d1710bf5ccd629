"""Replies of the terminal, taken out of the input before it is read as keys (BC-059).

A terminal answers queries with escape sequences; those that the input parser does not know, or that come in two reads,
would be handed on letter by letter, and some of these letters answer asks.
Promises: a reply is taken out whole, also when it is split; keys, mouse, paste and what Textual itself asks for pass
unchanged; Esc alone passes at once; what begins like a reply and is none passes with the next key. Pure: the time is
passed in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

HOLD_SECONDS = 2.0
"""How long half a sequence waits for its other half, from when it began."""
LONGEST = 65_536
"""Characters of one reply; what goes on longer is none."""
_PASTE_START, _PASTE_END = "\x1b[200~", "\x1b[201~"
_PASTE = re.compile(re.escape(_PASTE_START) + r".*?(?:" + re.escape(_PASTE_END) + r"|\Z)", re.DOTALL)
# how strings begin that terminals answer with: a number, a version, a capability, a picture; Alt and a letter alone is a key
_HEAD = r"\x1b(?:\](?=[0-9])|P(?=[0-9>!$+|])|_(?=G))"
_BODY = r"[^\x07\x1b\r\x7f]*"
# a string ends with BEL or ESC \; what no string contains cuts it short, and begins something else
_STRING = rf"{_HEAD}{_BODY}(?:\x07|\x1b\\|(?=\x1b[^\\]|[\r\x7f]))"
# device attributes, status and colour-scheme reports, kitty's flags; mode reports (`$y`) are Textual's own
_REPORT = r"\x1b\[[?>=][0-9;:]*[a-xzA-Z]|\x1b\[[0-9;]*[nc]"
_REPLY = re.compile(f"{_STRING}|{_REPORT}")
_HALF_CSI = re.compile(r"\x1b\[[0-9;:?>=<$ ]*\Z")
_HALF_STRING = re.compile(rf"(?:{_HEAD}{_BODY}\x1b?|\x1b[\]P_])\Z")


@dataclass(slots=True)
class ReplyStripper:
    """Give it everything that is read from the terminal, in order."""

    _held: str = ""
    _held_at: float = 0.0
    _in_paste: bool = False

    def strip(self, data: str, now: float) -> str:
        """What of this read is for the parser."""
        if self._held and now - self._held_at > HOLD_SECONDS:
            self._held = ""
        held, self._held = self._held, ""
        if not held:
            self._held_at = now
        text = held + data
        if self._in_paste:
            end = text.find(_PASTE_END)
            if end < 0:
                return text
            self._in_paste = False
            cut = end + len(_PASTE_END)
            return text[:cut] + self._outside(text[cut:], now)
        return self._outside(text, now)

    def _outside(self, text: str, now: float) -> str:
        pieces, at = [], 0
        for paste in _PASTE.finditer(text):
            pieces += [_REPLY.sub("", text[at : paste.start()]), paste.group()]
            at = paste.end()
            self._in_paste = not paste.group().endswith(_PASTE_END)
        if self._in_paste:
            return "".join(pieces)
        rest = _REPLY.sub("", text[at:])
        half = _HALF_CSI.search(rest) or _HALF_STRING.search(rest)
        if half is not None and len(half.group()) <= LONGEST:
            self._held = half.group()
            if half.start():
                self._held_at = now
            rest = rest[: half.start()]
        return "".join([*pieces, rest])
