"""Which hosts a command reaches: what the roles of its words say, in whatever form an address is written.

Promises: a host is told for certain or "*unknown*" is told with it: for an option that nobody lists, a word of unknown
meaning, a file of addresses or settings, code. More hosts than are reached may be told, never fewer. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from interlock.runtime.policy.programs.address import (
    UNKNOWN_HOST,
    address_of,
    addresses_in,
    hosts_in,
    is_remote,
    socket_hosts,
)
from interlock.runtime.policy.programs.git import is_plain_setting
from interlock.runtime.policy.programs.git_touch import reaches_out
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.usage import Usage, Word

_TELLS_NOT = frozenset(("value", "loose", "list", "config", "script", "include", "shell", "program", "hosts"))
"""Roles of words that may lead to any host: what they mean, or what the file holds, is not known."""
_FILES = frozenset(("list", "config", "script", "include"))
_NESTED = names("--recurse-submodules --recursive --remote-submodules --multiple --bundle-uri --template")
"""Options of git with which it goes on to addresses that stand in a repository or in settings, or runs hooks."""
_NO_ADDRESS = frozenset(("packages", "project", "tasks", "interpreter", "shell", "editor"))
"""Kinds of code that may reach any host."""
_SSH_HOST = re.compile(
    r"\s*(ProxyJump|HostName|LocalForward|RemoteForward|DynamicForward|BindAddress|BindInterface|HostKeyAlias)\s*[=\s]\s*(.+)",
    re.I | re.S,
)
_SSH_ANY = re.compile(r"\s*(Proxy(?:Command|UseFdpass)|Include|Match|Tunnel\w*|ControlPath)\s*[=\s]", re.I)
_CONNINFO = re.compile(r"\b(?:host|hostaddr|server|data source|addr|address)\s*=\s*'?([^'\s;]+)", re.I)
_WIDE = re.compile(r"/\d+$|\*|\d-\d+$")
"""More addresses than one: `10.0.0.0/8`, `10.0.*.1`, `10.0.0.1-9`."""
_IMAGE = re.compile(r"(?:docker://|oci://)?([^/\s]+[.:][^/\s]*|localhost)/")

_KINDS = names(
    "a aaaa afsdb any apl axfr caa cdnskey cds cert ch chaos cname csync dhcid dlv dname dnskey ds eui48 eui64 hinfo hip "
    "hs https in ipseckey key kx loc mx naptr ns nsec nsec3 nsec3param nxt openpgpkey opt ptr px rp rrsig rt sig smimea "
    "soa spf srv sshfp svcb ta tkey tlsa tsig txt uri wks x25 zonemd"
)
"""What dig asks for, instead of whom."""


def reached_by(usage: Usage, args: Sequence[str]) -> tuple[bool, tuple[str, ...]]:
    """Whether the network is used, and the hosts named."""
    program, root = usage.program, usage.root
    found = list(hosts_in(args))
    named = [word for word in usage.words if word.role in _ADDRESSES]
    named += [word for word in usage.words if word.role in ("from", "to") and is_remote(word.text)]
    for word in named:
        found += _hosts_of(word)
    network = program.network or root.network or usage.has("fetch") or any(map(_is_asked, named))
    network = network or (bool(root.fetches) and not root.fetches.isdisjoint(args))
    if root.name == "git":
        network = reaches_out(usage)
    if not network:
        return False, _once(found)
    doubts = list(_doubts(usage))
    if usage.unlisted:
        # an option that is not known may take the word that was read as the host, and another is the host then
        doubts += [UNKNOWN_HOST, *(address_of(word) for word in usage.operands if "/" not in word)]
    if not any(found):
        doubts.append(UNKNOWN_HOST)
    return True, _once([*found, *doubts])


def _once(hosts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([host for host in hosts if host]))


def _is_asked(word: Word) -> bool:
    return word.role != "listen" and (word.role != "filter" or bool(list(names_in_filter(word.text))))


_FILTER_WORDS = names(
    "state exclude all connected synchronized bucket big established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait "
    "closed close-wait last-ack listening listen closing bound-inactive new-syn-recv unconnected dst src dport sport "
    "dev fwmark cgroup autobound and or not eq neq ne lt gt le ge inet inet6 unix link netlink vsock tipc"
)


def names_in_filter(text: str) -> Iterator[str]:
    """The names of hosts in a filter of `ss`."""
    for word in re.split(r"[\s()!=<>&|]+", text):
        host = address_of(word)
        if word and word.lower() not in _FILTER_WORDS and not re.fullmatch(r"[\d.*:/\[\]]*", word) and host:
            yield host


_ADDRESSES = frozenset(("filter", "host", "proxy", "ssh", "socket", "query", "conninfo", "image"))


def _hosts_of(word: Word) -> Iterator[str]:
    text = word.text
    match word.role:
        case "proxy":
            yield from addresses_in(text)
        case "ssh":
            if found := _SSH_HOST.match(text):
                yield from addresses_in(found[2])
            if _SSH_ANY.match(text):
                yield UNKNOWN_HOST
        case "filter":
            yield from names_in_filter(text)
        case "socket":
            yield from socket_hosts(text)
        case "query":
            if text.startswith("@") or not (text.startswith("+") or text.lower() in _KINDS):
                yield address_of(text.removeprefix("@"))
        case "conninfo":
            yield from (address_of(host) for part in _CONNINFO.findall(text) for host in part.split(","))
        case "image":
            registry = _IMAGE.match(text)
            yield address_of(registry[1]) if registry else "docker.io"
        case _:
            yield address_of(text)
            if _WIDE.search(text) and "://" not in text:
                yield UNKNOWN_HOST


def _doubts(usage: Usage) -> Iterator[str]:
    """What speaks of hosts that the words do not name."""
    if usage.root.name == "git":
        if any(word.role == "setting" and not is_plain_setting(word.text) for word in usage.words) or _NESTED & set(
            usage.options
        ):
            yield UNKNOWN_HOST
        return
    if usage.has("outward") and usage.root.name == "wget":
        yield UNKNOWN_HOST
    if usage.program.code in _NO_ADDRESS or usage.root.code in _NO_ADDRESS:
        yield UNKNOWN_HOST
    for word in usage.words:
        if word.role == "psql" and re.search(r"\\c", word.text):
            yield UNKNOWN_HOST  # it connects anew
        if word.role not in _TELLS_NOT:
            continue
        yield UNKNOWN_HOST
        if word.role in _FILES or any(c.isspace() or c == "/" for c in word.text):
            continue
        # of some letters it depends on the build whether they take a value, and then this is the host
        if word.role in ("shell", "program", "hosts") or any(c in word.text for c in ".:@"):
            yield from addresses_in(word.text)
