"""What Gemini CLI's settings have to say for our gate. Pure: nothing is read or written.

Seen with 0.61.0: BeforeTool runs before every call; `deny` with a reason reaches the model, `ask` opens Gemini CLI's own prompt
even where a policy rule allows the call, everything else goes on to the policy rules. A hook cannot answer the prompt, so
the policy file lets through what the hook has allowed and marked (`permit`), and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from interlock.runtime.gates.connect.plan import MARK
from interlock.runtime.gates.gemini.permit import OPENED, SHELL, patterns, sign_of
from interlock.runtime.gates.service.config import ServiceConfig
from interlock.runtime.gates.service.hold_hook import HOLD_TIMEOUT_S, held_command
from interlock.runtime.gates.service.tell_hook import HOOK_TIMEOUT_S, command_for

ROUTE = "gemini"
KNOWN_VERSIONS = ("0.61.0",)
"""Versions this gate was run against."""
ASK = json.dumps(
    {
        "decision": "ask",
        "systemMessage": "Interlock: the gate service does not answer, so Gemini CLI asks by itself. `interlock doctor gemini` "
        "tells why.",
    }
)
DENY = json.dumps(
    {
        "decision": "deny",
        "reason": "Interlock: its gate service does not answer and there is no terminal. Nothing was run. "
        "For the person: `interlock doctor gemini` tells why, `interlock disconnect gemini` takes the gate away.",
    }
)
"""Without a terminal Gemini CLI would wait for an answer that nobody can give."""


def gemini_hooks() -> dict[str, list[dict[str, Any]]]:
    """Event -> groups, as they stand under `hooks` of `settings.json`. Time-outs are in milliseconds."""
    held = {
        "type": "command",
        "name": MARK,
        "command": held_command(ROUTE, ASK, DENY),
        "timeout": HOLD_TIMEOUT_S * 1000,
    }
    told = {
        "type": "command",
        "name": MARK,
        "command": command_for(ROUTE, "open"),
        "timeout": HOOK_TIMEOUT_S * 1000,
    }
    return {
        "SessionStart": [{"hooks": [told]}],
        "BeforeTool": [{"matcher": "*", "hooks": [held]}],
        "AfterTool": [{"matcher": "*", "hooks": [dict(told)]}],
        "SessionEnd": [{"hooks": [dict(told)]}],
    }


def gemini_policy(service: ServiceConfig) -> str:
    """The text of the policy file: it lets nothing pass that does not carry our sign."""
    command, other = patterns(sign_of(service.key))
    others = [tool for tool in OPENED if tool != SHELL]
    return (
        f"# {MARK}: made by `interlock connect gemini`, removed by `interlock disconnect gemini`.\n"
        "# Lets pass what the BeforeTool hook in settings.json has allowed, which it marks; without this Gemini CLI would ask a\n"
        "# second time. With the hook off nothing is marked and Gemini CLI asks. Priority 0: every other rule of yours stands\n"
        "# above it. Plan mode is left as it is.\n"
        f"{_rule([SHELL], command)}allowRedirection = true\n\n{_rule(others, other)}"
    )


def _rule(tools: Sequence[str], pattern: str) -> str:
    return (
        f"[[rule]]\ntoolName = {json.dumps(list(tools))}\nargsPattern = '{pattern}'\n"
        'decision = "allow"\npriority = 0\nmodes = ["default", "autoEdit"]\n'
    )
