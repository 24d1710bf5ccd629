"""The ways in which one option can be written, so that a deny of one spelling is a deny of all.

Promises: used for deny and ask alone, where taking too much for the option is the safe side: letters may be joined,
long names shortened as far as one likes, values attached. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_SAME: dict[str, tuple[tuple[str, ...], ...]] = {
    "rm": (("-r", "-R", "--recursive"), ("-f", "--force"), ("-d", "--dir"), ("-i", "--interactive"), ("-v", "--verbose")),
    "cp": (("-r", "-R", "-a", "--recursive", "--archive"), ("-f", "--force"), ("-l", "--link"), ("-s", "--symbolic-link")),
    "mv": (("-f", "--force"), ("-n", "--no-clobber")),
    "ln": (("-f", "--force"), ("-s", "--symbolic")),
    "chmod": (("-R", "--recursive"),),
    "chown": (("-R", "--recursive"),),
    "chgrp": (("-R", "--recursive"),),
    "git": (
        ("-f", "--force", "--force-with-lease"), ("-D", "--delete"), ("-d", "--delete"), ("-a", "--all"), ("-m", "--message"),
        ("-n", "--no-verify", "--dry-run"), ("-b", "--branch"), ("-M", "--move"), ("-q", "--quiet"), ("-x", "-X"),
        ("-u", "--set-upstream"), ("-i", "--interactive"),
    ),
    "curl": (
        ("-X", "--request"), ("-d", "--data"), ("-T", "--upload-file"), ("-o", "--output"), ("-k", "--insecure"),
        ("-F", "--form"), ("-K", "--config"), ("-O", "--remote-name"),
    ),
    "wget": (("-O", "--output-document"), ("-i", "--input-file")),
    "docker": (("-f", "--force"), ("-v", "--volume", "--volumes"), ("-a", "--all"), ("-i", "--interactive"), ("-t", "--tty")),
    "podman": (("-f", "--force"), ("-v", "--volume", "--volumes"), ("-a", "--all")),
    "kubectl": (("-f", "--filename"), ("-n", "--namespace"), ("-A", "--all-namespaces")),
    "tar": (("-x", "--extract", "--get"), ("-c", "--create"), ("-f", "--file"), ("-P", "--absolute-names")),
    "sed": (("-i", "--in-place"), ("-e", "--expression")),
    "npm": (("-g", "--global", "--location"), ("-f", "--force")),
    "kill": (("-9", "-KILL", "-SIGKILL"), ("-s", "--signal")),
    "find": (),
    "tee": (("-a", "--append"),),
    "rsync": (("-a", "--archive"), ("-r", "--recursive"), ("-n", "--dry-run")),
    "shred": (("-u", "--remove"), ("-f", "--force")),
}  # fmt: skip
"""Program -> sets of options that do the same, or near enough for a deny."""
_ANY = (
    ("-r", "-R", "--recursive"), ("-f", "--force"), ("-a", "--all"), ("-y", "--yes", "--assume-yes"), ("-v", "--verbose"),
    ("-n", "--dry-run"), ("-i", "--interactive"), ("-o", "--output"), ("-q", "--quiet"), ("-e", "--eval", "--expression"),
)  # fmt: skip
_SINGLE_DASH = frozenset(("find", "java", "openssl", "terraform", "ffmpeg", "convert"))


@dataclass(frozen=True, slots=True)
class Given:
    """The options of a command line."""

    letters: frozenset[str]
    """Every letter of every word with one dash."""
    long: tuple[str, ...]
    """Words with two dashes, without their value."""
    words: frozenset[str]
    """All option words as written, and without their value."""


def options_of(args: Sequence[str]) -> Given:
    """The options in `args`, up to a lone `--`."""
    letters: set[str] = set()
    long: list[str] = []
    words: set[str] = set()
    for word in args:
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            continue
        words |= {word, word.partition("=")[0]}
        if word.startswith("--"):
            long.append(word.partition("=")[0])
        else:
            letters |= set(word[1:].partition("=")[0])
    return Given(frozenset(letters), tuple(long), frozenset(words))


def letters_of(program: str, option: str) -> tuple[str, ...]:
    """`-rf` -> `-r`, `-f`; a long option or a single letter stays itself."""
    if program in _SINGLE_DASH or option.startswith("--") or len(option) <= 2 or not option[1:].isalpha():
        return (option,)
    return tuple(f"-{letter}" for letter in option[1:])


def spelled(program: str, option: str, given: Given) -> bool:
    """Whether `option` of `program` is among those given, in any spelling."""
    if option in given.words or "*" in option:
        return option in given.words or any(_globbed(option, word) for word in given.words)
    name, equals, value = option.partition("=")
    if equals:
        return any(word.partition("=")[2] == value and name.startswith(word.partition("=")[0]) for word in given.words)
    same = {option, *(other for group in _SAME.get(program, _ANY) if option in group for other in group)}
    return any(_one(other, program, given) for other in same)


def _one(option: str, program: str, given: Given) -> bool:
    if option.startswith("--"):
        # getopt takes any beginning that fits one name alone; a deny takes any beginning
        return any(len(word) > 2 and option.startswith(word) for word in given.long)
    if len(option) == 2 and program not in _SINGLE_DASH:
        return option[1] in given.letters
    return option in given.words


def _globbed(option: str, word: str) -> bool:
    stem = option.rstrip("*")
    return word.startswith(stem) if option.endswith("*") and "*" not in stem else False
