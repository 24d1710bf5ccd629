"""Options and variables whose value is code or a program: `rg --pre`, `tar --to-command`, `GIT_SSH_COMMAND`.

Promises: values are listed as what they would run. Kinds: `shell` (the value goes to a shell), `program` (the value is
the path of one program), `exec` (only the part after `exec=` or `EXEC:`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from interlock.runtime.policy.programs import Usage
from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.git_code import git_settings, setting
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk

_SSH_OPTIONS = re.compile(
    r"\s*(ssh_command|ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand|ProxyUseFdpass)\s*[=\s]\s*(.+)",
    re.I | re.S,
)

CODE_VARIABLES: dict[str, str] = {
    **dict.fromkeys(
        (
            "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER", "GIT_EDITOR", "EDITOR", "VISUAL", "FCEDIT",
            "GIT_SEQUENCE_EDITOR", "MANPAGER", "MANROFFOPT", "BROWSER", "GH_PAGER", "GH_EDITOR", "GH_BROWSER", "AWS_PAGER",
            "SYSTEMD_PAGER", "SYSTEMD_EDITOR", "SUDO_EDITOR", "DELTA_PAGER", "BAT_PAGER", "PSQL_PAGER", "PSQL_EDITOR",
            "RSYNC_RSH", "CVS_RSH", "SVN_SSH", "SVN_EDITOR", "HGEDITOR", "PROMPT_COMMAND", "KUBE_EDITOR", "KUBECTL_EXTERNAL_DIFF",
            "LESSEDIT", "TEXEDIT", "RSYNC_CONNECT_PROG", "GIT_PROXY_SSH", "HGMERGE", "NIX_SSHOPTS", "BUNDLER_EDITOR", "P4EDITOR",
            "FZF_DEFAULT_COMMAND", "MOSH_SSH", "BORG_RSH", "BORG_PASSCOMMAND", "RESTIC_PASSWORD_COMMAND",
        ),
        "shell",
    ),
    **dict.fromkeys(
        (
            "GIT_SSH", "GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "GIT_PROXY_COMMAND", "RUSTC_WRAPPER", "RUSTC",
            "RUSTC_WORKSPACE_WRAPPER", "RUSTDOC", "CC", "CXX", "LD", "SHELL", "NODE", "npm_config_script_shell", "CARGO",
            "MAKESHELL", "GOROOT_FINAL", "PYTHONBREAKPOINT", "CMAKE_C_COMPILER_LAUNCHER", "CMAKE_CXX_COMPILER_LAUNCHER",
        ),
        "program",
    ),
    "LESSOPEN": "lessopen",
    "LESSCLOSE": "shell",
    "PS4": "quotes",
    "PS1": "quotes",
    "PS0": "quotes",
    "PS2": "quotes",
    "BASH_ENV": "quotes",
    "ENV": "quotes",
    "TAR_OPTIONS": "tar",
    "FZF_DEFAULT_OPTS": "fzf",
}  # fmt: skip
"""Variable -> how its value is run by programs that read it."""


def unwrap_options(usage: Usage, frame: Frame, state: State, walk: Walk) -> None:
    """List what the options of a program, and operands that are commands of its own language, would run."""
    args = frame.args
    for word in usage.words:
        if not ROLES[word.role].code or word.role in _NOT_TEXT:
            continue
        if word.role == "tail":
            index = next(i for i, f in enumerate(args) if i == word.at or i + 1 == word.at)
            _tail(frame, index if args[index].value.startswith(word.option[:2]) else word.at, state, walk)
            return
        _value(word.role, word.text, args[word.at].known, frame, state, walk, word.option or frame.name)
    if usage.root.name == "cargo" and "watch" in usage.operands[:1] and (words := _behind_dashes(args)):
        walk.run(frame.inner(words), state, "cargo watch")
    if usage.root.name == "zip":
        _zip(frame, state, walk)
    if usage.root.code == "editor":
        for field in args:
            if field.value.startswith("+"):
                _value("vim", field.value[1:], field.known, frame, state, walk, "+")


_NOT_TEXT = frozenset(("script", "include", "config", "inline", "module", "socket", "command", "commands", "joined"))
"""Code that lies in a file or in a language that is not read here, and commands that `wrapper` lists."""


def _behind_dashes(args: list[Field]) -> list[Field]:
    at = next((i for i, f in enumerate(args) if f.value == "--"), len(args))
    return args[at + 1 :]


def _zip(frame: Frame, state: State, walk: Walk) -> None:
    """`-TT command`, also joined to its command."""
    for i, field in enumerate(frame.args):
        if field.value.startswith("-TT"):
            rest = [field.value[3:]] if field.value[3:] else [f.value for f in frame.args[i + 1 : i + 2]]
            for code in rest:
                _value("shell", code, field.known, frame, state, walk, "-TT")


def unwrap_variables(pairs: Mapping[str, str], frame: Frame, state: State, walk: Walk) -> None:
    """List what variables given to a command would run."""
    for key, value in git_settings(pairs):
        setting(key, value, frame, state, walk)
    for name, value in pairs.items():
        if name.startswith("BASH_FUNC_"):
            walk.code(f"f {value}", True, frame, state, name)
        kind = CODE_VARIABLES.get(name)
        if not kind or not value:
            continue
        if kind == "quotes":
            walk.text_in_quotes(value, state, name, (frame.start, frame.end))
        elif kind == "lessopen":
            walk.helper(value.lstrip("|-"), True, frame, state, name)
        elif kind in ("tar", "fzf"):
            walk.run(Frame.of(kind, frame.start, frame.end).with_words(_words(value)), state, name)
        elif kind == "program":
            walk.run(Frame.of(value, frame.start, frame.end), state, name)
        else:
            walk.helper(value, True, frame, state, name)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def _tail(frame: Frame, index: int, state: State, walk: Walk) -> None:
    """fd -x: everything after the option up to `;` is the command."""
    args = frame.args
    words = list(args[index + 1 :])
    attached = args[index].value.partition("=")[2] if args[index].value.startswith("--") else ""
    if attached:
        words.insert(0, type(args[index])(attached, args[index].known, False, frame.start, frame.end))
    end = next((i for i, f in enumerate(words) if f.value == ";"), len(words))
    if words[:end]:
        walk.run(frame.inner(words[:end]), state, "fd -x", notes=("its arguments are names found at run time",))


def _value(kind: str, value: str, known: bool, frame: Frame, state: State, walk: Walk, via: str) -> None:
    code = _code_of(kind, value)
    if code is None:
        return
    if kind == "program":
        inner = Frame.of(code, frame.start, frame.end, known=known)
        walk.run(inner, state, via)
    else:
        walk.helper(code, known, frame, state, via)


def _code_of(kind: str, value: str) -> str | None:
    match kind:
        case "shell" | "program":
            return value or None
        case "setting":
            text = value.partition("=")[2]
            plain = text.strip().lower() in ("true", "false", "auto", "never", "always", "") or " " not in text.strip()
            return None if plain else text.removeprefix("!")
        case "commas":
            return value.replace(",", " ")
        case "exec":
            return value.partition("exec=")[2] or None if "exec=" in value else None
        case "ssh":
            found = _SSH_OPTIONS.match(value)
            return found.group(2) if found and found.group(2).lower() != "none" else None
        case _:
            return _escape_code(kind, value)


_ESCAPES = {
    "gdb": r"\s*(?:shell|!|platform shell|pipe)\s*(.+)",
    "vim": r"(?::?\s*sil(?:ent)?!?\s+)?(?::?ter(?:m|minal)?!?\s+|.*?!\s*)(.+)",
    "psql": r".*?\\!\s*(.+)",
    "mysql": r".*?(?:\\!|\bsystem)\s+(.+)",
    "sqlite": r"\s*\.(?:sh|she|shel|shell|sy|sys|syst|syste|system)\s+(.+)",
    "apt": r".*?(?:Pre-Invoke|Post-Invoke|Pre-Install-Pkgs|Post-Invoke-Success|Proxy-?Auto-?Detect)(?:::)?\s*=\s*(.+)",
    "make": r".*?\$\(shell\s+(.+?)\)\s*\Z",
    "applescript": r'.*?do shell script\s+"((?:[^"\\]|\\.)*)"',
    "bind": r".*?(?:execute|execute-silent|reload|become|transform)[(:{\[]\s*(.+?)[)}\]]?\Z",
}


def _escape_code(kind: str, value: str) -> str | None:
    found = re.match(_ESCAPES[kind], value, re.DOTALL)
    return found.group(1) if found else None
