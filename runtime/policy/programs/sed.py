"""Scripts of sed, as far as they write files or run programs.

Promises: `read_sed` finds every command, file and pipe that the script's text can name; when a script
uses anything that is not on the short list of harmless forms, `plain` is False.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


@dataclass(slots=True)
class Script:
    """What a script does besides reading its input."""

    commands: list[str] = field(default_factory=list)
    """Shell text it runs."""
    writes: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    anywhere: bool = False
    """It writes a file whose name only run time tells."""
    dynamic: bool = False
    """It runs text that only run time tells."""
    plain: bool = True
    """Nothing but listed forms."""
    network: bool = False


_SED_ADDRESS = re.compile(r"\s*(?:\d+(?:~\d+)?|\$|\+\d+|~\d+)")
_SED_PLAIN = frozenset("pPdDnNgGhHxlqQ=zF{}")
_SED_TEXT = frozenset("aic")
_SED_LABEL = frozenset("btT:")


def read_sed(script: str) -> Script:
    """Read a sed script."""
    found = Script()
    at = 0
    while at < len(script):
        at = _sed_command(script, at, found)
    return found


def _sed_command(script: str, at: int, found: Script) -> int:
    while at < len(script) and script[at] in " \t\n;":
        at += 1
    at = _sed_addresses(script, at)
    if at >= len(script):
        return at
    letter = script[at]
    at += 1
    if letter == "#":
        end = script.find("\n", at)
        return len(script) if end < 0 else end
    if letter in "sy":
        return _sed_substitute(script, at, found, letter)
    if letter in _SED_PLAIN:
        return _sed_number(script, at)
    end = _line_end(script, at)
    rest = script[at:end].strip()
    if letter in "wW":
        found.writes.append(rest)
        found.plain = False
    elif letter in "rR":
        found.reads.append(rest)
        found.plain = False
    elif letter == "e":
        found.commands.append(rest) if rest else setattr(found, "dynamic", True)
        found.plain = False
    elif letter in _SED_LABEL:
        # GNU ends a label at `;`, BSD at the line end: the stricter reading is that a command follows
        stop = script.find(";", at, end)
        return stop + 1 if stop >= 0 else end
    elif letter in _SED_TEXT:
        return _sed_text(script, at)
    else:
        found.plain = False
    return end


def _sed_text(script: str, at: int) -> int:
    end = _line_end(script, at)
    while end > 0 and script[end - 1] == "\\" and end < len(script):
        end = _line_end(script, end + 1)
    return end


def _sed_number(script: str, at: int) -> int:
    while at < len(script) and (script[at].isdigit() or script[at] in " \t"):
        at += 1
    return at


def _line_end(script: str, at: int) -> int:
    end = script.find("\n", at)
    return len(script) if end < 0 else end


def _sed_addresses(script: str, at: int) -> int:
    while at < len(script):
        match = _SED_ADDRESS.match(script, at)
        if match:
            at = match.end()
        elif script[at] == "/":
            at = _sed_flags(script, _delimited(script, at + 1, "/"))
        elif script[at] == "\\" and at + 1 < len(script):
            at = _sed_flags(script, _delimited(script, at + 2, script[at + 1]))
        elif script[at] in ", \t!":
            at += 1
        else:
            return at
    return at


def _sed_flags(script: str, at: int) -> int:
    while at < len(script) and script[at] in "IM":
        at += 1
    return at


def _delimited(script: str, at: int, closer: str) -> int:
    """The place after the next `closer` that is not escaped or inside brackets."""
    bracket = False
    while at < len(script):
        c = script[at]
        if c == "\\" and not bracket:
            at += 1
        elif c == "[" and not bracket:
            bracket = True
            at += 1 if script[at + 1 : at + 2] == "^" else 0
            at += 1 if script[at + 1 : at + 2] == "]" else 0
        elif c == "]" and bracket:
            bracket = False
        elif c == closer and not bracket:
            return at + 1
        at += 1
    return at


def _sed_substitute(script: str, at: int, found: Script, letter: str) -> int:
    if at >= len(script):
        found.plain = False
        return at
    closer = script[at]
    # a bracket expression may hide the delimiter from one sed and not from another: such scripts are not plain
    if "[" in script and closer in "".join(re.findall(r"\[[^\]]*\]", script)):
        found.plain = False
    middle = _delimited(script, at + 1, closer)
    end = middle
    while end < len(script) and script[end] != closer:
        end += 2 if script[end] == "\\" else 1
    end += 1
    if letter == "y":
        return end
    return _sed_substitute_flags(script, end, found, script[middle : end - 1])


def _sed_substitute_flags(script: str, at: int, found: Script, made: str) -> int:
    while at < len(script) and script[at] not in "\n;}# \t":
        flag = script[at]
        if flag == "e":
            # what it runs is the line after the change: the new text, where nothing of the old is taken into it
            found.plain = False
            if "&" in made or "\\" in made:
                found.dynamic = True
            else:
                found.commands.append(made)
        elif flag == "w":
            end = _line_end(script, at)
            found.writes.append(script[at + 1 : end].strip())
            found.plain = False
            return end
        elif not (flag.isdigit() or flag in "gpiImM"):
            found.plain = False
        at += 1
    return at
