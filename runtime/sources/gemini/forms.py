"""Other forms in which Gemini CLI writes a conversation: saved checkpoints, which are what the model was given, and the
stream of `--output-format stream-json`.

Promises: a checkpoint that is saved again tells what is new in it; responses without ids go to the oldest open call of
their tool; pieces of one answer are one message. A checkpoint carries no times and no tokens. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.base import SessionHead
from interlock.runtime.sources.foreign.narrator import Narrator, Result, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, objects, some_text, text
from interlock.runtime.sources.gemini.outcome import outcome_of, response_text, result_of
from interlock.runtime.sources.gemini.sign import without_sign

INJECTED = (
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context",
    "System: Please continue.",
    "<hook_context>",
    "<state_snapshot>",
    "<state_checkpoint>",
)
"""How texts begin that the agent puts in the person's place."""
_STREAM = ("init", "message", "tool_use", "tool_result", "error", "result")


def contents_of(value: Any) -> list[dict[str, Any]]:
    """The contents that a checkpoint holds; empty: it is none."""
    rows = value if isinstance(value, list) else None
    for name in ("clientHistory", "history"):
        rows = rows if rows is not None else mapping(value).get(name)
    found = objects(rows)
    fits = all(row.get("role") in ("user", "model") and isinstance(row.get("parts"), list) for row in found[:10])
    return found if fits else []


def is_streamed(value: dict[str, Any]) -> bool:
    """Whether this is a line of the stream."""
    kind = value.get("type")
    if kind not in _STREAM or "id" in value or "uuid" in value:
        return False
    return bool(value.keys() & {"session_id", "role", "tool_id", "stats", "severity"})


def claims_streamed(value: dict[str, Any]) -> int:
    """How sure it is that the line is one of Gemini's."""
    if value.get("type") == "init" and "session_id" in value and "model" in value and "subtype" not in value:
        return 75
    return 70 if value.get("type") in ("tool_use", "tool_result") and "tool_id" in value else 0


class Checkpoint:
    """What a saved conversation tells."""

    def __init__(self, say: Narrator, head: SessionHead) -> None:
        self._say = say
        self._head = head
        self._told = 0

    def events(self, rows: list[dict[str, Any]]) -> Iterator[AnyEvent]:
        """What is new in it since it was given last."""
        yield from self._head.ensured()
        if len(rows) < self._told:
            yield self._say.boundary("rolled_back", f"{self._told - len(rows)} messages were taken back")
            self._told = len(rows)
        for n in range(self._told, len(rows)):
            known = f"content {n + 1}"
            parts = objects(rows[n].get("parts"))
            match rows[n].get("role"):
                case "user":
                    yield from self._user(known, parts)
                case "model":
                    yield from self._model(known, parts)
                case role:
                    yield self._say.unknown(text(role) or "content", "unknown role")
        self._told = len(rows)
        yield self._say.record("checkpoint")

    def _user(self, known: str, parts: list[dict[str, Any]]) -> Iterator[AnyEvent]:
        for part in parts:
            answer = part.get("functionResponse")
            if isinstance(answer, dict):
                yield from self._answered(known, answer, part)
        said = "\n".join(words for part in parts if (words := _words(part)))
        if said:
            yield self._say.user(said, known, injected=said.lstrip().startswith(INJECTED))

    def _answered(self, known: str, answer: dict[str, Any], part: dict[str, Any]) -> Iterator[AnyEvent]:
        call, tool = name_of(answer.get("id")), text(answer.get("name"))
        if call not in self._say.calls:
            fitting = (key for key, open_call in self._say.calls.items() if open_call.tool == tool)
            call = next(fitting, call or f"{known} {tool}")
        _, failed = response_text([part])
        yield from self._say.result(call, result_of(tool, "error" if failed else "success", [part], None))

    def _model(self, known: str, parts: list[dict[str, Any]]) -> Iterator[AnyEvent]:
        for part in parts:
            if part.get("thought") is True and text(part.get("text")):
                yield self._say.reasoning(text(part["text"]), known, known)
        said = "".join(text(part.get("text")) for part in parts if part.get("thought") is not True)
        if said:
            yield self._say.assistant(said, known, known)
        for n, part in enumerate(parts):
            call = part.get("functionCall")
            if isinstance(call, dict):
                own = name_of(call.get("id")) or f"{known}#{n}"
                yield from self._say.intent(
                    own, text(call.get("name")), without_sign(call.get("args")), request_id=known
                )


class Stream:
    """What the lines of the stream tell."""

    def __init__(self, say: Narrator, head: SessionHead) -> None:
        self._say = say
        self._head = head
        self._pieces: list[str] = []
        self._model = ""
        self._runs = 0

    def events(self, record: ForeignRecord, value: dict[str, Any]) -> Iterator[AnyEvent]:
        """What one line tells."""
        kind = text(value.get("type"))
        if not (kind == "message" and value.get("delta") is True):
            yield from self.held()
        self._say.at(record, value.get("timestamp"))
        if kind == "init":
            self._model = text(value.get("model"))
            yield from self._head.said(session=name_of(value.get("session_id")), model=some_text(self._model))
            return
        yield from self._head.ensured()
        match kind:
            case "message":
                yield from self._message(value)
            case "tool_use":
                call, tool = name_of(value.get("tool_id")), text(value.get("tool_name"))
                yield from self._say.intent(call, tool, value.get("parameters"))
            case "tool_result":
                yield from self._say.result(name_of(value.get("tool_id")), _result(value))
            case "error":
                if value.get("severity") != "warning":
                    yield self._say.boundary("error", text(value.get("message")))
            case _:
                yield from self._over(value)

    def held(self) -> Iterator[AnyEvent]:
        """The answer whose pieces came until now."""
        said, self._pieces = "".join(self._pieces), []
        if said:
            yield self._say.assistant(said)

    def _message(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        said = text_of(value.get("content"))
        if value.get("role") == "user":
            yield self._say.user(said, injected=said.lstrip().startswith(INJECTED))
        elif value.get("delta") is True:
            self._pieces.append(said)
        elif said:
            yield self._say.assistant(said)

    def _over(self, value: dict[str, Any]) -> Iterator[AnyEvent]:
        self._runs += 1
        stats = mapping(value.get("stats"))
        models = mapping(stats.get("models")) or {self._model: stats}
        for model, told in models.items():
            used = Usage(
                input=count(at(told, "input_tokens")) or 0,
                output=count(at(told, "output_tokens")) or 0,
                cache_read=count(at(told, "cached")) or 0,
            )
            if used != Usage():
                yield from self._say.usage(f"run {self._runs} {model}", used, model=str(model) or None)
        if value.get("status") == "error":
            yield self._say.boundary("error", text(at(value, "error", "message")))


def _result(value: dict[str, Any]) -> Result:
    said = text_of(value.get("output")) or text(at(value, "error", "message"))
    outcome, code = outcome_of(text(value.get("status")), said, value.get("status") == "error")
    return Result(outcome, text=said, code=code)


def _words(part: dict[str, Any]) -> str:
    if "functionResponse" in part or part.get("thought") is True:
        return ""
    kind = next((name for name in ("inlineData", "fileData") if name in part), "")
    return f"[{text(at(part, kind, 'mimeType')) or kind}]" if kind else text(part.get("text"))
