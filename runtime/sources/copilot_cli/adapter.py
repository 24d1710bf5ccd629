"""Events of Copilot CLI -> our events.

Promises: identity by message id and call id; what each message says of its output tokens and what the account at the
end of a run says of the whole are counted once; a sub-agent is tied to its call. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.copilot_cli.outcome import result_of
from interlock.runtime.sources.copilot_cli.quiet import QUIET
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, objects, parsed, some_text, text

_COMPACTED = ("session.truncation", "session.compaction_complete", "session.context_cleared")


class CopilotAdapter(RecordAdapter):
    """One session of Copilot CLI."""

    kind = "copilot_cli"
    agent = "GitHub Copilot CLI"

    def __init__(self) -> None:
        super().__init__()
        self._output: dict[str, dict[str, int]] = {}
        """Model -> response -> output tokens told since the run began."""
        self._runs = 0
        self._model = ""
        self._asked: dict[str, str] = {}

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        kind, data = text(value.get("type")), mapping(value.get("data"))
        self.say.at(record, value.get("timestamp") or data.get("timestamp") or data.get("startTime"))
        if kind == "session.start":
            yield from self._started(data)
            return
        yield from self.head.ensured()
        if kind.startswith("session."):
            yield from self._session(kind, data)
        elif kind.startswith(("tool.", "subagent.", "permission.")):
            yield from self._tool(kind, data)
        else:
            yield from self._spoken(kind, data, name_of(value.get("id")), side=bool(value.get("agentId")))

    def _spoken(self, kind: str, data: dict[str, Any], own: str, *, side: bool) -> Iterator[AnyEvent]:
        match kind:
            case "user.message":
                yield self.say.user(text_of(data.get("content")), own, injected=side or not _by_person(data))
            case "system.notification":
                yield self.say.user(text_of(data.get("content")), own, injected=True)
            case "assistant.message":
                yield from self._message(data, own)
            case "assistant.reasoning":
                yield self.say.reasoning(text_of(data.get("content")), name_of(data.get("reasoningId")))
            case "assistant.usage":
                yield from self._used(name_of(data.get("apiCallId")) or own, data, _usage(data))
            case "abort":
                yield self.say.boundary("interrupted", text(data.get("reason")))
            case _ if kind not in QUIET:
                yield self.say.unknown(kind or "record")

    def _started(self, data: dict[str, Any]) -> Iterator[AnyEvent]:
        context = mapping(data.get("context"))
        self._model = text(data.get("selectedModel"))
        self._output = {}
        yield from self.head.said(
            session=name_of(data.get("sessionId")),
            version=some_text(data.get("copilotVersion")),
            cwd=some_text(context.get("cwd")),
            branch=some_text(context.get("branch")),
            model=some_text(self._model),
        )

    def _session(self, kind: str, data: dict[str, Any]) -> Iterator[AnyEvent]:
        match kind:
            case "session.resume":
                self._output = {}
                yield self.say.boundary("resumed")
            case "session.model_change":
                yield from self._model_changed(data)
            case "session.error":
                yield self.say.boundary("error", text(data.get("message")))
            case _ if kind in _COMPACTED:
                yield self.say.boundary("compacted", text(data.get("summaryContent")))
            case "session.snapshot_rewind":
                yield self.say.boundary(
                    "rolled_back", f"{count(data.get('eventsRemoved')) or 0} events were taken back"
                )
            case "session.title_changed":
                yield from self.head.said(title=some_text(data.get("title")))
            case "session.handoff":
                yield self.say.boundary("forked", text(data.get("summary")))
            case "session.shutdown":
                yield from self._account(data)
            case _ if kind not in QUIET:
                yield self.say.unknown(kind)

    def _model_changed(self, data: dict[str, Any]) -> Iterator[AnyEvent]:
        before = text(data.get("previousModel")) or self._model
        self._model = text(data.get("newModel")) or self._model
        if before and before != self._model:
            yield self.say.boundary("model_changed", f"{before} -> {self._model}")

    def _message(self, data: dict[str, Any], own: str) -> Iterator[AnyEvent]:
        known = name_of(data.get("messageId")) or own
        thought, said, asked = text(data.get("reasoningText")), text_of(data.get("content")), data.get("toolRequests")
        sealed = bool(data.get("reasoningOpaque") or data.get("encryptedContent"))
        if thought or sealed or (count(data.get("outputTokens")) and not said and not asked):
            # a response that says nothing and was paid for has thought, and the log does not keep what
            yield self.say.reasoning(thought, known, known, encrypted=sealed and not thought)
        if said:
            yield self.say.assistant(said, known, known)
        for n, request in enumerate(objects(asked)):
            call = name_of(request.get("toolCallId")) or f"{known}#{n}"
            reason = some_text(request.get("intentionSummary"))
            given = parsed(request.get("arguments"))
            yield from self.say.intent(call, text(request.get("name")), given, request_id=known, reason=reason)
        if count(data.get("outputTokens")):
            request = name_of(data.get("apiCallId")) or known
            yield from self._used(request, data, Usage(output=count(data["outputTokens"]) or 0))

    def _used(self, request: str, data: dict[str, Any], usage: Usage) -> Iterator[AnyEvent]:
        model = some_text(data.get("model")) or some_text(self._model)
        told = self._output.setdefault(model or "", {})
        told[request] = max(told.get(request, 0), usage.output)
        yield from self.say.usage(request, usage, model=model)

    def _account(self, data: dict[str, Any]) -> Iterator[AnyEvent]:
        """What the run came to, less what its messages have told already."""
        self._runs += 1
        for model, metrics in _accounts(data):
            told = sum(self._output.get(model, {}).values())
            rest = metrics.model_copy(update={"output": max(metrics.output - told, 0)})
            if rest == Usage():
                continue
            yield from self.say.usage(f"run {self._runs} {model}", rest, model=model or None)
        self._output = {}

    def _tool(self, kind: str, data: dict[str, Any]) -> Iterator[AnyEvent]:
        call = name_of(data.get("toolCallId"))
        match kind:
            case "tool.execution_start" | "tool.user_requested":
                yield from self.say.intent(call, text(data.get("toolName")), parsed(data.get("arguments")))
            case "tool.execution_complete":
                result = result_of(data)
                if call in self.say.calls:
                    result.started_at = self.say.calls[call].notes.get("started")
                yield from self.say.result(call, result)
            case "subagent.started":
                yield self.say.spawned(
                    call,
                    call,
                    agent_type=some_text(data.get("agentName")),
                    description=some_text(data.get("agentDescription")) or some_text(data.get("agentDisplayName")),
                )
            case "permission.requested":
                self._asked[name_of(data.get("requestId"))] = name_of(at(data, "permissionRequest", "toolCallId"))
            case "permission.completed":
                yield from self._answered(data)
            case _ if kind not in QUIET:
                yield self.say.unknown(kind)

    def _answered(self, data: dict[str, Any]) -> Iterator[AnyEvent]:
        call = self._asked.pop(name_of(data.get("requestId")), "") or name_of(data.get("toolCallId"))
        kind = text(at(data, "result", "kind"))
        by = _decider(kind, text(data.get("decisionSource")))
        if kind.startswith("approved"):
            yield from self.say.answered(call, "allow", by, scope="session" if "session" in kind else "once")
        elif kind.startswith("denied"):
            yield from self.say.answered(call, "deny", by, some_text(at(data, "result", "feedback")))


def _decider(kind: str, source: str) -> Approver:
    if "hook" in kind or "hook" in source:
        return Approver(kind="rule", client="hook")
    ruled = "rule" in kind or "policy" in kind or (source and "human" not in source)
    return Approver(kind="rule" if ruled else "native_prompt")


def _by_person(data: dict[str, Any]) -> bool:
    # `parentAgentTaskId` is set for a person's messages too: it is there for telemetry
    return text(data.get("source")) in ("", "user") and data.get("isAutopilotContinuation") is not True


def _usage(data: dict[str, Any]) -> Usage:
    return Usage(
        input=count(data.get("inputTokens")) or 0,
        output=count(data.get("outputTokens")) or 0,
        cache_read=count(data.get("cacheReadTokens")) or 0,
        cache_write=count(data.get("cacheWriteTokens")) or 0,
        reasoning=count(data.get("reasoningTokens")) or 0,
    )


def _accounts(data: dict[str, Any]) -> Iterator[tuple[str, Usage]]:
    """(model, tokens) of a run; under its current model where it does not tell them apart."""
    by_model = {m: mapping(at(v, "usage")) for m, v in mapping(data.get("modelMetrics")).items()}
    if any(by_model.values()):
        yield from ((model, _usage(usage)) for model, usage in by_model.items() if usage)
        return
    details = mapping(data.get("tokenDetails"))
    if details:
        named = {name: count(at(details, name, "tokenCount")) or 0 for name in _DETAILS}
        yield text(data.get("currentModel")), Usage(**named)


_DETAILS = ("input", "output", "cache_read", "cache_write")


def _claims(sample: Sample) -> int:
    best = 0
    for n, value in enumerate(sample.records[:30]):
        row = mapping(value)
        kind = text(row.get("type"))
        if not isinstance(row.get("data"), dict):
            continue
        if kind == "session.start" and ("copilotVersion" in row["data"] or "producer" in row["data"]):
            return 96 if n == 0 else 92
        if "parentId" not in row:
            continue
        if kind in (
            "user.message",
            "assistant.message",
            "tool.execution_start",
            "tool.execution_complete",
            "session.start",
        ):
            best = max(best, 85)
        elif kind in QUIET or kind.startswith(("session.", "hook.", "subagent.")):
            best = max(best, 60)
    return best


FORMAT = Format(
    kind="copilot_cli",
    agent="GitHub Copilot CLI",
    framing=("lines", "document"),
    claims=_claims,
    adapter=CopilotAdapter,
)
