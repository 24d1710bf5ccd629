"""Commands of Codex that leave a shell open. Pure.

Codex can type into a program that it started before (`write_stdin`), and no hook tells of that (seen with 0.171.0): what runs in
an open shell is judged by nobody. So it is the opening of one that has to be asked about.

Promises: `sh`, `bash -i`, `sudo -s` and their kind are found, also below `env`, `exec`, loops and `sh -c`. Does not promise:
to know every program that runs commands it is typed (an editor, a debugger, `ssh`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from posixpath import basename
from typing import Any

from interlock.runtime.policy.programs import program_of
from interlock.runtime.policy.programs.option import read_options
from interlock.runtime.policy.programs.usage import replace_stop
from interlock.runtime.policy.shell.feed import is_shell

OPENED = "it leaves a shell open, and what is typed into it later comes before no rule"
_TYPED = re.compile(r"-[a-zA-Z]*[is]|--interactive|--login")
_WITH_WORD = frozenset(("-o", "+o", "-O", "+O", "-C", "--init-command", "--rcfile", "--init-file", "--rcs"))
_CODE = re.compile(r"-[a-zA-Z]*c|--command(=.*)?|-Command")
_OUTPUT = re.compile(r"(?:\d*>&|\d*>[>|]?|&>>?)(.*)")
"""A redirect, and where it goes unless that is the next word."""


def opens_shell(facts: Mapping[str, Any]) -> bool:
    """Whether a part of a command, as the policy tells them, is a shell that goes on reading."""
    parts = facts.get("parts")
    return (
        any(_opens(part) for part in parts if isinstance(part, Mapping)) if isinstance(parts, list | tuple) else False
    )


def _opens(part: Mapping[str, Any]) -> bool:
    program = basename(str(part.get("program") or ""))
    if not is_shell(program) and program not in ("su", "sudo", "doas", "pwsh"):
        return False
    try:
        _, *words = shlex.split(str(part.get("text") or ""))
    except ValueError:
        return True
    if program in ("sudo", "doas"):
        # sudo goes on with its options behind a `NAME=value`
        own = [word for word in words if word[:1] == "-" or "=" not in word]
        entry = program_of(program)
        return entry is None or read_options(own, replace_stop(entry.spec)).has("-s", "-i", "--shell", "--login")
    words = _without_output(words)
    if program == "su":
        return not any(_CODE.fullmatch(word) for word in words)
    if any(_TYPED.fullmatch(word) for word in words):
        return True
    if any(_CODE.fullmatch(word) for word in words):
        return False
    return all(word[:1] in "-+" for word in words) or any(word in _WITH_WORD for word in words)


def _without_output(words: list[str]) -> list[str]:
    found, is_target = [], False
    for word in words:
        redirect = None if is_target else _OUTPUT.fullmatch(word)
        if redirect is None and not is_target:
            found.append(word)
        is_target = redirect is not None and not redirect[1]
    return found
