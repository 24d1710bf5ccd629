"""Programs that open a terminal or type into one: tmux, screen, zellij, xterm and its kin.

Promises: what would run or be typed there is listed as nested commands. Nothing is run.
"""

from __future__ import annotations

import re

from interlock.runtime.policy.programs.option import Spec, read_options
from interlock.runtime.policy.shell.builtin import Handler, start_shell, stdin_code
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.option import read_frame
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk

_TMUX_VERBS = {
    **dict.fromkeys(("new", "new-session"), "cefFnstxy"),
    **dict.fromkeys(("neww", "new-window"), "ceFnt"),
    **dict.fromkeys(("splitw", "split-window"), "celFpt"),
    **dict.fromkeys(("respawnp", "respawn-pane", "respawnw", "respawn-window"), "cet"),
    **dict.fromkeys(("run", "run-shell"), "cdt"),
    **dict.fromkeys(("if", "if-shell"), "t"),
    **dict.fromkeys(("pipe-pane", "pipep"), "t"),
    **dict.fromkeys(("display-popup", "popup"), "bcdehsStTwxy"),
}
"""Sub-command of tmux that runs something -> letters that take a value."""
_TMUX_ONE = frozenset(("run", "run-shell", "if", "if-shell", "pipe-pane", "pipep"))
_TMUX_OPTIONS = frozenset(("default-command", "default-shell", "lock-command", "copy-command", "editor"))
_TMUX_SETTING = frozenset(("set", "set-option", "setw", "set-window-option"))
_IN_FORMAT = re.compile(r"#\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_KEYS = re.compile(r"(?:Enter|C-[a-z]|M-.|Space|Escape|Tab|KPEnter|\^M)\Z")
_TYPED_ENDS = ("\\n", "\\r", "\\015", "\\012", "^M", "^J")


def _tmux(frame: Frame, state: State, walk: Walk) -> None:
    _tmux_words(frame.args, frame, state, walk)
    values = [f.value for f in frame.args]
    if values[:1] == ["-c"] and len(values) > 1:
        walk.code(values[1], frame.args[1].known, frame, state, "tmux -c")
    if any(v in ("source", "source-file") for v in values) and frame.input:
        for line in frame.input.splitlines():
            _tmux_line(line, frame, state, walk)


def _tmux_line(line: str, frame: Frame, state: State, walk: Walk) -> None:
    """A command of tmux in a text of its own, as a hook or a file gives it."""
    reading = re.findall(r"""'[^']*'|"[^"]*"|\S+""", line)
    words = [Field(w.strip("'\""), True, False, frame.start, frame.end) for w in reading]
    if words:
        _tmux_words(words, frame, state, walk)


def _tmux_words(fields: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    values = [f.value for f in fields]
    for i, value in enumerate(values):
        for code in _IN_FORMAT.findall(value):
            walk.code(code, fields[i].known, frame, state, "tmux #()")
        if value in ("send-keys", "send"):
            words = [f for f in fields[i + 1 :] if not f.value.startswith("-") and not _KEYS.match(f.value)]
            walk.code(" ".join(f.value for f in words), all(f.known for f in words), frame, state, "tmux send-keys")
        if value in _TMUX_SETTING:
            at = next((n for n in range(i + 1, len(values)) if values[n] in _TMUX_OPTIONS), None)
            if at is not None and at + 1 < len(values):
                walk.code(values[at + 1], fields[at + 1].known, frame, state, f"tmux {values[at]}")
        if value == "set-hook" and len(values) > i + 2:
            _tmux_line(values[-1], frame, state, walk)
        if value in _TMUX_VERBS:
            _tmux_verb(value, fields[i + 1 :], frame, state, walk)


def _tmux_verb(verb: str, fields: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in fields], Spec(_TMUX_VERBS[verb], stop_at_operand=True))
    words = [fields[at] for at in reading.operands]
    end = next((n for n, f in enumerate(words) if f.value == ";"), len(words))
    words = words[:end]
    if verb in ("if", "if-shell"):
        for word in words[1:]:
            _tmux_line(word.value, frame, state, walk)
    words = words[:1] if verb in _TMUX_ONE else words
    if words:
        walk.code(" ".join(f.value for f in words), all(f.known for f in words), frame, state, f"tmux {verb}")


def _screen(frame: Frame, state: State, walk: Walk) -> None:
    reading = read_frame(frame, "screen")
    words = [frame.args[i] for i in reading.operands]
    if not reading.has("-X"):
        if words:
            walk.run(frame.inner(words), state, "screen")
        return
    if not words:
        return
    verb, rest = words[0].value, words[1:]
    if verb == "stuff" and rest:
        _typed(rest, frame, state, walk, "screen stuff")
    elif verb in ("exec", "screen", "at") and rest:
        plain = [f for f in rest if not set(f.value) <= set(".!|:")]
        if plain:
            walk.run(frame.inner(plain), state, f"screen {verb}")


def _typed(words: list[Field], frame: Frame, state: State, walk: Walk, via: str) -> None:
    code = " ".join(f.value for f in words).rstrip()
    while end := next((end for end in _TYPED_ENDS if code.endswith(end)), ""):
        code = code.removesuffix(end).rstrip()
    walk.code(code, all(f.known for f in words), frame, state, via)


def _zellij(frame: Frame, state: State, walk: Walk) -> None:
    values = [f.value for f in frame.args]
    if "write-chars" in values:
        _typed(frame.args[values.index("write-chars") + 1 :], frame, state, walk, "zellij write-chars")
    elif "--" in values:
        walk.run(frame.inner(frame.args[values.index("--") + 1 :]), state, "zellij run")


_OPENERS: dict[str, tuple[str, ...]] = {
    "xterm": ("-e",), "uxterm": ("-e",), "rxvt": ("-e",), "urxvt": ("-e",), "st": ("-e",), "lxterminal": ("-e", "--command"),
    "konsole": ("-e",), "alacritty": ("-e", "--command"), "xfce4-terminal": ("-e", "-x", "--command", "--execute"),
    "gnome-terminal": ("--", "-e", "-x", "--command"), "mate-terminal": ("--", "-e", "-x", "--command"),
    "terminator": ("-e", "-x", "--command"), "tilix": ("-e", "--command"), "wezterm": ("--",), "ghostty": ("-e",),
    "x-terminal-emulator": ("-e",), "qterminal": ("-e",), "kitty": ("--", "-e"), "foot": ("--",), "footclient": ("--",),
}  # fmt: skip
"""Terminal -> the words behind which its program stands, as one word or as several."""


def _opener(frame: Frame, state: State, walk: Walk) -> None:
    values = [f.value for f in frame.args]
    at = next((i for i, v in enumerate(values) if v in _OPENERS[frame.name]), None)
    if at is None:
        joined = next((v for v in values if v.startswith("--command=")), None)
        if joined:
            walk.code(joined.partition("=")[2], True, frame, state, frame.name)
            return
        if frame.name not in ("kitty", "foot", "footclient"):
            return
        at = next((i - 1 for i, v in enumerate(values) if not v.startswith("-")), len(values))
    words = frame.args[at + 1 :]
    if len(words) == 1 and " " in words[0].value:
        walk.code(words[0].value, words[0].known, frame, state, frame.name)
    elif words:
        walk.run(frame.inner(words), state, frame.name)


def _recorded(frame: Frame, state: State, walk: Walk) -> None:
    """`script` records a shell, which reads what it is fed; or one command."""
    reading = read_frame(frame)
    code = next((o for o in reading.options if o.name in ("-c", "--command") and o.value is not None), None)
    if code is not None and code.value is not None:
        walk.code(code.value, frame.args[code.value_index].known, frame, state, frame.name)
        return
    words = [frame.args[i] for i in reading.operands[1:]]
    if words and frame.name == "script":
        at = reading.operands[1]
        walk.run(frame.inner(frame.args[at:]), state, "script")
    elif frame.name == "script":
        start_shell(frame, state, walk)
    else:
        stdin_code(frame, state, walk, frame.name)


TERMINALS: dict[str, Handler] = {
    "tmux": _tmux,
    "byobu": _tmux,
    "screen": _screen,
    "zellij": _zellij,
    **dict.fromkeys(_OPENERS, _opener),
    **dict.fromkeys(("script", "scriptlive", "scriptreplay"), _recorded),
}
"""Program -> how what it opens or types is found."""
