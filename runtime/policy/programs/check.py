"""Handlers for what the data of an entry cannot say: why a command with listed options does more than read after all.

Promises: each gives the first reason, "" where there is none. An entry names its handler as `check`. Pure.
"""

from __future__ import annotations

from collections.abc import Callable

from interlock.runtime.policy.programs.awk import read_awk
from interlock.runtime.policy.programs.find import find_verdict
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.reach import names_in_filter
from interlock.runtime.policy.programs.sed import read_sed
from interlock.runtime.policy.programs.tar import tar_verdict
from interlock.runtime.policy.programs.usage import Usage
from interlock.runtime.policy.programs.variable import may_be_set


def _sed(usage: Usage) -> str:
    sources = usage.of("inline")
    if not sources:
        return "a script is missing"
    return "" if read_sed("\n".join(sources)).plain else "the sed script writes, reads files or runs commands"


def _awk(usage: Usage) -> str:
    sources = usage.of("inline")
    if not sources:
        return "a program is missing"
    if any("=" in word for word in usage.of("read")):
        return "an operand sets a variable"
    return "" if all(read_awk(text).plain for text in sources) else "the awk program may write files or run commands"


def _response(usage: Usage) -> str:
    """Programs of binutils read more words from a file that is named behind `@`."""
    return "it reads options from a file" if any(word.startswith("@") for word in usage.args) else ""


def _no_plus(usage: Usage) -> str:
    """`less +CMD` gives a command of its own at once, of which only those that move are plain."""
    for word in usage.args:
        if word[:1] == "+" and word[1:2] not in ("", "F", "G", "g", "/", "?") and not word[1:].isdigit():
            return "a viewer's command may run a program"
    return ""


def _man(usage: Usage) -> str:
    """A page that is named by a path is a file that is formatted, which may run programs."""
    return "a page is a file" if any("/" in usage.args[i] for i in usage.reading.operands) else ""


def _xml(usage: Usage) -> str:
    return "it would fetch a document" if any("://" in word for word in usage.args) else ""


def _date(usage: Usage) -> str:
    return "" if all(usage.args[i].startswith("+") for i in usage.reading.operands) else "a time is set"


def _jq(usage: Usage) -> str:
    source = " ".join(usage.of("inline"))
    risky = (
        "env",
        "$ENV",
        "input_filename",
        "modulemeta",
        "get_search_list",
        "import",
        "include",
        "debug",
        "stderr",
        "$__",
    )
    return "the filter reads more than its input" if any(word in source for word in risky) else ""


def _no_operand(usage: Usage) -> str:
    return "an operand changes something" if usage.reading.operands else ""


_LINKS = "it goes through links, which may lead out of the workspace"


_DATABASES = names("passwd group services protocols shells gshadow aliases rpc")


def _ls(usage: Usage) -> str:
    """What a link leads to is another folder, which may lie anywhere."""
    return _LINKS if usage.reading.has("-R", "--recursive") and usage.reading.has("-L", "--dereference") else ""


def _no_names(usage: Usage) -> str:
    """A name of a host in a filter is looked up."""
    found = next((host for word in usage.of("filter") for host in names_in_filter(word)), "")
    return f"it looks up the name {found}" if found else ""


def _ps(usage: Usage) -> str:
    """Letters without a dash are the BSD options, of which `e` shows every variable of every process."""
    shows = any("e" in usage.args[i] for i in usage.reading.operands if not usage.args[i].isdigit())
    return "it would show the variables of all processes" if shows else ""


def _getent(usage: Usage) -> str:
    """A name or an address of a host is asked of the network."""
    first = usage.args[usage.reading.operands[0]] if usage.reading.operands else ""
    return "" if first in _DATABASES else "it may ask the network for a name"


def _functions(usage: Usage) -> str:
    """`declare -F` names the functions; without it every variable is shown, and with a name one may be set."""
    return "" if usage.reading.has("-F", "-f") and not usage.reading.operands else "it sets or shows variables"


def _hostname(usage: Usage) -> str:
    return "an operand sets the name" if usage.reading.operands else ""


def _read(usage: Usage) -> str:
    named = [usage.args[i] for i in usage.reading.operands]
    return "" if all(map(may_be_set, named)) else "it sets a variable that programs may heed"


def _test(usage: Usage) -> str:
    """`test` and `[`: `-v` and `-R` evaluate subscripts, arithmetic operands must be numbers."""
    for i, word in enumerate(usage.args):
        if word in ("-v", "-R"):
            return "test -v can run code in a subscript"
        if word in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge"):
            near = [*usage.args[i - 1 : i], *usage.args[i + 1 : i + 2]]
            if not all(x.lstrip("-").isdigit() for x in near):
                return "an arithmetic operand is not a number"
    return ""


def _printf(usage: Usage) -> str:
    """`printf -v` assigns."""
    return "printf -v sets a variable" if usage.args and usage.args[0].startswith("-") and usage.args[0] != "--" else ""


_IP_OBJECTS = names("a ad addr address l link r ro route n neigh neighbor neighbour ru rule maddr maddress mroute")


_IP_VERBS = names("show list lst ls")


_IP_FLAGS = names(
    "-4 -6 -0 -B -s -stats -statistics -d -details -o -oneline -r -resolve -t -timestamp -ts -a -all -c -color -br "
    "-brief -j -json -p -pretty -h -human -iec -N"
)


def _ip(usage: Usage) -> str:
    """`ip` shows and changes with the same words; only the plain showing is listed."""
    words = list(usage.args)
    while words and words[0].startswith("-"):
        if words[0].partition("=")[0] not in _IP_FLAGS:
            return f"the option {words[0]} is not listed as reading only"
        words.pop(0)
    if not words or words[0] not in _IP_OBJECTS:
        return "ip does more than show"
    if len(words) > 1 and words[1] not in _IP_VERBS:
        return f"ip {words[0]} {words[1]} may change the network"
    return ""


def _cpio(usage: Usage) -> str:
    remote = any(":" in file for file in usage.of("archive"))
    return "" if usage.reading.has("-t", "--list") and not remote else "it does more than list"


def _no_cache(usage: Usage) -> str:
    if any(o.name == "--paging" and o.value != "never" for o in usage.reading.options):
        return "it opens a viewer"
    return "bat cache writes" if usage.reading.operands and usage.args[usage.reading.operands[0]] == "cache" else ""


def _yq(usage: Usage) -> str:
    risky = (
        "load",
        "eval(",
        "env",
        "system",
        "$ENV",
        "$__",
        "input",
        "import",
        "include",
        "debug",
        "stderr",
        "splitDoc",
    )
    return (
        "the filter reads more than its input"
        if any(word in usage.args[i] for word in risky for i in usage.reading.operands)
        else ""
    )


def _stty(usage: Usage) -> str:
    return (
        ""
        if all(usage.args[i] in ("size", "speed") for i in usage.reading.operands)
        else "stty with a setting changes the terminal"
    )


def _openssl(usage: Usage) -> str:
    first = usage.args[usage.reading.operands[0]] if usage.reading.operands else ""
    return "" if first == "version" and len(usage.reading.operands) == 1 else "openssl does more than tell its version"


_CAPABILITIES = names(
    "cols lines colors longname bold sgr0 setaf setab setf setb smul rmul smso rmso rev dim sitm ritm blink el ed cr"
)


_STRICTER = names("pipefail errexit nounset")


def _top(usage: Usage) -> str:
    return (
        "" if usage.reading.has("-b") and not usage.reading.operands else "it takes the terminal and can end programs"
    )


def _no_value(usage: Usage) -> str:
    return "it sets a value" if any("=" in usage.args[i] for i in usage.reading.operands) else ""


def _tput(usage: Usage) -> str:
    told = [usage.args[i] for i in usage.reading.operands]
    plain = bool(told) and told[0] in _CAPABILITIES and all(word.isdigit() for word in told[1:])
    return "" if plain else "it sets the terminal"


def _set(usage: Usage) -> str:
    """`set -euo pipefail`: the shell stops sooner; every other setting may change how later words are read."""
    at = 0
    while at < len(usage.args):
        word = usage.args[at]
        if len(word) < 2 or word[0] not in "-+" or not set(word[1:]) <= set("euo") or word[1:].count("o") > 1:
            return "it sets an option or a value of the shell"
        if "o" in word:
            at += 1
            if at >= len(usage.args) or usage.args[at] not in _STRICTER:
                return "it sets an option of the shell"
        at += 1
    return "" if usage.args else "it shows every variable"


def _kill(usage: Usage) -> str:
    """`kill -l` names the signals."""
    return "" if usage.args and usage.args[0] in ("-l", "-L", "--list") else "it sends a signal"


def _no_list(usage: Usage) -> str:
    """A file behind `@` names further files."""
    return "it reads the names of files from a file" if any(word.startswith("@") for word in usage.args) else ""


def _ar(usage: Usage) -> str:
    """A first word of letters that only list, and then names of files."""
    first = usage.args[usage.reading.operands[0]] if usage.reading.operands else ""
    listing = bool(first) and set(first) <= set("tpvO") and bool(set(first) & set("tp"))
    plain = (
        listing
        and len(usage.reading.operands) > 1
        and not any(usage.args[i].startswith("@") for i in usage.reading.operands)
    )
    return "" if plain else "it does more than list"


def _locked(usage: Usage) -> str:
    """Without these cargo writes a lock file and fetches what it misses."""
    bound = usage.reading.has("--frozen") or (usage.reading.has("--locked") and usage.reading.has("--offline"))
    return "" if bound else "it may fetch packages and write the lock file, except with --frozen"


def _find(usage: Usage) -> str:
    return find_verdict(usage.args)


def _tar(usage: Usage) -> str:
    return tar_verdict(usage.args)


CHECKS: dict[str, Callable[[Usage], str]] = {
    "ar": _ar,
    "awk": _awk,
    "cpio": _cpio,
    "date": _date,
    "find": _find,
    "functions": _functions,
    "getent": _getent,
    "hostname": _hostname,
    "ip": _ip,
    "jq": _jq,
    "kill": _kill,
    "locked": _locked,
    "ls": _ls,
    "no_cache": _no_cache,
    "no_list": _no_list,
    "no_operand": _no_operand,
    "no_value": _no_value,
    "openssl": _openssl,
    "printf": _printf,
    "ps": _ps,
    "read": _read,
    "response": _response,
    "sed": _sed,
    "set": _set,
    "stty": _stty,
    "tar": _tar,
    "test": _test,
    "top": _top,
    "tput": _tput,
    "no_names": _no_names,
    "no_plus": _no_plus,
    "man": _man,
    "xml": _xml,
    "yq": _yq,
}
"""Name in an entry -> its handler."""
