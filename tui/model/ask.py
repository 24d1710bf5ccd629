"""An ask as the screen holds it: what waits, what became of it, and how it may be answered.

Promises: made from the wire's plain values, tolerant of missing ones; only choices that the host named are offered;
an ask that is not whole, or whose host is gone, offers none. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.runtime.events.approver import APPROVER_WORDS
from interlock.runtime.events.moment import micros
from interlock.runtime.policy.facts.foreign_table import shell_text

Stage = Literal["open", "held", "sending", "sent", "answered", "closed"]


@dataclass(frozen=True, slots=True)
class Suggested:
    """A standing permission that could be made of an ask. Texts are foreign."""

    digest: str
    """Goes along with the answer, so that what was shown is what is granted; empty: the host gives none."""
    label: str
    field: str = ""
    value: str = ""
    cwd: str = ""
    rule: str = ""
    """The text that a policy file would get; empty where no rule can say it."""
    scopes: tuple[str, ...] = ("session",)

    @property
    def says(self) -> str:
        """What it covers, by itself: a label that only makes sense beside its ask names the command instead."""
        return f"exactly {self.value}" if self.field == "command" and self.value else self.label


@dataclass(frozen=True, slots=True)
class Ask:
    """One ask. Texts are foreign unless said otherwise."""

    id: str
    session: str
    digest: str
    opened_at: int
    """Microseconds since 1970."""
    tool: str
    version: str = ""
    agent: str = ""
    title: str = ""
    """What the session is about."""
    cwd: str = ""
    branch: str = ""
    prompt: str = ""
    reason: str = ""
    source: str = ""
    policy_ids: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    input: Any = None
    agent_reason: str = ""
    sandbox: Mapping[str, Any] | None = None
    choices: tuple[str, ...] = ()
    suggestions: tuple[Suggested, ...] = ()
    """What a standing permission made from this ask could cover, the narrowest first."""
    expires_at: int = 0
    is_foreign: bool = False
    """Of another agent, which has a prompt of its own."""
    supersedes: str = ""
    diff_path: str = ""
    diff: str | None = None
    """The unified diff once it was read."""
    diff_fault: str = ""
    """Ours: why the diff cannot be shown."""
    missing: tuple[str, ...] = ()
    """Ours: names of fields that have not arrived yet."""
    host_pid: int = 0
    host: str = ""
    """The socket of its host; ours. With the id that the host knows it by it says which ask this is."""
    wire_id: str = ""
    """The id that its host knows it by, where `id` is another: two hosts may give one id."""
    journal: str = ""
    stage: Stage = "open"
    outcome: str = ""
    """Ours, with foreign words in it: how it ended, for the card."""
    fault: str = ""
    """Ours: why the last answer had no effect."""
    covered: str = ""
    """Ours, with foreign words in it: which permission given since would allow this, were it asked now."""
    before: tuple[int, int] = (0, 0)
    """How often the person allowed and denied this tool in this session before."""

    @property
    def is_whole(self) -> bool:
        """Whether everything that the card must show is here."""
        return not self.missing and not (self.diff_path and self.diff is None and not self.diff_fault)

    @property
    def is_open(self) -> bool:
        """Whether an answer could take effect."""
        return self.stage == "open"

    @property
    def command(self) -> str | None:
        """The raw shell text, None where this is no shell call."""
        return shell_text(self.tool, self.input) if isinstance(self.input, Mapping) else None

    def offers(self, choice: str) -> bool:
        """Whether the host can honour this answer now, for example `allow.session`."""
        return self.is_open and choice in self.choices

    @property
    def is_over(self) -> bool:
        """Whether it has ended; what is on its way to the host has not."""
        return self.stage in ("answered", "closed")

    @property
    def ask_id(self) -> str:
        """What its host calls it."""
        return self.wire_id or self.id

    @property
    def identity(self) -> tuple[object, ...]:
        """What a person has read when they read the card: another value is another card."""
        return (self.id, self.digest, self.stage, self.is_whole, self.diff is None, self.covered)


def ask_of(event: Mapping[str, Any], session: str = "", opened_at: str = "", **more: Any) -> Ask:
    """An ask from a `tool.permission` event by its wire names; `more`: fields that the event does not have."""
    sandbox = event.get("sandbox")
    facts = event.get("facts")
    return Ask(
        id=_text(event, "askId"),
        session=session or _text(event, "session"),
        digest=_text(event, "inputDigest"),
        opened_at=micros(opened_at or _text(event, "ts")),
        tool=_text(event, "tool") or "?",
        version=_text(event, "toolVersion"),
        agent=_text(event, "agent"),
        cwd=_text(event, "cwd"),
        prompt=_text(event, "prompt"),
        reason=_text(event, "reason"),
        source=_text(event, "source"),
        policy_ids=_texts(event, "policyIds"),
        risks=_texts(event, "risks"),
        facts=facts if isinstance(facts, Mapping) else {},
        input=event.get("shownInput"),
        agent_reason=_text(event, "agentReason"),
        sandbox=sandbox if isinstance(sandbox, Mapping) else None,
        choices=_texts(event, "choices"),
        suggestions=tuple(_suggested(event.get("suggestedRules"))),
        expires_at=micros(_text(event, "expiresAt")) if event.get("expiresAt") else 0,
        supersedes=_text(event, "supersedes"),
        diff_path=_text(event, "diffPath"),
        **more,
    )


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _suggested(value: Any) -> Iterator[Suggested]:
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, Mapping):
            yield Suggested(
                _text(item, "digest"),
                _text(item, "label") or _text(item, "value"),
                _text(item, "field"),
                _text(item, "value"),
                _text(item, "cwd"),
                _text(item, "rule"),
                _texts(item, "scopes") or ("session",),
            )
        elif isinstance(item, str):
            yield Suggested("", item)


def _texts(event: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = event.get(name)
    return tuple(str(item) for item in value) if isinstance(value, list | tuple) else ()


CAUSES: Mapping[str, str] = {
    "expired": "timed out: nobody answered in time",
    "cancelled": "withdrawn: the call was cancelled",
    "superseded": "replaced by a newer ask, because what it showed has changed",
    "runtime_restarted": "closed: the runtime was restarted; nothing was run",
    "session_closed": "closed: the session ended",
    "host_gone": "closed: its host is gone; nothing can be answered here",
}
"""Causes of a closed ask in words. `host_gone` is the screen's own."""


SCOPES: Mapping[str, str] = {
    "once": "once",
    "turn": "for this turn",
    "session": "for this session",
    "ten_minutes": "for ten minutes",
    "rule": "for all later sessions too",
}
"""For how long an allow holds, in words."""


def answered_words(answer: str, scope: str, by: Mapping[str, Any], own: bool, message: str | None = None) -> str:
    """How an ask was answered: `allowed once by you`."""
    how = {**SCOPES, "rule": "by rule"}
    verb = f"allowed {how.get(scope, scope)}" if answer == "allow" else "denied"
    words = f"{verb} by {'you' if own else who(by)}"
    return f"{words}: “{message}”" if message else words


def who(by: Mapping[str, Any]) -> str:
    """An approver in words: `interlock answer (process 4242)`."""
    kind = str(by.get("kind") or "someone")
    words = {**APPROVER_WORDS, "rule": "a rule", "timeout": "a time-out"}.get(kind, kind.replace("_", " "))
    name = words if kind == "flag" else str(by.get("client") or words)
    pid = by.get("pid")
    return f"{name} (process {pid})" if isinstance(pid, int) else name
