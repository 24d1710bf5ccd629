"""Events of an ask's life: open (a permission with decision `ask`), shown, answered, delivered, closed."""

from __future__ import annotations

from typing import Any, Literal

from interlock.runtime.events.base import Event, Record
from interlock.runtime.events.session import SandboxState

AnswerKind = Literal["allow", "deny"]
Scope = Literal["once", "turn", "session", "ten_minutes", "rule"]
ApproverKind = Literal["person", "flag", "rule", "timeout", "session_closed", "native_prompt", "runtime"]
"""`flag`: an option of the command line answered everything (`--answer`); nobody looked at the question."""


class ToolPermission(Event):
    """The gate's decision. With decision `ask` it opens an ask, and all that the card shows stands in it."""

    type: Literal["tool.permission"] = "tool.permission"
    intent_id: str
    decision: Literal["allow", "ask", "deny"]
    reason: str
    source: str
    """managed, user, project, session grant, mode, path boundary, tool, built-in."""
    policy_ids: tuple[str, ...] = ()
    ask_id: str | None = None
    prompt: str | None = None
    """One line: what is asked, for lists."""
    risks: tuple[str, ...] | None = None
    facts: dict[str, Any] | None = None
    """What the policy found out: command parts, paths, network, read-only, cwd."""
    suggested_rules: tuple[Any, ...] | None = None
    """Standing permissions that could be made of this ask, the narrowest first: `tool`, `field`, `value`, `cwd`, `label`,
    `digest`, `scopes`, and as `rule` the text for a rule file where one can say it."""
    input_digest: str | None = None
    diff: str | None = None
    """Id of the artifact with the unified diff."""
    diff_path: str | None = None
    """Its path relative to the session's folder."""
    expires_at: str | None = None
    reply_to: str | None = None
    """Where to answer: the path of the host's socket."""
    tool: str | None = None
    tool_version: str | None = None
    shown_input: Any = None
    """The exact input that would run."""
    cwd: str | None = None
    agent: str | None = None
    agent_reason: str | None = None
    """Why, in the agent's words."""
    sandbox: SandboxState | None = None
    choices: tuple[str, ...] | None = None
    """Answers that the host can honour: `allow.` with `once`, `turn`, `session`, `ten_minutes` or `rule`; `deny`,
    `deny.message`."""
    supersedes: str | None = None
    """Id of the ask that this one replaces, because what it showed has changed."""


class Approver(Record):
    """Who answered."""

    kind: ApproverKind
    uid: int | None = None
    pid: int | None = None
    client: str | None = None


class PermissionShown(Event):
    """A screen has drawn the ask."""

    type: Literal["tool.permission.shown"] = "tool.permission.shown"
    ask_id: str
    intent_id: str
    by: Approver


class PermissionAnswered(Event):
    """The one answer that takes effect."""

    type: Literal["tool.permission.answered"] = "tool.permission.answered"
    ask_id: str
    intent_id: str
    answer: AnswerKind
    scope: Scope = "once"
    by: Approver
    message: str | None = None
    edited_input: Any = None
    suggestion: str | None = None
    """Digest of the suggestion that a standing permission was made from; None: once, or the first one."""
    rule: Any = None
    """With scope `rule`: the text of the rule as it was kept."""
    input_digest: str


class PermissionDelivered(Event):
    """The answer has reached the waiting call."""

    type: Literal["tool.permission.delivered"] = "tool.permission.delivered"
    ask_id: str
    intent_id: str


class PermissionClosed(Event):
    """The ask ended without an answer that took effect."""

    type: Literal["tool.permission.closed"] = "tool.permission.closed"
    ask_id: str
    intent_id: str
    cause: Literal["expired", "cancelled", "superseded", "runtime_restarted", "session_closed"]
    message: str | None = None


class GrantMade(Event):
    """A standing permission was made from an answer."""

    type: Literal["grant.made"] = "grant.made"
    grant_id: str
    ask_id: str
    scope: Scope
    tool: str
    matches: dict[str, Any]
    """What it covers."""
    expires_at: str | None = None
    intent_id: str | None = None
    """The call that was asked about."""
    by: Approver | None = None
    rule_id: str | None = None
    """With scope `rule`: the rule's id in the user's policy file."""
    rule: str | None = None
    """With scope `rule`: its text, as it was kept."""


class GrantRevoked(Event):
    """A standing permission ended before its time."""

    type: Literal["grant.revoked"] = "grant.revoked"
    grant_id: str
    by: Approver
    message: str | None = None
    """Why, where the runtime itself took it back."""
