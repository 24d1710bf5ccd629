"""A model that follows a script, so that the runtime can be seen at work with no key and no network.

Promises: it sees only what a real model would see (the projected messages) and answers through the same door; a script
that is denied something takes another path. Does not promise: any intelligence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from interlock.runtime.agents.provider import ModelTurn, ToolCall
from interlock.runtime.events.message import Menu, Usage
from interlock.runtime.state.context import Message, tool_results_since_last_turn

Results = Mapping[str, str]
"""Call id -> what the model was told."""
Script = Generator[ModelTurn, Results, None]
"""Yields turns, is sent the results of the calls of the turn before."""

REFUSALS = ("user_denied", "policy_denied", "ask_timed_out", "ask_cancelled")
"""Codes with which the runtime tells the model that nothing was run."""


class Calls:
    """Makes calls with ids of their own."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0

    def make(self, tool: str, reason: str, **arguments: Any) -> ToolCall:
        """One call of `tool`; `reason` is what the agent says about it."""
        self._count += 1
        return ToolCall(f"{self._prefix}_{self._count}", tool, arguments, reason)


def refused(text: str) -> bool:
    """Whether a result says that the call was not permitted."""
    head = text[:200]
    return any(code in head for code in REFUSALS)


class ScriptedModel:
    """Plays one script. `pace_s` is the time that each turn takes, so that a person can follow."""

    name = "scripted"

    def __init__(self, script: Script, *, pace_s: float = 0.0) -> None:
        self._script = script
        self._pace_s = pace_s
        self._begun = False

    async def respond(self, messages: Sequence[Message], menu: Menu) -> ModelTurn:
        """The next turn of the script; an empty last turn when the script has ended."""
        if self._pace_s:
            await asyncio.sleep(self._pace_s)
        try:
            turn = self._script.send(tool_results_since_last_turn(messages)) if self._begun else next(self._script)
        except StopIteration:
            return ModelTurn("Nothing is left to do.")
        self._begun = True
        return ModelTurn(
            turn.text,
            turn.calls,
            "tool_use" if turn.calls else "end_turn",
            # a script has no tokens of its own: what stands here is bytes / 4, as everywhere where nobody counted
            Usage(input=sum(len(m.text.encode()) for m in messages) // 4, output=len(turn.text.encode()) // 4),
        )
