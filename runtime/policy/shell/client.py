"""Editors, debuggers, database clients and makers: what a line of theirs gives to a shell.

Promises: finds the escapes that their options, operands and standard input hold as text. Nothing is run.
"""

from __future__ import annotations

import re

from interlock.runtime.policy.programs import read_usage
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.shell.builtin import Handler
from interlock.runtime.policy.shell.carrier import unwrap_options
from interlock.runtime.policy.shell.feed import STDIN
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.option import read_frame
from interlock.runtime.policy.shell.printed import printed_by
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk
from interlock.runtime.policy.syntax.grammar import Grammar
from interlock.runtime.policy.syntax.syntax import ShellSyntaxError

_ESCAPED = re.compile(
    r"^\s*+(?:[0-9,$%.]*+\s*+[rw]?\s*+!|:\s*+[rw%]*+\s*+!|\\!|\.(?:shell|system|sh|sy)\s|shell\s|system\s|!)\s*(.+)$"
)
_TO_PROGRAM = re.compile(r"""\b(?:to|from)\s+program\s+(?:'((?:[^']|'')*)'|\$\$(.*?)\$\$)""", re.I | re.S)
_TCL = re.compile(r"\b(?:spawn|exec|system)\s+((?:-\w+\s+)*)([^;\n\]]+)")
_LISP = re.compile(r"""\((?:async-)?shell-command(?:-to-string)?\s+"((?:[^"\\]|\\.)*)\"""")
_CALLED = re.compile(
    r"""\b(?:system|systemlist|os\.execute|jobstart|termopen|io\.popen)\s*\(\s*(["'])((?:(?!\1)[^\\]|\\.)*)\1"""
)
_WHEN = re.compile(r"\s*(?:@\w+|(?:[\d*,/A-Za-z-]+\s+){5})\s*(.+)\Z")
_RECIPE = re.compile(r"^(?:\t|[^\n:=#\t]+:[^=\n]*;)[ \t]*[@+-]*[ \t]*(.+)$", re.M)


def _options(frame: Frame, state: State, walk: Walk) -> None:
    if usage := read_usage(frame.name, [f.value for f in frame.args]):
        unwrap_options(usage, frame, state, walk)


def _gdb(frame: Frame, state: State, walk: Walk) -> None:
    _options(frame, state, walk)
    at = next((i for i, f in enumerate(frame.args) if f.value in ("--args", "-args", "--")), None)
    words = [] if at is None else frame.args[at + 1 :]
    if words:
        walk.run(frame.inner(words), state, f"{frame.name} --args")
    _lines(frame, state, walk)


def _commanded(frame: Frame, state: State, walk: Walk) -> None:
    """Editors and clients whose standard input may hold a line that goes to a shell: `ed <<< '!x'`."""
    _options(frame, state, walk)
    pager = frame.name in ("less", "more", "most")
    given = dict(frame.assignments).get("LESS", "") if pager else ""
    started = [w.lstrip("+") for w in (*(f.value for f in frame.args), given) if pager and w.startswith("+")]
    if frame.name == "dc":
        started = [o.value for o in read_frame(frame).options if o.value]
    _lines(frame, state, walk, *started)
    for text in (*(f.value for f in frame.args), frame.input or ""):
        for code in _programs(frame.name, text):
            walk.code(code, True, frame, state, frame.name)


def _lines(frame: Frame, state: State, walk: Walk, *more: str) -> None:
    for line in (*more, *(frame.input or frame.likely or "").split("\n")):
        if found := _ESCAPED.match(line):
            walk.code(found[1], True, frame, state, f"{frame.name} !")


def _programs(name: str, text: str) -> list[str]:
    if name in ("psql", "pgcli"):
        return [(a.replace("''", "'") or b) for a, b in _TO_PROGRAM.findall(text)]
    if name in _VIMS:
        return [code.replace('\\"', '"') for _, code in _CALLED.findall(text)]
    return []


def _emacs(frame: Frame, state: State, walk: Walk) -> None:
    for field in frame.args:
        for code in _LISP.findall(field.value):
            walk.code(code.replace('\\"', '"'), field.known, frame, state, frame.name)


def _tcl(frame: Frame, state: State, walk: Walk) -> None:
    """`expect -c 'spawn x'`, and what is fed to it or to `tclsh`."""
    reading = read_frame(frame)
    texts = [o.value for o in reading.options if o.name == "-c" and o.value]
    if not reading.operands or frame.args[reading.operands[0]].value == "-":
        texts.append(frame.input or "")
    for text in texts:
        for _, code in _TCL.findall(text):
            walk.code(code.strip(), True, frame, state, frame.name)


def _crontab(frame: Frame, state: State, walk: Walk) -> None:
    """A table on standard input: the commands behind the five times."""
    if any(f.value in ("-l", "-r", "-e") for f in frame.args):
        return
    for line in (frame.input or frame.likely or "").split("\n"):
        if found := _WHEN.match(line):
            walk.code(found[1], True, frame, state, "crontab")


def _make(frame: Frame, state: State, walk: Walk) -> None:
    _options(frame, state, walk)
    reading = read_frame(frame)
    texts = [o.value for o in reading.options if o.name in ("--eval", "-E") and o.value]
    for option in reading.options:
        if option.name not in ("-f", "--file", "--makefile") or not option.value:
            continue
        if option.value in ("-", *STDIN):
            texts.append(frame.input or frame.likely or "")
        elif option.value.startswith("<("):
            texts.append(piped_text(option.value, walk, state) or "")
    for text in texts:
        for code in _RECIPE.findall(text):
            walk.code(code, True, frame, state, frame.name)


def piped_text(value: str, walk: Walk, state: State) -> str | None:
    """What `<(…)` likely gives."""
    if not (value.startswith("<(") and value.endswith(")")):
        return None
    try:
        return printed_by(Grammar(value[2:-1], walk.budget, depth=state.depth + 1).whole())
    except ShellSyntaxError:
        return None


_VIMS = names("vi vim nvim ex view gvim vimdiff rvim")
CLIENTS: dict[str, Handler] = {
    "gdb": _gdb,
    "lldb": _gdb,
    "emacs": _emacs,
    "emacsclient": _emacs,
    "expect": _tcl,
    "tclsh": _tcl,
    "crontab": _crontab,
    "make": _make,
    "gmake": _make,
    **dict.fromkeys(
        names("less more most ed red psql mysql mariadb sqlite3 ftp sftp lftp mail mailx dc sqlite") | _VIMS, _commanded
    ),
}
"""Program -> how what its lines run is found."""
