"""How a call of Claude Code's ended: what its record says, and for versions that record less, the client's own sentences.

Promises: pure; a denial is not a failure and an interrupt is neither; what a command printed decides nothing where the
record has a structured result of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from interlock.runtime.events.permission import Approver
from interlock.runtime.events.tool import Phase
from interlock.runtime.sources.claude_code.prompt import INTERRUPT
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.narrator import Outcome, first_line

_EXIT = re.compile(r"(?:Error: )?Exit code (-?\d{1,10})(?:\r?\n|$)")
_SAID = re.compile(r"\b(?:To tell you how to proceed, t|T)he user said:\r?\n")
_TIMED_OUT = "Command timed out after"
_BY_PERSON = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "The agent proposed a plan that was rejected by the user",
    "Permission for this tool use was denied. The tool use was rejected",
    "User rejected", "User declined", "User denied", "User chose to stay in plan mode",
    "The user rejected", "The user declined", "The user denied", "[Tool use was rejected",
)  # fmt: skip
_UNANSWERED = ("Tool permission request failed", "Tool permission stream closed")
_PROMPT_LEFT = ("Permission prompt was aborted", "Permission request was cancelled")
_BY_POLICY = re.compile(
    r"""(?:Error:\ )?(?:
      Permission\ to\ use\ [^\n]{1,4000}\ has\ been\ denied
    | Permission\ for\ this\ (?:action|command|tool\ use)\ (?:has\ been|was)\ (?:auto-)?denied
    | PreToolUse:\S{1,200}\ (?:\[[^\n]{0,4000}\]\ )?hook\b
    | Hook\ PreToolUse:\S{1,200}\ denied
    | \S{1,200}\ operation\ blocked\ by\ hook
    | Execution\ stopped\ by\ (?:\S{1,40}\ )?hook
    | Blocked\ by\ (?:\S{1,40}\ )?hook
    | Denied\ by\ PermissionRequest\ hook
    | Claude\ requested\ permissions?\ to\ [^\n]{1,4000}\ haven't\ granted\ it\ yet
    | (?:File|Path|Directory)\ is\ in\ a\ directory\ that\ is\ denied\ by\ your\ permission\ settings
    | This\ (?:Bash\ )?command\ requires\ approval
    | This\ (?:Bash\ )?command\ contains\ multiple\ operations\.\ The\ following\ parts?\ requires?\ approval
    | [^\n]{1,500}\ was\ blocked\.\ For\ security,\ Claude\ Code
    | [^\n]{1,500}\ needs\ approval
    )""",
    re.VERBOSE,
)
_ABORTED = (
    "Command was aborted before completion",
    "<error>Command was aborted before completion",
    "Request was aborted",
)
_STOPPED = ("interrupted", "cancelled", "aborted")
_PERSON = Approver(kind="native_prompt")
_RUNTIME = Approver(kind="runtime")
_RULE = Approver(kind="rule")


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a call ended, and who decided where somebody did."""

    outcome: Outcome
    code: str | None = None
    phase: Phase | None = None
    exit_code: int | None = None
    denied_by: Approver | None = None
    said: str | None = None
    """What the person said with a denial."""


def judge(record: dict[str, Any], words: str, *, failed: bool, structured: Any, hook_denied: bool) -> Verdict:
    """How a call ended. `words`: what the model was given; `structured`: what the client kept beside it."""
    kind = shape.text(record.get("toolDenialKind"))
    decision = shape.mapping(record.get("permissionDecision"))
    rejected = shape.text(decision.get("decision")) in ("reject", "deny", "denied")
    if rejected and kind not in _STOPPED:
        # 2.1.332 says `user-rejected` also where nobody was asked; with a person's No there is no decision beside it
        return _decided(shape.text(decision.get("source")), words)
    if kind:
        return _of_kind(kind, record, words)
    aborted = shape.at(structured, "interrupted") is True
    if not failed and not isinstance(structured, str):
        return Verdict("interrupted") if aborted and _TIMED_OUT not in words[-400:] else _unmarked(words, structured)
    body = _untagged(words)
    if hook_denied:
        return Verdict("denied", "policy_denied", denied_by=Approver(kind="rule", client="hook"))
    return _refused(body) or _stopped(body, aborted) or (_failed(words, body) if failed else Verdict("ok"))


def _of_kind(kind: str, record: dict[str, Any], words: str) -> Verdict:
    if kind in _STOPPED or record.get("toolDenialBeforeRun") is False:
        return Verdict("interrupted")
    return _by_person(words) if kind.startswith("user") else Verdict("denied", "policy_denied", denied_by=_RULE)


def _decided(source: str, words: str) -> Verdict:
    if source.startswith("user"):
        return _by_person(words)
    by = Approver(kind="rule", client="hook") if source == "hook" else _RULE
    return Verdict("denied", "policy_denied", denied_by=by)


def _by_person(words: str) -> Verdict:
    parts = _SAID.split(words[:200_000], maxsplit=1)
    return Verdict("denied", "user_denied", denied_by=_PERSON, said=parts[1].strip() or None if parts[1:] else None)


def _unmarked(words: str, structured: Any) -> Verdict:
    # early versions mark some refusals by their sentence alone; an output has a structured result beside it
    if structured is None and words.startswith(_BY_PERSON[:2]):
        return _by_person(words)
    return Verdict("interrupted") if structured is None and words.startswith(INTERRUPT) else Verdict("ok")


def _refused(body: str) -> Verdict | None:
    if body.startswith(_BY_PERSON):
        return _by_person(body)
    if body.startswith(_PROMPT_LEFT):
        # the person said neither yes nor no, but stopped the agent
        return Verdict("interrupted", phase="permission")
    if body.startswith(_UNANSWERED):
        return Verdict("denied", "ask_cancelled", denied_by=_RUNTIME)
    return Verdict("denied", "policy_denied", denied_by=_RULE) if _BY_POLICY.match(body) else None


def _stopped(body: str, aborted: bool) -> Verdict | None:
    found = _EXIT.match(body)
    code, rest = (int(found[1]), body[found.end() :]) if found else (None, body)
    last = rest.rstrip().rsplit("\n", 1)[-1].strip()
    if rest.startswith(_TIMED_OUT) or last.startswith((_TIMED_OUT, f"<error>{_TIMED_OUT}")):
        return Verdict("timeout", exit_code=code)
    if aborted or rest.startswith((INTERRUPT, *_ABORTED)) or last.startswith(_ABORTED):
        return Verdict("interrupted", exit_code=code)
    return None


def _failed(words: str, body: str) -> Verdict:
    found = _EXIT.match(body)
    if found:
        return Verdict("failed", "exit_nonzero", exit_code=int(found[1]))
    if "<tool_use_error>" not in words[:40]:
        return Verdict("failed")
    if body.startswith(("Error: No such tool available", "No such tool available")):
        return Verdict("failed", "unknown_tool", "lookup")
    if body.startswith(("Sibling tool call errored", "Cancelled: parallel tool call")):
        return Verdict("failed", "sibling_failed", "schedule")
    if body.startswith("InputValidationError"):
        return Verdict("failed", "schema_invalid", "validate")
    return Verdict("failed", "runtime_precondition_failed", "validate")


def headline(words: str) -> str:
    """The line that says what a result is: not the client's tags around it."""
    body = _untagged(words).removeprefix("<persisted-output>")
    return first_line(body)


def _untagged(words: str) -> str:
    if not words.startswith("<tool_use_error>"):
        return words
    return words.removeprefix("<tool_use_error>").rstrip().removesuffix("</tool_use_error>")
