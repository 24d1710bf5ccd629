"""Finds the programs that a program would run: shells, wrappers, code in options, code in variables.

Promises: what is found is listed as nested commands after the wrapper; code that only run time tells is listed as
`<dynamic>`. Nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.runtime.policy.programs import program_of, read_usage
from interlock.runtime.policy.programs.awk import read_awk
from interlock.runtime.policy.programs.option import Reading, Spec, names, read_options
from interlock.runtime.policy.programs.sed import Script, read_sed
from interlock.runtime.policy.shell.bounded import found_fields, prints_alone, prints_names
from interlock.runtime.policy.shell.builtin import BUILTINS, Handler, stdin_code
from interlock.runtime.policy.shell.carrier import unwrap_options, unwrap_variables
from interlock.runtime.policy.shell.client import CLIENTS, piped_text
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.feed import STDIN, is_shell
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.git_code import unwrap_git
from interlock.runtime.policy.shell.opener import OPENERS, enters_namespace, git_part
from interlock.runtime.policy.shell.option import read_frame, words_of
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.terminal import TERMINALS
from interlock.runtime.policy.shell.walk import Walk
from interlock.runtime.policy.shell.wrapper import runs_its_words, unwrap_wrapper

_FED = ("-", *STDIN)
_EXEC = names("-exec -execdir -ok -okdir")


def unwrap(frame: Frame, state: State, walk: Walk) -> None:
    """List what this command would run besides itself."""
    program = frame.program
    if frame.assignments:
        unwrap_variables(dict(frame.assignments), frame, state, walk)
    if builtin := BUILTINS.get(program):
        if program in ("export", "declare", "typeset", "readonly", "local"):
            unwrap_variables(dict(_pairs(frame.args)), frame, state, walk)
        builtin(frame, state, walk)
        return
    name = program.rpartition("/")[2]
    entry = program_of(name)
    if handler := _handler(name, program):
        handler(frame, state, walk)
        return
    if enters_namespace(frame, state, walk):
        return
    usage = read_usage(name, [f.value for f in frame.args])
    if entry is None or usage is None:
        return
    if runs_its_words(entry) or entry.verbs:
        unwrap_wrapper(entry, frame, state, walk)
    else:
        unwrap_options(usage, frame, state, walk)


def _handler(name: str, program: str) -> Handler | None:
    if name.startswith(("ld-linux", "ld-musl")) or name == "ld.so":
        return _loader
    entry = program_of(name)
    if found := _HANDLERS.get(entry.name if entry is not None else name) or _HANDLERS.get(name):
        return found
    return _shell if is_shell(name) else git_part(program)


def _pairs(fields: list[Field]) -> list[tuple[str, str]]:
    return [(n, v) for n, e, v in (f.value.partition("=") for f in fields) if e]


def _shell(frame: Frame, state: State, walk: Walk) -> None:
    args = [f.value for f in frame.args]
    reading = _shell_options(frame, args)
    via = f"{frame.name} -c"
    for option in reading.options:
        if option.name in ("--rcfile", "--init-file") and "<(" in (option.value or ""):
            walk.piped_code(option.value or "", frame, state, f"{frame.name} {option.name}")
        if option.value and frame.name == "fish" and option.name in ("-C", "--init-command"):
            walk.code(option.value, True, frame, state, "fish -C")
    if (reading.has("-c") and reading.operands) or reading.value("--command"):
        at = reading.operands[0] if reading.has("-c") else next(o.value_index for o in reading.options if o.value)
        code = frame.args[at]
        inner = state.copy()
        rest = reading.operands[1:] if reading.has("-c") else ()
        for i, index in enumerate(rest):
            inner.values[str(i)] = args[index]
        inner.values["@"] = inner.values["*"] = " ".join(args[i] for i in rest[1:])
        text = code.value if reading.has("-c") else code.value.removeprefix("--command=")
        walk.code(text, code.known, frame, inner, via)
    elif not reading.operands or reading.has("-s") or args[reading.operands[0]] in _FED:
        stdin_code(frame, state, walk, frame.name)
    elif "<(" in args[reading.operands[0]]:
        walk.piped_code(args[reading.operands[0]], frame, state, frame.name)


def _shell_options(frame: Frame, args: list[str]) -> Reading:
    entry = program_of(frame.name)
    spec = entry.spec if entry is not None and entry.code == "shell" else _ANY_SHELL
    return read_options([_option_last(a) for a in args], spec)


_ANY_SHELL = Spec(stop_at_operand=True)


def _option_last(word: str) -> str:
    """A shell's `o` takes the next word wherever it stands in a cluster; `+x` is an option too."""
    if word[:1] not in ("-", "+") or word.startswith("--") or len(word) < 2:
        return word
    letters = word[1:]
    return "-" + letters.replace("o", "").replace("O", "") + "".join(c for c in letters if c in "oO")


def _env(frame: Frame, state: State, walk: Walk) -> None:
    args = frame.args
    reading = read_frame(frame, "env")
    inner = state.copy()
    target = reading.value("-C", "--chdir")
    if target is not None:
        inner.enter(target)
    split = next((o for o in reading.options if o.name in ("-S", "--split-string") and o.value is not None), None)
    if split is not None and split.value is not None:
        made = [
            Field(v, args[split.value_index].known, False, frame.start, frame.end) for v in _split_string(split.value)
        ]
        if made:  # env reads its options anew from what it split
            again = frame.inner([frame.fields[0], *made, *args[split.value_index + 1 :]])
            again.assignments = frame.assignments
            _env(again, inner, walk)
            return
    words = [args[i] for i in reading.operands]
    pairs: list[tuple[str, str]] = []
    while words and ("=" in words[0].value or words[0].value == "-"):
        name, _, value = words.pop(0).value.partition("=")
        pairs.append((name, value))
    if words:
        inside = frame.inner(words)
        inside.assignments = tuple(pairs)
        walk.run(inside, inner, "env")
    else:
        unwrap_variables(dict(pairs), frame, inner, walk)


def _split_string(text: str) -> list[str]:
    """`env -S`: words with shell-like quotes and `\\_` for a space."""
    words = re.findall(r"""(?:[^\s"']|"(?:[^"\\]|\\.)*"|'[^']*')+""", text.replace("\\_", " "))
    return [re.sub(r"""["']""", "", w) for w in words]


def _xargs(frame: Frame, state: State, walk: Walk) -> None:
    args = frame.args
    reading = read_frame(frame)
    words = [args[i] for i in reading.operands] or [Field("echo", True, False, frame.start, frame.end)]
    mark = _replacement(reading)
    fed = None if reading.has("-a", "--arg-file") else frame.input
    inside = frame.inner(_replaced(words, mark, fed) if mark else [*words, *_appended(fed, frame, reading)])
    inside.fed, inside.input = False, None
    bounded = False
    if not mark and fed is None and not reading.has("-a", "--arg-file"):
        bounded = prints_alone(words)
        if (found := _found_by(frame, words, whole=reading.has("-0", "--null"))) and not reading.has(*_XARGS_CUTS):
            inside.fields, bounded = found, True
    walk.run(inside, state, "xargs", bounded=bounded)


_XARGS_CUTS = ("-d", "--delimiter", "-E", "-e", "--eof")
"""Options by which other words are made of the same names."""


def _found_by(frame: Frame, words: list[Field], *, whole: bool) -> list[Field] | None:
    """The words of what xargs runs, where a find in front of it gives them; `whole`: not split at blanks."""
    feeder = frame.feeder
    if not feeder or feeder[0].value not in ("find", "/usr/bin/find"):
        return None
    if not prints_names([f.value for f in feeder], lines=not whole):
        return None
    asked = [*words, Field("{}", False, False, frame.start, frame.end)]
    return found_fields(asked, feeder[1:], loose=not whole)


def _replacement(reading: Reading) -> str | None:
    for option in reading.options:
        if option.name in ("-I", "-J"):
            return option.value
        if option.name in ("-i", "--replace"):
            return option.value or "{}"
    return None


def _replaced(words: list[Field], mark: str, fed: str | None) -> list[Field]:
    lines = [line.strip() for line in fed.splitlines() if line.strip()] if fed is not None else []
    if len(lines) == 1:
        return [Field(f.value.replace(mark, lines[0]), f.known, f.glob, f.start, f.end) for f in words]
    return [Field(f.value, f.known and mark not in f.value, f.glob, f.start, f.end) for f in words]


def _appended(fed: str | None, frame: Frame, reading: Reading) -> list[Field]:
    cut = "\0" if reading.has("-0", "--null") else reading.value("-d", "--delimiter")
    if fed is not None and cut is not None:
        cut = {"\\n": "\n", "\\0": "\0", "\\t": "\t"}.get(cut, cut)
        pieces = fed.split(cut) if len(cut) == 1 else [fed]
        return [Field(piece, len(cut) == 1, False, frame.start, frame.end) for piece in pieces if piece]
    if fed is not None and not any(c in fed for c in "'\"\\"):
        return [Field(word, True, False, frame.start, frame.end) for word in fed.split()]
    return [Field("<args>", False, False, frame.start, frame.end)]


def _find(frame: Frame, state: State, walk: Walk) -> None:
    args = frame.args
    at = 0
    while at < len(args):
        if args[at].value not in _EXEC:
            at += 1
            continue
        kind = args[at].value
        end = next((i for i in range(at + 1, len(args)) if _ends_exec(args, i)), len(args))
        words = [Field(f.value, f.known and "{}" not in f.value, f.glob, f.start, f.end) for f in args[at + 1 : end]]
        if words:
            inner = state.copy()
            if kind.endswith("dir"):
                inner.lose_directory()
            found = found_fields(words, args) if kind == "-exec" else None
            shown = " ".join(f.value for f in words)
            walk.run(frame.inner(found or words, shown), inner, f"find {kind}", bounded=found is not None)
        at = end + 1


def _ends_exec(args: list[Field], i: int) -> bool:
    return args[i].value == ";" or (args[i].value == "+" and args[i - 1].value == "{}")


def _ssh(frame: Frame, state: State, walk: Walk) -> None:
    args = frame.args
    usage = read_usage(frame.name, [f.value for f in args])
    assert usage is not None
    unwrap_options(usage, frame, state, walk)
    words = words_of(frame, "joined")
    inner = state.copy()
    inner.lose_directory()
    inner.values, inner.aliases = {}, {}
    if words:
        walk.code(" ".join(f.value for f in words), all(f.known for f in words), frame, inner, "ssh")
        _feed_shell(words, frame, inner, walk)
    elif frame.fed and usage.operands:
        stdin_code(frame, inner, walk, "ssh")


def _feed_shell(words: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    """What is fed to a shell that another machine or a container runs."""
    last = [word for f in words for word in f.value.split() if word not in ("sudo", "exec", "env")]
    if frame.fed and last and is_shell(last[0]) and "-c" not in last:
        stdin_code(frame, state, walk, last[0])


def _parallel(frame: Frame, state: State, walk: Walk) -> None:
    args = frame.args
    reading = read_frame(frame)
    words = [args[i] for i in reading.operands]
    cut = next((i for i, f in enumerate(words) if f.value in (":::", "::::", ":::+", "::::+")), len(words))
    command, values = words[:cut], words[cut + 1 :]
    if not command:
        lines = [f for f in values if not f.value.startswith(":::")]
        for field in lines:
            walk.code(field.value, field.known, frame, state, "parallel")
        if not lines:
            stdin_code(frame, state, walk, "parallel")
        return
    if len(command) == 1:
        walk.code(
            command[0].value, command[0].known, frame, state, "parallel", note="its arguments are known at run time"
        )
        return
    walk.run(frame.inner([*command, Field("<args>", False, False, frame.start, frame.end)]), state, "parallel")


def _awk(frame: Frame, state: State, walk: Walk) -> None:
    _inline(read_awk, frame, state, walk, "awk")


def _sed(frame: Frame, state: State, walk: Walk) -> None:
    _inline(read_sed, frame, state, walk, "sed")


def _inline(read: Callable[[str], Script], frame: Frame, state: State, walk: Walk, via: str) -> None:
    """What the program in the words, or in a file that is one only by name, would run."""
    usage = read_usage(frame.name, [f.value for f in frame.args])
    assert usage is not None
    for source in [*usage.of("inline"), *_from_files(usage.of("script"), frame, state, walk)]:
        _script(read(source), frame, state, walk, via)


def _from_files(files: list[str], frame: Frame, state: State, walk: Walk) -> list[str]:
    """Scripts that are files only by name: standard input, `<(…)`."""
    fed = frame.input if frame.input is not None else frame.likely
    texts = [fed if file in _FED else piped_text(file, walk, state) for file in files]
    return [text for text in texts if text]


def _script(script: Script, frame: Frame, state: State, walk: Walk, via: str) -> None:
    for command in script.commands:
        walk.code(command, True, frame, state, via)
    if script.dynamic:
        walk.dynamic(frame, state, via, f"the {via} script runs text that is known only at run time")


def _at(frame: Frame, state: State, walk: Walk) -> None:
    args = [f.value for f in frame.args]
    if not any(a.startswith(("-l", "-r", "-d", "-c", "-f", "-V")) for a in args):
        stdin_code(frame, state, walk, frame.name)


def _socat(frame: Frame, state: State, walk: Walk) -> None:
    for field in frame.args:
        kind, _, rest = field.value.partition(":")
        if kind.upper() in ("EXEC", "SYSTEM", "SHELL"):
            walk.code(rest.split(",")[0], field.known, frame, state, f"socat {kind}")


def _loader(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_frame(frame, "ld.so")
    if reading.operands:
        walk.run(frame.inner([frame.args[i] for i in reading.operands]), state, "loader")


def _powershell(frame: Frame, state: State, walk: Walk) -> None:
    values = [f.value for f in frame.args]
    for i, value in enumerate(values[:-1]):
        if value.lower() in ("-command", "-c", "/c", "/k"):
            walk.code(" ".join(values[i + 1 :]), False, frame, state, frame.name)
            return


def _bwrap(frame: Frame, state: State, walk: Walk) -> None:
    if words := words_of(frame, "command"):
        inner = state.copy()
        inner.lose_directory()
        walk.run(frame.inner(words), inner, "bwrap")


def _ip(frame: Frame, state: State, walk: Walk) -> None:
    values = [f.value for f in frame.args]
    at = next((i for i, v in enumerate(values) if v == "exec"), None)
    if at is not None and any(v.startswith(("net", "vrf")) for v in values[:at]) and len(values) > at + 2:
        walk.run(frame.inner(frame.args[at + 2 :]), state, "ip netns exec")


_HANDLERS: dict[str, Handler] = {
    "env": _env,
    "xargs": _xargs,
    "find": _find,
    "ssh": _ssh,
    "autossh": _ssh,
    "rsh": _ssh,
    "parallel": _parallel,
    "awk": _awk,
    "sed": _sed,
    "git": unwrap_git,
    "at": _at,
    "batch": _at,
    "socat": _socat,
    "powershell": _powershell,
    "pwsh": _powershell,
    "cmd": _powershell,
    "cmd.exe": _powershell,
    "powershell.exe": _powershell,
    "pwsh.exe": _powershell,
    "ip": _ip,
    "bwrap": _bwrap,
    **TERMINALS,
    **CLIENTS,
    **OPENERS,
}
