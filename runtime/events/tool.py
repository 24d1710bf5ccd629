"""Events about a tool call, in the order of the pipeline (permission has its own file)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from interlock.runtime.events.base import Event, Record
from interlock.runtime.events.session import SandboxState

Phase = Literal["lookup", "validate", "permission", "schedule", "execute", "normalize", "write_back"]
"""Where in the pipeline something happened."""


class ToolIntent(Event):
    """What the model asked for. It changes nothing."""

    type: Literal["tool.intent"] = "tool.intent"
    intent_id: str
    tool: str
    tool_version: str | None = None
    raw_input: Any = None
    reason: str | None = None
    """Why, in the agent's words."""
    request_id: str | None = None
    call_id: str | None = None
    """The provider's own id of the call."""
    inherited: bool | None = None
    """Copied from another session's log: it was asked for there."""


class FieldError(Record):
    """One thing that is wrong with an input."""

    field: str
    message: str


class ToolValidation(Event):
    """Whether the intent can be a call at all."""

    type: Literal["tool.validation"] = "tool.validation"
    intent_id: str
    ok: bool
    phase: Phase
    code: str | None = None
    errors: tuple[FieldError, ...] = ()


class ToolScheduled(Event):
    """When it may run, and for whom it waits."""

    type: Literal["tool.scheduled"] = "tool.scheduled"
    invocation_id: str
    intent_id: str
    concurrency: Literal["safe", "exclusive", "keyed"]
    key: str | None = None
    waits_for: tuple[str, ...] = ()
    """Ids of the invocations that must end first."""
    timeout_ms: int


class InvocationStarted(Event):
    """It runs now. It may change the world."""

    type: Literal["tool.invocation.started"] = "tool.invocation.started"
    invocation_id: str
    intent_id: str
    executor: str
    cwd: str
    sandbox: SandboxState


class InvocationProgress(Event):
    """It is still running and has written something."""

    type: Literal["tool.invocation.progress"] = "tool.invocation.progress"
    invocation_id: str
    stream: Literal["stdout", "stderr"]
    bytes: int
    """Bytes of this stream so far."""
    text: str | None = None
    """The last of it, for a glance; not the record of it."""


class InvocationCompleted(Event):
    """It has ended."""

    type: Literal["tool.invocation.completed"] = "tool.invocation.completed"
    invocation_id: str
    exit: Literal["ok", "error", "cancelled", "timeout"]
    exit_code: int | None = None
    signal: str | None = None
    duration_ms: int | None = None
    """None: not recorded, which only foreign logs leave open."""
    intent_id: str | None = None
    """Where no start was recorded, which only foreign logs leave out."""
    signals_sent: tuple[str, ...] | None = None
    """Signals that the runtime sent to end it, in order."""


class ArtifactRef(Record):
    """Where large evidence is kept. `path` is relative to the session's folder."""

    id: str
    kind: str
    path: str
    bytes: int
    sha256: str
    media_type: str = "text/plain"


class SideEffect(Record):
    """One thing that the call changed."""

    kind: str
    """`file.created`, `file.changed`, `process`, …"""
    path: str | None = None
    diff: str | None = None
    """Id of the artifact with the diff."""
    added: int | None = None
    removed: int | None = None


class Metrics(Record):
    """Times and sizes of a call. `started_at` and `ended_at` are those of the execution, not of the wait."""

    started_at: str | None = None
    ended_at: str | None = None
    duration_ms: int | None = None
    waited_ms: int | None = None
    """Time that it waited for a person."""
    queued_ms: int | None = None
    """Time that it waited for other calls."""
    output_bytes: int = 0


class ToolObservation(Event):
    """The facts of one intent, for the model, the record and the person. Every intent ends in exactly one."""

    type: Literal["tool.observation"] = "tool.observation"
    observation_id: str
    intent_id: str
    invocation_id: str | None = None
    ok: bool
    phase: Phase
    code: str
    title: str
    summary: str
    content: str | None = None
    user_text: str
    preview: str | None = None
    truncated: bool = False
    omitted_bytes: int = 0
    artifacts: tuple[ArtifactRef, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    metrics: Metrics = Field(default_factory=Metrics)
    retryable: bool = False
    trust: Literal["tool_output_untrusted"] = "tool_output_untrusted"
    format: Literal["text", "json", "diff", "image", "artifact_ref"] = "text"
    suggested_next_tool: dict[str, Any] | None = None
    """`{"tool": …, "input": {…}}`."""
    next_step: str | None = None
    """For a refusal: what the model can do now."""
    raw_ref: str | None = None
    """Id of the artifact with the raw result."""
    inline_diff: str | None = None
    """A unified diff that a foreign log carries itself."""
    full_output_path: str | None = None
    """Path of the file in which a foreign agent kept the whole output."""
    unkept_bytes: int | None = None
    """Bytes of a foreign result that this event does not carry; its record, at `origin`, does."""
    lossy: bool | None = None
    """True: bytes that were not UTF-8 stand as U+FFFD in the text; the artifact has them as they were."""


class Verification(Event):
    """A goal was checked, on the files as they were then."""

    type: Literal["verification"] = "verification"
    observation_id: str
    goal: str
    command: str
    passed: bool
    workspace_digest: str
