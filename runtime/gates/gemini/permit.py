"""The sign by which Gemini CLI knows a call that our hook has allowed. Pure.

Seen with 0.61.0: the input that a BeforeTool hook gives back takes the place of the call's own before the policy rules are asked,
and a rule can look for a text in it. So our rule lets pass only what carries a sign that the hook alone puts there: with the
hooks off, no call carries it and Gemini CLI asks as if we were not there.
Does not promise: that an agent which has read the sign, in our policy file, cannot write it while the hooks are off.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interlock.runtime.sources.gemini.sign import FIELD, FOLDER, HEAD

OPENED = ("run_shell_command", "replace", "write_file", "web_fetch")
"""Tools that Gemini CLI asks about by default, in its modes `default` and `autoEdit`."""
SHELL = "run_shell_command"
POLICY_FILE = "policies/interlock.toml"
"""Beside the settings; who can read it can write the sign."""


def policy_file(env: Mapping[str, str]) -> Path:
    """Where the rule stands that lets pass what carries the sign."""
    return Path(env.get("GEMINI_CLI_HOME") or env.get("HOME") or Path.home(), ".gemini", POLICY_FILE)


def sign_of(key: str) -> str:
    """The sign of this user's gate, from the key of its service, which it does not give away."""
    return HEAD + hmac.new(key.encode(), b"gemini", hashlib.sha256).hexdigest()[:32]


def with_sign(tool: str, given: Mapping[str, Any], sign: str) -> dict[str, Any]:
    """The input of an allowed call as Gemini CLI's policy is to see it; it does what it did before.

    Of a command Gemini CLI looks at each part apart, with the folder and nothing else of the input; so the sign stands in the
    spelling of the folder, as a step down and up again that Gemini CLI resolves without looking at the disk.
    """
    if tool != SHELL:
        return {**given, FIELD: sign}
    return {**given, FOLDER: f"{given.get(FOLDER) or '.'}/{sign}/.."}


def patterns(sign: str) -> tuple[str, str]:
    """What Gemini CLI's rules look for: in commands, and in the input of every other tool.

    It writes an input with a zero byte around each outermost field, so that no text inside a field can look like one.
    """
    return rf'\x00"{FOLDER}":"[^"]*/{sign}/\.\."\x00', rf'\x00"{FIELD}":"{sign}"\x00'
