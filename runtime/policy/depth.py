"""Whether a command also works on what lies below the folders that it names. Pure."""

from __future__ import annotations

import posixpath

from interlock.runtime.policy.shell.option import names
from interlock.runtime.policy.subject import Subject

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
_FIND_ACTIONS = names("-exec -execdir -ok -okdir -delete")


def reads_below(subject: Subject) -> bool:
    """Whether the contents of files below the folders it reads may be shown or copied."""
    if subject.simple is None:
        return subject.tool == "grep"
    program = posixpath.basename(subject.program)
    if program in _ALWAYS:
        return True
    if program == "git":
        return bool({"grep", "add", "archive"} & set(subject.args[:4]))
    if program == "find":
        return any(word in _FIND_ACTIONS for word in subject.args)
    letters, long = _WITH_OPTION.get(program, ("", ()))
    return any(_gives(word, letters, long) for word in subject.args)


def _gives(word: str, letters: str, long: tuple[str, ...]) -> bool:
    if word.startswith("--"):
        return len(word) > 3 and any(name.startswith(word.partition("=")[0]) for name in long)
    return word.startswith("-") and any(letter in word for letter in letters)
