"""What common filters make of text in sight: `tr`, `sed s///`, `head`, `tac`, decoders.

Promises: likely outputs, good enough to deny by and never to allow by; None where the form is not one of the few known.
Pure.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence

from interlock.runtime.policy.programs import name_of

_SUBSTITUTE = re.compile(
    r"s(?P<mark>[^\w\s\\])(?P<old>(?:\\.|(?!(?P=mark))[^\n\\])*+)(?P=mark)"
    r"(?P<new>(?:\\.|(?!(?P=mark))[^\n\\])*+)(?P=mark)(?P<flags>[gi]*)\Z"
)
_MOST_MADE = 100_000
"""Characters that a replacement may make; a guess of such a size says nothing."""
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)
_PRINTED_BY_AWK = re.compile(r'\bprintf?+\s*+\(?+\s*+"((?:[^"\\]|\\.)*+)"')
_PASSING = frozenset(
    ["tee", "cat", "sort", "uniq", "grep", "egrep", "fgrep", "fold", "fmt", "sponge", "pv", "head", "tail"]
)
"""Filters that leave the words as they are, but for their order or some lines."""
_DECODING = ("-d", "--decode", "-D", "-di", "-id", "--dec", "-i", "--ignore-garbage")
_OPENSSL = (
    ["base64", "-d"],
    ["enc", "-d", "-base64"],
    ["enc", "-base64", "-d"],
    ["enc", "-d", "-a"],
    ["base64", "-d", "-A"],
)


def likely(name: str, args: Sequence[str], fed: str) -> str | None:
    """What `name` with `args` would probably print of `fed`."""
    if name in _PASSING:
        return fed
    lines = fed.split("\n")
    match name_of(name):
        case "tac":
            return "\n".join(reversed(lines))
        case "tr":
            return _translated(args, fed)
        case "sed":
            return _substituted(args, fed)
        case "awk":
            return printed_by_awk(args, fed)
        case "base64" | "base32" | "openssl":
            return _decoded(name, args, fed)
        case _:
            return None


def printed_by_awk(args: Sequence[str], fed: str = "") -> str | None:
    """The texts that an awk program prints; what it is fed where it prints nothing of its own."""
    program = next((word for word in args if not word.startswith("-") and ("{" in word or word.isdigit())), "")
    texts = _PRINTED_BY_AWK.findall(program)
    return "\n".join(text.replace('\\"', '"') for text in texts) if texts else fed or None


def _translated(args: Sequence[str], fed: str) -> str | None:
    options = [word for word in args if word.startswith("-") and len(word) > 1]
    sets = [_members(word) for word in args if word not in options]
    if options == ["-d"] and len(sets) == 1:
        return fed.translate({ord(c): None for c in sets[0]})
    if options or len(sets) != 2 or not sets[1]:
        return fed if options in (["-s"], ["-cd"], ["-dc"]) else None
    padded = sets[1] + sets[1][-1] * max(0, len(sets[0]) - len(sets[1]))
    return fed.translate({ord(a): b for a, b in zip(sets[0], padded, strict=False)})


def _members(text: str) -> str:
    text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\\\\", "\\")
    for name, members in (
        ("upper", "A-Z"),
        ("lower", "a-z"),
        ("digit", "0-9"),
        ("space", " \t\n"),
        ("alpha", "a-zA-Z"),
    ):
        text = text.replace(f"[:{name}:]", members)
    return _RANGE.sub(_span, text[:200])


def _span(match: re.Match[str]) -> str:
    first, last = ord(match[1]), ord(match[2])
    return "".join(map(chr, range(first, last + 1))) if first <= last <= first + 256 else match[0]


def _substituted(args: Sequence[str], fed: str) -> str | None:
    scripts = [word for word in args if not word.startswith("-")]
    for script in scripts[:20]:
        found = _SUBSTITUTE.match(script.strip())
        if not found or any(c in found["old"] for c in "*[+("):
            continue
        old, new = re.sub(r"\\(.)", r"\1", found["old"]), re.sub(r"\\(.)", r"\1", found["new"])
        if len(fed) + max(fed.count(old), fed.count("\n") + 1) * len(new) > _MOST_MADE:
            return None
        fed = "\n".join(_changed(line, old, new, "g" in found["flags"]) for line in fed.split("\n"))
    return fed


def _changed(line: str, old: str, new: str, every: bool) -> str:
    if old == "^":
        return new + line
    if old == "$":
        return line + new
    return line.replace(old, new) if every else line.replace(old, new, 1)


def _decoded(name: str, args: Sequence[str], fed: str) -> str | None:
    decodes = list(args) in _OPENSSL if name == "openssl" else bool(args) and all(word in _DECODING for word in args)
    if not decodes:
        return None
    try:
        plain = base64.b32decode(fed.strip()) if name == "base32" else base64.b64decode(fed, validate=False)
        return plain.decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None
