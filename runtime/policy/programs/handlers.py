"""What find, tar, dd, curl, sed, awk and test touch: their words need more than a role each.

Promises: as `touch`. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from interlock.runtime.policy.programs.awk import read_awk
from interlock.runtime.policy.programs.files import FILE_HANDLERS
from interlock.runtime.policy.programs.find import find_paths, find_references, find_verdict
from interlock.runtime.policy.programs.git_touch import git_touches
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.sed import read_sed
from interlock.runtime.policy.programs.tar import tar_touches
from interlock.runtime.policy.programs.touch import Touch, anywhere, plain_touches
from interlock.runtime.policy.programs.usage import Usage

_FIND_WRITES = ("-fprint", "-fls", "-fprintf", "-fprint0")
_FIND_RUNS = ("-exec", "-execdir", "-ok", "-okdir")


def _find(usage: Usage) -> Iterator[Touch]:
    args = usage.args
    acts = bool(find_verdict(args))
    below = any(word in _FIND_RUNS for word in args)
    deletes = "-delete" in args
    for path in find_paths(args):
        yield Touch("read", path, "", True, below or acts)
        if deletes:
            yield Touch("delete", path, "-delete", True, True)
        elif acts:
            yield Touch("write", path, "", False, True)
    for path in find_references(args):
        yield Touch("read", path)
    for at, word in enumerate(args[:-1]):
        if word in _FIND_WRITES:
            yield Touch("write", args[at + 1], word)
        elif word == "-files0-from":
            yield Touch("read", args[at + 1], word)
            yield from anywhere("read", word)


def _dd(usage: Usage) -> Iterator[Touch]:
    for word in usage.args:
        name, equals, value = word.partition("=")
        if equals and name == "if":
            yield Touch("read", value, "if=")
        elif equals and name == "of":
            yield Touch("write", value, "of=")


def _browser(usage: Usage) -> Iterator[Touch]:
    """What names no scheme is a file where there is one of that name."""
    for word in usage.words:
        if word.role == "host" and "://" not in word.text and "/" in word.text.strip("/"):
            yield Touch("read", word.text, word.option)
    yield from _curl(usage)


def _curl(usage: Usage) -> Iterator[Touch]:
    for word in usage.words:
        if word.role in ("text", "value") and word.text.startswith("@"):
            yield Touch("read", word.text[1:], word.option)
        elif word.role in ("text", "value") and "=@" in word.text:
            yield Touch("read", word.text.partition("=@")[2].partition(";")[0], word.option)
        elif word.role == "text" and "=<" in word.text:
            yield Touch("read", word.text.partition("=<")[2].partition(";")[0], word.option)
        elif word.option == "--data-urlencode" and "@" in word.text:
            yield Touch("read", word.text.partition("@")[2], word.option)
    yield from _file_urls(usage)
    into = [word.text for word in usage.words if word.option == "--output-dir"]
    if any(
        option in usage.options for option in ("-O", "--remote-name", "-J", "--remote-name-all", "--remote-header-name")
    ):
        yield Touch("write", into[-1] if into else ".", "-O", True, True)
    yield from plain_touches(usage)


_CURL_PATTERN = re.compile(r"[\[\]{}]")


def _file_urls(usage: Usage) -> Iterator[Touch]:
    """`file://` names a file, which is read, or written where something is uploaded."""
    uploads = usage.reading.has("-T", "--upload-file")
    bare = any(word.option == "--proto-default" and word.text.lower() == "file" for word in usage.words)
    for word in usage.words:
        scheme, colon, rest = word.text.partition(":")
        is_url = bool(colon) and scheme.lower() == "file"
        if word.role != "host" or not (is_url or (bare and "://" not in word.text)):
            continue
        path = re.sub(r"^//[^/]*", "", rest) if is_url else word.text
        path = unquote(re.split(r"[?#]", path)[0])
        if _CURL_PATTERN.search(path) and not usage.reading.has("-g", "--globoff"):
            yield from anywhere("write" if uploads else "read")
        elif path:
            yield Touch("read", path, "file:")
            yield from (Touch("write", path, "file:") for _ in range(uploads))


def _wget(usage: Usage) -> Iterator[Touch]:
    """What it fetches is written into its folder, except where another place is named."""
    for word in usage.words:
        if word.option == "--warc-file":
            yield from (Touch("write", word.text + ending, word.option) for ending in (".warc", ".warc.gz", ".cdx"))
    named = {"-O", "--output-document", "--spider"} & set(usage.options)
    if not named and not {"-P", "--directory-prefix"} & set(usage.options):
        yield Touch("write", ".", "", True, True)
    yield from plain_touches(usage)


_SOCKET_FILES = names("OPEN CREATE CREAT GOPEN FILE UNIX UNIX-CONNECT UNIX-LISTEN UNIX-CLIENT UNIX-SENDTO PIPE")


def _socat(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    for at, word in enumerate(usage.args):
        if word.startswith("-lf"):  # letters behind `-l` say where it logs to
            yield from (
                Touch("write", file, "-lf") for file in [word[3:] or " ".join(usage.args[at + 1 : at + 2])] if file
            )
    for word in usage.of("socket"):
        kind, colon, rest = word.partition(":")
        if colon and kind.upper() in _SOCKET_FILES:
            yield Touch("write", rest.split(",")[0], kind)
        elif "/" in word and not colon:
            yield Touch("write", word)


def _sed(usage: Usage) -> Iterator[Touch]:
    yield from (touch for touch in plain_touches(usage) if touch.cause not in ("-i", "--in-place"))
    # BSD takes an empty word behind -i for the ending, and the next one is the script
    is_first = "" in usage.of("inline") and usage.has("inplace")
    ending = next((word.text for word in usage.words if word.option in ("-i", "--in-place")), "")
    for word in usage.words:
        if ending and word.role == "read" and not word.option:
            folder, name = posixpath.split(word.text)
            yield Touch("write", ending.replace("*", name) if "/" in ending else posixpath.join(folder, name + ending))
        if word.role == "inline" or (is_first and word.role == "read"):
            is_first = is_first and word.role == "inline"
            found = read_sed(word.text)
            yield from (Touch("write", path, "w") for path in found.writes)
            yield from (Touch("read", path, "r") for path in found.reads)


_AWK_FILES = {
    "-o": "awkprof.out", "--pretty-print": "awkprof.out", "-p": "awkprof.out", "--profile": "awkprof.out",
    "-d": "awkvars.out", "--dump-variables": "awkvars.out",
}  # fmt: skip
"""What gawk writes where such an option names no file."""


def _awk(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    for option in usage.reading.options:
        if option.value is None and option.name in _AWK_FILES:
            yield Touch("write", _AWK_FILES[option.name], option.name)
    for word in usage.words:
        if word.role == "inline":
            found = read_awk(word.text)
            yield from (Touch("write", path, ">") for path in found.writes)
            yield from (Touch("read", path, "<") for path in found.reads)
            if found.anywhere:
                yield from anywhere("write", ">")


_COMPARED = ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge")


def _test(usage: Usage) -> Iterator[Touch]:
    """The operands of `test` that are files: not those that are compared as text or as numbers."""
    args = usage.args
    compared = {j for i, a in enumerate(args) if a in _COMPARED for j in (i - 1, i + 1)}
    compared |= {i + 1 for i, a in enumerate(args) if a in ("-n", "-z")}
    words = ("]", "!", "(", ")", *_COMPARED)
    for i, word in enumerate(args):
        if i not in compared and word not in words and not word.startswith("-"):
            yield Touch("read", word)


HANDLERS: dict[str, Callable[[Usage], Iterator[Touch]]] = {
    **FILE_HANDLERS,
    "find": _find,
    "tar": tar_touches,
    "dd": _dd,
    "curl": _curl,
    "browser": _browser,
    "sed": _sed,
    "socat": _socat,
    "wget": _wget,
    "awk": _awk,
    "test": _test,
    "git": git_touches,
}
"""Key `touches` of an entry -> who tells what data cannot say."""
