"""Records of Gemini CLI -> events.

Promises: identity by message id, whatever is written again; a message that a patch or a rewritten document no longer
holds stays told, and a boundary says that it was rolled back; a document given again tells only what is new in it.
Figures of tokens are those of the log: `input` there holds the cached ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.adapter import Format, Sample
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import UNRECORDED, Result, stamp, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import (
    at,
    count,
    mapping,
    name_of,
    objects,
    some_text,
    text,
)
from interlock.runtime.sources.gemini.forms import (
    INJECTED,
    Checkpoint,
    Stream,
    claims_streamed,
    contents_of,
    is_streamed,
)
from interlock.runtime.sources.gemini.outcome import OPEN, refusal, response_text, result_of
from interlock.runtime.sources.gemini.sign import without_sign

_MODEL = ("gemini", "model", "qwen")
_PLACE = re.compile(r"(?:Workspace Directories:\*\*\s*\n\s*- |working in the directory: )(/[^\n]*)")
"""Where the agent tells the model in which folder it works; no field of the log does."""
_NOTES = ("info", "warning", "error")


class GeminiAdapter(RecordAdapter):
    """One session of Gemini CLI."""

    kind = "gemini"
    agent = "Gemini CLI"

    def __init__(self) -> None:
        super().__init__()
        self._live: dict[str, None] = {}
        """Ids of the messages that the log holds now, in order."""
        self._told: dict[str, str] = {}
        """Id -> the text that was told of it."""
        self._thoughts: dict[str, int] = {}
        self._answers: dict[str, dict[str, Any]] = {}
        """Call id -> response that came before its call."""
        self._checkpoint = Checkpoint(self.say, self.head)
        self._stream = Stream(self.say, self.head)

    def name(self, record: ForeignRecord) -> str:
        value = mapping(record.value)
        for mark in ("$set", "$rewindTo"):
            if mark in value:
                return mark
        return text(value.get("type")) or ("document" if "messages" in value else "header")

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = mapping(record.value)
        contents = contents_of(record.value)
        if contents:
            yield from self._checkpoint.events(contents)
        elif is_streamed(value):
            yield from self._stream.events(record, value)
        elif "$rewindTo" in value:
            yield from self._rewound(name_of(value["$rewindTo"]))
        elif isinstance(value.get("$set"), dict):
            yield from self._patched(record, value["$set"])
        elif "sessionId" in value and "type" not in value:
            yield from self._whole(record, value)
        elif text(value.get("type")) in (*_MODEL, *_NOTES, "user"):
            yield from self._message(record, value)
        else:
            yield self.say.unknown(self.name(record))

    def end(self) -> Iterator[AnyEvent]:
        yield from self._stream.held()
        yield from self._late_answers()

    def _whole(self, record: ForeignRecord, value: dict[str, Any]) -> Iterator[AnyEvent]:
        """The header of a patch log, or the whole of a document."""
        self.say.at(record, value.get("startTime"))
        yield from self.head.said(session=name_of(value.get("sessionId")), title=some_text(value.get("summary")))
        if isinstance(value.get("messages"), list):
            yield from self._list(record, value["messages"])
        self.say.at(record, value.get("lastUpdated"))
        yield self.say.record("document" if "messages" in value else "header")

    def _patched(self, record: ForeignRecord, patch: dict[str, Any]) -> Iterator[AnyEvent]:
        self.say.at(record, patch.get("lastUpdated"))
        if "sessionId" in patch and self._live:
            yield self.say.boundary("resumed")
        yield from self.head.said(session=name_of(patch.get("sessionId")), title=some_text(patch.get("summary")))
        if isinstance(patch.get("messages"), list):
            yield from self._list(record, patch["messages"])
        self.say.at(record, patch.get("lastUpdated"))
        yield self.say.record(f"$set {', '.join(sorted(map(str, patch)))}"[:200])

    def _list(self, record: ForeignRecord, messages: list[Any]) -> Iterator[AnyEvent]:
        """The whole list of messages as it is now: tells what is new in it and what is gone."""
        rows = objects(messages)
        ids = [self._id(row, n) for n, row in enumerate(rows)]
        gone = [known for known in self._live if known not in set(ids)]
        if gone:
            compacted = any(_text(row).lstrip().startswith("<state_") for row in rows[:3])
            kind = "compacted" if compacted else "rolled_back"
            yield self.say.boundary(
                kind, f"{len(gone)} messages are no longer part of the conversation, from {gone[0]} on"
            )
        for known, row in zip(ids, rows, strict=True):
            yield from self._message(record, row, known)
        self._live = dict.fromkeys(ids)

    def _rewound(self, target: str) -> Iterator[AnyEvent]:
        ids = list(self._live)
        gone = ids[ids.index(target) :] if target in self._live else ids
        for known in gone:
            del self._live[known]
        yield self.say.boundary("rolled_back", f"{len(gone)} messages were taken back, from {target} on")

    def _id(self, row: dict[str, Any], place: int) -> str:
        return name_of(row.get("id")) or f"message {place + 1}"

    def _message(self, record: ForeignRecord, row: dict[str, Any], known: str = "") -> Iterator[AnyEvent]:
        self.say.at(record, row.get("timestamp"))
        yield from self.head.ensured()
        known = known or self._id(row, len(self._live))
        self._live[known] = None
        kind = text(row.get("type"))
        if kind == "user":
            yield from self._user(known, row)
        elif kind in _MODEL:
            yield from self._answer(record, known, row)
        elif kind in _NOTES:
            yield from self._note(known, kind, _text(row))
        else:
            yield self.say.unknown(kind or "message")

    def _note(self, known: str, kind: str, said: str) -> Iterator[AnyEvent]:
        if known in self._told:
            return
        self._told[known] = said
        if kind == "error":
            yield self.say.boundary("error", said)
        elif said.startswith("Request cancelled"):
            yield self.say.boundary("interrupted", said)
        else:
            yield self.say.record(kind)

    def _user(self, known: str, row: dict[str, Any]) -> Iterator[AnyEvent]:
        for part in objects(row.get("content")):
            answer = mapping(part.get("functionResponse"))
            call = name_of(answer.get("id"))
            if call and self.say.intent_of(call) is None:
                self._answers[call] = part
            elif call in self.say.calls:
                yield from self._answered(call, part)
        said = _text(row)
        if not said and _only_answers(row.get("content")):
            return
        if self._told.get(known) == said:
            return
        again = known in self._told
        self._told[known] = said
        if again:
            return
        injected = said.lstrip().startswith(INJECTED)
        place = _PLACE.search(said[:4000]) if injected else None
        if place and "cwd" not in self.head.known:
            yield from self.head.said(cwd=place[1].strip())
        yield self.say.user(said, known, injected=injected)

    def _answered(self, call: str, part: dict[str, Any]) -> Iterator[AnyEvent]:
        _, failed = response_text([part])
        tool = self.say.calls[call].tool
        yield from self.say.result(call, result_of(tool, "error" if failed else "success", [part], None))

    def _answer(self, record: ForeignRecord, known: str, row: dict[str, Any]) -> Iterator[AnyEvent]:
        """A message of the model; it comes again when its calls have ended."""
        calls = objects(row.get("toolCalls"))
        for call in calls:
            self._answers.pop(name_of(call.get("id")), None)
        if known not in self._told:
            yield from self._late_answers()
        yield from self._thinking(record, known, row)
        self.say.at(record, row.get("timestamp"))
        said = _text(row)
        if said and self._told.get(known) != said:
            yield self.say.assistant(said, known)
        self._told[known] = said
        for n, call in enumerate(calls):
            yield from self._call(record, known, row, call, n)
        self.say.at(record, row.get("timestamp"))
        yield from self._usage(known, row)

    def _thinking(self, record: ForeignRecord, known: str, row: dict[str, Any]) -> Iterator[AnyEvent]:
        thoughts = objects(row.get("thoughts"))
        for thought in thoughts[self._thoughts.get(known, 0) :]:
            self.say.at(record, thought.get("timestamp") or row.get("timestamp"))
            lines = [text(thought.get("subject")), text(thought.get("description"))]
            yield self.say.reasoning("\n".join(line for line in lines if line), known)
        self._thoughts[known] = max(len(thoughts), self._thoughts.get(known, 0))

    def _call(
        self, record: ForeignRecord, known: str, row: dict[str, Any], call: dict[str, Any], place: int
    ) -> Iterator[AnyEvent]:
        call_id = name_of(call.get("id")) or f"{known}#{place}"
        tool, status = text(call.get("name")), text(call.get("status"))
        self.say.at(record, row.get("timestamp"))
        reason = some_text(at(call, "args", "description"))
        yield from self.say.intent(call_id, tool, without_sign(call.get("args")), request_id=known, reason=reason)
        if status in OPEN or call_id not in self.say.calls:
            return
        self.say.at(record, call.get("timestamp") or row.get("timestamp"))
        display = call.get("resultDisplay")
        agent = some_text(call.get("agentId")) or some_text(at(display, "agentName"))
        if agent and (call.get("agentId") or at(display, "isSubagentProgress")):
            yield self.say.spawned(call_id, agent, agent_type=some_text(at(display, "agentName")))
        yield from self.say.result(call_id, result_of(tool, status, call.get("result"), display))

    def _usage(self, known: str, row: dict[str, Any]) -> Iterator[AnyEvent]:
        tokens = row.get("tokens")
        if not isinstance(tokens, dict):
            return
        used = Usage(
            input=count(tokens.get("input")) or 0,
            output=count(tokens.get("output")) or 0,
            cache_read=count(tokens.get("cached")) or 0,
            reasoning=count(tokens.get("thoughts")) or 0,
        )
        yield from self.say.usage(known, used, model=some_text(row.get("model")))

    def _late_answers(self) -> Iterator[AnyEvent]:
        """Responses whose calls the log never wrote: calls that a person refused through an editor."""
        waiting, self._answers = self._answers, {}
        for call, part in waiting.items():
            answer = mapping(part.get("functionResponse"))
            said, failed = response_text([part])
            tool = text(answer.get("name")) or "?"
            yield from self.say.intent(call, tool, None, reason=UNRECORDED)
            turned = refusal(said) if failed else None
            outcome, code = turned or (("failed", None) if failed else ("ok", None))
            yield from self.say.result(call, Result(outcome, text=said, code=code))


def _text(row: dict[str, Any]) -> str:
    content = row.get("content")
    if isinstance(content, list):
        parts = [
            part for part in content if not (isinstance(part, dict) and ({"functionResponse", "thought"} & part.keys()))
        ]
        return "\n".join(said for said in map(_part, parts) if said)
    return text_of(content)


def _part(part: Any) -> str:
    if isinstance(part, dict) and "text" not in part:
        kind = next((name for name in ("inlineData", "fileData", "functionCall") if name in part), "")
        return "" if kind == "functionCall" else f"[{text(at(part, kind, 'mimeType')) or kind}]" if kind else ""
    return text_of(part)


def _only_answers(content: Any) -> bool:
    parts = objects(content)
    return bool(parts) and all("functionResponse" in part for part in parts)


def _claims(sample: Sample) -> int:
    best = 0
    for value in sample.records[:20]:
        if sample.framing == "document" and contents_of(value):
            best = max(best, 70)
        if not isinstance(value, dict) or "uuid" in value:
            continue
        best = max(best, claims_streamed(value))
        if "sessionId" in value and "projectHash" in value:
            return 97
        if isinstance(value.get("$set"), dict) or "$rewindTo" in value:
            best = max(best, 60)
        if value.get("type") == "gemini" and stamp(value.get("timestamp")):
            best = max(best, 70)
        if "sessionId" in value and isinstance(value.get("messages"), list):
            speaks = any(at(row, "type") == "gemini" for row in value["messages"][:20])
            best = max(best, 60 if "startTime" in value else 50 if speaks else 0)
    return best


FORMAT = Format(
    kind="gemini",
    agent="Gemini CLI",
    framing=("lines", "document"),
    claims=_claims,
    adapter=GeminiAdapter,
)
