"""Which git commands only read, option by option.

Promises: everything that asks for a program the repository chose (pager, fsmonitor set on the command line, textconv and
external diff asked for, hooks) is refused. What a plain `git status` or `git diff` may run by the repository's own
configuration (`core.fsmonitor`, filters, `diff.external`) cannot be seen in the command and is not judged here; that
file is protected against writing instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.usage import harmless, read_usage

_GLOBAL_FLAGS = names(
    "--no-pager -P --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs "
    "--noglob-pathspecs --icase-pathspecs --no-advice --version -v"
)
_TOLD = names("--exec-path --html-path --man-path --info-path")
"""Alone, each prints a folder."""
_CONFIG_READS = names(
    "--get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool --name-only -z "
    "--null --show-origin --show-scope --local --worktree --includes --no-includes "
    "--type --bool --int --path"
)
_ACTS: dict[str, tuple[frozenset[str], int]] = {
    "branch": (
        names(
            "-a -r -v -vv -l --list --all --remotes --verbose --show-current --merged --no-merged --contains "
            "--no-contains --points-at --sort --format --color --no-color --column --no-column -i --ignore-case"
        ),
        0,
    ),
    "tag": (
        names(
            "-l --list --sort --format -n --contains --no-contains --merged --no-merged --points-at --column "
            "--no-column --color -i --ignore-case"
        ),
        0,
    ),
    "remote": (frozenset(["-v", "--verbose"]), 0),
}


def git_verdict(args: Sequence[str]) -> str:
    """The reason against a git command line (without `git`), or empty."""
    if len(args) == 1 and args[0] in _TOLD:
        return ""
    at = 0
    while at < len(args) and args[at].startswith("-"):
        if args[at] == "-C" and at + 1 < len(args):
            at += 2
        elif args[at] in _GLOBAL_FLAGS:
            at += 1
        else:
            return f"the git option {args[at].partition('=')[0]} can choose programs or places"
    if at >= len(args):
        return "" if args else "git without a command"
    return _verb_verdict(args[at], args[at + 1 :])


def _verb_verdict(verb: str, rest: Sequence[str]) -> str:
    if any("%G" in word or "%(signature" in word for word in rest):
        return "the format asks for signatures, which runs the configured program"
    if any(len(word) > 3 and "--help".startswith(word) for word in rest):
        return "the help of a git command opens a viewer"
    if verb == "reflog" and (not rest or rest[0] == "show" or rest[0].startswith("-")):
        return _listed("log", rest[1:] if rest[:1] and rest[0] == "show" else rest)
    if verb == "symbolic-ref":
        return _symbolic_verdict(rest)
    if verb == "config":
        return _config_verdict(rest)
    if verb == "stash" and rest[:1] and rest[0] in ("list", "show"):
        words = [word for word in rest[1:] if word not in ("-u", "--include-untracked", "--only-untracked")]
        return _listed("log" if rest[0] == "list" else "diff", words)
    if verb in ("stash", "worktree", "submodule", "reflog", "bisect", "notes", "sparse-checkout", "bundle"):
        return _second_verdict(verb, rest)
    if verb in _ACTS:
        return _listing_verdict(verb, rest)
    return _listed(verb, rest)


def _listed(verb: str, rest: Sequence[str]) -> str:
    """What the entry of the sub-command says."""
    usage = read_usage("git", (verb, *rest))
    if usage is None or not usage.verb or not usage.program.only_reads:
        return f"git {verb} is not listed as reading only"
    return harmless(usage)


def _symbolic_verdict(rest: Sequence[str]) -> str:
    names_given = [word for word in rest if not word.startswith("-")]
    plain = all(word in ("--short", "-q", "--quiet", "--no-recurse") for word in rest if word.startswith("-"))
    return "" if plain and len(names_given) == 1 else "git symbolic-ref with two names sets one"


def _config_verdict(rest: Sequence[str]) -> str:
    """Options stand before the name: behind it they would be the value that is set."""
    asks = rest[:1] and rest[0] in ("list", "get")
    words = rest[1:] if asks else rest
    cut = next((i for i, word in enumerate(words) if not word.startswith("-")), len(words))
    options, named = [word.partition("=")[0] for word in words[:cut]], words[cut:]
    if bad := [w for w in options if w not in (*_CONFIG_READS, "--all", "--regexp")]:
        return f"the option {bad[0]} is not listed as reading only"
    if any(word.startswith("-") for word in named):
        return "an option behind a name is a value that is set"
    if asks or any(w in _CONFIG_ASKS for w in options) or (len(named) == 1 and "." in named[0]):
        return ""
    return "git config without --get may write"


_CONFIG_ASKS = names("--get --get-all --get-regexp --list -l --get-urlmatch")


_SECOND: dict[str, tuple[str, ...]] = {
    "worktree": ("list",),
    "submodule": ("status", "summary"),
    "reflog": ("show",),
    "bisect": ("log",),
    "notes": ("list", "show"),
    "sparse-checkout": ("list",),
    "bundle": ("list-heads",),
}


def _second_verdict(verb: str, rest: Sequence[str]) -> str:
    if verb in ("reflog", "submodule") and not rest:
        return ""
    if rest and rest[0] in _SECOND.get(verb, ()):
        bad = [
            w
            for w in rest[1:]
            if w.startswith("-")
            and w not in ("--porcelain", "-v", "--verbose", "-z", "--oneline", "--cached", "--recursive")
        ]
        return f"the option {bad[0]} is not listed as reading only" if bad else ""
    return f"git {verb} {rest[0] if rest else ''} is not listed as reading only".replace("  ", " ")


def _listing_verdict(verb: str, rest: Sequence[str]) -> str:
    listed, most = _ACTS[verb]
    if verb == "remote" and rest and rest[0] in ("show", "get-url"):
        if rest[0] == "show":
            return "git remote show asks the network"
        bad = [word for word in rest[1:] if word.startswith("-") and word not in ("--push", "--all")]
        return f"the option {bad[0]} is not listed as reading only" if bad else ""
    for word in rest:
        if (
            word.startswith("-")
            and word.partition("=")[0] not in listed
            and not (verb == "tag" and word[:2] == "-n" and word[2:].isdigit())
        ):
            return f"the option {word} is not listed as reading only"
    lists = any(
        w.partition("=")[0] in ("-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at")
        for w in rest
    )
    operands = [w for w in rest if not w.startswith("-")]
    return "" if lists or len(operands) <= most else f"git {verb} with a name makes one"


_GIT_PLACES = frozenset(("fetch", "pull", "push", "clone", "ls-remote", "fetch-pack", "send-pack"))


def stays_here(args: Sequence[str]) -> bool:
    """Whether a git command that could reach another machine names a folder, right behind its verb."""
    verb = next((i for i, word in enumerate(args) if word in _GIT_PLACES), None)
    if verb is None:
        return "remote" in args and len(args) < 3
    place = "".join(args[verb + 1 : verb + 2])
    return place.startswith((".", "/")) and "::" not in place
