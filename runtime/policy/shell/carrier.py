"""Options and variables whose value is code or a program: `rg --pre`, `tar --to-command`, `GIT_SSH_COMMAND`.

Promises: values are listed as what they would run. Kinds: `shell` (the value goes to a shell), `program` (the value is
the path of one program), `exec` (only the part after `exec=` or `EXEC:`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace

from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.git_code import git_settings, setting
from interlock.runtime.policy.shell.option import Spec, read_options
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk

_SSH_OPTIONS = re.compile(
    r"\s*(ssh_command|ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand|ProxyUseFdpass)\s*[=\s]\s*(.+)",
    re.I | re.S,
)

CARRIERS: dict[str, tuple[str, dict[str, str]]] = {
    "bpftrace": ("cepolBv", {"-c": "shell"}),
    "dtrace": ("cbsxopq", {"-c": "shell"}),
    "stap": ("cexomDs", {"-c": "shell"}),
    "fatrace": ("coptfs", {"-c": "shell", "--command": "shell"}),
    "chokidar": ("cdt", {"-c": "shell", "--command": "shell"}),
    **dict.fromkeys(
        ("ptw", "pytest-watch"),
        ("c", {"--runner": "shell", "--onpass": "shell", "--onfail": "shell", "--beforerun": "shell", "--afterrun": "shell",
               "--onexit": "shell"}),
    ),
    "cargo-watch": ("xsw", {"-s": "shell", "--shell": "shell"}),
    "sbatch": ("JnNtpo", {"--wrap": "shell"}),
    "eb": ("c", {"-c": "shell", "--command": "shell"}),
    "cf": ("ci", {"-c": "shell", "--command": "shell"}),
    "et": ("cpJ", {"-c": "shell", "--command": "shell"}),
    "execlineb": ("c", {"-c": "shell"}),
    "forever": ("c", {"-c": "shell", "--command": "shell"}),
    **dict.fromkeys(("r2", "radare2", "rizin"), ("ciaAbe", {"-c": "gdb"})),
    "aria2c": ("dox", dict.fromkeys(
        (f"--on-{when}" for when in ("download-complete", "download-error", "download-pause", "download-start",
                                     "download-stop", "bt-download-complete")), "shell")),
    **dict.fromkeys(
        ("yt-dlp", "youtube-dl"),
        ("of", {"--exec": "shell", "--exec-before-download": "shell", "--external-downloader": "program"}),
    ),
    "rclone": ("", {"--password-command": "shell"}),
    "restic": ("rp", {"--password-command": "shell"}),
    "borg": ("", {"--rsh": "shell"}),
    "svn": ("mFr", {"--editor-cmd": "shell", "--diff-cmd": "shell", "--diff3-cmd": "shell"}),
    "cvs": ("ed", {"-e": "shell"}),
    "hg": ("mR", {"--config": "setting"}),
    "jj": ("Rm", {"--config": "setting"}),
    "sk": ("qcdn", {"--preview": "shell", "--bind": "bind", "-c": "shell", "--cmd": "shell"}),
    "ranger": ("", {"--cmd": "gdb"}),
    "bat": ("rlHm", {"--pager": "shell"}),
    "batcat": ("rlHm", {"--pager": "shell"}),
    "delta": ("w", {"--pager": "shell"}),
    "watchman-make": ("pst", {"--run": "shell"}),
    "fly": ("aCsu", {"-C": "shell", "--command": "shell"}),
    "flyctl": ("aCsu", {"-C": "shell", "--command": "shell"}),
    "az": ("gn", {"--scripts": "shell"}),
    "go": ("", {"--exec": "shell", "--toolexec": "shell", "--vettool": "program"}),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang"), ("o", {"--wrapper": "commas"})),
    "rg": ("ABCEMTdefgjmrt", {"--pre": "program", "--hostname-bin": "program"}),
    "sort": ("STtko", {"--compress-program": "program"}),
    "split": ("abClnt", {"--filter": "shell"}),
    "tar": (
        "fCIFTXbgHKLNV",
        {
            "--to-command": "shell", "-I": "shell", "--use-compress-program": "shell", "--checkpoint-action": "exec",
            "-F": "shell", "--info-script": "shell", "--new-volume-script": "shell", "--rsh-command": "shell",
            "--rmt-command": "program",
        },
    ),
    "bsdtar": ("fCITX", {"--use-compress-program": "shell"}),
    "zip": ("bnPtix", {"-TT": "shell", "--unzip-command": "shell"}),
    "nix": ("cI", {"-c": "tail", "--command": "tail"}),
    "cpio": ("CEFHIMORW", {"--rsh-command": "program"}),
    "rsync": ("eBTfM", {"-e": "shell", "--rsh": "shell", "--rsync-path": "shell"}),
    "scp": ("cDFiJloPSX", {"-S": "program", "-o": "ssh"}),
    "sftp": ("BbcDFiJloPRSsX", {"-S": "program", "-o": "ssh"}),
    "ssh": ("BbcDEeFIiJLlmOopQRSWwP", {"-o": "ssh"}),
    "ssh-keygen": ("bCDEFfGIJjKkLlMmNnOPRrsTtVvWwYZz", {"-D": "program"}),
    "ssh-add": ("DEeHhPStT", {"-P": "program"}),
    "autossh": ("Mf", {"-o": "ssh"}),
    "sshfs": ("op", {"-o": "ssh"}),
    "man": ("CELMPRSHTZemp", {"-P": "shell", "--pager": "shell", "-H": "shell", "--html": "shell", "--preprocessor": "shell"}),
    "tcpdump": ("BcCDEFGijmMQrsTVwWyYz", {"-z": "program"}),
    "install": ("gmotS", {"--strip-program": "program"}),
    "make": ("fCIojlWE", {"--eval": "make", "-E": "make"}),
    "gmake": ("fCIojlWE", {"--eval": "make", "-E": "make"}),
    "nc": ("cegGhiIkmMopPqsTwWxX", {"-e": "shell", "-c": "shell"}),
    "netcat": ("cegGhiIkmMopPqsTwWxX", {"-e": "shell", "-c": "shell"}),
    "ncat": ("cegGhimopswx", {"-e": "shell", "--exec": "shell", "-c": "shell", "--sh-exec": "shell"}),
    "wget": ("oaebtTwQOPUABDIXi", {"--use-askpass": "program", "--rsh-command": "program"}),
    "fd": ("dtexXEcSoj", {"--exec": "tail", "-x": "tail", "--exec-batch": "tail", "-X": "tail"}),
    "fdfind": ("dtexXEcSoj", {"--exec": "tail", "-x": "tail", "--exec-batch": "tail", "-X": "tail"}),
    "fzf": ("qfdn", {"--preview": "shell", "--bind": "bind"}),
    "gdb": ("exdcpsnb", {"-e": "gdb", "--ex": "gdb", "--eval-command": "gdb", "--init-eval-command": "gdb"}),
    "lldb": ("osSOkKfanwc", {"-o": "gdb", "-O": "gdb", "--one-line": "gdb", "--one-line-before-file": "gdb"}),
    "vim": ("cStTuUwWiPN", {"-c": "vim", "--cmd": "vim"}),
    "vi": ("cStTuUwWiPN", {"-c": "vim", "--cmd": "vim"}),
    "nvim": ("cStTuUwWiPN", {"-c": "vim", "--cmd": "vim"}),
    "view": ("cStTuUwWiPN", {"-c": "vim", "--cmd": "vim"}),
    **dict.fromkeys(("vimdiff", "rvim", "gvim"), ("cStTuUwWiPN", {"-c": "vim", "--cmd": "vim"})),
    "ex": ("cStTuUwWiPN", {"-c": "vim", "--cmd": "vim"}),
    "psql": ("cdfFhLoPpRTUv", {"-c": "psql", "--command": "psql"}),
    "mysql": ("ehPuDS", {"-e": "mysql", "--execute": "mysql", "--pager": "shell"}),
    "sqlite3": ("", {"--cmd": "sqlite"}),
    "cargo": ("xs", {"-s": "shell", "--shell": "shell"}),
    "osascript": ("els", {"-e": "applescript"}),
    "ansible": ("aiMmtbuKk", {"-a": "shell", "--args": "shell"}),
    "apt": ("otc", {"-o": "apt"}),
    "apt-get": ("otc", {"-o": "apt"}),
    "aptitude": ("otc", {"-o": "apt"}),
    "dpkg": ("DR", {"--pre-invoke": "shell", "--post-invoke": "shell", "--status-logger": "shell"}),
    "ctags": ("", {"--filter-command": "shell"}),
    "emacs": ("lfq", {}),
    "mail": ("srbcS", {}),
    "crontab": ("u", {}),
    "cmake": ("PEGDSBCU", {}),
    "meson": ("C", {}),
    "fwupdmgr": ("", {}),
    "shred": ("ns", {}),
    "xz": ("TFSM", {}),
    "diff": ("UCIxXDFWL", {}),
    "ffmpeg": ("", {}),
}  # fmt: skip
"""Program -> letters of options that take a value, and the options whose value is run."""

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


def unwrap_options(frame: Frame, state: State, walk: Walk) -> None:
    """List what the options of a carrier would run."""
    letters, kinds = CARRIERS[frame.name]
    args = frame.args
    names = frozenset(k[2:] for k in kinds if k.startswith("--"))
    if frame.name in ("tar", "gtar", "bsdtar"):
        args = _with_dashes(args, letters)
    reading = read_options([f.value for f in args], Spec(letters, names, single_dash=frame.name in _ONE_DASH))
    for option in reading.options:
        kind = kinds.get(option.name)
        if kind == "tail":
            _tail(frame, option.index, option.value_index, state, walk)
            return
        if kind and option.value is not None:
            _value(kind, option.value, args[option.value_index].known, frame, state, walk, option.name)
    if frame.name == "cargo" and any(f.value == "watch" for f in args[:2]) and (words := _behind_dashes(args)):
        walk.run(frame.inner(words), state, "cargo watch")
    if frame.name == "zip":
        _zip(frame, state, walk)
    if frame.name in ("vim", "vi", "nvim", "view", "ex", "vimdiff", "rvim", "gvim"):
        for field in args:
            if field.value.startswith("+"):
                _value("vim", field.value[1:], field.known, frame, state, walk, "+")
    if frame.name == "sqlite3":
        for i in reading.operands[1:]:
            _value("sqlite", args[i].value, args[i].known, frame, state, walk, "sqlite3")


_ONE_DASH = frozenset(("gdb", "ffmpeg", "go", "gcc", "g++", "cc", "c++", "clang", "sqlite3"))


def _behind_dashes(args: list[Field]) -> list[Field]:
    at = next((i for i, f in enumerate(args) if f.value == "--"), len(args))
    return args[at + 1 :]


def _with_dashes(args: list[Field], letters: str) -> list[Field]:
    """`tar cIf PROGRAM FILE`: the first word holds letters whose values follow in their order."""
    if not args or args[0].value.startswith("-") or not args[0].value.isalnum():
        return args
    made: list[Field] = []
    rest = args[1:]
    for letter in args[0].value:
        made.append(replace(args[0], value=f"-{letter}"))
        if letter in letters and rest:
            made.append(rest.pop(0))
    return [*made, *rest]


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


def _tail(frame: Frame, index: int, value_index: int, state: State, walk: Walk) -> None:
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
