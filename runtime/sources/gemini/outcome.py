"""How a call of Gemini CLI, or of an agent descended from it, ended: from its status and what the model was told.

Promises: a refusal by a person, a refusal by a rule, an interrupt and a failure are told apart by the agent's own
words; an exit code is read where the agent writes it, and a command that exited with another than 0 has failed even
where its status says success. Pure.
"""

from __future__ import annotations

import json
import re
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.shape import at, count, mapping, objects, some_text, text

_PERSON = re.compile(
    r"did not allow|denied execution|cancell?ed by (?:the )?user|rejected by (?:the )?user|user (?:denied|declined)",
    re.I,
)
_RULE = re.compile(
    r"denied by policy|execution blocked|blocked by (?:a )?(?:hook|policy)|requires user confirmation"
    r"|not allowed by policy|disabled by (?:the )?admin|permission denied by",
    re.I,
)
_STOPPED = re.compile(
    r"cancell?ed the operation|operation cancell?ed|aborted by (?:the )?user|request cancell?ed", re.I
)
_EXIT = re.compile(r"^Exit Code: (-?\d+)\s*$", re.MULTILINE)
_FULL = re.compile(r"For full output see: (\S+)")
_SHELL = re.compile(r"shell|bash|command", re.I)
OPEN = frozenset(("validating", "scheduled", "executing", "awaiting_approval", "pending"))
"""States of a call that has no result yet."""


def response_text(parts: Any) -> tuple[str, bool]:
    """(what the model was given back, whether as an error) of the parts of a function's response."""
    said: list[str] = []
    failed = False
    for part in objects(parts if isinstance(parts, list) else [parts]):
        response = at(part, "functionResponse", "response")
        if not isinstance(response, dict):
            said.append(text(part.get("text")))
            continue
        failed = failed or "error" in response
        if "output" in response or "error" in response:
            said.append(text_of(response.get("output", response.get("error"))))
        else:
            said.append(_as_json(response))
    if isinstance(parts, str):
        said.append(parts)
    return "\n".join(line for line in said if line), failed


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def refusal(said: str) -> tuple[Outcome, str | None] | None:
    """(outcome, code) where the words say that the call did not run; None where they do not."""
    head = said[:4000]
    if _PERSON.search(head):
        return "denied", None
    if _RULE.search(head):
        return "denied", "policy_denied"
    if _STOPPED.search(head):
        return "interrupted", None
    return None


def outcome_of(status: str, said: str, failed: bool) -> tuple[Outcome, str | None]:
    """(outcome, code) from the agent's status of the call and its words."""
    if status in ("cancelled", "canceled"):
        return refusal(said) or ("interrupted", None)
    if status == "error" or (failed and status != "success"):
        return refusal(said) or ("failed", None)
    return ("ok", None) if status == "success" else ("unknown", None)


def result_of(tool: str, status: str, parts: Any, display: Any) -> Result:
    """The result of one call. `display`: what the agent showed of it."""
    said, failed = response_text(parts)
    outcome, code = outcome_of(status, said, failed)
    if not said and isinstance(display, str):
        said = display
    result = Result(outcome, text=said, code=code)
    if _SHELL.search(tool):
        _exit(result, said)
    found = _FULL.search(said) if "Output too large" in said else None
    if found or "Output too large" in said:
        result.truncated, result.full_output = True, found[1] if found else None
    _change(result, display)
    return result


def _exit(result: Result, said: str) -> None:
    # the agent writes the code behind the output, so the last one is the shell's
    found = _EXIT.findall(said[-4000:])
    if not found or len(found[-1]) > 10:
        return
    result.exit_code = int(found[-1])
    if result.exit_code and result.outcome == "ok":
        result.outcome, result.code = "failed", "exit_nonzero"


def _change(result: Result, display: Any) -> None:
    shown = mapping(display)
    diff = some_text(shown.get("fileDiff"))
    if diff is None:
        return
    stat = mapping(shown.get("diffStat"))
    added = [count(stat.get(name)) for name in ("model_added_lines", "user_added_lines")]
    removed = [count(stat.get(name)) for name in ("model_removed_lines", "user_removed_lines")]
    result.diff = diff
    if result.outcome != "ok":
        return  # what was proposed and did not happen has no effect
    effect = SideEffect(
        kind="file.created" if shown.get("isNewFile") is True else "file.changed",
        path=some_text(shown.get("filePath")) or some_text(shown.get("fileName")),
        added=sum(n for n in added if n is not None) if any(n is not None for n in added) else None,
        removed=sum(n for n in removed if n is not None) if any(n is not None for n in removed) else None,
    )
    result.effects = (effect,)
