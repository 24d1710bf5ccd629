"""Programs that tell of the machine and of the terminal, and settings of the shell that only make it stricter.

Promises: as `text`. What a program shows here lies in no file of a person's; what would set it is not listed.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.shell.option import Reading, names
from interlock.runtime.policy.shell.programs.form import Form, form

_CAPABILITIES = names(
    "cols lines colors longname bold sgr0 setaf setab setf setb smul rmul smso rmso rev dim sitm ritm blink el ed cr"
)
_STRICTER = names("pipefail errexit nounset")


def _top(reading: Reading, args: Sequence[str]) -> str:
    return "" if reading.has("-b") and not reading.operands else "it takes the terminal and can end programs"


def _no_value(reading: Reading, args: Sequence[str]) -> str:
    return "it sets a value" if any("=" in args[i] for i in reading.operands) else ""


def _tput(reading: Reading, args: Sequence[str]) -> str:
    told = [args[i] for i in reading.operands]
    plain = bool(told) and told[0] in _CAPABILITIES and all(word.isdigit() for word in told[1:])
    return "" if plain else "it sets the terminal"


def set_verdict(args: Sequence[str]) -> str:
    """`set -euo pipefail`: the shell stops sooner; every other setting may change how later words are read."""
    at = 0
    while at < len(args):
        word = args[at]
        if len(word) < 2 or word[0] not in "-+" or not set(word[1:]) <= set("euo") or word[1:].count("o") > 1:
            return "it sets an option or a value of the shell"
        if "o" in word:
            at += 1
            if at >= len(args) or args[at] not in _STRICTER:
                return "it sets an option of the shell"
        at += 1
    return "" if args else "it shows every variable"


def kill_verdict(args: Sequence[str]) -> str:
    """`kill -l` names the signals."""
    return "" if args and args[0] in ("-l", "-L", "--list") else "it sends a signal"


MACHINE: dict[str, Form] = {
    "top": form("bcHiS1", "npuUodwE", reads="none", check=_top),
    "netstat": form(
        "ntlupaerscWgivo46xM",
        "",
        "numeric tcp udp listening all program route interfaces statistics extend wide",
        reads="none",
        most=0,
    ),
    "ifconfig": form("asv", reads="none", most=1),
    "route": form("nev", reads="none", most=0),
    "arp": form("anev", "", "all numeric", reads="none", most=1),
    "sysctl": form("anNeqb", "", "all values names ignore", reads="none", check=_no_value),
    "dmesg": form(
        "dkrTtux", "lf", "ctime notime raw reltime kernel userspace decode nopager", "level facility", reads="none", most=0
    ),
    "last": form("adFiRwx", "nstp", "fullnames fulltimes hostlast ip", "limit since until", reads="none", numbers=True),
    "tput": form("", "T", reads="none", check=_tput),
    "clear": form("x", reads="none", most=0),
    "shopt": form("pqo", reads="none"),
}  # fmt: skip
"""Program -> the form in which it only reads."""
