"""How far a command reaches: through the folders below, or into a repository that lies elsewhere. Pure."""

from __future__ import annotations

import posixpath

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.path import is_below
from interlock.runtime.policy.shell.model import SimpleCommand
from interlock.runtime.policy.shell.option import names

_ALWAYS = names("rg ag ack tar zip 7z rsync mv rclone fd-grep codesearch")
_WITH_OPTION: dict[str, tuple[str, tuple[str, ...]]] = {
    "grep": ("rR", ("--recursive", "--dereference-recursive")),
    "egrep": ("rR", ("--recursive",)),
    "fgrep": ("rR", ("--recursive",)),
    "cp": ("rRa", ("--recursive", "--archive")),
    "scp": ("r", ()),
    "rm": ("rR", ("--recursive",)),
    "chmod": ("R", ("--recursive",)),
    "chown": ("R", ("--recursive",)),
    "diff": ("r", ("--recursive",)),
}


def is_recursive(command: SimpleCommand) -> bool:
    """Whether the command also works on what lies below the folders it names."""
    program = posixpath.basename(command.program)
    if program in _ALWAYS:
        return True
    if program == "git":
        return "grep" in command.argv[1:3] or "add" in command.argv[1:3]
    if program == "find":
        return any(word in ("-exec", "-execdir", "-delete", "-ok", "-okdir") for word in command.argv)
    letters, long = _WITH_OPTION.get(program, ("", ()))
    return any(_gives(word, letters, long) for word in command.argv[1:])


def _gives(word: str, letters: str, long: tuple[str, ...]) -> bool:
    if word.startswith("--"):
        return len(word) > 3 and any(name.startswith(word) for name in long)
    return word.startswith("-") and any(letter in word for letter in letters)


def git_elsewhere(call: Call, cwd: str | None, world: World) -> str:
    """Why version control here may work on a repository that lies elsewhere, "" if it does not.

    A `.git` that is a file or a link names another folder, whose configuration says which programs run; who wrote that
    name is not known.
    """
    folder = world.resolve(posixpath.join(call.cwd, cwd or "")).path
    roots = [world.resolve(root).path for root in call.workspace]
    while any(is_below(folder, root) for root in roots):
        seen = world.resolve(posixpath.join(folder, ".git"))
        if seen.kind == "file":
            return f"{folder}/.git is a file that names a repository elsewhere"
        if seen.exists:
            return "" if any(is_below(seen.path, root) for root in roots) else f"{folder}/.git leads elsewhere"
        if folder == "/":
            break
        folder = posixpath.dirname(folder)
    return ""
