"""Which git commands only read, option by option.

Promises: everything that asks for a program the repository chose (pager, fsmonitor set on the command line, textconv and
external diff asked for) is refused. What a plain `git status` or `git diff` may run by the repository's own
configuration and hooks cannot be seen in the command and is told by whoever has the machine. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from interlock.runtime.policy.programs.catalogue import program_of
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.usage import Usage, harmless, read_usage

_TOLD = names("--exec-path --html-path --man-path --info-path")
"""Alone, each prints a folder."""
_CONFIG_READS = names(
    "--get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool --name-only -z "
    "--null --show-origin --show-scope --local --worktree --includes --no-includes "
    "--type --bool --int --path --bool-or-int --bool-or-str --expiry-date --no-type"
)
_CONFIG_ASKS = names("--get --get-all --get-regexp --list -l --get-urlmatch")
_PLAIN_SETTING = re.compile(
    r"(?:core\.pager|pager\.[\w-]+)=(?:cat|false|)|core\.(?:quotepath|abbrev|precomposeunicode|fsmonitor)=\w*"
    r"|core\.hookspath=/dev/null"
    r"|(?:color|column|advice|status)\.[\w.-]+=[\w #-]*"
    r"|log\.(?:date|decorate|follow|abbrevcommit)=[\w-]*"
    r"|diff\.(?:renames|renamelimit|noprefix|mnemonicprefix|context|algorithm|colormoved|ignoresubmodules|submodule)=[\w-]*"
    r"|(?:user\.(?:name|email))=[^!|;&$`]*",
    re.IGNORECASE,
)
"""Settings on the command line that say how something is shown, and start nothing."""
_FSMONITOR = re.compile(r"core\.fsmonitor=(?!(?:true|false|0|1|no|yes|on|off|)\Z)", re.IGNORECASE)


def git_verdict(args: Sequence[str]) -> str:
    """The reason against a git command line (without `git`), or empty."""
    if len(args) == 1 and args[0] in _TOLD:
        return ""
    at = 0
    while at < len(args) and args[at].startswith("-"):
        if _is_harmless_pair(args[at : at + 2]):
            at += 2
        elif _is_flag(args[at]):
            at += 1
        else:
            return f"the git option {args[at].partition('=')[0]} can choose programs or places"
    if at >= len(args):
        return "" if args else "git without a command"
    return _verb_verdict(args[at], args[at + 1 :])


def _is_harmless_pair(words: Sequence[str]) -> bool:
    return len(words) == 2 and (words[0] == "-C" or (words[0] == "-c" and is_plain_setting(words[1])))


def is_plain_setting(text: str) -> bool:
    """Whether a setting given with `-c` only says how something is shown."""
    return bool(_PLAIN_SETTING.fullmatch(text)) and not _FSMONITOR.match(text)


def _is_flag(word: str) -> bool:
    root = program_of("git")
    return root is not None and root.options.get(word) == "flag"


def _verb_verdict(verb: str, rest: Sequence[str]) -> str:
    if any("%G" in word or "%(signature" in word for word in rest):
        return "the format asks for signatures, which runs the configured program"
    if any(len(word) > 3 and "--help".startswith(word) for word in rest):
        return "the help of a git command opens a viewer"
    usage = read_usage("git", (verb, *rest))
    if usage is None or not usage.verb or not usage.program.only_reads or usage.program.network:
        what = f"{verb} {rest[0]}" if usage and usage.verb == verb and rest and _has_more(verb) else verb
        return f"git {what} is not listed as reading only"
    if check := _CHECKS.get(usage.program.check):
        return check(usage)
    return harmless(usage)


def _has_more(verb: str) -> bool:
    root = program_of("git")
    return root is not None and root.groups is not None and verb in root.groups


def _symbolic(usage: Usage) -> str:
    if why := harmless(usage):
        return why
    return "" if len(usage.operands) == 1 else "git symbolic-ref with two names sets one"


def _config(usage: Usage) -> str:
    """Options stand before the name: behind it they would be the value that is set."""
    asks, options, named = _config_words(usage.args)
    if bad := [w for w in options if w not in (*_CONFIG_READS, "--all", "--regexp")]:
        return f"the option {bad[0]} is not listed as reading only"
    if any(word.startswith("-") for word in named):
        return "an option behind a name is a value that is set"
    if asks or any(w in _CONFIG_ASKS for w in options) or (len(named) == 1 and "." in named[0]):
        return ""
    return "git config without --get may write"


def _config_words(args: Sequence[str]) -> tuple[bool, list[str], Sequence[str]]:
    asks = bool(args) and args[0] in ("list", "get")
    words = args[1:] if asks else args
    cut = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    return asks, [word.partition("=")[0] for word in words[:cut]], words[cut:]


def asks_setting(args: Sequence[str]) -> bool:
    """Whether `git config` with these words only asks for a setting."""
    asks, options, named = _config_words(args)
    if asks or not _CONFIG_ASKS.isdisjoint(options):
        return True
    return len(named) == 1 and "." in named[0] and not any(w.startswith("--unset") or w == "-e" for w in options)


def _listing(usage: Usage) -> str:
    """`git branch` and `git tag` make what they are given, where no option makes them list."""
    if why := harmless(usage):
        return why
    lists = usage.reading.has(
        "-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at", "-n"
    )
    return "" if lists or not usage.operands else f"{usage.program.name} with a name makes one"


_CHECKS: dict[str, Callable[[Usage], str]] = {
    "git_list": _listing,
    "git_symbolic": _symbolic,
    "git_config": _config,
}
"""Key `check` of a sub-command -> who looks at what data cannot say."""
