"""What `codex exec --json` prints: threads, turns and items, and in versions before 0.44 events beside an id.

Promises: an item that was begun is a call that is open until it is completed; an item that is only completed is a call all
the same; tokens are running totals and each is counted once. Such a stream carries no times, no model and, but in the
older form, not what the person asked for. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.codex.changes import Changes
from interlock.runtime.sources.codex.events import EVENTS, Voice
from interlock.runtime.sources.codex.names import QUIET_EVENTS
from interlock.runtime.sources.codex.searches import search_key
from interlock.runtime.sources.foreign.narrator import first_line
from interlock.runtime.sources.foreign.shape import items, mapping, name_of, objects, some_text, text

STREAMED = frozenset(
    {
        "thread.started",
        "turn.started",
        "turn.completed",
        "turn.failed",
        "item.started",
        "item.updated",
        "item.completed",
        "error",
    }
)
"""Types of a line."""
_EFFECTS = {"add": "file.created", "delete": "file.deleted"}


def is_streamed(value: dict[str, Any]) -> bool:
    """Whether this is a line of such a stream, in either form."""
    if "payload" in value:
        return False
    if text(value.get("type")) in STREAMED:
        return True
    return _message_of(value) is not None or set(value) == {"prompt"} or {"model", "workdir"} <= value.keys()


def marks(value: dict[str, Any]) -> bool:
    """Whether nothing but such a stream has this line."""
    kind = text(value.get("type"))
    if kind == "thread.started":
        return "thread_id" in value
    if kind.startswith("item."):
        return text(mapping(value.get("item")).get("type")) in _ITEMS
    told = _message_of(value)
    return told is not None and (text(told.get("type")) in EVENTS or text(told.get("type")) in QUIET_EVENTS)


def streamed(voice: Voice, value: dict[str, Any]) -> Iterator[AnyEvent]:
    """The events of one line."""
    told = _message_of(value)
    if told is not None:
        yield from _older(voice, told)
        return
    kind = text(value.get("type"))
    if kind == "thread.started":
        yield from voice.head.said(session=name_of(value.get("thread_id")))
        return
    yield from voice.head.ensured()
    if kind.startswith("item."):
        yield from _item(voice, kind, mapping(value.get("item")))
    elif kind == "turn.completed":
        yield from voice.usage(voice.ledger.counted({"total_token_usage": value.get("usage")}))
    elif kind in ("turn.failed", "error"):
        yield voice.say.boundary(
            "error", text(mapping(value.get("error")).get("message")) or text(value.get("message"))
        )
    elif isinstance(value.get("prompt"), str):
        yield voice.say.user(value["prompt"])
    elif "workdir" in value:
        voice.model = text(value.get("model"))
        yield from voice.head.said(model=some_text(voice.model), cwd=some_text(value.get("workdir")))


def _message_of(value: dict[str, Any]) -> dict[str, Any] | None:
    """What stands beside the id in a line of the older form."""
    told = value.get("msg")
    return told if isinstance(told, dict) and "type" in told and "id" in value else None


def _older(voice: Voice, told: dict[str, Any]) -> Iterator[AnyEvent]:
    kind = text(told.get("type"))
    if kind == "session_configured":
        voice.model = text(told.get("model")) or voice.model
        yield from voice.head.said(session=name_of(told.get("session_id")), model=some_text(voice.model))
        return
    yield from voice.head.ensured()
    call_id = name_of(told.get("call_id"))
    if kind in ("exec_command_begin", "patch_apply_begin"):
        raw = {name: told[name] for name in ("command", "cwd") if name in told}
        raw |= {"files": list(told["changes"])} if mapping(told.get("changes")) else {}
        yield from voice.calls.asked(
            call_id, "exec_command" if kind == "exec_command_begin" else "apply_patch", "", raw
        )
    elif kind == "mcp_tool_call_begin":
        invocation = mapping(told.get("invocation"))
        tool = f"mcp__{text(invocation.get('server'))}__{text(invocation.get('tool'))}"
        yield from voice.calls.asked(call_id, tool, "", invocation.get("arguments"))
    elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
        yield from voice.calls.finished(call_id, told, kind.removesuffix("_end"))
    elif kind in EVENTS:
        yield from EVENTS[kind](voice, told)
    elif kind not in QUIET_EVENTS:
        yield voice.say.unknown(f"msg/{kind}")


def _item(voice: Voice, when: str, item: dict[str, Any]) -> Iterator[AnyEvent]:
    kind, over = text(item.get("type")), when == "item.completed"
    tell = _ITEMS.get(kind)
    if tell is None:
        yield voice.say.unknown(f"{when}/{kind}" if kind else when)
    else:
        yield from tell(voice, item, over)


def _reply(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    if over:
        yield voice.say.assistant(text(item.get("text")))


def _thought(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    if over:
        yield voice.say.reasoning(text(item.get("text")))


def _called(voice: Voice, item: dict[str, Any], over: bool, tool: str, raw: Any) -> Iterator[AnyEvent]:
    call_id = name_of(item.get("id"))
    if voice.say.calls.get(call_id) is None:
        yield from voice.calls.asked(call_id, tool, "", raw)
    if over:
        yield from voice.calls.finished(call_id, item, tool)


def _command(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    yield from _called(voice, item, over, "exec_command", {"command": item.get("command")})


def _change(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    rows = objects(item.get("changes"))
    raw = {"files": [text(row.get("path")) for row in rows]}
    call_id = name_of(item.get("id"))
    yield from _called(voice, item, False, "apply_patch", raw)
    if over:
        call = voice.calls.open_call(call_id)
        if call is not None and item.get("status") == "completed":
            call.notes["changes"] = Changes(effects=[_effect(row) for row in rows[:1000]])
        yield from voice.calls.finished(call_id, {**item, "changes": None}, "apply_patch")


def _effect(row: dict[str, Any]) -> SideEffect:
    return SideEffect(kind=_EFFECTS.get(text(row.get("kind")), "file.changed"), path=text(row.get("path")))


def _mcp(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    tool = f"mcp__{text(item.get('server'))}__{text(item.get('tool'))}"
    error = text(mapping(item.get("error")).get("message"))
    yield from _called(voice, {**item, "error": error or None}, over, tool, item.get("arguments"))


def _collab(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    tool, prompt = text(item.get("tool")) or "collab", text(item.get("prompt"))
    yield from _called(voice, item, False, tool, {"prompt": prompt} if prompt else {})
    if tool.replace("_", "").lower() == "spawnagent":
        for child in items(item.get("receiver_thread_ids")):
            yield from voice.calls.spawned(name_of(item.get("id")), name_of(child), None, first_line(prompt) or None)
    if over:
        yield from voice.calls.finished(name_of(item.get("id")), item, tool)


def _search(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    if over:
        action = mapping(item.get("action")) or {"type": "search", "query": item.get("query")}
        call_id = name_of(item.get("id"))
        yield from voice.calls.single(
            "item", "web_search", call_id, f"{call_id} {search_key(action)}", action, "completed"
        )


def _fault(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    if over:
        yield voice.say.boundary("error", text(item.get("message")))


def _quiet(voice: Voice, item: dict[str, Any], over: bool) -> Iterator[AnyEvent]:
    # a list of things to do is written on, at each change of it, until the turn is over
    yield from ()


_ITEMS: dict[str, Callable[[Voice, dict[str, Any], bool], Iterator[AnyEvent]]] = {
    "agent_message": _reply,
    "assistant_message": _reply,
    "reasoning": _thought,
    "command_execution": _command,
    "file_change": _change,
    "mcp_tool_call": _mcp,
    "collab_tool_call": _collab,
    "web_search": _search,
    "todo_list": _quiet,
    "error": _fault,
}
