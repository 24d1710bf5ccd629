"""What bash's own commands do to the commands after them: directory, values, aliases, deferred code.

Promises: follows what the text decides; where a builtin changes the meaning of later words in a way that the text does
not decide, a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.runtime.policy.programs.option import Spec, read_options
from interlock.runtime.policy.programs.variable import may_be_set
from interlock.runtime.policy.shell.assign import read_into, set_array
from interlock.runtime.policy.shell.expand import Bound, Field
from interlock.runtime.policy.shell.feed import STDIN
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.printed import printed
from interlock.runtime.policy.shell.state import State, join
from interlock.runtime.policy.shell.value import split_by
from interlock.runtime.policy.shell.walk import Walk

_ASSIGNED = re.compile(r"(?:^|[\s;&|])([A-Za-z_]\w*)=([\w./:@%+-]+)")
Handler = Callable[[Frame, State, Walk], None]


def _cd(frame: Frame, state: State, walk: Walk) -> None:
    args = [f for f in frame.args if f.value not in ("-L", "-e", "-@", "--")]
    if any(f.value == "-P" for f in args) or "CDPATH" in state.values or len(args) > 1:
        state.lose_directory()
    elif not args:
        home = state.values.get("HOME", state.home)
        state.enter(home if isinstance(home, str) else None)
    elif args[0].value == "-" and args[0].known:
        state.previous, state.cwd = state.cwd, state.previous
    elif args[0].known and not args[0].glob:
        state.enter(args[0].value)
    else:
        state.enter(None)


def _pushd(frame: Frame, state: State, walk: Walk) -> None:
    args = frame.args
    if len(args) == 1 and args[0].known and not args[0].glob and args[0].value[:1] not in ("-", "+"):
        state.stack.append(state.cwd)
        state.enter(args[0].value)
    else:
        state.lose_directory()
        state.stack.clear()


def _popd(frame: Frame, state: State, walk: Walk) -> None:
    if frame.args or not state.stack:
        state.lose_directory()
        return
    state.cwd = state.stack.pop()


def _declare(frame: Frame, state: State, walk: Walk) -> None:
    _subscripts(frame, state, walk)
    for field in frame.args:
        name, equals, value = field.value.partition("=")
        if not equals:
            continue
        told = name.isidentifier() and (field.known or not set(value) & set("$`("))
        state.values[name.rstrip("+")] = value if told else None


def _unset(frame: Frame, state: State, walk: Walk) -> None:
    _subscripts(frame, state, walk)
    for field in frame.args:
        state.values.pop(field.value, None)
        state.functions.discard(field.value)


def _subscripts(frame: Frame, state: State, walk: Walk) -> None:
    """A name with a subscript is expanded once more, also when it was quoted: `test -v 'a[$(x)]'`."""
    for field in frame.args:
        if field.known and ("$(" in field.value or "`" in field.value):
            walk.text_in_quotes(field.value, state, frame.name, (frame.start, frame.end))


def _tested(frame: Frame, state: State, walk: Walk) -> None:
    if any(f.value in ("-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge") for f in frame.args):
        _subscripts(frame, state, walk)


def _assigns_named(frame: Frame, state: State, walk: Walk) -> None:
    if frame.name in ("let", "read") or any(f.value.startswith("-v") for f in frame.args):
        _subscripts(frame, state, walk)
    # read, mapfile, getopts, printf -v, let: whatever they set is known only at run time
    for field in frame.args:
        if not field.value.isidentifier():
            continue
        before = state.values.get(field.value)
        if isinstance(before, Bound) and before.items:
            walk.note(f"{field.value} is set again inside a loop over it")
        # what is read comes from a command or a file that is listed too
        state.values[field.value] = Bound(()) if frame.name == "read" and may_be_set(field.value) else None


def _read(frame: Frame, state: State, walk: Walk) -> None:
    _assigns_named(frame, state, walk)
    if frame.input is None:
        return
    args = [f.value for f in frame.args]
    reading = read_options(args, Spec("adinNptu"))
    array = reading.value("-a")
    text = "".join(frame.input.splitlines()[:1])
    if array:
        set_array(array, split_by(text, _separators(frame, state)), state)
        return
    named = [args[i] for i in reading.operands]
    if named and all(f.known for f in frame.args) and all(name.isidentifier() for name in named):
        read_into(named, text, state, raw=reading.has("-r"), separators=_separators(frame, state))


def _separators(frame: Frame, state: State) -> object:
    return dict(frame.assignments).get("IFS", state.values.get("IFS"))


def _printf(frame: Frame, state: State, walk: Walk) -> None:
    _assigns_named(frame, state, walk)
    args = [f.value for f in frame.args]
    if args[:1] and args[0].startswith("-v"):
        name, rest = (args[0][2:], args[1:]) if args[0] != "-v" else ("".join(args[1:2]), args[2:])
        if name.isidentifier():
            state.values[name] = printed("printf", rest, None)


def _alias(frame: Frame, state: State, walk: Walk) -> None:
    for field in frame.args:
        name, equals, value = field.value.partition("=")
        if equals:
            state.aliases[name] = value
            walk.alias_ends[name] = frame.end


def _unalias(frame: Frame, state: State, walk: Walk) -> None:
    if any(f.value == "-a" for f in frame.args):
        state.aliases.clear()
    for field in frame.args:
        state.aliases.pop(field.value, None)


def _shopt(frame: Frame, state: State, walk: Walk) -> None:
    values = [f.value for f in frame.args]
    if "expand_aliases" in values:
        state.expands_aliases = "-u" not in values
    if any(v in ("extglob", "cdable_vars", "autocd", "lastpipe", "globasciiranges") for v in values):
        walk.note("a shell option changes how later words are read")


def _set(frame: Frame, state: State, walk: Walk) -> None:
    for field in frame.args:
        if field.value in ("-P", "physical", "-k", "keyword"):
            walk.note("a shell option changes how later words are read")
    values = [f.value for f in frame.args]
    named = {i + 1 for i, v in enumerate(values) if v[:1] in ("-", "+") and v.endswith("o")}
    plain = [v for i, v in enumerate(values) if v[:1] not in ("-", "+") and i not in named]
    operands = values[values.index("--") + 1 :] if "--" in values else plain
    for i, value in enumerate(operands, 1):
        state.values[str(i)] = value
    if operands:
        state.values["@"] = state.values["*"] = " ".join(operands)


def _hash(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in frame.args], Spec("p"))
    if reading.has("-p"):
        state.rebound.update(frame.args[i].value for i in reading.operands)


def _enable(frame: Frame, state: State, walk: Walk) -> None:
    state.rebound.update(f.value for f in frame.args if not f.value.startswith("-"))


def _eval(frame: Frame, state: State, walk: Walk) -> None:
    args = [f for f in frame.args if f.value != "--"]
    if not args:
        return
    code = " ".join(f.value for f in args)
    if all(f.known for f in args):
        walk.text(code, state, "eval", frame)
        # what it did to the shell itself is followed in the copy only
        _forget_if_moved(code, state, walk)
    else:
        walk.code(code, False, frame, state, "eval")
        state.lose_directory()


def _forget_if_moved(code: str, state: State, walk: Walk) -> None:
    if any(word in code for word in ("cd", "pushd", "popd")):
        state.lose_directory()
    for name, value in _ASSIGNED.findall(code):
        state.values[name] = value
    if "=" in code or "alias" in code or "()" in code or "hash" in code:
        walk.note("evaluated code changes the shell")


def _trap(frame: Frame, state: State, walk: Walk) -> None:
    args = [f for f in frame.args if f.value != "--"]
    if len(args) < 2 or args[0].value in ("", "-", "-l", "-p", "-P"):
        return
    code = args[0]
    walk.code(code.value, code.known, frame, state, "trap")


def _source(frame: Frame, state: State, walk: Walk) -> None:
    state.lose_directory()
    args = [f for f in frame.args if f.value != "--"]
    if args and "<(" in args[0].value and not args[0].known:
        walk.piped_code(args[0].value, frame, state, "source")
    elif args and args[0].value in STDIN:
        stdin_code(frame, state, walk, "source")


def stdin_code(frame: Frame, state: State, walk: Walk, via: str) -> None:
    """A reader of code is fed: by text in sight, or by something that only run time tells."""
    if frame.input is not None:
        walk.text(frame.input, state, via, frame)
    elif frame.fed:
        why = f"the code that {via} reads comes from a pipe or a file"
        if frame.likely and frame.likely.strip():
            walk.code(frame.likely, True, frame, state, via, note=why)
        else:
            walk.dynamic(frame, state, via, why)


def start_shell(frame: Frame, state: State, walk: Walk) -> None:
    """A program that starts a shell where it is given no command; the shell reads what the program is fed."""
    walk.run(frame.inner([Field("sh", True, False, frame.start, frame.end)]), state, frame.name)


def _exec(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in frame.args], Spec("a", stop_at_operand=True))
    _rest(frame, reading.operands, state, walk, "exec")


def _command(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in frame.args], Spec(stop_at_operand=True))
    if not reading.has("-v", "-V"):
        _rest(frame, reading.operands, state, walk, "command")


def _builtin(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in frame.args], Spec(stop_at_operand=True))
    _rest(frame, reading.operands, state, walk, "builtin")


def _rest(frame: Frame, operands: tuple[int, ...], state: State, walk: Walk, via: str) -> None:
    if operands:
        walk.run(frame.inner([frame.args[i] for i in operands]), state, via, same_shell=True)


def _complete(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in frame.args], Spec("AFCGWPSoXc"))
    code = reading.value("-C")
    if code:
        walk.text(code, state, "complete -C", frame)
    if words := reading.value("-W"):
        walk.text_in_quotes(words, state, "complete -W", (frame.start, frame.end))


def _mapfile(frame: Frame, state: State, walk: Walk) -> None:
    args = [f.value for f in frame.args]
    reading = read_options(args, Spec("dnOsuCc"))
    code = reading.value("-C")
    if code:
        walk.text(code, state, "mapfile -C", frame)
    _assigns_named(frame, state, walk)
    if frame.input is not None and (name := "".join(args[i] for i in reading.operands[:1]) or "MAPFILE").isidentifier():
        set_array(name, frame.input.splitlines(), state)


def _bind(frame: Frame, state: State, walk: Walk) -> None:
    """`bind -x '"key": command'`."""
    reading = read_options([f.value for f in frame.args], Spec("mfquxr"))
    code = (reading.value("-x") or "").rpartition('":')[2]
    if code.strip():
        walk.text(code, state, "bind -x", frame)


def _jobs(frame: Frame, state: State, walk: Walk) -> None:
    if frame.args and frame.args[0].value == "-x" and len(frame.args) > 1:
        walk.run(frame.inner(frame.args[1:]), state, "jobs -x")


def _fc(frame: Frame, state: State, walk: Walk) -> None:
    code = read_options([f.value for f in frame.args], Spec("e")).value("-e")
    if code and code != "-":
        walk.text(code, state, "fc -e", frame)


BUILTINS: dict[str, Handler] = {
    "cd": _cd,
    "chdir": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "unset": _unset,
    "read": _read,
    "getopts": _assigns_named,
    "let": _assigns_named,
    "printf": _printf,
    "bind": _bind,
    "jobs": _jobs,
    "fc": _fc,
    "test": _tested,
    "[": _tested,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "alias": _alias,
    "unalias": _unalias,
    "shopt": _shopt,
    "set": _set,
    "hash": _hash,
    "enable": _enable,
    "eval": _eval,
    "trap": _trap,
    "source": _source,
    ".": _source,
    "exec": _exec,
    "command": _command,
    "builtin": _builtin,
    "complete": _complete,
    "compgen": _complete,
}
"""What each builtin does; names with a slash are never builtins."""

__all__ = ["BUILTINS", "Handler", "join", "stdin_code"]
