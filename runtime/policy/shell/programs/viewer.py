"""Programs that list or show: finders, viewers, archives, the network's state.

Promises: as `text`. Archives are listed or shown, never unpacked; what a program would start on the way (a remote shell
for `tar tf host:file`, a pager, `ls` for a long listing) is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.shell.option import Reading, names
from interlock.runtime.policy.shell.programs.form import Check, Form, form

_IP_OBJECTS = names("a ad addr address l link r ro route n neigh neighbor neighbour ru rule maddr maddress mroute")
_IP_VERBS = names("show list lst ls")
_IP_FLAGS = names(
    "-4 -6 -0 -B -s -stats -statistics -d -details -o -oneline -r -resolve -t -timestamp -ts -a -all -c -color -br "
    "-brief -j -json -p -pretty -h -human -iec -N"
)
_TAR_LETTERS = frozenset("tvzjJafp")
_TAR_LONG = names(
    "--list --verbose --gzip --bzip2 --xz --zstd --auto-compress --force-local --full-time --numeric-owner --wildcards "
    "--no-wildcards --ignore-case --anchored --no-anchored"
)


def ip_verdict(args: Sequence[str]) -> str:
    """`ip` shows and changes with the same words; only the plain showing is listed."""
    words = list(args)
    while words and words[0].startswith("-"):
        if words[0].partition("=")[0] not in _IP_FLAGS:
            return f"the option {words[0]} is not listed as reading only"
        words.pop(0)
    if not words or words[0] not in _IP_OBJECTS:
        return "ip does more than show"
    if len(words) > 1 and words[1] not in _IP_VERBS:
        return f"ip {words[0]} {words[1]} may change the network"
    return ""


def tar_verdict(args: Sequence[str]) -> str:
    """`tar tf FILE` and its spellings; FILE without a colon, which would name another machine."""
    listing, archive, at = False, None, 0
    while at < len(args):
        word = args[at]
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if name == "--file" and equals:
                archive = value
            elif word not in _TAR_LONG and not (name == "--exclude" and equals):
                return f"the option {name} is not listed as reading only"
            listing = listing or word == "--list"
        elif (word.startswith("-") and len(word) > 1) or at == 0:
            letters = word.lstrip("-")
            if not letters or not set(letters) <= _TAR_LETTERS or "f" in letters[:-1]:
                return "tar does more than list"
            listing = listing or "t" in letters
            if letters.endswith("f"):
                at += 1
                archive = args[at] if at < len(args) else ""
        at += 1
    if not listing or archive is None:
        return "tar does more than list a file"
    return "a colon in the name of the archive would ask another machine" if ":" in archive else ""


def tar_paths(args: Sequence[str]) -> list[str]:
    """The archive that `tar_verdict` let pass."""
    for at, word in enumerate(args):
        if word.startswith("--file="):
            return [word.partition("=")[2]]
        if (at == 0 or word.startswith("-")) and not word.startswith("--") and word.endswith("f"):
            return list(args[at + 1 : at + 2])
    return []


_SHOWN = ("--stdout", "--to-stdout")
_UNPACKING = ("-d", "--decompress", "--uncompress")
_PACKER = (" decompress uncompress stdout to-stdout keep", "dkn123456789")


def _shows(letters: str, more: str = "", long: str = "") -> Form:
    def check(reading: Reading, args: Sequence[str]) -> str:
        # of -t and -d the last one counts with some of them, so only what is sent to the output outdoes a -d
        wanted = (
            {"-c", *_SHOWN} if reading.has(*_UNPACKING) else {f"-{x}" for x in letters} | {"--list", "--test", *_SHOWN}
        )
        return "" if reading.has(*wanted) else "without an option that lists it would unpack"

    return form(letters + "vq" + more, "", "list test verbose quiet" + long, check=check)


def _listed_by(verbs: str, letters: str) -> Check:
    """A first word that only lists, or letters that do, and then names of files."""

    def check(reading: Reading, args: Sequence[str]) -> str:
        first = args[reading.operands[0]] if reading.operands else ""
        listing = first in verbs.split() or (
            bool(first) and set(first) <= set(letters) and bool(set(first) & set("tp"))
        )
        plain = listing and len(reading.operands) > 1 and not any(args[i].startswith("@") for i in reading.operands)
        return "" if plain else "it does more than list"

    return check


def _cpio(reading: Reading, args: Sequence[str]) -> str:
    return "" if reading.has("-t") else "it does more than list"


def _no_cache(reading: Reading, args: Sequence[str]) -> str:
    if any(o.name == "--paging" and o.value != "never" for o in reading.options):
        return "it opens a viewer"
    return "bat cache writes" if reading.operands and args[reading.operands[0]] == "cache" else ""


def _yq(reading: Reading, args: Sequence[str]) -> str:
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
        if any(word in args[i] for word in risky for i in reading.operands)
        else ""
    )


def _stty(reading: Reading, args: Sequence[str]) -> str:
    return (
        ""
        if all(args[i] in ("size", "speed") for i in reading.operands)
        else "stty with a setting changes the terminal"
    )


def _openssl(reading: Reading, args: Sequence[str]) -> str:
    first = args[reading.operands[0]] if reading.operands else ""
    return "" if first == "version" and len(reading.operands) == 1 else "openssl does more than tell its version"


_EZA = form(
    "1GlRTxFaadDIfbBgHhimMnOrSuUZo@",
    "sLtw",
    "oneline grid long recurse tree across classify all list-dirs only-dirs only-files header binary bytes group inode links "
    "modified accessed created changed numeric octal-permissions reverse icons no-icons no-permissions no-filesize no-user "
    "no-time no-git git git-ignore git-repos group-directories-first color colour hyperlink extended",
    "sort level time width time-style ignore-glob",
    globs=False,
    default=".",
)
_BAT = form(
    "pAndfuPS",
    "rlHm",
    "plain show-all number diff force-colorization no-paging unbuffered chop-long-lines list-languages list-themes",
    "line-range language highlight-line style color theme wrap tabs terminal-width decorations italic-text map-syntax "
    "file-name nonprintable-notation diff-context squeeze-limit strip-ansi paging",
    bad="pager lessopen no-lessopen config-file generate-config-file diagnostic acknowledgements completion",
    globs=False,
    check=_no_cache,
)
_FD = form(
    "HIusigFap01qh",
    "dtEecjSo",
    "hidden no-ignore no-ignore-vcs no-ignore-parent unrestricted case-sensitive ignore-case glob fixed-strings regex "
    "absolute-path full-path print0 quiet prune one-file-system show-errors strip-cwd-prefix no-hidden ignore and",
    "max-depth min-depth exact-depth type exclude extension color threads size owner changed-within changed-before newer "
    "older max-results path-separator search-path format",
    bad="follow exec exec-batch list-details base-directory ignore-file gen-completions batch-size hyperlink",
    reads="first",
    option_files="--search-path",
    globs=False,
    default=".",
)

VIEWERS: dict[str, Form] = {
    "fd": _FD,
    "fdfind": _FD,
    "bat": _BAT,
    "batcat": _BAT,
    "eza": _EZA,
    "exa": _EZA,
    "lsd": form("1alRhFStrdgi", "I", "all almost-all long recursive tree human-readable", "depth date size sort", default="."),
    "ss": form(
        "ntulpaeomisb46x0wSdHrOZhV",
        "f",
        "numeric tcp udp listening processes all extended options memory info summary ipv4 ipv6 unix raw no-header resolve "
        "oneline",
        "family",
        bad="kill diag filter events query net packet context contexts bpf vsock xdp tipc",
        reads="none",
    ),
    "ip": form(reads="none"),
    "tar": form(),
    "gtar": form(),
    "bsdtar": form(),
    "unzip": _shows("lvtpZ", "z1C"),
    "zipinfo": form("12smlvhtTzC"),
    **{name: _shows("ltc", _PACKER[1], _PACKER[0]) for name in ("gzip", "gunzip", "xz", "unxz", "zstd", "unzstd")},
    **{name: _shows("tc", _PACKER[1], _PACKER[0]) for name in ("bzip2", "bunzip2")},
    "7z": form(reads="first", check=_listed_by("l t", "")),
    "unrar": form(reads="first", check=_listed_by("l lb lt v vb t", "")),
    "ar": form(reads="first", check=_listed_by("", "tpvO")),
    "cpio": form("tvqn0", reads="none", check=_cpio),
    "zcat": form("fvq"),
    "gzcat": form("fvq"),
    "yq": form("rPCMjeNc", "pI", "prettyPrint colors no-colors no-doc raw-output unwrapScalar exit-status compact-output",
               "input-format indent output-format", bad="inplace in-place split-exp from-file null-input front-matter",
               check=_yq),
    "shuf": form("erz", "ni", "echo repeat zero-terminated", "head-count input-range", bad="output random-source"),
    "iconv": form("csl", "ft", "list silent", "from-code to-code", bad="output unicode-subst byte-subst widechar-subst"),
    "pr": form("acdfFJmrtTveinsS", "DhlNowW", numbers=True, attached="einsS"),
    "stty": form("ag", "", "all save", bad="file", reads="none", check=_stty),
    "umask": form("Sp", reads="none", most=0),
    "ulimit": form("aHScdefiklmnpqrstuvxT", reads="none", most=0),
    "openssl": form("avbofpdr", reads="none", check=_openssl),
    "mdls": form("r", "n"),
    "sw_vers": form(reads="none"),
    "mountpoint": form("qdx"),
}  # fmt: skip
"""Program -> the form in which it only reads."""
