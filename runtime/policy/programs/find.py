"""The expression of find: where it begins, what it compares with, what it does with what it finds. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.programs.option import names

_FIND_TESTS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -maxdepth "
    "-mindepth -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -newerat "
    "-newerct -newerBt -perm -user -group -uid -gid -links -inum -samefile -fstype -used -regextype "
    "-printf -context -D"
)


_FIND_FLAGS = names(
    "-not ! -a -and -o -or ( ) , -print -print0 -ls -prune -quit -depth -d -xdev -mount -empty "
    "-readable -writable -executable -nouser -nogroup -true -false -daystart -noleaf -warn -nowarn "
    "-ignore_readdir_race -noignore_readdir_race -H -P -O0 -O1 -O2 -O3 -help -version --help --version "
    "-E -X -s -x --"
)


_FIND_THROUGH_LINKS = names("-L -follow")


_FIND_LEADING = names("-H -L -P --")
"""Words in front of the places where it begins."""


_FIND_REFERENCES = names("-newer -anewer -cnewer -samefile")


_LINKS = "it goes through links, which may lead out of the workspace"


def find_verdict(args: Sequence[str]) -> str:
    """The reason against a find expression, or empty."""
    at, expression = 0, False
    while at < len(args):
        word = args[at]
        if word in _FIND_THROUGH_LINKS:
            return _LINKS
        if word in _FIND_TESTS:
            at, expression = at + 1, True
        elif word == "-exec" and (end := exec_end(args, at)) is not None:
            # what it runs is listed and judged by itself
            at, expression = end, True
        elif word in _FIND_FLAGS:
            expression = expression or not (word in _FIND_LEADING or word.startswith("-O"))
        elif word.startswith(("-", "(", ")", "!")) or (expression and word):
            return f"the find word {word} is not listed as reading only"
        at += 1
    return ""


def exec_end(args: Sequence[str], at: int) -> int | None:
    """Where the command of an `-exec` at `at` ends; None when it does not."""
    for i in range(at + 1, len(args)):
        if args[i] == ";" or (args[i] == "+" and args[i - 1] == "{}"):
            return i
    return None


def find_paths(args: Sequence[str]) -> tuple[str, ...]:
    """The places where find begins."""
    paths: list[str] = []
    for word in args:
        if word in _FIND_LEADING or word.startswith("-O"):
            continue
        if word.startswith(("-", "(", "!")):
            break
        paths.append(word)
    return tuple(paths) or (".",)


def find_references(args: Sequence[str]) -> tuple[str, ...]:
    """Files that a find compares with: `-newer FILE`, `-samefile FILE`."""
    return tuple(args[i + 1] for i, word in enumerate(args[:-1]) if word in _FIND_REFERENCES)
