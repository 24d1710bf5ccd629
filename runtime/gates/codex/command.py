"""What Codex's words for a command mean: the shell it puts around each, and the wish to run outside its sandbox.

Promises: `unwrap` gives back the very text that the shell reads, or the command as it was; where Codex's record does not tell of
a call whether it is to run outside the sandbox, a reason that was given for the question counts as the wish to.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from posixpath import basename
from typing import Any

from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.hook_session import tail_of

ESCALATED = "require_escalated"
OUTSIDE = {"sandbox_permissions": ESCALATED}
"""Goes into the input of a call that would run outside the sandbox: no rule about the command alone allows such a one."""
OUTSIDE_RISK = "runs OUTSIDE the sandbox of Codex"
_SHELLS = ("bash", "zsh", "sh", "dash")
_READS_TEXT = ("-lc", "-c")
_WRAPPED = re.compile(r"""[\w./-]+ -l?c ((?:'[^']*'|"[^"$`\\!]*"|[\w./,:=@%+-]+)+)""")
"""One word in quotes in which an outer shell finds nothing to do: what it reads is what the inner shell gets."""


def unwrap(command: Any) -> Any:
    """`bash -lc 'TEXT'`, as a text or as words, is TEXT; everything else stays as it is."""
    words = _words(command)
    if len(words) == 3 and basename(words[0]) in _SHELLS and words[1] in _READS_TEXT:
        return words[2]
    return command


def _words(command: Any) -> list[str]:
    if isinstance(command, list):
        return command if all(isinstance(word, str) for word in command) else []
    return shlex.split(command) if isinstance(command, str) and _WRAPPED.fullmatch(command) else []


def run_outside(call: ForeignCall) -> None:
    """Mark a call as one that would run outside the sandbox."""
    call.input = {**call.input, **OUTSIDE}
    call.risks, call.is_unconfined = (OUTSIDE_RISK,), True


def leaves_sandbox(log: str | None, call: ForeignCall) -> bool:
    """Whether a call that Codex asks about would run outside the sandbox."""
    told = _recorded(log, call.call_id)
    if told or not call.reason:
        return bool(told)
    # Codex also asks whether to try again without the sandbox what failed inside
    return told is None or "sandbox" in call.reason.lower()


def _recorded(log: str | None, call_id: str | None) -> bool | None:
    """What Codex's own record of the call says; None: nothing."""
    mark = f'"{call_id}"'.encode()
    for line in reversed(tail_of(log).splitlines()) if call_id else ():
        if mark in line and b'_call"' in line:
            return _asks_to_leave(line)
    return None


def _asks_to_leave(line: bytes) -> bool | None:
    try:
        payload = json.loads(line)["payload"]
        given = json.loads(payload["arguments"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(given, Mapping):
        return None
    return given.get("sandbox_permissions") == ESCALATED or given.get("with_escalated_permissions") is True
