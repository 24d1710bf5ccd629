"""Programs that hand their words to a shell or a program in a way of their own: su, entr, start-stop-daemon, coreutils.

Promises: what they would run is listed as nested commands. Nothing is run.
"""

from __future__ import annotations

from interlock.runtime.policy.programs.option import Spec, names, read_options
from interlock.runtime.policy.shell.builtin import Handler, stdin_code
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.option import read_frame
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk


def _su(frame: Frame, state: State, walk: Walk) -> None:
    """`su [options] [-] [user [words of the shell]]`, and `runuser -u user program`."""
    args = [f.value for f in frame.args]
    if frame.name == "runuser" and (reading := read_frame(frame, stop=True)).has("-u", "--user"):
        _run([frame.args[i] for i in reading.operands], frame, state, walk)
        return
    reading = read_frame(frame)
    inner = state.copy()
    inner.lose_directory()
    code = next((o for o in reading.options if o.value and o.name in ("-c", "--command", "--session-command")), None)
    if code is not None and code.value is not None:
        walk.code(code.value, frame.args[code.value_index].known, frame, inner, f"{frame.name} -c")
        return
    rest = [frame.args[i] for i in reading.operands if args[i] != "-"][1:]
    if rest:
        _run([_word("sh", frame), *rest], frame, state, walk)
    else:
        stdin_code(frame, inner, walk, frame.name)


def _run(words: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    inner = state.copy()
    inner.lose_directory()
    if words:
        walk.run(frame.inner(words), inner, frame.name)


def _word(value: str, frame: Frame) -> Field:
    return Field(value, True, False, frame.start, frame.end)


def _shell_of_group(frame: Frame, state: State, walk: Walk) -> None:
    stdin_code(frame, state, walk, frame.name)


def _entr(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_frame(frame)
    words = [frame.args[i] for i in reading.operands]
    if words and reading.has("-s"):
        walk.code(words[0].value, words[0].known, frame, state, "entr -s")
    elif words:
        walk.run(frame.inner(words), state, "entr")


def _coreutils(frame: Frame, state: State, walk: Walk) -> None:
    """`coreutils --coreutils-prog=rm -rf x`."""
    for i, field in enumerate(frame.args):
        name, equals, value = field.value.partition("=")
        if equals and name in ("--coreutils-prog", "--coreutils-prog-shebang"):
            walk.run(frame.inner([_word(value, frame), *frame.args[i + 1 :]]), state, "coreutils")
            return
    if frame.args and not frame.args[0].value.startswith("-"):
        walk.run(frame.inner(frame.args), state, "coreutils")


def _daemon(frame: Frame, state: State, walk: Walk) -> None:
    """`start-stop-daemon -S -x PROGRAM -- words`."""
    reading = read_frame(frame)
    program = reading.value("-a", "--startas") or reading.value("-x", "--exec")
    if program:
        _run([_word(program, frame), *(frame.args[i] for i in reading.operands)], frame, state, walk)


def _git_part(frame: Frame, state: State, walk: Walk) -> None:
    """`hub`, `yadm` and `git-reset` are git in other words."""
    verb = frame.name.removeprefix("git-")
    words = [_word("git", frame), *([] if verb == frame.name else [_word(verb, frame)]), *frame.args]
    walk.run(frame.inner(words), state, frame.name)


def git_part(program: str) -> Handler | None:
    """The handler of a program that is a part of git, by its name."""
    folder, _, name = program.rpartition("/")
    own = not folder or folder.endswith("git-core")
    return _git_part if own and name.startswith("git-") and name[4:] in _PARTS else None


_PARTS = names(
    "add am apply archive bisect branch bundle checkout checkout-index cherry-pick clean clone commit commit-tree config "
    "diff difftool fast-import fetch filter-branch format-patch gc grep init log merge mergetool mv notes prune pull push "
    "read-tree rebase reflog remote repack replace reset restore revert rm show stash status submodule switch symbolic-ref "
    "tag update-index update-ref worktree write-tree"
)


def _gh(frame: Frame, state: State, walk: Walk) -> None:
    """`gh alias set x '!command'`."""
    values = [f.value for f in frame.args]
    if values[:2] != ["alias", "set"]:
        return
    given = [f for f in frame.args[2:] if not f.value.startswith("-")][1:]
    for field in given:
        if field.value.startswith("!") or "--shell" in values or "-s" in values:
            walk.code(field.value.removeprefix("!"), field.known, frame, state, "gh alias")


def _unshare_of(frame: Frame, state: State, walk: Walk) -> bool:
    values = [f.value for f in frame.args]
    if "unshare" not in values[:3]:
        return False
    rest = frame.args[values.index("unshare") + 1 :]
    reading = read_options([f.value for f in rest], Spec(stop_at_operand=True))
    _run([rest[i] for i in reading.operands], frame, state, walk)
    return True


def enters_namespace(frame: Frame, state: State, walk: Walk) -> bool:
    """`podman unshare PROGRAM`: True when it was one, and is listed."""
    return frame.name in ("podman", "buildah") and _unshare_of(frame, state, walk)


OPENERS: dict[str, Handler] = {
    "su": _su,
    "runuser": _su,
    "newgrp": _shell_of_group,
    "entr": _entr,
    "coreutils": _coreutils,
    "start-stop-daemon": _daemon,
    "hub": _git_part,
    "yadm": _git_part,
    "gh": _gh,
}
"""Program -> how what it runs is found."""
