"""Records of Kimi's wire log -> events.

Promises: a prompt that stands in the log as turn and as message is one turn; the approval, which stands before its call,
is told behind it; the account of usage is counted, and what a step says of the same response is not counted beside it.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, some_text, text
from interlock.runtime.sources.kimi.context import Context, is_mark, is_message
from interlock.runtime.sources.kimi.older import OlderKimi
from interlock.runtime.sources.kimi.outcome import agents_in, result_of

_QUIET = frozenset(
    (
        "tools.set_active_tools",
        "tools.register_user_tool",
        "tools.unregister_user_tool",
        "tools.update_store",
        "llm.tools_snapshot",
        "mcp.tools_discovered",
        "permission.set_mode",
        "plan_mode.enter",
        "plan_mode.exit",
        "plan_mode.cancel",
        "swarm_mode.enter",
        "swarm_mode.exit",
        "full_compaction.begin",
        "full_compaction.complete",
        "full_compaction.cancel",
        "micro_compaction.apply",
        "goal.create",
        "goal.update",
        "goal.clear",
    )
)
_PERSONS = ("user", "plugin_command", "shell_command", "")


class KimiAdapter(RecordAdapter):
    """The wire log of one agent of one session."""

    kind = "kimi"
    agent = "Kimi CLI"

    def __init__(self) -> None:
        super().__init__()
        self._prompts: list[str] = []
        """Texts of turns whose message has not come yet."""
        self._approvals: dict[str, dict[str, Any]] = {}
        self._keys: dict[str, str] = {}
        """Call id of the log -> key of the call: the log can number its calls anew."""
        self._step = ""
        self._stepped: tuple[str, Usage, str] | None = None
        """(step, usage, why it ended) of a step whose account has not come yet."""
        self._model = ""
        self._accounts = 0
        self._older = OlderKimi(self.say)
        self._context = Context(self.say)

    def name(self, record: ForeignRecord) -> str:
        kind = text(mapping(record.value).get("type")) or text(mapping(record.value).get("role")) or "record"
        inner = text(at(record.value, "event", "type")) or text(at(record.value, "message", "type"))
        return f"{kind} {inner}".strip()

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        kind = text(value.get("type"))
        self.say.at(record, value.get("time", value.get("created_at")))
        match kind:
            case "metadata":
                if self.head.known.get("told"):
                    yield self.say.boundary("resumed")
                yield from self.head.said(
                    version=some_text(value.get("app_version")), session=name_of(value.get("session_id"))
                )
                return
            case "config.update":
                yield from self._config(value)
                return
        yield from self.head.ensured()
        if is_message(value):
            yield from self._context.events(value)
            return
        if not kind and isinstance(value.get("message"), dict):
            self.say.at(record, value.get("timestamp"))
            yield from self._older.events(value["message"])
            return
        match kind:
            case "turn.prompt" | "turn.steer":
                yield from self._prompted(value)
            case "context.append_message":
                yield from self._message(mapping(value.get("message")))
            case "context.append_loop_event":
                yield from self._looped(mapping(value.get("event")))
            case "llm.request":
                self._model = text(value.get("modelAlias")) or text(value.get("model")) or self._model
            case "usage.record":
                yield from self._account(value)
            case "permission.record_approval_result":
                yield from self._approved(value)
            case _:
                yield from self._bounded(kind, value)

    def end(self) -> Iterator[AnyEvent]:
        yield from self._unaccounted()

    def _bounded(self, kind: str, value: dict[str, Any]) -> Iterator[AnyEvent]:
        match kind:
            case "context.apply_compaction":
                yield self.say.boundary("compacted", text(value.get("summary")))
            case "context.clear":
                yield self.say.boundary("rolled_back", "the context was cleared")
            case "context.undo":
                yield self.say.boundary("rolled_back", f"{count(value.get('count')) or 0} turns were taken back")
            case "turn.cancel":
                yield self.say.boundary("interrupted")
            case "forked":
                yield self.say.boundary("forked")
            case _ if kind not in _QUIET:
                yield self.say.unknown(kind or "record")

    def _config(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        model = text(value.get("modelAlias"))
        before, self._model = self._model, model or self._model
        changed = bool(before and model and before != model)
        yield from self.head.said(cwd=some_text(value.get("cwd")), model=None if changed else some_text(model))
        if changed:
            yield self.say.boundary("model_changed", f"{before} -> {model}")

    def _prompted(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        said = text_of(value.get("input"))
        self._prompts.append(said)
        yield self.say.user(said, injected=not _by_person(mapping(value.get("origin"))))

    def _message(self, message: dict[str, Any]) -> Iterator[AnyEvent]:
        said = text_of(message.get("content"))
        if said in self._prompts:
            self._prompts.remove(said)
        elif text(message.get("role")) == "user":
            yield self.say.user(said, injected=not _by_person(mapping(message.get("origin"))))
        elif text(message.get("role")) == "assistant" and said:
            yield self.say.assistant(said)

    def _looped(self, event: dict[str, Any]) -> Iterator[AnyEvent]:
        step = name_of(event.get("stepUuid")) or self._step
        match text(event.get("type")):
            case "step.begin":
                yield from self._unaccounted()
                self._step = name_of(event.get("uuid"))
            case "content.part":
                yield from self._part(step, mapping(event.get("part")))
            case "tool.call":
                yield from self._called(step, event)
            case "tool.result":
                yield from self._ended(event)
            case "step.end":
                yield from self._unaccounted()
                usage = event.get("usage")
                if isinstance(usage, dict):
                    self._stepped = (name_of(event.get("uuid")) or step, _usage(usage), text(event.get("finishReason")))
            case kind if not kind.startswith(("step.", "tool.", "content.")):
                yield self.say.unknown(f"loop event {kind}")

    def _part(self, step: str, part: dict[str, Any]) -> Iterator[AnyEvent]:
        match text(part.get("type")):
            case "think":
                hidden = not text(part.get("think")) and bool(part.get("encrypted"))
                yield self.say.reasoning(text(part.get("think")), step, step or None, encrypted=hidden)
            case "text":
                yield self.say.assistant(text(part.get("text")), step, step or None)
            case _:
                pass

    def _called(self, step: str, event: dict[str, Any]) -> Iterator[AnyEvent]:
        own = name_of(event.get("toolCallId")) or name_of(event.get("uuid"))
        key = own if self.say.intent_of(own) is None else f"{own} {step}"
        self._keys[own] = key
        given = event.get("args")
        reason = some_text(event.get("description"))
        yield from self.say.intent(key, text(event.get("name")), given, request_id=step or None, reason=reason)
        yield from self._answer(key, self._approvals.get(own))

    def _approved(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        own = name_of(value.get("toolCallId"))
        self._approvals[own] = mapping(value.get("result"))
        if self._keys.get(own) in self.say.calls:
            yield from self._answer(self._keys[own], self._approvals[own])

    def _answer(self, key: str, result: dict[str, Any] | None) -> Iterator[AnyEvent]:
        decision = text(at(result, "decision"))
        if decision not in ("approved", "rejected"):
            return
        verb = "allow" if decision == "approved" else "deny"
        scope = "session" if text(at(result, "scope")) == "session" else "once"
        said = some_text(at(result, "feedback")) or some_text(at(result, "selectedLabel"))
        yield from self.say.answered(key, verb, Approver(kind="native_prompt"), said, scope=scope)

    def _ended(self, event: dict[str, Any]) -> Iterator[AnyEvent]:
        own = name_of(event.get("toolCallId")) or name_of(event.get("parentUuid"))
        key = self._keys.get(own, own)
        decision = text(at(self._approvals.pop(own, None), "decision"))
        made = self.say.calls.get(key)
        result = result_of(event.get("result"), decision)
        if made is not None and made.tool.startswith(("Agent", "Task")):
            for child, kind in agents_in(result.text):
                yield self.say.spawned(
                    key, child, agent_type=kind, description=some_text(at(made.input, "description"))
                )
        yield from self.say.result(key, result)

    def _account(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        usage, model = _usage(mapping(value.get("usage"))), some_text(value.get("model"))
        stepped, self._stepped = self._stepped, None
        if stepped is not None and stepped[1] == usage:
            yield from self._used(stepped[0], usage, model, stepped[2])
            return
        self._stepped = stepped
        self._accounts += 1
        yield from self._used(f"usage {self._accounts}", usage, model, "")

    def _unaccounted(self) -> Iterator[AnyEvent]:
        """A step that ended and of which no account came."""
        stepped, self._stepped = self._stepped, None
        if stepped is not None:
            yield from self._used(stepped[0], stepped[1], some_text(self._model), stepped[2])

    def _used(self, request: str, usage: Usage, model: str | None, stop: str) -> Iterator[AnyEvent]:
        yield from self.say.usage(request, usage, model=model, stop_reason=stop)


def _usage(usage: dict[str, Any]) -> Usage:
    return Usage(
        input=count(usage.get("inputOther")) or 0,
        output=count(usage.get("output")) or 0,
        cache_read=count(usage.get("inputCacheRead")) or 0,
        cache_write=count(usage.get("inputCacheCreation")) or 0,
    )


def _by_person(origin: dict[str, Any]) -> bool:
    kind = text(origin.get("kind"))
    return kind in _PERSONS or (kind == "skill_activation" and text(origin.get("trigger")).startswith("user"))


def _claims(sample: Sample) -> int:
    best = 0
    for n, value in enumerate(sample.records[:20]):
        kind = text(mapping(value).get("type"))
        if kind == "metadata" and "protocol_version" in value:
            return 92 if n == 0 else 80
        if kind in (
            "context.append_loop_event",
            "context.append_message",
            "turn.prompt",
            "permission.record_approval_result",
        ):
            best = max(best, 85)
        best = max(best, 80 if is_mark(value) else 0)
        message = mapping(mapping(value).get("message"))
        if text(message.get("type")) in ("TurnBegin", "StepBegin") and "payload" in message:
            best = max(best, 85)
    return best


FORMAT = Format(kind="kimi", agent="Kimi CLI", framing=("lines", "document"), claims=_claims, adapter=KimiAdapter)
