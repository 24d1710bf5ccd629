"""Frames of the Agent Client Protocol -> events.

Promises: chunks of one text are joined and told once, when something else comes; options of a permission are read by
kind, never by id; ids of requests of the two directions, which collide, are told apart by what the frames are; a
permission request can be the first that tells of a call. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.acp.call import input_of, result_of, tool_of
from interlock.runtime.sources.acp.frame import METHODS, claims, frame_of
from interlock.runtime.sources.foreign.adapter import Format
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, count, mapping, name_of, number, objects, some_text, text

_CHUNKS = {"agent_message_chunk": "agent", "agent_thought_chunk": "thought", "user_message_chunk": "user"}
_QUIET = ("plan", "available_commands_update", "current_mode_update", "usage_update", "config_option_update")


class AcpAdapter(RecordAdapter):
    """One recorded connection."""

    kind = "acp"
    agent = "ACP agent"

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[str] = []
        self._speaker = ("", "")
        """(who speaks, message id) of the chunks that are held."""
        self._reply = 0
        self._in_reply = False
        self._message_id = ""
        self._calls: dict[str, dict[str, Any]] = {}
        """Call id -> what was told of it so far."""
        self._requests: dict[str, tuple[str, dict[str, str]]] = {}
        """Id of a permission request -> (call id, option id -> kind)."""
        self._turned: dict[str, Outcome] = {}
        self._cost = 0.0
        self._mode_loading = False

    def name(self, record: ForeignRecord) -> str:
        frame, _ = frame_of(record.value)
        method = text(frame.get("method"))
        update = text(at(frame, "params", "update", "sessionUpdate"))
        return f"{method} {update}".strip() or ("response" if "result" in frame or "error" in frame else "frame")

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        frame, when = frame_of(record.value)
        self.say.at(record, when)
        method, params = text(frame.get("method")), mapping(frame.get("params"))
        if method == "session/update":
            yield from self._updated(params)
        elif method:
            yield from self._flush()
            yield from self._method(method, params, frame)
        elif isinstance(frame.get("result"), dict):
            yield from self._flush()
            yield from self._responded(name_of(frame.get("id")), frame["result"])
        elif isinstance(frame.get("error"), dict):
            yield self.say.boundary("error", text(frame["error"].get("message")))
        elif not frame:
            yield self.say.unknown("record", "no frame of the protocol")

    def end(self) -> Iterator[AnyEvent]:
        yield from self._flush()
        for call_id, call in self._calls.items():
            if self.say.intent_of(call_id) is None:
                yield from self._intent(call_id, call)
        yield from self._settled()

    def _method(self, method: str, params: dict[str, Any], frame: dict[str, Any]) -> Iterator[AnyEvent]:
        match method:
            case "initialize" | "authenticate":
                return
            case "session/new":
                self.head.learned(cwd=text(params.get("cwd")))
            case "session/load" | "session/resume":
                self._mode_loading = True
                yield from self.head.said(session=name_of(params.get("sessionId")), cwd=text(params.get("cwd")))
                yield self.say.boundary("resumed")
            case "session/fork":
                yield self.say.boundary("forked", name_of(params.get("sessionId")))
            case "session/prompt":
                self._mode_loading = False
                self._next_reply()
                yield from self.head.said(session=name_of(params.get("sessionId")))
                yield self.say.user(_prompt(params.get("prompt")))
            case "session/request_permission":
                yield from self._asked(params, name_of(frame.get("id")))
            case "session/cancel" | "$/cancel_request":
                yield self.say.boundary("interrupted")
            case _ if not method.startswith((*METHODS, "_")):
                yield self.say.unknown(method)

    def _responded(self, request: str, result: dict[str, Any]) -> Iterator[AnyEvent]:
        if isinstance(result.get("outcome"), dict):
            yield from self._answered(request, result["outcome"])
        elif isinstance(result.get("agentInfo"), dict):
            info = result["agentInfo"]
            self.head.agent = text(info.get("title")) or text(info.get("name")) or self.agent
            self.head.learned(version=text(info.get("version")))
        elif "sessionId" in result:
            model = some_text(at(result, "models", "currentModelId"))
            yield from self.head.said(session=name_of(result["sessionId"]), model=model)
        elif "stopReason" in result:
            yield from self._stopped(result)

    def _settled(self) -> Iterator[AnyEvent]:
        """Calls that were refused and of which the agent said nothing more."""
        for call_id, outcome in self._turned.items():
            if call_id in self.say.calls:
                yield from self.say.result(call_id, Result(outcome))

    def _stopped(self, result: dict[str, Any]) -> Iterator[AnyEvent]:
        yield from self._settled()
        stop, usage = text(result["stopReason"]), mapping(result.get("usage"))
        used = Usage(
            input=count(usage.get("inputTokens")) or 0,
            output=count(usage.get("outputTokens")) or 0,
            cache_read=count(usage.get("cachedReadTokens")) or 0,
            cache_write=count(usage.get("cachedWriteTokens")) or 0,
            reasoning=count(usage.get("thoughtTokens")) or 0,
        )
        if used != Usage():
            yield from self.say.usage(f"turn {self._reply}", used, model=self.head.known.get("model"), stop_reason=stop)
        if stop == "cancelled":
            yield self.say.boundary("interrupted")
        elif stop not in ("end_turn", ""):
            yield self.say.boundary("error", stop)

    def _updated(self, params: dict[str, Any]) -> Iterator[AnyEvent]:
        update = mapping(params.get("update"))
        kind = text(update.get("sessionUpdate"))
        yield from self.head.said(session=name_of(params.get("sessionId")))
        if kind in _CHUNKS:
            yield from self._chunk(_CHUNKS[kind], update)
        elif kind in ("tool_call", "tool_call_update"):
            yield from self._flush()
            yield from self._called(update)
        elif kind == "session_info_update":
            yield from self.head.said(title=some_text(update.get("title")))
        elif kind in _QUIET:
            yield from self._costs(mapping(update.get("cost")))
        else:
            yield self.say.unknown(f"session/update {kind}")

    def _costs(self, cost: dict[str, Any]) -> Iterator[AnyEvent]:
        """The running total of the session's cost: told as what came to it."""
        total = number(cost.get("amount"))
        if total is None or total <= self._cost or text(cost.get("currency")) not in ("USD", ""):
            return
        yield from self.say.usage(
            f"cost {total}", Usage(), model=self.head.known.get("model"), cost_usd=round(total - self._cost, 9)
        )
        self._cost = total

    def _chunk(self, who: str, update: dict[str, Any]) -> Iterator[AnyEvent]:
        speaker = (who, name_of(update.get("messageId")))
        if speaker != self._speaker:
            yield from self._flush()
        self._speaker = speaker
        self._chunks.append(text_of(update.get("content")))
        if who != "user":
            self._in_reply = True

    def _flush(self) -> Iterator[AnyEvent]:
        """Tell the text whose chunks are held."""
        said, (who, known) = "".join(self._chunks), self._speaker
        self._chunks, self._speaker = [], ("", "")
        if not said:
            return
        if who == "user":
            self._next_reply()
            yield self.say.user(said, known, inherited=self._mode_loading)
            return
        if known:
            self._message_id = known
        own = known or self._reply_id()
        yield self.say.assistant(said, own, own) if who == "agent" else self.say.reasoning(said, own, own)

    def _reply_id(self) -> str:
        return self._message_id or f"reply {self._reply}"

    def _next_reply(self) -> None:
        self._reply += 1
        self._in_reply = False
        self._message_id = ""

    def _called(self, update: dict[str, Any]) -> Iterator[AnyEvent]:
        call_id = name_of(update.get("toolCallId"))
        call = self._merged(call_id, update)
        status = text(call.get("status"))
        if status not in ("", "pending") or call.get("rawInput") not in (None, {}, []):
            yield from self._intent(call_id, call)
        if status not in ("completed", "failed") or call_id not in self.say.calls:
            return
        yield from self.say.result(call_id, result_of(call, self._turned.get(call_id)))
        self._next_reply()

    def _merged(self, call_id: str, update: dict[str, Any]) -> dict[str, Any]:
        # an update carries only what changed; null says nothing
        call = self._calls.setdefault(call_id, {})
        call |= {name: value for name, value in update.items() if value is not None and value != {}}
        return call

    def _intent(self, call_id: str, call: dict[str, Any]) -> Iterator[AnyEvent]:
        given = input_of(call)
        reason = some_text(at(given, "description")) or some_text(at(given, "reason"))
        yield from self.say.intent(call_id, tool_of(call), given, request_id=self._reply_id(), reason=reason)

    def _asked(self, params: dict[str, Any], request: str) -> Iterator[AnyEvent]:
        asked = mapping(params.get("toolCall"))
        call_id = name_of(asked.get("toolCallId"))
        yield from self.head.said(session=name_of(params.get("sessionId")))
        yield from self._intent(call_id, self._merged(call_id, {k: v for k, v in asked.items() if k != "status"}))
        options = {name_of(o.get("optionId")): text(o.get("kind")) for o in objects(params.get("options"))}
        self._requests[request] = (call_id, options)

    def _answered(self, request: str, outcome: dict[str, Any]) -> Iterator[AnyEvent]:
        call_id, options = self._requests.pop(request, ("", {}))
        chosen = options.get(name_of(outcome.get("optionId")), "")
        person = Approver(kind="native_prompt")
        if text(outcome.get("outcome")) == "cancelled":
            self._turned[call_id] = "interrupted"
        elif chosen.startswith("reject"):
            self._turned[call_id] = "denied"
            yield from self.say.answered(
                call_id, "deny", person, scope="session" if chosen == "reject_always" else "once"
            )
        elif chosen.startswith("allow"):
            yield from self.say.answered(
                call_id, "allow", person, scope="session" if chosen == "allow_always" else "once"
            )


def _prompt(blocks: Any) -> str:
    said = []
    for block in objects(blocks):
        kind = text(block.get("type"))
        link = text(block.get("uri")) or text(at(block, "resource", "uri"))
        said.append(text_of(block) if kind == "text" else f"[{kind or 'content'}{' ' + link if link else ''}]")
    return "\n".join(said) or text_of(blocks)


FORMAT = Format(kind="acp", agent="ACP agent", framing=("lines",), claims=claims, adapter=AcpAdapter)
