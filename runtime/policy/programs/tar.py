"""The words of tar, whose first one may hold letters without a dash. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.programs.option import names

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


def tar_paths(args: Sequence[str]) -> list[str]:
    """The archive that `tar_verdict` let pass."""
    for at, word in enumerate(args):
        if word.startswith("--file="):
            return [word.partition("=")[2]]
        if (at == 0 or word.startswith("-")) and not word.startswith("--") and word.endswith("f"):
            return list(args[at + 1 : at + 2])
    return []
