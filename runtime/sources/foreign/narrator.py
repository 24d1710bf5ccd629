"""Makes our events for an adapter, so that every adapter says the same thing in the same words.

Promises: ids are counted (`int_1`, `inv_1`, `obs_1`), one observation an intent; a call id that comes again is the call
that is known; a result without a call makes the call first, and says that it was not recorded; texts over `KEPT`
characters are cut at it and the event says how many bytes were left out. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from interlock.runtime.events.base import Origin
from interlock.runtime.events.foreign import (
    AgentSpawned,
    ForeignUnknown,
    Reasoning,
    SessionBoundary,
)
from interlock.runtime.events.foreign import (
    ForeignRecord as RecordEvent,
)
from interlock.runtime.events.ids import INTENT, INVOCATION, OBSERVATION, Ids
from interlock.runtime.events.message import AssistantMessage, ModelResponse, Usage, UserMessage
from interlock.runtime.events.permission import Approver, PermissionAnswered
from interlock.runtime.events.session import Agent, Foreign, SandboxState, SessionStarted
from interlock.runtime.events.tool import (
    InvocationCompleted,
    Metrics,
    Phase,
    SideEffect,
    ToolIntent,
    ToolObservation,
)
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.made import made
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.tokens import KINDS

KEPT = 1_000_000
"""Characters of one text that an event carries; the record itself stays in the log, and `origin` says where."""
SUMMARY = 300
UNRECORDED = "the call itself is not in the log"
"""The reason of an intent that is known from its result alone."""
NOT_RECORDED = SandboxState(mode="none", provider="none", detail="not recorded by this agent's log")
Outcome = Literal["ok", "failed", "denied", "interrupted", "timeout", "unknown"]
_CODES = {
    "ok": ("execute", "ok"),
    "failed": ("execute", "tool_error"),
    "denied": ("permission", "user_denied"),
    "interrupted": ("execute", "cancelled"),
    "timeout": ("execute", "timeout"),
    "unknown": ("execute", "outcome_not_recorded"),
}
_EXITS: dict[str, Literal["ok", "error", "cancelled", "timeout"]] = {
    "ok": "ok",
    "failed": "error",
    "interrupted": "cancelled",
    "timeout": "timeout",
}


@dataclass(slots=True)
class Call:
    """A call that was made and, until its result comes, has none."""

    intent_id: str
    invocation_id: str
    tool: str
    input: Any = None
    at: str = ""
    """Time stamp of the call."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What an adapter wants to remember of it."""


@dataclass(slots=True)
class Result:
    """How a call ended, as far as the log records it."""

    outcome: Outcome
    text: str = ""
    """What the model was given back, whole."""
    summary: str = ""
    """One line; made from the text where it is empty."""
    code: str | None = None
    """Instead of the usual one of the outcome: `exit_nonzero`, `policy_denied`, …"""
    phase: Phase | None = None
    """Where it ended, where that is not the usual one of the outcome."""
    exit_code: int | None = None
    duration_ms: int | None = None
    omitted_bytes: int = 0
    """Bytes of the output that the model was not given."""
    truncated: bool = False
    diff: str | None = None
    """A unified diff."""
    effects: tuple[SideEffect, ...] = ()
    format: Literal["text", "json", "diff", "image", "artifact_ref"] = "text"
    started_at: str | None = None
    full_output: str | None = None
    """Path of a file of the agent's with the whole output."""


class Narrator:
    """The events of one foreign session."""

    def __init__(self) -> None:
        self._ids = Ids()
        self.calls: dict[str, Call] = {}
        """Call id -> call, of calls without a result."""
        self._ended: dict[str, str] = {}
        """Call id -> intent id, of calls with one."""
        self._counted: dict[str, Usage] = {}
        """Request id -> the usage that was told of it."""
        self.ts = ""
        self.origin = Origin(offset=0)
        self._record: ForeignRecord | None = None

    def at(self, record: ForeignRecord, ts: object = "") -> None:
        """The record that the next events are made from, and its time (kept only if it can be read as one)."""
        if record is not self._record:
            self._record = record
            self.origin = made(Origin, offset=record.offset, size=record.size, log=record.log)
        self.ts = stamp(ts)

    @property
    def _envelope(self) -> dict[str, Any]:
        return {"ts": self.ts, "origin": self.origin}

    def started(
        self,
        *,
        agent: str,
        kind: str,
        session: str,
        version: str = "",
        cwd: str = "",
        model: str | None = None,
        branch: str | None = None,
        parent: str | None = None,
        title: str | None = None,
    ) -> SessionStarted:
        """The session begins."""
        return SessionStarted(
            agent=Agent(name=agent, version=version_in(version), kind=kind),
            cwd=cwd,
            workspace=(cwd,) if cwd else (),
            host="",
            pid=0,
            user="",
            model=model,
            sandbox=NOT_RECORDED,
            runtime_version="",
            parent=parent,
            title=title,
            branch=branch,
            foreign=Foreign(session=session),
            **self._envelope,
        )

    def user(self, text: str, message_id: str = "", *, injected: bool = False, inherited: bool = False) -> UserMessage:
        """The person said something; `injected`: the agent put it there."""
        return made(
            UserMessage,
            message_id=message_id or self._ids.new("msg"),
            text=kept(text)[0],
            injected=injected or None,
            inherited=inherited or None,
            **self._envelope,
        )

    def assistant(
        self, text: str, message_id: str = "", request_id: str | None = None, *, inherited: bool = False
    ) -> AssistantMessage:
        """The model said something to the person."""
        return made(
            AssistantMessage,
            message_id=message_id or self._ids.new("msg"),
            text=kept(text)[0],
            request_id=request_id,
            inherited=inherited or None,
            **self._envelope,
        )

    def reasoning(
        self,
        text: str,
        message_id: str = "",
        request_id: str | None = None,
        *,
        encrypted: bool = False,
        inherited: bool = False,
    ) -> Reasoning:
        """The model thought."""
        return made(
            Reasoning,
            message_id=message_id or self._ids.new("msg"),
            text=kept(text)[0],
            request_id=request_id,
            encrypted=encrypted or None,
            inherited=inherited or None,
            **self._envelope,
        )

    def usage(
        self,
        request_id: str,
        usage: Usage,
        *,
        model: str | None = None,
        stop_reason: str = "",
        cost_usd: float | None = None,
        duration_ms: int | None = None,
        inherited: bool = False,
    ) -> Iterable[ModelResponse]:
        """The usage of one response, as it is known now; nothing when nothing of it is new."""
        before = self._counted.get(request_id)
        if before is None:
            most = new = {name: getattr(usage, name) for name in KINDS}
        else:
            most = {name: max(getattr(before, name), getattr(usage, name)) for name in KINDS}
            new = {name: most[name] - getattr(before, name) for name in KINDS}
            if not any(new.values()):
                return
        self._counted[request_id] = made(Usage, **most)
        yield made(
            ModelResponse,
            request_id=request_id,
            usage=made(Usage, **new),
            stop_reason=stop_reason,
            duration_ms=duration_ms,
            cost_usd=cost_usd,
            model=model,
            inherited=inherited or None,
            **self._envelope,
        )

    def intent(
        self,
        call_id: str,
        tool: str,
        raw_input: Any,
        *,
        request_id: str | None = None,
        reason: str | None = None,
        inherited: bool = False,
    ) -> Iterable[AnyEvent]:
        """The model asked for a tool. Nothing when this call is known already."""
        if not call_id:
            call_id = f"unnamed {self._ids.new('call')}"
        if call_id in self.calls or call_id in self._ended:
            return
        call = Call(self._ids.new(INTENT), self._ids.new(INVOCATION), tool or "?", raw_input, self.ts)
        self.calls[call_id] = call
        yield made(
            ToolIntent,
            intent_id=call.intent_id,
            tool=call.tool,
            raw_input=raw_input,
            reason=reason,
            request_id=request_id,
            call_id=call_id,
            inherited=inherited or None,
            **self._envelope,
        )

    def answered(
        self,
        call_id: str,
        answer: Literal["allow", "deny"],
        by: Approver,
        message: str | None = None,
        scope: Literal["once", "turn", "session", "ten_minutes", "rule"] = "once",
    ) -> Iterable[AnyEvent]:
        """The answer on a permission that the agent's own log records."""
        call = self.calls.get(call_id)
        if call is not None:
            yield PermissionAnswered(
                ask_id=f"native:{call_id}",
                intent_id=call.intent_id,
                answer=answer,
                scope=scope,
                by=by,
                message=message,
                input_digest="",
                **self._envelope,
            )

    def result(self, call_id: str, result: Result) -> Iterable[AnyEvent]:
        """The call has ended. A second result of the same call is kept as a record and changes nothing."""
        if call_id in self._ended:
            yield self.record("second result of a call")
            return
        if call_id not in self.calls:
            yield from self.intent(call_id, "?", None, reason=UNRECORDED)
        call = self.calls.pop(call_id, None)
        if call is None:
            return
        self._ended[call_id] = call.intent_id
        exit_name = _EXITS.get(result.outcome)
        if exit_name is not None and (result.exit_code is not None or result.duration_ms is not None):
            yield made(
                InvocationCompleted,
                invocation_id=call.invocation_id,
                exit=exit_name,
                exit_code=result.exit_code,
                duration_ms=result.duration_ms,
                intent_id=call.intent_id,
                **self._envelope,
            )
        yield self._observation(call, result)

    def _observation(self, call: Call, result: Result) -> ToolObservation:
        phase, code = _CODES[result.outcome]
        text, left_out = kept(result.text)
        summary = result.summary or first_line(text) or result.outcome
        return made(
            ToolObservation,
            observation_id=self._ids.new(OBSERVATION),
            intent_id=call.intent_id,
            invocation_id=call.invocation_id,
            ok=result.outcome == "ok",
            phase=result.phase or phase,  # pyright: ignore[reportArgumentType] - from the table above
            code=result.code or code,
            title=call.tool,
            summary=summary,
            content=text or None,
            user_text=summary,
            truncated=result.truncated or result.omitted_bytes > 0,
            omitted_bytes=result.omitted_bytes,
            side_effects=result.effects,
            metrics=made(
                Metrics,
                started_at=result.started_at,
                duration_ms=result.duration_ms,
                output_bytes=len(result.text.encode("utf-8", "replace")),
            ),
            format=result.format,
            inline_diff=kept(result.diff)[0] if result.diff is not None else None,
            full_output_path=result.full_output,
            unkept_bytes=left_out or None,
            **self._envelope,
        )

    def intent_of(self, call_id: str) -> str | None:
        """The intent of a call, ended or not."""
        call = self.calls.get(call_id)
        return call.intent_id if call else self._ended.get(call_id)

    def spawned(
        self,
        call_id: str,
        child: str,
        *,
        agent_type: str | None = None,
        description: str | None = None,
        log: str | None = None,
    ) -> AgentSpawned:
        """The call started an agent of its own."""
        return made(
            AgentSpawned,
            intent_id=self.intent_of(call_id) or "",
            child=child,
            agent_type=agent_type,
            description=description,
            log=log,
            **self._envelope,
        )

    def boundary(self, kind: str, text: str = "") -> SessionBoundary:
        """What stands behind it is not a plain continuation. `kind`: one of SessionBoundary's."""
        return made(SessionBoundary, kind=kind, text=kept(text)[0], **self._envelope)

    def record(self, name: str) -> RecordEvent:
        """The record is known and tells nothing to a timeline."""
        return made(RecordEvent, record=name[:200], **self._envelope)

    def unknown(self, name: str, reason: str = "unknown type") -> ForeignUnknown:
        """The record is of a kind that the adapter does not know."""
        return made(ForeignUnknown, record=name[:200], reason=reason, **self._envelope)


def version_in(value: object) -> str:
    """The version of an agent; empty for what is none: a log that was cleaned for publication has words there."""
    return value if isinstance(value, str) and any(map(str.isdigit, value)) else ""


def kept(text: str) -> tuple[str, int]:
    """(the text as an event carries it, bytes that it leaves out)."""
    if len(text) <= KEPT:
        return text, 0
    return text[:KEPT], len(text[KEPT:].encode("utf-8", "replace"))


def first_line(text: str) -> str:
    """The first line that says something, short enough for a list."""
    start = text[:20_000].lstrip()
    end = start.find("\n")
    line = start if end < 0 else start[:end]
    short = " ".join(line[: 4 * SUMMARY].split())
    if len(short) <= SUMMARY and len(line) > 4 * SUMMARY:
        short = " ".join(line.split())
    return short if len(short) <= SUMMARY else short[: SUMMARY - 1] + "…"


def stamp(value: object) -> str:
    """A time of a foreign log as our wire has it (UTC, microseconds, `Z`); empty where it cannot be read as one.

    Takes RFC 3339 texts, and numbers of seconds, milliseconds or microseconds since 1970.
    """
    try:
        if isinstance(value, str) and len(value) >= 19:
            moment = datetime.fromisoformat(value)
            if len(value) == 24 and value[10] == "T" and value[19] == "." and value[23] == "Z" and value[11:13] != "24":
                return f"{value[:23]}000Z"  # the commonest form by far, which needs no rewriting
        elif isinstance(value, int | float) and not isinstance(value, bool) and value > 1e8:
            scale = 1 if value < 1e11 else 1e3 if value < 1e14 else 1e6
            moment = datetime.fromtimestamp(value / scale, UTC)
        else:
            return ""
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def text_of(value: Any, depth: int = 40) -> str:
    """The text of a content field, whichever shape it has: a string, a list of blocks, or one block.

    `depth`: levels that are followed; what lies deeper is no text.
    """
    if isinstance(value, str):
        return value
    if depth <= 0:
        return ""
    if isinstance(value, list):
        return "\n".join(part for part in [text_of(item, depth - 1) for item in value] if part)
    if isinstance(value, Mapping):
        for name in ("text", "content", "output"):
            if name in value:
                return text_of(value[name], depth - 1)
        kind = value.get("type")
        return f"[{kind}]" if isinstance(kind, str) and kind else ""
    return "" if value is None else str(value)
