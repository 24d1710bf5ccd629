"""The gate for allow: which commands only read, program by program and option by option.

Promises: a program, an option or a form that no table lists is not read-only. The verdict names the first reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from interlock.runtime.policy.shell.model import ReadOnlyVerdict, SimpleCommand
from interlock.runtime.policy.shell.option import names
from interlock.runtime.policy.shell.programs.git import git_verdict
from interlock.runtime.policy.shell.programs.machine import kill_verdict, set_verdict
from interlock.runtime.policy.shell.programs.system import find_verdict, printf_verdict, test_verdict
from interlock.runtime.policy.shell.programs.table import FORMS
from interlock.runtime.policy.shell.programs.viewer import ip_verdict, tar_verdict
from interlock.runtime.policy.shell.wrapper import TRANSPARENT, WRAPPERS

_OWN: dict[str, Callable[[Sequence[str]], str]] = {
    "git": git_verdict,
    "find": find_verdict,
    "test": test_verdict,
    "[": test_verdict,
    "printf": printf_verdict,
    "set": set_verdict,
    "kill": kill_verdict,
    "ip": ip_verdict,
    "tar": tar_verdict,
    "gtar": tar_verdict,
    "bsdtar": tar_verdict,
    **dict.fromkeys(("echo", "true", "false", ":"), lambda _: ""),
}
_FOLDERS = ("/bin/", "/usr/bin/")
_VERSION_ONLY = names(
    "python python3 node npm pip pip3 java javac ruby perl php gcc g++ cc clang make cmake tsc deno bun uv docker gh npx "
    "ruff mypy eslint prettier bash zsh sh tmux vim nvim curl wget ssh ldd ld git-lfs delta dos2unix ctags gdb "
    "strace xargs watch nohup timeout nice stdbuf locate "
    "openssl sqlite3 psql lua tar zip unzip rsync ninja meson nasm podman helm less sudo systemctl"
)
"""Not among them: programs that let the project choose another program before they tell their version (cargo and rustc
by rust-toolchain, go by go.mod, yarn and pnpm by package.json), and those that ask the network on the way."""
_VERSION_WORDS = (("--version",), ("-V",), ("--help",))
_OTHER_V = names("vim nvim ctags zip unzip make")
"""With them `-V` is something else."""
_SHORT_VERSION = {"-v": names("node npm npx tsc php lua"), "-version": names("java javac")}
_HARMLESS_VARIABLES = names(
    "LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LANG TZ NO_COLOR CLICOLOR CLICOLOR_FORCE "
    "FORCE_COLOR COLUMNS LINES TERM GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT CI"
)
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
        if name not in _HARMLESS_VARIABLES or value.lstrip(":").startswith("/") or ".." in value:
            return f"the variable {name} is set for it"
    return ""


def _patterns(name: str, command: SimpleCommand) -> str:
    """A pattern that begins a word may become an option where a file has such a name."""
    form = FORMS.get(name)
    dashes = command.argv.index("--") if "--" in command.argv else len(command.argv)
    for i in command.globs:
        if form and form.most < 100:
            return "a pattern may become a second operand, which would be written"
        if name == "echo" or (name == "printf" and i > 1):
            continue
        if command.argv[i][:1] in "*?[" and i < dashes and not (form and form.globs and name not in _OWN):
            return "a pattern may become an option"
    return ""


def _program(name: str, args: Sequence[str]) -> str:
    if is_version(name, args):
        return ""
    if own := _OWN.get(name):
        return own(args)
    if form := FORMS.get(name):
        why = form.verdict(args)
        if not why or name != "env":
            return why
    if name == "command" and args[:1] in (("-v",), ("-V",)):
        return "" if len(args) > 1 else "an operand is missing"
    if _wraps(name, args):
        return ""
    return f"{name} is not listed as reading only"


def is_version(name: str, args: Sequence[str]) -> bool:
    """Whether a program is only asked for its version or its help."""
    if len(args) != 1:
        return False
    if args[0] == "-V" and name in _OTHER_V:
        return False
    return (name in _VERSION_ONLY and tuple(args) in _VERSION_WORDS) or name in _SHORT_VERSION.get(args[0], ())


def _wraps(name: str, args: Sequence[str]) -> bool:
    if name in _SHELL_CODE or program_name(name) in _SHELL_CODE:
        return _shell_wraps(args)
    if name not in TRANSPARENT:
        return False
    listed = TRANSPARENT[name].split()
    skip = WRAPPERS[name].skip if name in WRAPPERS else 0
    values = WRAPPERS[name].short if name in WRAPPERS else "nPLdIs"
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        option = args[at].partition("=")[0]
        short = option[:2] if not option.startswith("--") else option
        if option not in listed and short not in listed:
            return False
        at += 2 if len(option) == 2 and option[1] in values and "=" not in args[at] else 1
    if name == "env" and any("=" in a for a in args[at : at + 1]):
        return False
    return at + skip < len(args)


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
