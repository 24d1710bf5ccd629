"""How a tool result of Kimi ended. Pure."""

from __future__ import annotations

import re
from typing import Any

from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.shape import mapping, text

_EXIT = re.compile(r"(?:failed with|Command exited with|finished with) exit code:? (-?\d{1,9})\.?\s*$", re.I)
_PERSON = re.compile(
    r"rejected by the user|user rejected|rejected the approval|denied by the user|user (?:denied|declined)", re.I
)
_RULE = re.compile(r"denied by|blocked by|not allowed (?:in|by)|permission (?:rule|policy)", re.I)
_STOPPED = re.compile(r"interrupted by the user|\baborted\b|cancell?ed by the user|was cancell?ed", re.I)
_TIMEOUT = re.compile(r"timed out|killed by timeout", re.I)
_AGENT = re.compile(r"^agent_id: (\S+)(?:\s+actual_subagent_type: (\S+))?", re.MULTILINE)


def result_of(told: Any, decision: str) -> Result:
    """The result of a call. `decision`: how its approval was answered, where the log says so."""
    result = mapping(told)
    said = text_of(result.get("output")) or text_of(result.get("message")) or (told if isinstance(told, str) else "")
    made = Result("ok", text=said)
    found = _EXIT.search(said[-200:])
    made.exit_code = int(found[1]) if found else None
    if result.get("isError") is True or result.get("is_error") is True:
        made.outcome, made.code = _failed(said, decision, made.exit_code)
    elif made.exit_code:
        made.outcome, made.code = "failed", "exit_nonzero"
    made.truncated = result.get("truncated") is True
    return made


def _failed(said: str, decision: str, exit_code: int | None) -> tuple[Outcome, str | None]:
    head = said[:1000]
    if decision == "rejected" or _PERSON.search(head):
        return "denied", None
    if decision == "cancelled" or _STOPPED.search(head):
        return "interrupted", None
    if exit_code is not None:
        return "failed", "exit_nonzero"
    if _TIMEOUT.search(said[-300:]):
        return "timeout", None
    return ("denied", "policy_denied") if _RULE.search(head[:300]) else ("failed", None)


def agents_in(said: str) -> list[tuple[str, str | None]]:
    """(id, kind) of the sub-agents that a result names."""
    return [(name, text(kind) or None) for name, kind in _AGENT.findall(said[:100_000])]
