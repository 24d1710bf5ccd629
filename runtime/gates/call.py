"""A call of another agent as a gate sees it, and the word that the gate gives back.

Promises: plain data; `Verdict.decision` is `allow` only for what a policy or a person allowed, `none` leaves the call to the
agent's own prompt. Equal digests mean equal tool, input and directory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from interlock.runtime.events.permission import Approver, Scope
from interlock.runtime.events.question import questions_of

AgentKind = Literal["claude_code", "codex", "opencode", "gemini", "acp"]
POLICY_NAMES: dict[str, str] = {
    "claude_code": "claude",
    "codex": "codex",
    "opencode": "opencode",
    "gemini": "gemini",
    "acp": "acp",
}
"""What the policy calls an agent of this kind."""
CHOICES = ("allow.once", "allow.session", "deny", "deny.message")
"""Answers that a gate can honour when its agent can hear a reason."""
WITHOUT_MESSAGE = ("allow.once", "allow.session", "deny")
"""For an agent to which no reason can be handed on."""
NativeCause = Literal["native_allow", "native_deny", "withdrawn", "expired", "session_closed"]
"""How an ask ended at the agent's side: its own prompt said yes or no, the agent took the question back, its time ran out,
its session ended."""


@dataclass(frozen=True, slots=True)
class SubAgent:
    """The agent below the session's own that makes the call."""

    id: str
    type: str = ""


@dataclass(eq=False, slots=True)
class ForeignCall:
    """One call. The fields below `intent_id` are the ledger's."""

    tool: str
    """The agent's own name of it."""
    input: Mapping[str, Any]
    """As the agent gave it: what would run."""
    cwd: str
    call_id: str | None = None
    """The agent's own id of the call, where the route tells it."""
    prompt: str = ""
    """One line for lists; none: made from the input."""
    reason: str | None = None
    """Why, in the agent's words."""
    diff: str | None = None
    """The unified diff of what it would change, where one is known."""
    choices: tuple[str, ...] = CHOICES
    """What this route can honour. Standing permissions are left out where the policy has none to offer."""
    races: bool = False
    """The agent's own prompt can be used while the ask is open, so it may be held open with nobody watching."""
    expires_at: datetime | None = None
    """After this time the agent does not wait any more."""
    sub_agent: SubAgent | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    """More for the card, for example the agent's own mode; told beside what the policy found out."""
    risks: tuple[str, ...] = ()
    """What the route knows of it beside what the policy found out, gravest first."""
    is_unconfined: bool = False
    """It would run outside the agent's own sandbox."""
    question: str = ""
    """Why this is no permission but a question that only the agent's own prompt can answer; "" for a permission."""

    intent_id: str = ""
    ask_id: str | None = None
    verdict: Verdict | None = None
    asking_rule: str = ""
    """The reason of a rule in a policy file that has this call asked about, "" when there is none."""
    is_asked: bool = False
    """Whether a permission request was tied to it; set by the route."""
    is_delivered: bool = False
    is_over: bool = False
    """Whether its observation is on record."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of a call."""

    decision: Literal["allow", "deny", "none"]
    message: str | None = None
    """For the agent: of a person word for word, of a rule its reason. With `none`: why the gate says nothing."""
    scope: Scope = "once"
    by: Approver | None = None
    """Who decided; with `none`: who ended the ask, if somebody did."""
    source: str = ""
    """The layer of the policy that decided, "" for a person."""
    ask_id: str | None = None


def input_digest(tool: str, version: str, shown_input: Any, cwd: str) -> str:
    """SHA-256 in hex of the canonical JSON of tool, version of the agent, input and working directory."""
    shown = {"cwd": cwd, "input": shown_input, "tool": tool, "toolVersion": version}
    return hashlib.sha256(json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


_TELLING = ("command", "cmd", "file_path", "filePath", "path", "url", "pattern", "query", "description", "prompt")


def prompt_of(call: ForeignCall) -> str:
    """One line that says what is asked, beside the name of the tool: the command, the path."""
    return (_told(call) or call.tool)[:300]


def title_of(call: ForeignCall) -> str:
    """One line that says what the call is, by itself."""
    told = _told(call)
    return f"{call.tool}: {told}"[:300] if told else call.tool[:300]


def _told(call: ForeignCall) -> str:
    asked = questions_of(call.input) if call.question else ()
    if asked:
        return _line([one.text for one in asked])
    return call.prompt or next((_line(call.input[key]) for key in _TELLING if call.input.get(key)), "")


def _line(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text[:1000].split())
