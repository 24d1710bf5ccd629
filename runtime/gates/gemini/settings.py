"""What Gemini CLI's settings have to say for our gate. Pure: nothing is read or written.

Seen with 0.61.0: BeforeTool runs before every call; `deny` with a reason reaches the model, `ask` opens Gemini CLI's own prompt
even where a policy rule allows the call, everything else goes on to the policy rules. A hook cannot answer the prompt, so
the policy file lets through what would be asked, and the hook decides.
"""

from __future__ import annotations

import json
from typing import Any

from interlock.runtime.gates.connect.hold_hook import HOLD_TIMEOUT_S, held_command
from interlock.runtime.gates.connect.plan import MARK
from interlock.runtime.gates.service_hook import HOOK_TIMEOUT_S, command_for

ROUTE = "gemini"
KNOWN_VERSIONS = ("0.61.0",)
"""Versions this gate was run against."""
OPENED = ("run_shell_command", "replace", "write_file", "web_fetch")
"""Tools that Gemini CLI asks about by default, in its modes `default` and `autoEdit`."""
ASK = json.dumps(
    {"decision": "ask", "systemMessage": "Interlock: the gate service does not answer, so Gemini CLI asks by itself."}
)
DENY = json.dumps(
    {
        "decision": "deny",
        "reason": "Interlock: its gate service does not answer and there is no terminal. Nothing was run.",
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


def gemini_policy() -> str:
    """The text of the policy file."""
    tools = ", ".join(f'"{tool}"' for tool in OPENED)
    return (
        f"# {MARK}: made by `interlock connect gemini`, removed by `interlock disconnect gemini`.\n"
        "# The BeforeTool hook in settings.json decides about these calls; without this rule Gemini CLI would ask a second\n"
        "# time. Priority 0: every other rule of yours stands above it. Plan mode is left as it is.\n"
        "[[rule]]\n"
        f"toolName = [{tools}]\n"
        'decision = "allow"\n'
        "priority = 0\n"
        'modes = ["default", "autoEdit"]\n'
    )
