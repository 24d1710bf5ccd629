"""Records of opencode -> events: exports, rows of its database, and the events that it sends.

Promises: identity by message, part and call id, so that a part that is written again with more in it is told once; a
text is told when it is whole; a response is counted once, from its steps where it has some. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, number, objects, some_text, text
from interlock.runtime.sources.opencode.call import child_of, feedback, result_of
from interlock.runtime.sources.opencode.identity import Names

_VERSION = re.compile(r"\.\d+$")
_QUIET = ("retry", "step-start", "snapshot", "patch", "file", "agent", "subtask")
_STREAM = {"step_start", "step_finish", "tool_use", "text", "reasoning"}


@dataclass(slots=True)
class _Message:
    role: str = ""
    model: str | None = None
    at: Any = None
    """When it was made."""
    done: Any = None
    """When it was whole; None: not yet."""
    tokens: dict[str, Any] = field(default_factory=dict)
    cost: float | None = None
    steps: int = 0
    open_parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Part id -> part that is not whole yet."""
    summary: bool = False
    faulted: bool = False
    fault: dict[str, Any] = field(default_factory=dict)
    """The error that it ended with, until it is told."""
    stopped: bool = False
    """A call of it was interrupted."""


class OpencodeAdapter(RecordAdapter):
    """One session of opencode."""

    kind = "opencode"
    agent = "opencode"

    def __init__(self) -> None:
        super().__init__()
        self._messages: dict[str, _Message] = {}
        self._told: set[str] = set()
        """Ids of parts that were told."""
        self._parts_of_call: dict[str, str] = {}
        self._asked: dict[str, str] = {}
        """Id of a permission request -> key of its call."""
        self._spawned: set[str] = set()
        self._model = ""
        self._reverted = ""

    def name(self, record: ForeignRecord) -> str:
        value = mapping(record.value)
        kind = text(value.get("type")) or text(value.get("table")) or "export"
        inner = text(at(value, "data", "part", "type")) or text(at(value, "properties", "part", "type"))
        return f"{kind} {inner}".strip()

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        kind = _VERSION.sub("", text(value.get("type")))
        if isinstance(value.get("messages"), list):
            yield from self._export(value)
        elif "table" in value:
            yield from self._row(text(value["table"]), mapping(value.get("row")))
        elif kind in _STREAM and isinstance(value.get("part"), dict):
            yield from self._streamed(value, value["part"])
        elif kind == "error" and "sessionID" in value:
            self.dated(value.get("timestamp"))
            yield self.say.boundary(
                "error", text(at(value, "error", "data", "message")) or text(at(value, "error", "name"))
            )
        else:
            yield from self._sent(kind, mapping(value.get("properties", value.get("data"))))

    def end(self) -> Iterator[AnyEvent]:
        for known in list(self._messages):
            yield from self._flush(known)

    def _export(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        info = mapping(value.get("info"))
        yield from self._session(info)
        names = Names()
        for row in objects(value.get("messages")):
            head = names.one(mapping(row.get("info")) or row)
            yield from self._message(head)
            known = name_of(head.get("id"))
            for part in objects(row.get("parts")):
                yield from self._part(names.one(part), known)
            yield from self._flush(known)
        self.dated(at(info, "time", "updated"))
        yield self.say.record("export")

    def _row(self, table: str, row: dict[str, Any]) -> Iterator[AnyEvent]:
        if table == "session":
            yield from self._session(row)
        elif table == "message":
            yield from self._message(row)
        elif table == "part":
            yield from self._part(row, name_of(row.get("messageID")))
        else:
            yield self.say.unknown(table)

    def _streamed(self, value: dict[str, Any], part: dict[str, Any]) -> Iterator[AnyEvent]:
        self.dated(value.get("timestamp"))
        yield from self.head.said(session=name_of(value.get("sessionID")))
        known = name_of(part.get("messageID"))
        if known not in self._messages:
            self._messages[known] = _Message(role="assistant", at=value.get("timestamp"))
        yield from self._part(part, known, value.get("timestamp"))

    def _sent(self, kind: str, data: dict[str, Any]) -> Iterator[AnyEvent]:
        match kind:
            case "session.created" | "session.updated":
                yield from self._session(mapping(data.get("info")))
            case "message.updated":
                yield from self._message(mapping(data.get("info")))
            case "message.part.updated":
                part = mapping(data.get("part"))
                yield from self._part(part, name_of(part.get("messageID")), data.get("time"))
            case "message.removed" | "message.part.removed":
                gone = name_of(data.get("messageID"))
                yield self.say.boundary("rolled_back", f"{gone} was taken out of the conversation")
            case "session.error":
                yield self.say.boundary("error", text(at(data, "error", "data", "message")))
            case "session.compacted":
                yield self.say.boundary("compacted")
            case "permission.asked":
                self._asked[name_of(data.get("id"))] = name_of(at(data, "tool", "callID"))
            case "permission.replied":
                yield from self._replied(data)
            case _ if kind.partition(".")[0] in _KNOWN:
                return
            case _:
                yield self.say.unknown(kind or "record")

    def _replied(self, data: dict[str, Any]) -> Iterator[AnyEvent]:
        call = self._asked.get(name_of(data.get("requestID")), "")
        reply = text(data.get("reply"))
        if reply in ("once", "always", "reject"):
            scope = "session" if reply == "always" else "once"
            verb = "deny" if reply == "reject" else "allow"
            yield from self.say.answered(call, verb, Approver(kind="native_prompt"), scope=scope)

    def _session(self, info: dict[str, Any]) -> Iterator[AnyEvent]:
        self.dated(at(info, "time", "created"))
        yield from self.head.said(
            session=name_of(info.get("id")),
            version=text(info.get("version")),
            cwd=text(info.get("directory")),
            parent=some_text(info.get("parentID")),
            title=some_text(info.get("title")),
        )
        self.dated(at(info, "time", "updated"))
        reverted = name_of(at(info, "revert", "messageID"))
        if reverted and reverted != self._reverted:
            yield self.say.boundary("rolled_back", f"the conversation was taken back to before {reverted}")
        self._reverted = reverted

    def _message(self, info: dict[str, Any]) -> Iterator[AnyEvent]:
        known = name_of(info.get("id"))
        first = known not in self._messages
        if first:
            for earlier in [k for k, m in self._messages.items() if (m.role == "user" and m.open_parts) or m.fault]:
                yield from self._flush(earlier) if self._messages[earlier].role == "user" else self._fault(earlier)
        message = self._messages.setdefault(known, _Message())
        message.role = text(info.get("role")) or message.role
        message.at = at(info, "time", "created") or message.at
        message.done = at(info, "time", "completed") or message.done
        self.dated(message.done, message.at)
        yield from self.head.ensured()
        if message.role != "assistant":
            return
        message.model = some_text(info.get("modelID")) or some_text(at(info, "model", "modelID")) or message.model
        message.tokens = mapping(info.get("tokens")) or message.tokens
        message.cost = number(info.get("cost"))
        if first:
            yield from self._model_changed(message, text(info.get("providerID")))
        if info.get("summary") is True and not message.summary:
            message.summary = True
            yield self.say.boundary("compacted")
        message.fault = {} if message.faulted else mapping(info.get("error"))
        if message.done is not None and not first:
            yield from self._flush(known)

    def _model_changed(self, message: _Message, provider: str) -> Iterator[AnyEvent]:
        if not message.model or message.model == self._model:
            return
        before, self._model = self._model, message.model
        if before:
            yield self.say.boundary("model_changed", f"{before} -> {message.model} ({provider})")

    def _fault(self, known: str) -> Iterator[AnyEvent]:
        message = self._messages[known]
        error, message.fault = message.fault, {}
        if not error or message.faulted:
            return
        message.faulted = True
        name, said = text(error.get("name")), text(at(error, "data", "message"))
        if "Aborted" in name and message.stopped:
            # the same stop of the person's was told with the call that it interrupted
            return
        yield self.say.boundary("interrupted" if "Aborted" in name else "error", said or name)

    def _part(self, part: dict[str, Any], known: str, when: Any = None) -> Iterator[AnyEvent]:
        message = self._messages.setdefault(known, _Message())
        part_id = name_of(part.get("id")) or f"{known}#{len(message.open_parts)}"
        self.dated(at(part, "time", "start"), when, message.at)
        yield from self.head.ensured()
        match text(part.get("type")):
            case "text" | "reasoning" as kind:
                if message.role != "assistant" or at(part, "time", "end") is None:
                    if part_id not in self._told:
                        message.open_parts[part_id] = part
                else:
                    message.open_parts.pop(part_id, None)
                    yield from self._said(part_id, part, known, kind)
            case "tool":
                yield from self._tool(part_id, part, known, when)
            case "step-finish":
                yield from self._step(part_id, part, known, when)
            case "compaction":
                if part_id not in self._told:
                    self._told.add(part_id)
                    yield self.say.boundary("compacted")
            case "retry" if part_id not in self._told:
                self._told.add(part_id)
                yield self.say.boundary(
                    "error", text(at(part, "error", "data", "message")) or "the request was tried again"
                )
            case kind if kind not in _QUIET:
                yield self.say.unknown(f"part {kind}")

    def _said(self, part_id: str, part: dict[str, Any], known: str, kind: str) -> Iterator[AnyEvent]:
        if part_id in self._told:
            return
        self._told.add(part_id)
        said = text(part.get("text"))
        self.dated(at(part, "time", "end"), at(part, "time", "start"), self._messages[known].at)
        if kind == "reasoning":
            yield self.say.reasoning(said, known, known)
        elif said:
            yield self.say.assistant(said, known, known)

    def _tool(self, part_id: str, part: dict[str, Any], known: str, when: Any) -> Iterator[AnyEvent]:
        state = mapping(part.get("state"))
        status = text(state.get("status"))
        message = self._messages[known]
        if status == "pending":
            message.open_parts[part_id] = part
            return
        message.open_parts.pop(part_id, None)
        call = self._key(part_id, part)
        self.dated(at(state, "time", "start"), when, message.at)
        yield from self._intent(call, part, known)
        child = child_of(state)
        if child is not None and call not in self._spawned:
            self._spawned.add(call)
            yield self.say.spawned(call, child[0], agent_type=child[1], description=child[2])
        if status not in ("completed", "error") or call not in self.say.calls:
            return
        self.dated(at(state, "time", "end"), at(state, "time", "start"), when, message.at)
        result = result_of(state)
        said = feedback(result.text) if result.code is None and result.outcome == "denied" else None
        if said:
            yield from self.say.answered(call, "deny", Approver(kind="native_prompt"), said)
        message.stopped |= result.outcome == "interrupted"
        yield from self.say.result(call, result)

    def _intent(self, call: str, part: dict[str, Any], known: str) -> Iterator[AnyEvent]:
        given = at(part, "state", "input")
        reason = some_text(at(given, "description"))
        yield from self.say.intent(call, text(part.get("tool")), given, request_id=known or None, reason=reason)

    def _key(self, part_id: str, part: dict[str, Any]) -> str:
        # some providers number their calls anew in each response
        call = name_of(part.get("callID")) or part_id
        owner = self._parts_of_call.setdefault(call, part_id)
        return call if owner == part_id else f"{call} {part_id}"

    def _step(self, part_id: str, part: dict[str, Any], known: str, when: Any) -> Iterator[AnyEvent]:
        if part_id in self._told:
            return
        self._told.add(part_id)
        message = self._messages[known]
        message.steps += 1
        self.dated(when, message.done, message.at)
        request = known if message.steps == 1 else f"{known} {part_id}"
        yield from self._used(
            request, message, mapping(part.get("tokens")), number(part.get("cost")), text(part.get("reason"))
        )

    def _used(
        self, request: str, message: _Message, tokens: dict[str, Any], cost: float | None, reason: str
    ) -> Iterator[AnyEvent]:
        used = Usage(
            input=count(tokens.get("input")) or 0,
            output=count(tokens.get("output")) or 0,
            reasoning=count(tokens.get("reasoning")) or 0,
            cache_read=count(at(tokens, "cache", "read")) or 0,
            cache_write=count(at(tokens, "cache", "write")) or 0,
        )
        yield from self.say.usage(request, used, model=message.model, stop_reason=reason, cost_usd=cost)

    def _flush(self, known: str) -> Iterator[AnyEvent]:
        """The message is whole: tell what was held back of it."""
        message = self._messages.get(known)
        if message is None:
            return
        held, message.open_parts = message.open_parts, {}
        if message.role == "assistant":
            for part_id, part in held.items():
                if text(part.get("type")) == "tool":
                    self.dated(message.at)
                    yield from self._intent(self._key(part_id, part), part, known)
                else:
                    yield from self._said(part_id, part, known, text(part.get("type")))
            if not message.steps and any(isinstance(v, int) and v for v in message.tokens.values()):
                message.steps = 1
                self.dated(message.done, message.at)
                yield from self._used(known, message, message.tokens, message.cost, "")
            self.dated(message.done, message.at)
            yield from self._fault(known)
            return
        yield from self._asked_by_person(known, message, held)

    def _asked_by_person(self, known: str, message: _Message, held: dict[str, dict[str, Any]]) -> Iterator[AnyEvent]:
        self.dated(message.at)
        self._told |= held.keys()
        for made in (False, True):
            parts = [part for part in held.values() if (part.get("synthetic") is True) is made]
            said = "\n".join(text(part.get("text")) for part in parts if text(part.get("text")))
            if said:
                yield self.say.user(said, known, injected=made)


_KNOWN = frozenset(
    [
        "session",
        "message",
        "permission",
        "server",
        "file",
        "storage",
        "plugin",
        "catalog",
        "reference",
        "integration",
        "tui",
        "lsp",
        "mcp",
        "todo",
        "command",
        "installation",
        "ide",
        "project",
        "pty",
        "vcs",
        "worktree",
        "workspace",
        "question",
        "global",
        "models",
        "sync",
    ]
)
"""First words of events that tell nothing of the conversation."""
