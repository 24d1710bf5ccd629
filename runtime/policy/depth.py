"""Whether a command also works on what lies below the folders that it names. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.shell.option import names

_ALWAYS = names("rg ag ack tar zip 7z rsync mv rclone ditto codesearch")
_WITH_OPTION: dict[str, tuple[str, tuple[str, ...]]] = {
    "grep": ("rR", ("--recursive", "--dereference-recursive", "--directories")),
    "egrep": ("rR", ("--recursive", "--dereference-recursive")),
    "fgrep": ("rR", ("--recursive", "--dereference-recursive")),
    "cp": ("rRa", ("--recursive", "--archive")),
    "scp": ("r", ()),
    "diff": ("rN", ("--recursive",)),
    "wc": ("", ("--files0-from",)),
}
_PASS_HIDDEN = names("rg ag")
_FIND_ACTIONS = names("-exec -execdir -ok -okdir -delete")


def reads_below(program: str, args: Sequence[str]) -> bool:
    """Whether the contents of files below the folders it reads may be shown or copied."""
    program = program.rpartition("/")[2]
    if program in _ALWAYS:
        return True
    if program == "git":
        return bool({"grep", "add", "archive"} & set(args[:4]))
    if program == "find":
        return any(word in _FIND_ACTIONS for word in args)
    letters, long = _WITH_OPTION.get(program, ("", ()))
    return bool(letters or long) and any(_gives(word, letters, long) for word in args)


def passes_hidden(program: str, args: Sequence[str]) -> bool:
    """Whether a program that goes through folders passes over hidden names, as it does unless it is told otherwise."""
    if program.rpartition("/")[2] not in _PASS_HIDDEN:
        return False
    return not any(
        word.startswith(("--hidden", "--unrestricted", "--no-ignore-dot"))
        or (word[:1] == "-" and word[:2] != "--" and set(word) & set("u."))
        for word in args
    )


def _gives(word: str, letters: str, long: tuple[str, ...]) -> bool:
    if word.startswith("--"):
        return len(word) > 3 and any(name.startswith(word.partition("=")[0]) for name in long)
    return word.startswith("-") and any(letter in word for letter in letters)
