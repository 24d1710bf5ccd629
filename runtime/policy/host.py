"""Which hosts the words of a command name. Pure.

Promises: no look-up; a host is lower case without port, user and brackets. What names a host only at run time is not
found, and is why an allow by host also needs every word to be literally known.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.shell.option import names

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@\s]*@)?(\[[0-9A-Fa-f:.]+\]|[^/?#:\s]+)")
_REMOTE = re.compile(r"^(?:[^@/\s:]+@)?([A-Za-z0-9][A-Za-z0-9.-]+):(?!//)")
_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/")
_BARE = names("curl wget ssh ping nc ncat netcat telnet ftp dig host nslookup http https")
_WITH_REMOTE = names("ssh scp sftp rsync git")
_VALUE = names("-o -i -p -P -l -F -J -b -c -e -H -d -X -A -u -T -O --header --data --request --output --user")


def hosts_of(command: SimpleCommand) -> tuple[str, ...]:
    """Every host that the command names, in the order of its words."""
    name = posixpath.basename(command.program)
    found: list[str] = []
    for word in (*command.argv[1:], *(r.target or "" for r in command.redirects)):
        found += [*_URL.findall(word), *_SOCKET.findall(word)]
        if name in _WITH_REMOTE and (remote := _REMOTE.match(word)):
            found.append(remote[1])
    if name in _BARE:
        found += [host for word in _operands(command.argv[1:]) if (host := _bare(word))]
    return tuple(dict.fromkeys(host.strip("[]").rstrip(".").lower() for host in found))


def _operands(words: Iterable[str]) -> list[str]:
    kept: list[str] = []
    before = ""
    for word in words:
        if not word.startswith("-") and before not in _VALUE:
            kept.append(word)
        before = word
    return kept


def _bare(word: str) -> str:
    if "://" in word:
        return ""
    host = word.rpartition("@")[2].partition("/")[0].partition(":")[0]
    return host if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]*", host) else ""
