"""What Claude Code's settings have to say for our gate. Pure: nothing is read or written.

Which hook does what (seen with 2.1.332, docs/gates.md has the reasons):
- PreToolUse blocks the call when the service cannot be reached: it alone holds in every mode. It answers denies of the
  policy, and in a terminal has the dialog opened for what a rule of a policy file asks about.
- PermissionRequest is held open while a person thinks; the native dialog can be used meanwhile.
- The others only tell, and are answered at once.

All are commands that use the service's socket. Claude Code has http hooks, too, and they cost less, but it sends them through
the proxy of its environment also when they are for this machine: what a tool was given would leave it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.service.config import KEY_HEADER
from interlock.runtime.gates.service.tell_hook import HOOK_TIMEOUT_S, command_for

ROUTE = "claude"
ASK_TIMEOUT_S = 86_400
"""How long an ask may wait for a person, in seconds; without it Claude Code gives up after 600."""
KNOWN_VERSIONS = ("2.1.332",)
"""Versions this gate was run against."""
AGENT_MARK = {"INTERLOCK_AGENT": "claude_code"}
"""Goes into `env` of the settings: what Claude Code starts carries it and may not answer asks."""
TELL_S = 10
TELLING = ("Stop", "SessionEnd")
"""Events that are only told. How a call ended is read in the transcript, which costs the agent nothing."""
_WITH_MATCHER = ("PreToolUse", "PermissionRequest")
_LEEWAY_S = 30
"""So much longer than the hook's program waits: it has to start the service, perhaps."""


def claude_hooks(*, ask_timeout: int = ASK_TIMEOUT_S) -> dict[str, list[dict[str, Any]]]:
    """Event -> matcher groups, as they stand under `hooks` of a settings file. `ask_timeout` in seconds."""
    asking = command_for(ROUTE, "open", ask_timeout)
    hooks = {
        "PreToolUse": _command(command_for(ROUTE, "closed"), HOOK_TIMEOUT_S),
        "PermissionRequest": _command(asking, ask_timeout + _LEEWAY_S),
        "SessionStart": _command(command_for(ROUTE, "open"), HOOK_TIMEOUT_S),
        # with a time to wait no service is started: there would be nothing to tell it of
        **{event: _command(command_for(ROUTE, "open", TELL_S), HOOK_TIMEOUT_S) for event in TELLING},
    }
    return {event: [_group(event, hook)] for event, hook in hooks.items()}


def claude_settings() -> dict[str, Any]:
    """The whole of what connect adds to a settings file."""
    return {"env": dict(AGENT_MARK), "hooks": claude_hooks()}


def is_ours(hook: Mapping[str, Any]) -> bool:
    """Whether a hook of a settings file is one that we put there, also with another port or path."""
    headers = hook.get("headers")
    if hook.get("type") == "http":
        return isinstance(headers, Mapping) and KEY_HEADER in headers
    command = hook.get("command")
    return hook.get("type") == "command" and isinstance(command, str) and "gate-hook.sh" in command


def _command(line: str, timeout: int) -> dict[str, Any]:
    return {"type": "command", "command": line, "timeout": timeout}


def _group(event: str, hook: dict[str, Any]) -> dict[str, Any]:
    return {"matcher": "*", "hooks": [hook]} if event in _WITH_MATCHER else {"hooks": [hook]}
