"""Claude Code's transcripts as our events, for versions 1.0.51 to 2.1.332.

Promises: a response that is written as several records is one message, its usage counted once; copies of a sub-agent's
messages in its parent's log are never counted; a text that no person wrote is told as injected; a denial, an interrupt
and a failure are three things; nothing raises on any record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.background import Background
from interlock.runtime.sources.claude_code.calls import Calls
from interlock.runtime.sources.claude_code.claim import claims
from interlock.runtime.sources.claude_code.identity import Identity, copied_from
from interlock.runtime.sources.claude_code.prompt import flat, is_injected, kind_of, spoken
from interlock.runtime.sources.claude_code.queue import Queue, Taken
from interlock.runtime.sources.claude_code.response import Responses
from interlock.runtime.sources.claude_code.tree import Tree
from interlock.runtime.sources.claude_code.vocabulary import (
    KEPT_ATTACHMENTS,
    KEPT_PROGRESS,
    KEPT_SYSTEM,
    KEPT_TYPES,
    SPAWNING,
    TITLES,
)
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.adapter import Format
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import stamp
from interlock.runtime.sources.foreign.record import ForeignRecord

_UUID_LENGTH = 36
_ERRORS = frozenset({"api_error", "error", "api_refusal"})

Record = dict[str, Any]


class ClaudeAdapter(RecordAdapter):
    """One transcript, of a session or of a sub-agent."""

    kind = "claude_code"
    agent = "Claude Code"

    def __init__(self) -> None:
        super().__init__()
        self.tree = Tree()
        self.identity = Identity(self.say, self.head)
        self.background = Background()
        self.responses = Responses(self.say)
        self.calls = Calls(self.say, self.background)
        self._compacted = False
        """A compaction was told and its summary has not come yet."""
        self._queue = Queue()
        self._taken = ""
        """A queued message that was told when it left the queue."""
        self._attachments = False
        """This version writes down the queued messages that it gives to the model."""
        self._handlers: dict[str, Callable[[Record], Iterator[AnyEvent]]] = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
            "progress": self._progress,
        }

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        """What the record tells."""
        value = record.value
        if not isinstance(value, dict):
            yield self.say.unknown(type(value).__name__, "no object")
            return
        if isinstance(value.get("loglines"), list):
            # the one document in which the web's sessions come
            for number, line in enumerate(shape.objects(value["loglines"])):
                yield from self._one(line if line.get("uuid") else {**line, "uuid": f"line {number}"})
            return
        yield from self._one(value)

    def _one(self, value: Record) -> Iterator[AnyEvent]:
        self.say.ts = stamp(value.get("timestamp"))
        yield from self.calls.next_record()
        kind = shape.text(value.get("type")) or _role(value)
        if kind != "queue-operation":
            yield from self._given(self._queue.passed())
        handler = self._handlers.get(kind)
        if handler is None:
            self._grown(value, message=False)
            yield from self._other(kind, value)
            return
        yield from self.identity.seen(value, side=_is_side(value))
        uuid = shape.text(value.get("uuid"))
        if len(uuid) == _UUID_LENGTH and uuid in self.tree:
            # a resume of some versions writes what is there once more
            yield self.say.record(f"{kind} (a repeat)")
            return
        yield from self._branched(kind, value)
        self._grown(value, message=kind in ("user", "assistant"))
        yield from self.identity.reached(uuid)
        yield from handler(value)

    def end(self) -> Iterator[AnyEvent]:
        """Agents whose calls have no result: that they were started is all that the log tells."""
        yield from self.head.ensured() if self.identity.sessions else ()
        yield from self._given(self._queue.settled())
        yield from self.calls.left_open()

    def name(self, record: ForeignRecord) -> str:
        """`type`, or `type/what it is about`."""
        value = shape.mapping(record.value)
        kind = shape.text(value.get("type"))
        field = {"attachment": "attachment", "progress": "data"}.get(kind)
        part = shape.at(value, field, "type") if field else value.get("subtype") or value.get("operation")
        return f"{kind}/{part}" if isinstance(part, str) and part else kind or "record"

    def _grown(self, value: Record, *, message: bool) -> None:
        uuid = shape.text(value.get("uuid"))
        if uuid and "parentUuid" in value:
            self.tree.add(uuid, shape.text(value.get("parentUuid")), message=message)
            if value.get("type") == "assistant":
                self.tree.settle(uuid, side=_is_side(value))

    def _branched(self, kind: str, value: Record) -> Iterator[AnyEvent]:
        side = _is_side(value)
        if kind != "user" or is_injected(value, side=False) or not self._is_prompt(value):
            return
        behind = self.tree.turns_back(shape.text(value.get("parentUuid")), side=side)
        if behind:
            word = "message" if behind == 1 else "messages"
            text = f"goes on from an earlier message; the {behind} {word} after it stand on another branch"
            yield self.say.boundary("branch", text)

    def _is_prompt(self, value: Record) -> bool:
        content = shape.at(value, "message", "content")
        if isinstance(content, list) and any(shape.at(block, "type") == "tool_result" for block in content):
            return False
        return any(kind_of(words) == "person" for words in spoken(content))

    def _user(self, value: Record) -> Iterator[AnyEvent]:
        message = value.get("message")
        content = message.get("content") if isinstance(message, dict) else message
        results = [b for b in shape.objects(content) if b.get("type") == "tool_result"]
        for block in results:
            structured = value.get("toolUseResult", value.get("tool_use_result")) if len(results) == 1 else None
            yield from self.calls.result(value, block, self.words(block), structured)
        texts = list(spoken(content))
        if texts and not results:
            yield from self._given(self._queue.spoken("\n".join(texts)))
        yield from self._said(value, texts)

    def words(self, block: Record) -> str:
        """What the model was given back of a call."""
        return flat(block.get("content"))

    def _said(self, value: Record, texts: list[str]) -> Iterator[AnyEvent]:
        uuid, inherited = shape.text(value.get("uuid")), bool(copied_from(value))
        if value.get("isCompactSummary") is True:
            if not self._compacted:
                yield self.say.boundary("compacted", "the conversation was summarised")
            self._compacted = False
        injected = is_injected(value, side=_is_side(value))
        person = [words for words in texts if not injected and kind_of(words) == "person"]
        for words in texts:
            if words not in person:
                yield from self._put_there(words, uuid, inherited=inherited)
        if person:
            self.calls.interrupted = False
            self.tree.settle(uuid, side=_is_side(value))
            yield self.say.user("\n".join(person), uuid, inherited=inherited)

    def _put_there(self, words: str, uuid: str, *, inherited: bool) -> Iterator[AnyEvent]:
        kind = kind_of(words)
        if kind == "interrupt" and not self.calls.interrupted and not inherited:
            yield self.say.boundary("interrupted", words)
            return
        if kind == "notification":
            yield from self.background.told(self.say, words)
        yield self.say.user(words, uuid, injected=True, inherited=inherited)

    def _assistant(self, value: Record) -> Iterator[AnyEvent]:
        for event in self.responses.told(value, self.calls):
            self.calls.interrupted = False
            yield event

    def _system(self, value: Record) -> Iterator[AnyEvent]:
        subtype = shape.text(value.get("subtype"))
        if subtype == "compact_boundary":
            self._compacted = True
            trigger = shape.text(shape.at(value, "compactMetadata", "trigger"))
            words = flat(value.get("content")) or "compacted"
            yield self.say.boundary("compacted", f"{words} ({trigger})" if trigger else words)
        elif subtype in _ERRORS:
            yield self.say.boundary("error", _error(value))
        elif subtype == "model_refusal_fallback":
            yield self.say.boundary("model_changed", flat(value.get("content")))
        elif subtype == "local_command":
            yield self.say.user(flat(value.get("content")), shape.text(value.get("uuid")), injected=True)
        elif subtype not in KEPT_SYSTEM:
            yield self.say.unknown(f"system/{subtype}")

    def _attachment(self, value: Record) -> Iterator[AnyEvent]:
        self._attachments = True
        told = shape.mapping(value.get("attachment"))
        kind = shape.text(told.get("type"))
        if kind == "queued_command":
            yield from self._queued(value, told)
        elif kind == "hook_permission_decision":
            yield from self.calls.decided(shape.text(told.get("toolUseID")), shape.text(told.get("decision")))
        elif kind == "task_status":
            task, status = shape.text(told.get("taskId")), shape.text(told.get("status"))
            yield from self.background.ended(self.say, task, status)
        elif kind not in KEPT_ATTACHMENTS:
            yield self.say.unknown(f"attachment/{kind}")

    def _queued(self, value: Record, told: Record) -> Iterator[AnyEvent]:
        words, taken, self._taken = flat(told.get("prompt")), self._taken, ""
        if not words or words == taken:
            return
        injected = is_injected(told, side=_is_side(value)) or kind_of(words) != "person"
        if injected:
            yield from self._put_there(words, shape.text(value.get("uuid")), inherited=False)
        else:
            yield self.say.user(words, shape.text(value.get("uuid")))

    def _progress(self, value: Record) -> Iterator[AnyEvent]:
        data = shape.mapping(value.get("data"))
        kind = shape.text(data.get("type"))
        if kind == "agent_progress":
            call_id = shape.text(value.get("parentToolUseID")) or shape.text(value.get("toolUseID"))
            yield from self.calls.spawned(call_id, shape.text(data.get("agentId")))
        elif kind not in KEPT_PROGRESS:
            yield self.say.unknown(f"progress/{kind}")

    def _other(self, kind: str, value: Record) -> Iterator[AnyEvent]:
        if kind in TITLES:
            yield from self.identity.titled(shape.text(value.get(TITLES[kind])), by_person=kind != "ai-title")
        elif kind == "summary":
            yield from self._summary(value)
        elif kind == "queue-operation":
            yield from self._queue_changed(value)
        elif kind == "cost-state":
            yield from self.responses.cost(value)
        elif kind == "result":
            yield from self.responses.result(value)
        elif kind in ("tool_use", "tool_result") and "message" not in value:
            yield from self.identity.seen(value, side=_is_side(value))
            yield from self.calls.bare(kind, value, flat(value.get("output", value.get("content"))))
        elif kind not in KEPT_TYPES:
            yield self.say.unknown(kind or "record", "unknown type" if kind else "no type")

    def _summary(self, value: Record) -> Iterator[AnyEvent]:
        leaf, title = shape.text(value.get("leafUuid")), shape.text(value.get("summary"))
        if leaf in self.tree:
            yield from self.identity.titled(title, by_person=False)
        elif leaf:
            self.identity.summarised(leaf, title)

    def _queue_changed(self, value: Record) -> Iterator[AnyEvent]:
        words = flat(value.get("content"))
        yield from self.background.told(self.say, words)
        yield from self._given(self._queue.changed(value.get("operation"), words, self.say.ts, self.say.origin))

    def _given(self, found: Iterator[Taken]) -> Iterator[AnyEvent]:
        """Messages that were given to the model between two calls; a version with attachments tells them there."""
        for taken in found:
            if not self._attachments:
                self._taken = taken.words
                now = self.say.ts, self.say.origin
                self.say.ts, self.say.origin = taken.ts, taken.origin
                yield self.say.user(taken.words)
                self.say.ts, self.say.origin = now


def _role(value: Record) -> str:
    """What a record without a type is, by the role of its message."""
    role = shape.text(shape.at(value, "message", "role"))
    return role if role in ("user", "assistant") else ""


def _is_side(value: Record) -> bool:
    return value.get("isSidechain") is True or isinstance(value.get("parent_tool_use_id"), str)


def _error(value: Record) -> str:
    error = value.get("error")
    words = next((w for name in ("formatted", "message") if (w := shape.text(shape.at(error, name)))), "")
    words = words or flat(value.get("content")) or flat(error) or shape.text(value.get("apiRefusalExplanation"))
    status, attempt = shape.count(shape.at(error, "status")), shape.count(value.get("retryAttempt"))
    parts = [f"error {status}" if status else "error", words]
    if attempt:
        parts.append(f"attempt {attempt} of {shape.count(value.get('maxRetries')) or '?'}")
    return ": ".join(part for part in parts if part)


FORMAT = Format(
    kind=ClaudeAdapter.kind,
    agent=ClaudeAdapter.agent,
    framing=("lines", "document"),
    claims=claims,
    adapter=ClaudeAdapter,
    spawning=SPAWNING,
)
"""Transcripts of Claude Code."""
