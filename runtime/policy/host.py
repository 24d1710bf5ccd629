"""Hosts that a command names: in URLs, as `user@host:path`, as the operand of ssh and its kind. Pure.

Promises: lower case, no port, no user. A host that only run time tells is given as `*unknown*`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.shell.option import names

UNKNOWN = "*unknown*"
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://(?:[^\s/@]*@)?(\[[0-9a-f:]+\]|[^\s/:?#'\"]+)", re.IGNORECASE)
_SCP = re.compile(r"^(?:[^\s@/:]+@)([^\s@/:]+):(?!//)")
_FIRST_OPERAND = frozenset(
    (
        "ssh",
        "ping",
        "ping6",
        "telnet",
        "nc",
        "ncat",
        "netcat",
        "dig",
        "host",
        "nslookup",
        "whois",
        "mosh",
        "sftp",
        "ftp",
    )
)
_BARE_URL = frozenset(("curl", "wget", "http", "https", "httpie", "xh", "aria2c", "lynx", "w3m"))
_VALUED = names("-o -i -p -P -l -F -J -b -c -e -H -d -X -A -u -T -O --header --data --request --output --user")
_DEVICE = re.compile(r"^/dev/(?:tcp|udp)/([^/]+)/")


def hosts_of(simple: SimpleCommand) -> tuple[str, ...]:
    """The hosts in the words and redirects of one command."""
    name = simple.program.rpartition("/")[2]
    found: list[str] = []
    is_plain = name not in _FIRST_OPERAND and name not in _BARE_URL
    if is_plain and not simple.redirects and not [word for word in simple.argv if "@" in word or "://" in word]:
        return ()
    operands = () if is_plain else _operands(simple.argv[1:])
    for word, known in zip(simple.argv[1:], simple.known[1:], strict=True):
        if "://" in word:
            found += [_plain(host) for host in _URL.findall(word)]
        if "@" in word and (at := _SCP.match(word)):
            found.append(_plain(at[1]))
        if not known and not is_plain:
            found.append(UNKNOWN)
    if name in _FIRST_OPERAND and operands:
        found.append(_plain(operands[0].rpartition("@")[2]))
    if name in _BARE_URL:
        found += [_plain(word.partition("/")[0]) for word in operands if "://" not in word and "." in word]
    found += [at[1].lower() for r in simple.redirects if (at := _DEVICE.match(r.target or ""))]
    return tuple(dict.fromkeys(found))


def hosts_of_input(arguments: Mapping[str, object]) -> tuple[str, ...]:
    """The hosts in a tool's input."""
    texts = [value for value in arguments.values() if isinstance(value, str) and len(value) < 10_000]
    return tuple(dict.fromkeys(_plain(host) for text in texts for host in _URL.findall(text)))


def _operands(words: Sequence[str]) -> list[str]:
    """The words that are no options and no value of one."""
    return [w for i, w in enumerate(words) if not w.startswith("-") and (i == 0 or words[i - 1] not in _VALUED)]


def _plain(host: str) -> str:
    # the first "]" ends an address of version 6, which has colons of its own
    bare = host if host.startswith("[") else host.partition(":")[0]
    if "$" in bare or "`" in bare:
        return UNKNOWN
    return bare.lower().rstrip(".").strip("[]")
