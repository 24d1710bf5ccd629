"""What each `event_msg` of a rollout tells. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.events.message import Usage
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.calls import Calls
from interlock.runtime.sources.codex.ledger import Ledger
from interlock.runtime.sources.codex.said import Said
from interlock.runtime.sources.codex.searches import search_key
from interlock.runtime.sources.foreign.base import SessionHead
from interlock.runtime.sources.foreign.narrator import Narrator, first_line, text_of
from interlock.runtime.sources.foreign.shape import at, count, items, mapping, name_of, some_text, text


@dataclass(slots=True)
class Voice:
    """All that a record can be told with."""

    say: Narrator
    head: SessionHead
    said: Said
    calls: Calls
    ledger: Ledger
    model: str = ""
    """The model that answers now."""
    responses: int = 0
    _compaction: set[str] = field(default_factory=set)
    """The channels that told of the last compaction, since which no response came."""

    def usage(self, usage: Usage | None, response_id: str = "") -> Iterator[AnyEvent]:
        """A response took tokens; None: nothing new."""
        yield from self.said.released()
        if usage is not None:
            self._compaction.clear()
            self.responses += 1
            yield from self.say.usage(response_id or f"response_{self.responses}", usage, model=self.model or None)

    def compacted(self, channel: str, words: str) -> Iterator[AnyEvent]:
        """The context was made shorter; a second channel that says so of the same time adds nothing."""
        if channel in self._compaction:
            self._compaction.clear()
        if not self._compaction:
            yield self.say.boundary("compacted", words)
        self._compaction.add(channel)

    def between_agents(self, payload: dict[str, Any]) -> Iterator[AnyEvent]:
        """An agent said something to another."""
        author, to = name_of(payload.get("author")), name_of(payload.get("recipient"))
        yield from self.said.injected(payload, f"{author} to {to}: " if author or to else "")


def _user_message(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.user_event("event", text_of(payload.get("message")))


def _agent_message(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield from voice.said.reply_event("event", text_of(payload.get("message")))


def _reasoning(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield from voice.said.thought_event("event", [text_of(payload.get("text"))])


def _token_count(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.usage(voice.ledger.counted(payload.get("info")))


def _exec_end(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    by_person = text(payload.get("source")) in ("user_shell", "userShell")
    yield from voice.calls.detail(
        name_of(payload.get("call_id")), payload, "user_shell" if by_person else "exec_command"
    )


def _patch_end(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.calls.detail(name_of(payload.get("call_id")), payload, "apply_patch")


def _mcp_end(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    server, tool = text(at(payload, "invocation", "server")), text(at(payload, "invocation", "tool"))
    yield from voice.calls.detail(name_of(payload.get("call_id")), payload, f"mcp__{server}__{tool}")


def _dynamic_end(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    tool = text(payload.get("tool")) or "dynamic_tool"
    yield from voice.calls.detail(name_of(payload.get("call_id")), payload, tool)


def _image_seen(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.calls.detail(name_of(payload.get("call_id")), payload, "view_image")


def _search_end(voice: Voice, payload: dict[str, Any], channel: str = "event") -> Iterator[AnyEvent]:
    action = mapping(payload.get("action")) or {"type": "search", "query": payload.get("query")}
    call_id = name_of(payload.get("call_id"))
    yield from voice.calls.single(channel, "web_search", call_id, search_key(action), action, "completed")


def _picture_end(voice: Voice, payload: dict[str, Any], channel: str = "event") -> Iterator[AnyEvent]:
    raw = {"prompt": payload.get("revised_prompt")}
    call_id, status = name_of(payload.get("call_id")), text(payload.get("status"))
    yield from voice.calls.single(channel, "image_generation", call_id, call_id, raw, status)


def _agent_spawned(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.calls.spawned(
        name_of(payload.get("call_id")),
        name_of(payload.get("new_thread_id")),
        some_text(payload.get("new_agent_role")),
        first_line(text(payload.get("prompt"))) or None,
    )


def _agent_activity(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    if text(payload.get("kind")).lower() in ("started", "spawned", "start"):
        call_id = name_of(payload.get("event_id")) or name_of(payload.get("id"))
        child = name_of(payload.get("agent_thread_id")) or text(payload.get("agent_path"))
        yield from voice.calls.spawned(call_id, child, None, some_text(payload.get("agent_path")))


def _compacted(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield from voice.compacted("event", "")


def _aborted(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    if not voice.calls.interrupted:
        yield voice.say.boundary("interrupted", text(payload.get("reason")))
    voice.calls.interrupted = voice.calls.reviewing = False
    voice.calls.turn_over()


def _turn_began(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    voice.calls.interrupted = False
    yield from voice.calls.left_open()


def _review_began(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    voice.calls.reviewing = True
    yield from voice.said.released()


def _review_ended(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    voice.calls.reviewing = False
    yield from voice.said.released()


def _rolled_back(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    turns = count(payload.get("num_turns"))
    words = "" if turns is None else f"the last {turns} turns" if turns != 1 else "the last turn"
    yield voice.say.boundary("rolled_back", words)


def _error(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield voice.say.boundary("error", text_of(payload.get("message")))


def _renamed(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    yield from voice.head.said(title=some_text(payload.get("thread_name")))


def _item_completed(voice: Voice, payload: dict[str, Any]) -> Iterator[AnyEvent]:
    item = mapping(payload.get("item"))
    kind = text(item.get("type"))
    handler = _COMPLETED.get(kind)
    if handler is not None:
        yield from handler(voice, item, name_of(item.get("id")))
    elif kind not in _QUIET_COMPLETED:
        yield voice.say.unknown(f"event_msg/item_completed/{kind}" if kind else "event_msg/item_completed")


def _item_user(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    parts = [text_of(p) for p in items(item.get("content")) if text(mapping(p).get("type")) not in _PICTURES]
    yield from voice.said.user_event("completed", "".join(parts), item_id)


def _item_reply(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    yield from voice.said.reply_event("completed", text_of(item.get("content")), item_id)


def _item_thought(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from voice.said.released()
    parts = [text_of(part) for name in ("summary_text", "raw_content") for part in items(item.get(name))]
    yield from voice.said.thought_event("completed", parts)


def _item_plan(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    words = text(item.get("text"))
    if words.strip():
        yield from voice.said.plan(words, item_id)


def _item_command(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _exec_end(voice, {**item, "call_id": item_id})


def _item_change(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _patch_end(voice, {**item, "call_id": item_id})


def _item_mcp(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _mcp_end(voice, {**item, "call_id": item_id, "invocation": item})


def _item_dynamic(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _dynamic_end(voice, {**item, "call_id": item_id})


def _item_search(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _search_end(voice, {**item, "call_id": item_id}, "completed")


def _item_extension(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    if isinstance(item.get("action"), dict):
        yield from _item_search(voice, item, item_id)


def _item_picture(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _picture_end(voice, {**item, "call_id": item_id}, "completed")


def _item_image_seen(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _image_seen(voice, {**item, "call_id": item_id})


def _item_compacted(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _compacted(voice, item)


def _item_activity(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _agent_activity(voice, item)


def _item_review_began(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _review_began(voice, item)


def _item_review_ended(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    yield from _review_ended(voice, item)


def _item_collab(voice: Voice, item: dict[str, Any], item_id: str) -> Iterator[AnyEvent]:
    if text(item.get("tool")).replace("_", "").lower() == "spawnagent":
        for child in items(item.get("receiver_thread_ids")) or items(item.get("receiverThreadIds")):
            yield from voice.calls.spawned(item_id, name_of(child), None, first_line(text(item.get("prompt"))) or None)


_PICTURES = ("image", "local_image", "audio", "local_audio")
_QUIET_COMPLETED = frozenset({"HookPrompt", "Sleep", "FunctionCallOutput"})
_COMPLETED: dict[str, Callable[[Voice, dict[str, Any], str], Iterator[AnyEvent]]] = {
    "UserMessage": _item_user,
    "AgentMessage": _item_reply,
    "Reasoning": _item_thought,
    "Plan": _item_plan,
    "CommandExecution": _item_command,
    "FileChange": _item_change,
    "McpToolCall": _item_mcp,
    "DynamicToolCall": _item_dynamic,
    "WebSearch": _item_search,
    "Extension": _item_extension,
    "ImageGeneration": _item_picture,
    "ImageView": _item_image_seen,
    "ContextCompaction": _item_compacted,
    "SubAgentActivity": _item_activity,
    "CollabAgentToolCall": _item_collab,
    "EnteredReviewMode": _item_review_began,
    "ExitedReviewMode": _item_review_ended,
}
EVENTS: dict[str, Callable[[Voice, dict[str, Any]], Iterator[AnyEvent]]] = {
    "user_message": _user_message,
    "agent_message": _agent_message,
    "agent_reasoning": _reasoning,
    "agent_reasoning_raw_content": _reasoning,
    "token_count": _token_count,
    "exec_command_end": _exec_end,
    "patch_apply_end": _patch_end,
    "mcp_tool_call_end": _mcp_end,
    "dynamic_tool_call_response": _dynamic_end,
    "view_image_tool_call": _image_seen,
    "web_search_end": _search_end,
    "image_generation_end": _picture_end,
    "collab_agent_spawn_end": _agent_spawned,
    "sub_agent_activity": _agent_activity,
    "context_compacted": _compacted,
    "turn_aborted": _aborted,
    "task_started": _turn_began,
    "turn_started": _turn_began,
    "entered_review_mode": _review_began,
    "exited_review_mode": _review_ended,
    "thread_rolled_back": _rolled_back,
    "error": _error,
    "thread_name_updated": _renamed,
    "item_completed": _item_completed,
}
"""Type of an `event_msg` -> what it tells."""
