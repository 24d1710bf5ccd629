"""What git would run besides itself: aliases, configured programs, helpers, options that carry commands.

Promises: settings given on the command line (`-c`, `git config`) and options are read; what the repository's own
configuration says is out of sight here and is the gate's business (`classify`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from interlock.runtime.policy.programs.option import Reading, Spec, complete, names, read_options
from interlock.runtime.policy.programs.usage import read_usage
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk

GLOBAL_SPEC = Spec(
    "Cc",
    names("git-dir work-tree namespace super-prefix config-env attr-source list-cmds"),
    names(
        "exec-path html-path man-path info-path paginate no-pager no-replace-objects bare literal-pathspecs "
        "glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks no-lazy-fetch no-advice version "
        "help"
    ),
    stop_at_operand=True,
)

_SETTINGS = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|sequence\.editor|pager\..+"
    r"|diff\.external|diff\..+\.(?:command|textconv)|(?:filter\..+\.(?:clean|smudge|process))|merge\..+\.driver"
    r"|(?:difftool|mergetool|browser|man)\..+\.(?:cmd|path)|credential(?:\..+)?\.helper|gpg(?:\..+)?\.program"
    r"|gpg\.ssh\.defaultkeycommand|gc\.recentobjectshook|guitool\..+\.cmd|interactive\.difffilter|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack|vcs)"
    r"|trailer\..+\.(?:command|cmd)|sendemail\..*(?:cmd|smtpserver)|web\.browser|instaweb\.(?:httpd|browser)|init\.templatedir"
    r"|core\.hookspath|submodule\..+\.update|tar\..+\.command|receive\.procreceiverefs|imap\.tunnel|hook\..+\.command"
    r"|add\.interactive\.command|svn\..+|sendpack\..+|ssh\.variant|url\..+\.(?:insteadof|pushinsteadof)|protocol(?:\..+)?\.allow)\Z",
    re.IGNORECASE,
)
_DATA_SETTINGS = re.compile(
    r"(?:core\.hookspath|init\.templatedir|ssh\.variant|url\..+|protocol.*|sendpack.*|svn.*)\Z", re.I
)

_NAMES = ("editor", "sshcommand", "askpass")
"""Ends of settings that are always a command: `true` is a program there."""
_KEY = re.compile(r"GIT_CONFIG_KEY_\d+\Z")
_PARAMETER = re.compile(r"'([^'=]+)'?='?([^']*)'")


def unwrap_git(frame: Frame, state: State, walk: Walk) -> None:
    """List what this git command would run."""
    args = frame.args
    values = [f.value for f in args]
    reading = read_options(values, GLOBAL_SPEC)
    inner = state.copy()
    aliases = _global_options(reading, args, frame, inner, walk)
    if not reading.operands:
        return
    at = reading.operands[0]
    verb, rest = args[at].value, args[at + 1 :]
    if verb in aliases:
        _alias(aliases[verb], rest, frame, inner, walk)
    elif path := reading.value("--exec-path"):
        walk.run(frame.inner([_made(f"{path.rstrip('/')}/git-{verb}", frame), *rest]), inner, "git --exec-path")
    else:
        _verb(verb, rest, frame, inner, walk)


def _global_options(reading: Reading, args: list[Field], frame: Frame, state: State, walk: Walk) -> dict[str, str]:
    aliases: dict[str, str] = {}
    for option in reading.options:
        if option.name == "-C" and option.value is not None:
            state.enter(option.value if args[option.value_index].known else None)
        elif option.name == "-c" and option.value is not None:
            key, _, value = option.value.partition("=")
            # a value known only at run time is source text: its quotes are not part of it
            value = value if args[option.value_index].known else value.replace('"', "")
            key = key.lstrip('"')
            if key.lower().startswith("alias."):
                aliases[key[6:]] = value
            else:
                setting(key, value, frame, state, walk)
    return aliases


def setting(key: str, value: str, frame: Frame, state: State, walk: Walk) -> None:
    """List what a configured value would run."""
    lowered = key.lower()
    if lowered.startswith("alias."):
        code = value[1:] if value.startswith("!") else f"git {value}"
        walk.helper(code, True, frame, state, f"git {key}")
        return
    if not _SETTINGS.match(lowered) or _DATA_SETTINGS.match(lowered) or not value:
        return
    if lowered.endswith(".helper") and not value.startswith(("!", "/")):
        return
    if value.lower() in ("true", "false", "yes", "no", "on", "off", "0", "1") and not lowered.endswith(_NAMES):
        return
    walk.helper(value.removeprefix("!"), True, frame, state, f"git {key}")


def git_settings(pairs: Mapping[str, str]) -> list[tuple[str, str]]:
    """The settings that variables carry: `GIT_CONFIG_KEY_0` and its kind."""
    found = [(key, pairs.get(f"GIT_CONFIG_VALUE_{name[15:]}", "")) for name, key in pairs.items() if _KEY.match(name)]
    for key, value in _PARAMETER.findall(pairs.get("GIT_CONFIG_PARAMETERS", "")):
        found.append((key, value))
    return found


def _alias(value: str, rest: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    words = " ".join(_quoted(f.value) for f in rest)
    if value.startswith("!"):
        walk.helper(f"{value[1:]} {words}".rstrip(), all(f.known for f in rest), frame, state, "git alias")
    else:
        walk.helper(f"git {value} {words}".rstrip(), all(f.known for f in rest), frame, state, "git alias")


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"[\w./=:@%+,-]+", value) else "'" + value.replace("'", "'\\''") + "'"


def _verb(verb: str, rest: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    usage = read_usage("git", (verb, *(f.value for f in rest)))
    for word in usage.words if usage is not None else ():
        if word.option and word.at > 0 and word.text and word.role in ("shell", "program"):
            walk.helper(word.text, rest[word.at - 1].known, frame, state, f"git {verb} {word.option}")
    for field in rest:
        if field.value.startswith("ext::"):
            walk.helper(field.value[5:].replace("% ", "\\ "), field.known, frame, state, "git ext::")
    _tail(verb, rest, frame, state, walk)


def _tail(verb: str, rest: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    """Sub-commands whose operands are a command or a setting."""
    operands = [f for f in rest if not f.value.startswith("-")]
    match verb:
        case "bisect" if len(rest) > 1 and rest[0].value == "run":
            walk.run(frame.inner(rest[1:]), state, "git bisect run")
        case "submodule" if any(f.value == "foreach" for f in rest):
            at = next(i for i, f in enumerate(rest) if f.value == "foreach")
            words = [f for f in rest[at + 1 :] if f.value not in ("--recursive", "--quiet", "-q")]
            inner = state.copy()
            inner.lose_directory()
            _joined(words, frame, inner, walk, "git submodule foreach")
        case "config" if operands:
            _config(rest, frame, state, walk)
        case "for-each-repo":
            rest = rest[2:] if rest and rest[0].value == "--config" else rest[1:]
            walk.run(frame.inner([_made("git", frame), *rest]), state, "git for-each-repo")
        case "clone" | "init":
            for key, value in _settings_of(rest):
                setting(key, value, frame, state, walk)
        case _:
            pass


def _settings_of(rest: list[Field]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for i, field in enumerate(rest):
        name, equals, value = field.value.partition("=")
        if field.value in ("-c", "--config") and i + 1 < len(rest):
            key, _, value = rest[i + 1].value.partition("=")
            found.append((key, value))
        elif equals and name.startswith("--") and complete(name[2:], {"config"}) == "config":
            key, _, value = value.partition("=")
            found.append((key, value))
    return found


def _config(rest: list[Field], frame: Frame, state: State, walk: Walk) -> None:
    reading = read_options([f.value for f in rest], Spec("ft", names("file type blob default comment value url")))
    words = [rest[i].value for i in reading.operands]
    if words[:1] in (["set"], ["add"]):
        words = words[1:]
    if len(words) >= 2:
        setting(words[0], words[1], frame, state, walk)


def _joined(words: list[Field], frame: Frame, state: State, walk: Walk, via: str) -> None:
    if words:
        walk.helper(" ".join(f.value for f in words), all(f.known for f in words), frame, state, via)


def _made(value: str, frame: Frame) -> Field:
    return Field(value, True, False, frame.start, frame.end)
