"""What Claude Code's settings have to say for our gate. Pure: nothing is read or written.

Which hook does what (seen with 2.1.332, docs/gates.md has the reasons):
- PreToolUse runs a command that blocks the call when the service cannot be reached: it alone holds in every mode. It answers
  denies of the policy, and in a terminal has the dialog opened for what a rule of a policy file asks about.
- PermissionRequest is an http hook that is held open while a person thinks; the native dialog can be used meanwhile.
- The others only tell, and are answered at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.service_config import KEY_HEADER, WAIT_HEADER
from interlock.runtime.gates.service_hook import HOOK_TIMEOUT_S, command_for

ROUTE = "claude"
ASK_TIMEOUT_S = 86_400
"""How long an ask may wait for a person, in seconds; without it Claude Code gives up after 600."""
TELL_TIMEOUT_S = 10
KNOWN_VERSIONS = ("2.1.332",)
"""Versions this gate was run against."""
AGENT_MARK = {"INTERLOCK_AGENT": "claude_code"}
"""Goes into `env` of the settings: what Claude Code starts carries it and may not answer asks."""
TELLING = ("PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "SessionEnd")
"""Events that are told over http; of these the first two have a matcher."""
_WITH_MATCHER = ("PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure")


def claude_hooks(port: int, key: str, *, ask_timeout: int = ASK_TIMEOUT_S) -> dict[str, list[dict[str, Any]]]:
    """Event -> matcher groups, as they stand under `hooks` of a settings file. `ask_timeout` in seconds."""
    strict = {"type": "command", "command": command_for(ROUTE, "closed"), "timeout": HOOK_TIMEOUT_S}
    lenient = {"type": "command", "command": command_for(ROUTE, "open"), "timeout": HOOK_TIMEOUT_S}
    hooks = {
        "SessionStart": lenient,
        "PreToolUse": strict,
        "PermissionRequest": _http(port, key, ask_timeout),
        **{event: _http(port, key, TELL_TIMEOUT_S) for event in TELLING},
    }
    return {event: [_group(event, hook)] for event, hook in hooks.items()}


def claude_settings(port: int, key: str) -> dict[str, Any]:
    """The whole of what connect adds to a settings file."""
    return {"env": dict(AGENT_MARK), "hooks": claude_hooks(port, key)}


def is_ours(hook: Mapping[str, Any]) -> bool:
    """Whether a hook of a settings file is one that we put there, also with another port or path."""
    headers = hook.get("headers")
    if hook.get("type") == "http":
        return isinstance(headers, Mapping) and KEY_HEADER in headers
    command = hook.get("command")
    return hook.get("type") == "command" and isinstance(command, str) and "gate-hook.sh" in command


def _http(port: int, key: str, timeout: int) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}/{ROUTE}"
    # the service is told how long it has, so that an ask is closed as timed out before the agent hangs up
    headers = {KEY_HEADER: key, WAIT_HEADER: str(timeout)}
    return {"type": "http", "url": url, "headers": headers, "timeout": timeout}


def _group(event: str, hook: dict[str, Any]) -> dict[str, Any]:
    return {"matcher": "*", "hooks": [hook]} if event in _WITH_MATCHER else {"hooks": [hook]}
