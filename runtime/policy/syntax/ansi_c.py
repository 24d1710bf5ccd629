r"""Decodes the inside of `$'…'`.

Promises: the escapes of the bash manual (section 3.1.2.4); an escape it does not name keeps its backslash; a NUL ends the
string, as in bash.
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_SINGLE = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_MAX_CODE_POINT = 0x10FFFF


def decode_ansi_c(text: str) -> str:
    """The characters that `$'text'` stands for."""
    if "\\" not in text:
        return text
    return _bytes_as_text(_ESCAPE.sub(_one, text)).partition("\0")[0]


def _one(match: re.Match[str]) -> str:
    hexa, short, long, octal, control, single = match.groups()
    if hexa or octal:
        return _byte(int(hexa, 16) if hexa else int(octal, 8) & 0xFF)
    if short or long:
        code = int(short or long, 16)
        return chr(code) if code <= _MAX_CODE_POINT and not 0xD800 <= code <= 0xDFFF else match.group()
    if control:
        return chr(ord(control.upper()) & 0x1F)
    return _SINGLE.get(single, match.group())


def _byte(value: int) -> str:
    # bytes over 127 are kept aside until the whole string is known: several of them may make one character
    return chr(value) if value < 0x80 else chr(0xDC00 + value)


def _bytes_as_text(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
