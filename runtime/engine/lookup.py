"""Step 1: is there such a tool, and may it be called now (RT-2)."""

from __future__ import annotations

from interlock.runtime.engine.intent import Call
from interlock.runtime.engine.setting import Setting
from interlock.runtime.engine.stop import Stop
from interlock.runtime.tools.refusal import Refusal


def look_up(setting: Setting, call: Call) -> None:
    """Find the tool. Raises Stop `unknown_tool` or `tool_not_visible`."""
    try:
        call.tool = setting.registry.find(call.intent.tool, setting.visibility)
    except Refusal as refusal:
        raise Stop.of("lookup", refusal) from None
