"""Which git commands only read, option by option.

Promises: everything that asks for a program the repository chose (pager, fsmonitor set on the command line, textconv and
external diff asked for, hooks) is refused. What a plain `git status` or `git diff` may run by the repository's own
configuration (`core.fsmonitor`, filters, `diff.external`) cannot be seen in the command and is not judged here; that
file is protected against writing instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.shell.option import names
from interlock.runtime.policy.shell.programs.form import Form, form

_GLOBAL_FLAGS = names(
    "--no-pager -P --no-optional-locks --no-replace-objects --literal-pathspecs --glob-pathspecs "
    "--noglob-pathspecs --icase-pathspecs --no-advice --version -v"
)
_TOLD = names("--exec-path --html-path --man-path --info-path")
"""Alone, each prints a folder."""
_DIFF_LONG = (
    "patch no-patch raw patch-with-raw indent-heuristic no-indent-heuristic minimal patience histogram stat compact-summary "
    "numstat shortstat dirstat cumulative summary patch-with-stat name-only name-status submodule color no-color color-moved "
    "no-color-moved word-diff color-words no-renames rename-empty no-rename-empty check full-index binary abbrev no-abbrev "
    "break-rewrites find-renames find-copies find-copies-harder irreversible-delete text ignore-cr-at-eol ignore-space-at-eol "
    "ignore-space-change ignore-all-space ignore-blank-lines function-context exit-code quiet no-ext-diff no-textconv "
    "ignore-submodules no-prefix default-prefix cached staged merge-base pickaxe-all pickaxe-regex relative "
    "no-relative ita-invisible-in-index base ours theirs exit"
)
_DIFF_VALUES = (
    "unified diff-algorithm anchored stat-width inter-hunk-context diff-filter src-prefix dst-prefix line-prefix "
    "word-diff-regex ws-error-highlight stat-count stat-name-width stat-graph-width color-moved-ws"
)
_DIFF_BAD = (
    "output ext-diff textconv no-index output-indicator-new output-indicator-old output-indicator-context orderfile"
)
_LOG_LONG = (
    "oneline graph all branches tags remotes decorate no-decorate first-parent merges no-merges reverse topo-order date-order "
    "author-date-order follow left-right cherry-pick cherry-mark cherry boundary abbrev-commit no-abbrev-commit parents "
    "children show-linear-break walk-reflogs full-history dense sparse simplify-merges simplify-by-decoration ancestry-path "
    "no-notes notes relative-date source use-mailmap no-mailmap no-walk do-walk full-diff log-size regexp-ignore-case "
    "invert-grep "
    "extended-regexp fixed-strings basic-regexp perl-regexp all-match remove-empty pretty clear-decorations no-graph "
    "diff-merges combined-all-paths c cc m"
)
_LOG_VALUES = (
    "format max-count skip since after until before author committer grep date encoding glob exclude decorate-refs "
    "decorate-refs-exclude min-parents max-parents"
)
_DIFF_FLAGS = "pusRabwWzMCBDqtrc"
_LOG = form(
    _DIFF_FLAGS + "gimEFP",
    "nULSGX",
    f"{_DIFF_LONG} {_LOG_LONG}",
    f"{_DIFF_VALUES} {_LOG_VALUES}",
    f"{_DIFF_BAD} show-signature",
    numbers=True,
    reads="none",
    default=".",
)
_DIFF_TREE = form(
    _DIFF_FLAGS + "stvmc0",
    "USGX",
    f"{_DIFF_LONG} no-commit-id root stdin always pretty combined-all-paths cc",
    f"{_DIFF_VALUES} format",
    f"{_DIFF_BAD} show-signature",
    numbers=True,
    reads="none",
    default=".",
)
_DIFF = form(_DIFF_FLAGS, "USGX", _DIFF_LONG, _DIFF_VALUES, _DIFF_BAD, numbers=True, reads="none", default=".")


READING: dict[str, Form] = {
    "status": form(
        "sbvz",
        "u",
        "short branch show-stash porcelain long verbose untracked-files ignore-submodules ignored column "
        "no-column ahead-behind no-ahead-behind renames no-renames find-renames",
        default=".",
    ),
    "log": _LOG,
    "show": _LOG,
    "whatchanged": _LOG,
    "shortlog": form("nsecw", "", _LOG_LONG + " numbered summary email", _LOG_VALUES + " group"),
    "diff": _DIFF,
    "diff-tree": _DIFF_TREE,
    "diff-index": _DIFF_TREE,
    "diff-files": _DIFF_TREE,
    "rev-parse": form(
        "q",
        "",
        "verify quiet short abbrev-ref symbolic symbolic-full-name all branches tags remotes show-toplevel "
        "show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir "
        "is-bare-repository is-shallow-repository show-superproject-working-tree show-object-format",
        "git-path default",
    ),
    "rev-list": form("gim", "n", _LOG_LONG + " count objects left-only right-only quiet", _LOG_VALUES, numbers=True),
    "ls-files": form(
        "zcdomsuktvf",
        "x",
        "cached deleted others modified stage unmerged killed ignored directory no-empty-directory "
        "exclude-standard error-unmatch full-name recurse-submodules deduplicate eol debug",
        "exclude with-tree abbrev format",
    ),
    "ls-tree": form("drtlz", "", "long name-only name-status object-only full-name full-tree", "abbrev format"),
    "cat-file": form("tsep", "", "allow-unknown-type", bad="textconv filters batch batch-check batch-command path"),
    "blame": form(
        "bcfnpstlewkMC",
        "L",
        "root line-porcelain porcelain show-stats show-number show-name show-email date score-debug "
        "incremental abbrev minimal",
        "",
        "contents ignore-revs-file",
    ),
    "annotate": form("lr", "L"),
    "describe": form(
        "",
        "",
        "all tags long always contains debug exact-match first-parent dirty broken",
        "match exclude abbrev candidates",
    ),
    "merge-base": form("a", "", "all octopus is-ancestor independent fork-point"),
    "name-rev": form("", "", "tags all name-only always", "refs"),
    "for-each-ref": form(
        "",
        "",
        "ignore-case omit-empty",
        "format count sort points-at merged no-merged contains no-contains exclude",
        bad="shell perl python tcl",
    ),
    "show-ref": form("qsdh", "", "head heads tags branches verify quiet hash dereference abbrev"),
    "show-branch": form("ar", "", "all remotes list more"),
    "count-objects": form("vH", "", "verbose human-readable"),
    "cherry": form("v"),
    "range-diff": _DIFF,
    "check-ignore": form("qvnz", "", "quiet verbose non-matching no-index"),
    "check-ref-format": form("", "", "branch normalize allow-onelevel no-allow-onelevel refspec-pattern"),
    "check-mailmap": form("", "", "stdin"),
    "patch-id": form("", "", "stable unstable verbatim"),
    "stripspace": form("sc", "", "strip-comments comment-lines"),
    "check-attr": form("az", "", "all cached"),
    "grep": form(
        "aiIwvhHEGFPnlLczopWrq",
        "emABC",
        "cached untracked no-index exclude-standard no-exclude-standard "
        "recurse-submodules text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp "
        "fixed-strings line-number column files-with-matches name-only files-without-match null only-matching count "
        "color no-color break heading show-function function-context and or not all-match quiet recursive no-recursive",
        "max-depth after-context before-context context threads max-count",
        "open-files-in-pager textconv ext-grep",
        numbers=True,
        globs=False,
    ),
    "var": form("l"),
    "version": form("", "", "build-options"),
    "ls-remote": form(bad="upload-pack exec", least=10**6),
    "verify-pack": form("vs", "", "verbose stat-only"),
    "diff-pairs": form(least=10**6),
}
"""Sub-command -> the form in which it only reads."""

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
        return READING["log"].verdict(rest[1:] if rest[:1] and rest[0] == "show" else rest)
    if verb == "symbolic-ref":
        return _symbolic_verdict(rest)
    if verb in READING:
        return READING[verb].verdict(rest)
    if verb == "config":
        return _config_verdict(rest)
    if verb == "stash" and rest[:1] and rest[0] in ("list", "show"):
        words = [word for word in rest[1:] if word not in ("-u", "--include-untracked", "--only-untracked")]
        return (_LOG if rest[0] == "list" else _DIFF).verdict(words)
    if verb in ("stash", "worktree", "submodule", "reflog", "bisect", "notes", "sparse-checkout", "bundle"):
        return _second_verdict(verb, rest)
    if verb in _ACTS:
        return _listing_verdict(verb, rest)
    return f"git {verb} is not listed as reading only"


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
