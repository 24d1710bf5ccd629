"""How a tool of Copilot CLI ended. Pure."""

from __future__ import annotations

import re
from typing import Any

from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.shape import at, count, mapping, some_text, text

_EXIT = re.compile(r"<(?:exited|shell\S*\s+\S+\s+completed|command \S+ exited) with exit code (-?\d{1,9})>\s*$")
_PERSON = re.compile(
    r"user rejected|rejected by (?:the )?user|user (?:denied|declined)|denied[ -]interactively[ -]by", re.I
)
_RULE = re.compile(r"denied by|blocked by|permission denied|denied-by|not allowed by", re.I)
_STOPPED = re.compile(r"\baborted\b|cancell?ed|interrupted", re.I)


def result_of(data: dict[str, Any]) -> Result:
    """The result that a `tool.execution_complete` tells."""
    told, error = mapping(data.get("result")), mapping(data.get("error"))
    said = text_of(told.get("content")) or text(error.get("message")) or text_of(data.get("error"))
    success = data.get("success")
    outcome, code = ("ok", None) if success is True else _failed(text(error.get("code")), said)
    if success not in (True, False):
        outcome, code = "unknown", None
    result = Result(outcome, text=said, code=code)
    found = _EXIT.search(said[-200:])
    if found:
        result.exit_code = int(found[1])
        if result.exit_code and outcome == "ok":
            result.outcome, result.code = "failed", "exit_nonzero"
    shown = text_of(told.get("detailedContent"))
    if shown.startswith(("diff --git", "--- ", "\ndiff --git")) or "\n@@ " in shown[:20_000]:
        result.diff = shown
    result.duration_ms = count(at(data, "toolTelemetry", "metrics", "durationMs"))
    result.full_output = some_text(at(data, "toolTelemetry", "restrictedProperties", "outputFile"))
    return result


def _failed(code: str, said: str) -> tuple[Outcome, str | None]:
    head = said[:1000]
    if code == "rejected" or _PERSON.search(head):
        return "denied", None
    if code == "denied" or _RULE.search(head[:300]):
        return "denied", "policy_denied"
    if code in ("aborted", "cancelled") or _STOPPED.search(head[:300]):
        return "interrupted", None
    return ("timeout", None) if code == "timeout" else ("failed", None)
