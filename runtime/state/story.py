"""A session told in sentences, one an event that matters: `interlock replay`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from interlock.runtime.events.approver import APPROVER_WORDS
from interlock.runtime.events.foreign import AgentSpawned, ForeignDamaged, ForeignUnknown, SessionBoundary
from interlock.runtime.events.message import AssistantMessage, FinalAnswer, UserMessage
from interlock.runtime.events.permission import PermissionAnswered, PermissionClosed, ToolPermission
from interlock.runtime.events.session import JournalRepaired, SessionEnded, SessionStarted
from interlock.runtime.events.tool import InvocationCompleted, ToolIntent, ToolObservation, Verification
from interlock.runtime.events.union import DamagedLine, Decoded, UnknownEvent


def story(events: Iterable[Decoded]) -> Iterator[tuple[str, str]]:
    """(time stamp, sentence) for each event that a person would tell of. The text is as agents wrote it: escape it."""
    tools: dict[str, str] = {}
    for event in events:
        sentence = _sentence(event, tools)
        if sentence:
            yield getattr(event, "ts", ""), sentence


def _sentence(event: Decoded, tools: dict[str, str]) -> str | None:
    match event:
        case SessionStarted():
            return f"{event.agent.name} began in {event.cwd}"
        case UserMessage():
            return f"the person said: {event.text}" if not event.injected else None
        case AssistantMessage():
            return f"the agent said: {event.text}" if event.text else None
        case ToolIntent():
            tools[event.intent_id] = event.tool
            return f"{event.intent_id} wants {event.tool} {brief_input(event.raw_input)}"
        case ToolPermission():
            return _permission(event, tools)
        case PermissionAnswered():
            said = f" and said: {event.message}" if event.message else ""
            verb = "allowed" if event.answer == "allow" else "denied"
            return f"{event.intent_id} {verb} ({event.scope}) by {_who(event)}{said}"
        case PermissionClosed():
            return f"{event.intent_id} the question was closed: {event.cause}" + (
                f" ({event.message})" if event.message else ""
            )
        case InvocationCompleted():
            after = "" if event.duration_ms is None else f" after {event.duration_ms} ms"
            return f"{event.invocation_id} ended: {event.exit}" + _exit(event) + after
        case ToolObservation():
            return f"{event.intent_id} {'done' if event.ok else f'not done ({event.code})'}: {event.summary}"
        case Verification():
            return f"checked {event.goal} with {event.command!r}: {'passed' if event.passed else 'failed'}"
        case FinalAnswer():
            return f"evidence for the answer: {event.evidence.verdict}"
        case SessionEnded():
            return f"ended: {event.reason}" + (f" ({event.message})" if event.message else "")
        case JournalRepaired():
            return f"the journal was torn at byte {event.offset} ({event.torn_bytes} bytes) and closed off"
        case SessionBoundary():
            return event.kind.replace("_", " ") + (f": {event.text}" if event.text else "")
        case AgentSpawned():
            return f"{event.intent_id} started the agent {event.child}: {event.description or event.agent_type or ''}"
        case ForeignUnknown():
            return f"unknown record {event.record}: {event.reason}"
        case ForeignDamaged():
            return f"damaged record: {event.reason}"
        case UnknownEvent():
            return f"unknown record {event.type}: {event.reason}"
        case DamagedLine():
            return f"damaged line of {event.size} bytes: {event.reason}"
        case _:
            return None


def _permission(event: ToolPermission, tools: dict[str, str]) -> str:
    what = f"{event.intent_id} {tools.get(event.intent_id, event.tool or '')}"
    by = f" [{', '.join(event.policy_ids)}]" if event.policy_ids else ""
    verb = {"allow": "permitted", "ask": "waits for a person", "deny": "forbidden"}[event.decision]
    return f"{what} {verb} by {event.source}: {event.reason}{by}"


def _who(event: PermissionAnswered) -> str:
    by = event.by
    ids = ", ".join(f"{name} {value}" for name, value in (("uid", by.uid), ("pid", by.pid)) if value is not None)
    return APPROVER_WORDS.get(by.kind, by.kind) + (f" ({ids})" if ids else "")


def _exit(event: InvocationCompleted) -> str:
    if event.signal:
        return f", signal {event.signal}"
    return f", exit {event.exit_code}" if event.exit_code is not None else ""


_TELLING = (
    "command",
    "cmd",
    "path",
    "file_path",
    "filePath",
    "absolute_path",
    "pattern",
    "query",
    "url",
    "prompt",
    "id",
)


def brief_input(value: object, limit: int = 160) -> str:
    """The input of a call on one line: the one field that names it, else all of them."""
    if isinstance(value, dict):
        for name in _TELLING:
            told = value.get(name)
            if isinstance(told, str) or (isinstance(told, list) and all(isinstance(word, str) for word in told)):
                value = told if isinstance(told, str) else " ".join(told)
                break
    text = " ".join(str(value).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
