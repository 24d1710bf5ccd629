"""The harmless call by which `interlock doctor` tries the way of a hook: judged by the policy, run nowhere, kept nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.gates.host import GateHost
from interlock.runtime.journal.place import config_home

REHEARSAL = "interlockRehearsal"
"""A field that no agent's hook has; its value is the agent whose words the policy is asked in."""
HARMLESS_COMMAND = "pwd"
DENIED_PATH = "settings of ours"
"""Stands for the configuration folder, which no policy can open to an agent."""


def rehearse(host: GateHost, body: Mapping[str, Any]) -> dict[str, Any]:
    """What the policy says of the call."""
    cwd = str(body.get("cwd") or "/")
    if body.get("path") == DENIED_PATH:
        call = ForeignCall("Read", {"file_path": str(config_home() / "gate.json")}, cwd)
    else:
        call = ForeignCall("Bash", {"command": str(body.get("command") or HARMLESS_COMMAND)}, cwd)
    decision = host.rules.decide("claude", call, (cwd,), (), host.now())
    return {"decision": decision.effect, "reason": decision.reason, "source": decision.source}
