"""What Codex's settings have to say for our gate. Pure: nothing is read or written.

Seen with 0.171.0: hooks are commands; PermissionRequest blocks Codex's own prompt until it ends, and no word from it lets the
prompt appear; a PreToolUse hook sees every call, and exit code 2 blocks it.
"""

from __future__ import annotations

import json
from typing import Any

from interlock.runtime.gates.service.hold_hook import HOLD_TIMEOUT_S, held_command
from interlock.runtime.gates.service.tell_hook import HOOK_TIMEOUT_S, command_for

ROUTE = "codex"
KNOWN_VERSIONS = ("0.171.0",)
"""Versions this gate was run against."""
TELLING = ("SessionStart", "PostToolUse", "Stop")
_END_S = 3
"""Codex gives a SessionEnd hook no more, and warns at every start of settings that say more."""
DENY = json.dumps(
    {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "Interlock: its gate service does not answer, so nothing was run. For the person: "
            "`interlock doctor codex` tells why, `interlock disconnect codex` takes the gate away.",
        }
    }
)
"""Codex lets a call pass whose hook says nothing."""


def codex_hooks() -> dict[str, list[dict[str, Any]]]:
    """Event -> groups, as they stand under `hooks` of `config.toml` or `hooks.json`."""
    told = {"type": "command", "command": command_for(ROUTE, "open"), "timeout": HOOK_TIMEOUT_S}
    strict = {"type": "command", "command": f"{held_command(ROUTE, DENY)} || exit 2", "timeout": HOLD_TIMEOUT_S}
    held = {"type": "command", "command": held_command(ROUTE, ""), "timeout": HOLD_TIMEOUT_S}
    hooks = {"PreToolUse": strict, "PermissionRequest": held, **dict.fromkeys(TELLING, told)}
    hooks["SessionEnd"] = {"type": "command", "command": command_for(ROUTE, "open", _END_S - 1), "timeout": _END_S}
    return {event: [{"hooks": [dict(hook)]}] for event, hook in hooks.items()}
