"""Finds the programs that a program would run: shells, wrappers, code in options, code in variables.

Promises: what is found is listed as nested commands after the wrapper; code that only run time tells is listed as
`<dynamic>`. Nothing is run.
"""

from __future__ import annotations

from interlock.runtime.policy.shell.builtin import BUILTINS, Handler, stdin_code
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.option import Spec, read_options
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk

SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "yash", "fish", "pdksh", "oksh", "bash5"}
)
_SHELL_SPEC = Spec("oO", frozenset({"rcfile", "init-file"}), stop_at_operand=True)


def unwrap(frame: Frame, state: State, walk: Walk) -> None:
    """List what this command would run besides itself."""
    name = frame.program
    if name in BUILTINS:
        BUILTINS[name](frame, state, walk)
        return
    handler = _HANDLERS.get(frame.name)
    if handler:
        handler(frame, state, walk)


def _shell(frame: Frame, state: State, walk: Walk) -> None:
    args = [f.value for f in frame.args]
    reading = read_options(args, _SHELL_SPEC)
    via = f"{frame.name} -c"
    if reading.has("-c", "--command") and reading.operands:
        code = frame.args[reading.operands[0]]
        inner = state.copy()
        for i, at in enumerate(reading.operands[1:]):
            inner.values[str(i)] = args[at]
        inner.values["@"] = inner.values["*"] = " ".join(args[i] for i in reading.operands[2:])
        _code_word(code.value, code.known, frame, inner, walk, via)
    elif not reading.operands or reading.has("-s") or args[reading.operands[0]] in ("-", "/dev/stdin", "/dev/fd/0"):
        stdin_code(frame, state, walk, frame.name)
    elif "<(" in args[reading.operands[0]]:
        walk.dynamic(frame, state, frame.name, "the code is the output of another command")


def _code_word(code: str, known: bool, frame: Frame, state: State, walk: Walk, via: str) -> None:
    if known:
        walk.text(code, state, via, frame)
    elif "$" in code or "`" in code:
        walk.dynamic(frame, state, via, f"the code given to {via} is known only at run time")
    else:
        walk.note(f"the code given to {via} is known only at run time")
        walk.text(code, state, via, frame)


_HANDLERS: dict[str, Handler] = dict.fromkeys(SHELLS, _shell)
