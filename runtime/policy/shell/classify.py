"""The gate for allow: which commands only read, program by program and option by option.

Promises: a program, an option or a form that no table lists is not read-only. The verdict names the first reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from interlock.runtime.policy.programs.catalogue import program_of
from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.programs.read_only import against_reading, asks_version
from interlock.runtime.policy.programs.role import FLAGS
from interlock.runtime.policy.shell.model import ReadOnlyVerdict, SimpleCommand

_FOLDERS = ("/bin/", "/usr/bin/")
_HARMLESS_VARIABLES = names(
    "LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LANG TZ NO_COLOR CLICOLOR CLICOLOR_FORCE "
    "FORCE_COLOR COLUMNS LINES TERM GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT CI"
)
_PAGERS = names("PAGER GIT_PAGER MANPAGER")
"""Variables that may be set to `cat`, or to nothing, which shows the output as it is."""
_SHELL_CODE = names("sh bash dash zsh")


def is_read_only(command: SimpleCommand) -> ReadOnlyVerdict:
    """Whether `command` only reads."""
    why = _against(command)
    return ReadOnlyVerdict(not why, why)


def is_wrapper(command: SimpleCommand) -> bool:
    """Whether `command` does nothing itself: what it does is done by the nested commands listed after it."""
    return command.understood and _wraps(program_name(command.program), command.argv[1:])


@lru_cache(maxsize=512)
def program_name(program: str) -> str:
    """The program without a system folder; a path elsewhere stays, because another file of that name may lie there."""
    for folder in _FOLDERS:
        if program.startswith(folder) and "/" not in program[len(folder) :]:
            return program[len(folder) :]
    return program


def _against(command: SimpleCommand) -> str:

    if not command.understood:
        return command.notes[0] if command.notes else "it is not understood"
    if why := _redirects(command) or _variables(command):
        return why
    if not command.program:
        return "" if command.redirects and not command.assignments else "an assignment changes the shell"
    name, args = program_name(command.program), command.argv[1:]
    if why := _patterns(name, command):
        return why
    return _program(name, args)


def _redirects(command: SimpleCommand) -> str:
    opened = {"0", "1", "2", *(str(r.fd) for r in command.redirects if r.fd is not None)}
    for redirect in command.redirects:
        if redirect.target is None and redirect.operator not in ("<<", "<<<"):
            return "a redirect goes where only run time tells"
        if redirect.writes and redirect.target not in ("/dev/null", "/dev/stdout", "/dev/stderr"):
            return f"it writes {redirect.target}"
        if (
            redirect.operator in (">&", "<&")
            and not redirect.writes
            and (redirect.target or "").rstrip("-") not in ("", *opened)
        ):
            return f"it uses the descriptor {redirect.target}, which was opened elsewhere"
        if redirect.operator in ("<", "<>") and (redirect.target or "").startswith(("/dev/tcp/", "/dev/udp/")):
            return "the shell opens a network connection for this path"
    return ""


def _variables(command: SimpleCommand) -> str:
    for name, value in command.assignments:
        if name == "IFS" and command.program == "read":
            continue
        if name in _PAGERS and value in ("cat", ""):
            continue
        if name not in _HARMLESS_VARIABLES or value.lstrip(":").startswith("/") or ".." in value:
            return f"the variable {name} is set for it"
    return ""


def _patterns(name: str, command: SimpleCommand) -> str:
    """A pattern that begins a word may become an option where a file has such a name."""
    entry = program_of(name)
    dashes = command.argv.index("--") if "--" in command.argv else len(command.argv)
    for i in command.globs:
        if entry and entry.most is not None:
            return "a pattern may become a second operand, which would be written"
        if name == "echo" or (name == "printf" and i > 1):
            continue
        if command.argv[i][:1] in "*?[" and i < dashes and not (entry and entry.only_reads and entry.safe_globs):
            return "a pattern may become an option"
    return ""


def _program(name: str, args: Sequence[str]) -> str:
    if not asks_version(name, args) and name == "command" and args[:1] in (("-v",), ("-V",)):
        return "" if len(args) > 1 else "an operand is missing"
    why = against_reading(name, args)
    return "" if why and _wraps(name, args) else why


def _wraps(name: str, args: Sequence[str]) -> bool:
    if name in _SHELL_CODE or program_name(name) in _SHELL_CODE:
        return _shell_wraps(args)
    entry = program_of(name)
    if entry is None or not entry.transparent:
        return False
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        option = args[at].partition("=")[0]
        short = option[:2] if not option.startswith("--") else option
        role = entry.options.get(option) or entry.options.get(short)
        if role not in ("flag", "text") and option != "-":
            return False
        at += 2 if len(option) == 2 and role not in FLAGS and "=" not in args[at] else 1
    if entry.name == "env" and any("=" in a for a in args[at : at + 1]):
        return False
    return at + sum(slot.role == "text" for slot in entry.operands) < len(args)


def _shell_wraps(args: Sequence[str]) -> bool:
    """`sh -c CODE`, `bash -lc CODE`, `bash -euo pipefail -c CODE`: no file is read but the user's own profile."""
    at, code = 0, False
    while at < len(args) and args[at].startswith("-"):
        letters = args[at][1:]
        if not letters or not set(letters) <= set("cleuxo") or "o" in letters[:-1]:
            return False
        code = code or "c" in letters
        if "o" in letters:
            if args[at + 1 : at + 2] not in (["pipefail"], ("pipefail",), ["errexit"], ("errexit",)):
                return False
            at += 1
        at += 1
    return code and at < len(args)
