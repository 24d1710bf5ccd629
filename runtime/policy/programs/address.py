"""Addresses as programs take them: `user@host:port`, `[::1]:80`, `TCP:host:80`, `host:path`.

Promises: a text from which no host can be taken for certain is "*unknown*", never the wrong word. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from interlock.runtime.policy.programs.option import names

UNKNOWN_HOST = "*unknown*"
_REMOTE = re.compile(r"(?:[^/:@\s]+@)?(?:\[[0-9a-fA-F:.%]+\]|[^/:\s]+):")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|\\\\)")
_SIX = re.compile(r"[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*(?:%\w+)?")
_NUMERIC = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+))+|0x[0-9a-f]+|\d{6,}")
_FOUR = re.compile(r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){3}")
_HOST = re.compile(r"[\w][\w.:%-]*")
"""What a name or an address is made of; letters of any script, because a name may be written so."""


def is_remote(text: str) -> bool:
    """Whether a word of scp or rsync names a path on another machine: a colon in front of the first slash."""
    return bool(_SCHEME.match(text)) or (bool(_REMOTE.match(text)) and not text.startswith((".", "/", "~")))


def address_of(text: str) -> str:
    """The host in an address: lower case, no user, no port; "*unknown*" where only run time tells it."""
    bare = _SCHEME.sub("", text, count=1).lstrip("/\\" if text[:2] in ("//", "\\\\") else "")
    # what stands behind a slash is a path, which may hold any sign
    bare = re.split(r"[/?#\\]", bare)[0].rpartition("@")[2]
    if bare.startswith("[") and "]" in bare:
        # the first "]" ends an address of version 6, which has colons of its own
        bare = bare[1 : bare.index("]")]
    elif not _SIX.fullmatch(bare):
        bare = bare.split(":")[0]
    if not bare:
        return ""
    bare = bare.lower().rstrip(".")
    if _NUMERIC.fullmatch(bare) and not _FOUR.fullmatch(bare):
        return UNKNOWN_HOST  # 127.1, 2130706433, 0x7f.1: another way to write an address
    if "%" in bare and not _SIX.fullmatch(bare):
        return UNKNOWN_HOST  # curl takes `%2e` for the dot
    return bare if _HOST.fullmatch(bare) or _SIX.fullmatch(bare) else UNKNOWN_HOST


def addresses_in(text: str) -> Iterator[str]:
    """Every piece of a text that could be a host: `-L 80:x:80`, `--connect-to a:1:b:2`, `u@a:22,b`. More than there are,
    so that none is missed."""
    for part in re.split(r"[\s,;|]+", text):
        if _SCHEME.search(part) or _SIX.fullmatch(part):
            yield address_of(part)
            continue
        for bracketed in re.findall(r"\[([^\]]*)\]", part):
            yield address_of(f"[{bracketed}]")
        for piece in re.split(r"[:=]", re.sub(r"\[[^\]]*\]", "", part)):
            piece = piece.rpartition("@")[2]
            if piece and not piece.isdigit() and piece[0] not in "/.~*+-":
                yield address_of(piece)


def socket_hosts(text: str) -> list[str]:
    """The hosts in an address of socat: `TCP:host:80,retry=3`, `SOCKS4A:proxy:host:80`; none for a file or a listener."""
    kind, colon, rest = text.partition(":")
    kind = kind.upper()
    if not colon or kind.split("-")[0] in _NO_HOST or "LISTEN" in kind or kind.endswith(("-L", "RECV", "RECVFROM")):
        return []
    found = [host for host in addresses_in(rest.split(",")[0]) if host]
    return found or [UNKNOWN_HOST]


_NO_HOST = names(
    "EXEC SYSTEM SHELL OPEN CREATE CREAT GOPEN FILE FD PIPE PTY STDIN STDOUT STDERR STDIO UNIX LOCAL ABSTRACT READLINE"
)

_URL = re.compile(
    r"(?<![A-Za-z0-9+.-])[a-z][a-z0-9+.-]*:(?://|\\\\)(?:[^\s/@?#]*@)?(\[[0-9a-f:.%]+\]|[^\s/:?#'\"\\,;|]+)",
    re.IGNORECASE,
)
_SCP = re.compile(r"^(?:[^\s@/:]+@)(\[[0-9a-fA-F:.%]+\]|[^\s@/:\[]+):(?!//)")
_MOST_TEXT = 10_000


def hosts_in(texts: Iterable[object]) -> tuple[str, ...]:
    """The hosts of every URL and of every `user@host:path` in these texts; what is no text is passed over."""
    found: list[str] = []
    for text in texts:
        if not isinstance(text, str) or len(text) >= _MOST_TEXT:
            continue
        if "://" in text or ":\\\\" in text:
            found += [address_of(host) for host in _URL.findall(text)]
        if "@" in text and (at := _SCP.match(text)):
            found.append(address_of(at[1]))
    return tuple(dict.fromkeys(found))
