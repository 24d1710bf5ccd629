"""Qwen Code: an envelope like Claude Code's around messages like Gemini CLI's.

Promises: records of one uuid are one message; a record that goes on from an older one than the last opens a branch; a
rewind is a roll-back and what it took back stays told; a time that cannot be read is no time. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import UNRECORDED
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, objects, some_text, text
from interlock.runtime.sources.gemini.outcome import result_of

_QUIET = frozenset(
    [
        "slash_command",
        "ui_telemetry",
        "at_command",
        "attribution_snapshot",
        "notification",
        "background_task_completed",
        "session_notes",
        "session_source",
        "session_execution_engine",
        "omni_recall",
        "session_approval_mode",
        "agent_bootstrap",
        "agent_retry",
        "agent_session_ready",
        "file_history_snapshot",
        "user_text_elements",
        "session_artifact_event",
        "session_artifact_snapshot",
        "session_sources_snapshot",
        "branch_checkpoint",
        "goal_state",
        "goal_runtime",
        "goal_turn_end",
        "realtime_message",
        "turn_result",
        "managed_session_header_v1",
        "managed_session_event_v1",
        "managed_session_commit_v1",
        "cron",
        "mid_turn_user_message",
    ]
)
_INJECTED = frozenset(
    [
        "notification",
        "background_task_completed",
        "cron",
        "goal_runtime",
        "agent_launch_prompt",
        "agent_bootstrap",
        "agent_retry",
    ]
)


class QwenAdapter(RecordAdapter):
    """One session of Qwen Code."""

    kind = "qwen"
    agent = "Qwen Code"

    def __init__(self) -> None:
        super().__init__()
        self._last = ""
        self._seen: set[str] = set()
        self._model = ""

    def name(self, record: ForeignRecord) -> str:
        value = mapping(record.value)
        return f"{text(value.get('type')) or 'record'} {text(value.get('subtype'))}".strip()

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        kind, subtype = text(value.get("type")), text(value.get("subtype"))
        self.say.at(record, value.get("timestamp"))
        yield from self._placed(value, kind, subtype)
        match kind:
            case "user":
                yield from self._user(value, subtype)
            case "assistant":
                yield from self._answer(value)
            case "tool_result":
                yield from self._results(value)
            case "system":
                yield from self._system(value, subtype)
            case _:
                yield self.say.unknown(self.name(record))

    def _placed(self, value: dict[str, Any], kind: str, subtype: str) -> Iterator[AnyEvent]:
        """Of which session it is, and from where it goes on."""
        session, known = name_of(value.get("sessionId")), self.head.known.get("session")
        if known and session and session != known:
            yield self.say.boundary("resumed", f"the session goes on as {session}")
        changed = {} if known == session else {"cwd": some_text(value.get("cwd"))}
        yield from self.head.said(
            session=session,
            version=some_text(value.get("version")),
            branch=None if known == session else some_text(value.get("gitBranch")),
            **changed,
        )
        own, parent = name_of(value.get("uuid")), name_of(value.get("parentUuid"))
        before = self._last
        if own:
            self._last = own
        branched = before and own != before and parent != before and (parent in self._seen or not parent)
        if branched and subtype != "rewind":
            yield self.say.boundary("branch", f"goes on from {parent or 'the beginning'}, not from {before}")
        self._seen.add(own)

    def _user(self, value: dict[str, Any], subtype: str) -> Iterator[AnyEvent]:
        parts = _parts(value)
        if any("functionResponse" in part for part in parts):
            yield from self._results(value)
            return
        said = _text(parts) or text(at(value, "systemPayload", "displayText"))
        by_agent = subtype in _INJECTED or text(value.get("provenance")) in ("goal_control", "goal_runtime", "system")
        yield self.say.user(said, name_of(value.get("uuid")), injected=by_agent)

    def _answer(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        known = name_of(value.get("uuid"))
        for n, part in enumerate(_parts(value)):
            call = mapping(part.get("functionCall"))
            if part.get("thought") is True or isinstance(part.get("thought"), str):
                thought = part["thought"] if isinstance(part["thought"], str) else text(part.get("text"))
                yield self.say.reasoning(thought, known, known or None)
            elif call:
                call_id = name_of(call.get("id")) or f"{known}#{n}"
                reason = some_text(at(call, "args", "description"))
                yield from self.say.intent(
                    call_id, text(call.get("name")), call.get("args"), request_id=known, reason=reason
                )
            elif text(part.get("text")):
                yield self.say.assistant(text(part["text"]), known, known or None)
        yield from self._used(known, value)

    def _used(self, known: str, value: dict[str, Any]) -> Iterator[AnyEvent]:
        model = some_text(value.get("model"))
        before, self._model = self._model, model or self._model
        if before and model and before != model:
            yield self.say.boundary("model_changed", f"{before} -> {model}")
        usage = value.get("usageMetadata")
        if not isinstance(usage, dict):
            return
        used = Usage(
            input=count(usage.get("promptTokenCount")) or 0,
            output=count(usage.get("candidatesTokenCount")) or 0,
            cache_read=count(usage.get("cachedContentTokenCount")) or 0,
            reasoning=count(usage.get("thoughtsTokenCount")) or 0,
        )
        yield from self.say.usage(known, used, model=model)

    def _results(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        told = mapping(value.get("toolCallResult"))
        for part in _parts(value):
            response = mapping(part.get("functionResponse"))
            call = name_of(response.get("id")) or name_of(told.get("callId"))
            if not call:
                continue
            if self.say.intent_of(call) is None:
                name = text(response.get("name")) or "?"
                yield from self.say.intent(call, name, None, reason=UNRECORDED)
            if call in self.say.calls:
                yield from self._result(call, part, told)

    def _result(self, call: str, part: dict[str, Any], told: dict[str, Any]) -> Iterator[AnyEvent]:
        made = self.say.calls[call]
        status = text(told.get("status"))
        if not status:
            status = "error" if "error" in mapping(at(part, "functionResponse", "response")) else "success"
        display = told.get("resultDisplay")
        agent = some_text(at(display, "subagentName"))
        if agent:
            yield self.say.spawned(call, call, agent_type=agent, description=some_text(at(display, "taskDescription")))
        yield from self.say.result(call, result_of(made.tool, status, [part], display))

    def _system(self, value: dict[str, Any], subtype: str) -> Iterator[AnyEvent]:
        payload = mapping(value.get("systemPayload"))
        match subtype:
            case "custom_title":
                yield from self.head.said(title=some_text(payload.get("customTitle")))
            case "rewind":
                yield self.say.boundary(
                    "rolled_back", f"the conversation was taken back to {name_of(payload.get('targetUuid'))}"
                )
            case "chat_compression":
                yield self.say.boundary("compacted")
            case "parent_session":
                parent = name_of(payload.get("parentSessionId")) or name_of(payload.get("sessionId"))
                yield from self.head.said(parent=parent or None)
            case "session_model":
                self._model = text(payload.get("model")) or self._model
            case _ if subtype not in _QUIET:
                yield self.say.unknown(f"system {subtype}")


def _parts(value: dict[str, Any]) -> list[dict[str, Any]]:
    message = mapping(value.get("message"))
    return objects(message.get("parts"))


def _text(parts: list[dict[str, Any]]) -> str:
    return "\n".join(text(part.get("text")) for part in parts if text(part.get("text")))


def _claims(sample: Sample) -> int:
    best = 0
    for value in sample.records[:30]:
        row = mapping(value)
        if "uuid" not in row or "sessionId" not in row:
            continue
        if isinstance(at(row, "message", "parts"), list):
            return 97
        if text(row.get("type")) == "system" and "systemPayload" in row:
            best = max(best, 90)
    return best


def places(home: Path | None = None) -> tuple[tuple[Path, str], ...]:
    """(folder, pattern of its logs)."""
    return (((home or Path.home()) / ".qwen" / "projects", "*/chats/*.jsonl"),)


FORMAT = Format(kind="qwen", agent="Qwen Code", framing=("lines", "document"), claims=_claims, adapter=QwenAdapter)
