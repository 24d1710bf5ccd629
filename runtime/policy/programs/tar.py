"""The words of tar, whose first one may hold letters without a dash. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.programs.touch import NO_FILES, Touch, anywhere
from interlock.runtime.policy.programs.usage import Usage, Word

_TAR_LETTERS = frozenset("tvzjJafp")


_TAR_LONG = names(
    "--list --verbose --gzip --bzip2 --xz --zstd --auto-compress --force-local --full-time --numeric-owner --wildcards "
    "--no-wildcards --ignore-case --anchored --no-anchored"
)


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


def tar_touches(usage: Usage) -> Iterator[Touch]:
    """The archive, what goes into it, and where it is unpacked: `-C` holds for the words behind it."""
    given = set(usage.options)
    makes = bool(given & _MAKES)
    changes = bool(given & _CHANGES)
    for word in usage.words:
        if word.role == "archive" and not _is_elsewhere(word.text, given):
            yield Touch("write" if makes or changes else "read", word.text, word.option)
        elif word.option and word.option not in ("-C", "--directory"):
            yield from _of_option(word)
    yield from _of_members(usage, given, makes)


_MAKES = names("-c --create")
_CHANGES = names("-r -u -A --append --update --catenate --concatenate --delete")
_UNPACKS = names("-x --extract --get")
_TO_OUTPUT = names("-O --to-stdout --to-command")


def _is_elsewhere(archive: str, given: set[str]) -> bool:
    """`host:file` is an archive on another machine."""
    return ":" in archive.split("/")[0] and "--force-local" not in given


def _of_option(word: Word) -> Iterator[Touch]:
    role = ROLES[word.role]
    if role.use is not None and word.text not in NO_FILES:
        yield Touch(role.use, word.text, word.option, True, role.below)
    if word.role == "list" and word.option in ("-T", "--files-from"):
        yield from anywhere("read", word.option)


def _of_members(usage: Usage, given: set[str], makes: bool) -> Iterator[Touch]:
    """What stands behind the options, seen from the folder that was last changed to."""
    folder = ""
    unpacks = bool(given & _UNPACKS) and not given & _TO_OUTPUT
    adds = makes or bool(given & names("-r -u -A --append --update --catenate --concatenate"))
    reads = adds or bool(given & names("-d --diff --compare"))
    compared = False
    for word in sorted(usage.words, key=lambda word: word.at):
        if word.option in ("-C", "--directory"):
            folder = posixpath.join(folder, word.text)
            yield Touch("read", folder, word.option)
            if unpacks:
                yield Touch("write", folder, word.option, True, True)
        elif not word.option and reads:
            compared = True
            text = posixpath.join(folder, word.text.removeprefix("@") or ".")
            yield Touch("read", text, "", True, True)
            if usage.has("remove"):
                yield Touch("delete", text, "--remove-files", True, True)
    if unpacks and not folder and not usage.of("folder"):
        yield Touch("write", ".", "", True, True)
    if unpacks and given & names("-P --absolute-names"):
        yield from anywhere("write", "-P")
    if reads and not adds and not compared:
        yield Touch("read", folder or ".", "", True, True)
