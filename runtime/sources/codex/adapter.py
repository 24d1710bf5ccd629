"""A rollout, record by record.

Promises: what `interlock.runtime.sources.foreign.adapter` asks of an adapter, for every generation of rollouts from
0.40 to 0.171 and for the records without an envelope that came before; a record is looked at by its type alone, so that
files of several versions (each resume may be another) read as one session. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.calls import Calls
from interlock.runtime.sources.codex.events import EVENTS, Voice
from interlock.runtime.sources.codex.items import CALL_ITEMS, RESPONSES
from interlock.runtime.sources.codex.ledger import Ledger
from interlock.runtime.sources.codex.lineage import Lineage, sub_agent_of
from interlock.runtime.sources.codex.names import AGENT, ITEMS, KIND, QUIET_EVENTS, QUIET_ITEMS
from interlock.runtime.sources.codex.said import Said
from interlock.runtime.sources.codex.stream import is_streamed, streamed
from interlock.runtime.sources.foreign.base import RecordAdapter
from interlock.runtime.sources.foreign.narrator import version_in
from interlock.runtime.sources.foreign.record import ForeignRecord
from interlock.runtime.sources.foreign.shape import at, mapping, name_of, some_text, text


class CodexAdapter(RecordAdapter):
    """Turns one rollout into events."""

    kind = KIND
    agent = AGENT

    def __init__(self) -> None:
        super().__init__()
        self._lineage = Lineage()
        self._voice = Voice(self.say, self.head, Said(self.say), Calls(self.say), Ledger())
        self._copied = False
        """The last record was copied from another session's log."""

    def events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        """What one record tells."""
        try:
            yield from self._events(record)
        except RecursionError:
            yield self.say.unknown(self.name(record), "nested too deeply")

    def _events(self, record: ForeignRecord) -> Iterator[AnyEvent]:
        value = record.value
        if not isinstance(value, dict):
            yield self.say.unknown(type(value).__name__, "no object")
            return
        self.say.at(record, value.get("timestamp"))
        if is_streamed(value):
            yield from streamed(self._voice, value)
            return
        whole = value.get("items")
        if isinstance(value.get("session"), dict) and isinstance(whole, list):
            self.say.at(record, value["session"].get("timestamp"))
            yield from self._of_first_client(value["session"], whole)
            return
        kind, payload = _taken_apart(value)
        if kind == "session_meta" and payload is not None and not self.say.ts:
            self.say.at(record, payload.get("timestamp"))
        if payload is None:
            yield from self.head.ensured()
            yield self.say.unknown(kind or "record", "no payload" if kind else "no type")
            return
        if kind == "session_meta":
            yield from self._meta(payload)
            return
        yield from self.head.ensured()
        if self._lineage.owns(value, payload, self.say.ts):
            if self._copied:
                self._copied = False
                self._voice.ledger.own_from_here()
                yield from map(_as_inherited, self._voice.said.released())
            yield from self._own(kind, payload)
        else:
            self._copied = True
            yield from self._inherited(kind, payload)

    def _of_first_client(self, head: dict[str, Any], whole: list[Any]) -> Iterator[AnyEvent]:
        """The one document that the first client, written in TypeScript, kept a session in."""
        yield from self._meta(head)
        for item in whole:
            payload = mapping(item)
            if text(payload.get("type")) == "local_shell_call_output":
                payload = {**payload, "type": "function_call_output"}
            if text(payload.get("type")) in ITEMS:
                yield from self._own("response_item", payload)
            else:
                yield self.say.unknown(text(payload.get("type")) or "item", "unknown type")
        yield from self._voice.said.released()

    def end(self) -> Iterator[AnyEvent]:
        """What was held back."""
        yield from self._voice.said.released()
        yield from self._voice.calls.left_open()

    def name(self, record: ForeignRecord) -> str:
        """`event_msg/token_count` and the like."""
        value = mapping(record.value)
        kind, inner = text(value.get("type")), text(at(value, "payload", "type"))
        if not kind:
            return "session_meta" if "id" in value else text(value.get("record_type")) or "record"
        mark = " (copied)" if self._copied and kind != "session_meta" else ""
        return (f"{kind}/{inner}" if inner else kind) + mark

    def _meta(self, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        what = self._lineage.head(payload, self.say.ts)
        if what == "parent":
            self._copied = True
            if not self.head.known.get("parent"):
                yield from self.head.said(parent=self._lineage.parent)
                yield self.say.boundary("forked", f"from {self._lineage.parent}")
            return
        if what == "resumed":
            yield from self._voice.said.released()
            yield self.say.boundary("resumed", text(payload.get("originator")))
            before, version = self.head.known.get("version"), version_in(payload.get("cli_version"))
            if before and version and version != before:
                yield self.say.boundary("version_changed", f"{before} to {version}")
        yield from self.head.said(
            session=self._lineage.session,
            version=version_in(payload.get("cli_version")),
            cwd=some_text(payload.get("cwd")),
            branch=some_text(at(payload, "git", "branch")),
            parent=self._lineage.parent if what == "first" else None,
            title=sub_agent_of(payload) if what == "first" else None,
        )
        if what == "first" and name_of(payload.get("forked_from_id")):
            yield self.say.boundary("forked", f"from {name_of(payload['forked_from_id'])}")

    def _own(self, kind: str, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        if kind == "event_msg":
            yield from self._known(EVENTS, QUIET_EVENTS, kind, payload)
        elif kind == "response_item":
            yield from self._known(RESPONSES, QUIET_ITEMS, kind, payload)
        elif kind in _RECORDS:
            yield from _RECORDS[kind](self._voice, payload)
        else:
            yield self.say.unknown(kind)

    def _known(
        self,
        told: dict[str, Callable[..., Iterator[AnyEvent]]],
        quiet: frozenset[str],
        kind: str,
        payload: dict[str, Any],
    ) -> Iterator[AnyEvent]:
        inner = text(payload.get("type"))
        handler = told.get(inner)
        if handler is not None:
            yield from handler(self._voice, payload)
        elif inner not in quiet:
            yield self.say.unknown(f"{kind}/{inner}" if inner else kind)

    def _inherited(self, kind: str, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        """A record that was copied: its messages and tokens are told as such, its calls are the other session's."""
        inner = text(payload.get("type"))
        if kind == "turn_context":
            self._voice.model = text(payload.get("model")) or self._voice.model
        elif kind == "response_item" and inner in CALL_ITEMS:
            self._voice.calls.copied(name_of(payload.get("call_id")) or name_of(payload.get("id")))
        elif (kind, inner) in _COPIED or kind == "token_usage_record":
            handler = _RECORDS[kind] if kind in _RECORDS else (EVENTS if kind == "event_msg" else RESPONSES)[inner]
            told = handler(self._voice, payload)
            yield from (_as_inherited(event) for event in told if "inherited" in type(event).model_fields)


def _as_inherited(event: AnyEvent) -> AnyEvent:
    return event.model_copy(update={"inherited": True})


_COPIED = {
    ("event_msg", "user_message"),
    ("event_msg", "agent_message"),
    ("event_msg", "item_completed"),
    ("event_msg", "token_count"),
    ("response_item", "message"),
}


def _taken_apart(value: dict[str, Any]) -> tuple[str, dict[str, Any] | None]:
    """(type, payload); a record without an envelope is its own payload. No payload: not a record of Codex's."""
    kind, payload = text(value.get("type")), value.get("payload")
    if kind and isinstance(payload, dict):
        return kind, payload
    if payload is None and kind in ITEMS:
        return "response_item", value
    if (not kind and "id" in value and "timestamp" in value) or (kind == "session_meta" and "id" in value):
        return "session_meta", value
    if "record_type" in value:
        return "world_state", value
    return kind, None


def _context(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    model = text(payload.get("model"))
    if model and voice.model and model != voice.model:
        yield voice.say.boundary("model_changed", f"{voice.model} to {model}")
    elif model and not voice.model:
        yield from voice.head.said(model=model)
    voice.model = model or voice.model


def _compacted(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield from voice.compacted("record", text(payload.get("message")))


def _usage_record(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.usage(voice.ledger.recorded(payload.get("usage")), name_of(payload.get("response_id")))


def _quiet(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from ()


def _between_agents(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.between_agents(payload)


_RECORDS: dict[str, Callable[[Voice, dict[str, Any]], Iterator[AnyEvent]]] = {
    "turn_context": _context,
    "compacted": _compacted,
    "token_usage_record": _usage_record,
    "world_state": _quiet,
    "inter_agent_communication_metadata": _quiet,
    "inter_agent_communication": _between_agents,
}
