"""Addresses as programs take them: `user@host:port`, `[::1]:80`, `TCP:host:80`, `host:path`. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

UNKNOWN_HOST = "*unknown*"
_REMOTE = re.compile(r"(?:[^/:@\s]+@)?(?:\[[0-9a-fA-F:]+\]|[^/:\s]+):")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_remote(text: str) -> bool:
    """Whether a word of scp or rsync names a path on another machine: a colon in front of the first slash."""
    return bool(_SCHEME.match(text)) or (bool(_REMOTE.match(text)) and not text.startswith((".", "/", "~")))


def address_of(text: str) -> str:
    """The host in an address: lower case, no user, no port; "*unknown*" where only run time tells it."""
    bare = _SCHEME.sub("", text, count=1).rpartition("@")[2]
    # the first "]" ends an address of version 6, which has colons of its own
    bare = bare[: bare.index("]") + 1] if bare.startswith("[") and "]" in bare else re.split(r"[:/?#]", bare)[0]
    if "$" in bare or "`" in bare:
        return UNKNOWN_HOST
    return bare.lower().rstrip(".").strip("[]")


_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?(\[[0-9a-f:]+\]|[^\s/:?#'\"]+)", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^\s@/:]+@)([^\s@/:]+):(?!//)")
_MOST_TEXT = 10_000


def hosts_in(texts: Iterable[object]) -> tuple[str, ...]:
    """The hosts of every URL and of every `user@host:path` in these texts; what is no text is passed over."""
    found: list[str] = []
    for text in texts:
        if not isinstance(text, str) or len(text) >= _MOST_TEXT:
            continue
        if "://" in text:
            found += [address_of(host) for host in _URL.findall(text)]
        if "@" in text and (at := _SCP.match(text)):
            found.append(address_of(at[1]))
    return tuple(dict.fromkeys(found))
