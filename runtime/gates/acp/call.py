"""From an ACP tool call to a call that a gate judges.

Promises: every path and command that the agent names anywhere in it is judged; what stands only in a title, or in no known
place, can be denied by a rule but never allowed by one; what is shown is what the agent sent. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from interlock.runtime.gates.acp.option import Options
from interlock.runtime.gates.call import ForeignCall
from interlock.runtime.tools.diff import unified

CHOICES = ("allow.once", "allow.session", "deny")
"""No reason can be handed to an agent over ACP. A session's permission is a grant of ours, not a standing option."""
_COMMANDS = ("command", "cmd", "script")
_CWDS = ("cwd", "workdir", "directory")
_PATHS = ("path", "file_path", "filePath", "filepath", "abs_path", "absolute_path", "notebook_path", "move_path")


def merged(earlier: Mapping[str, Any] | None, update: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a tool call after an update; what an update leaves out stays."""
    return {**(earlier or {}), **{key: value for key, value in update.items() if value is not None}}


def call_of(told: Mapping[str, Any], cwd: str, options: Options | None = None) -> ForeignCall:
    """The call as far as the agent has told it. `options`: of the permission that it asks for."""
    given = _input(told)
    question = options.question if options is not None else ""
    facts: dict[str, Any] = {"acp": {"options": options.names()}} if options is not None and question else {}
    call_id = told.get("toolCallId")
    return ForeignCall(
        tool=_kind(told),
        input=given,
        cwd=cwd,
        call_id=call_id if isinstance(call_id, str) else None,
        prompt=_text(told.get("title")),
        reason=_reason(told),
        diff=_diff(told),
        choices=_choices(options),
        races=True,
        facts=facts,
        question=question,
    )


def _choices(options: Options | None) -> tuple[str, ...]:
    if options is None or options.question:
        return ()
    return CHOICES if options.can_allow else ("deny",)


def _kind(told: Mapping[str, Any]) -> str:
    kind = told.get("kind")
    return kind if isinstance(kind, str) and kind else "other"


def _input(told: Mapping[str, Any]) -> dict[str, Any]:
    """Kind, title, what the agent gave, and what can be judged of it."""
    raw = told.get("rawInput")
    shown: dict[str, Any] = {"title": _text(told.get("title"))}
    if raw is not None:
        shown["rawInput"] = raw
    given = raw if isinstance(raw, Mapping) else {}
    commands = [given[name] for name in _COMMANDS if given.get(name)]
    if len(commands) == 1:
        shown["command"] = commands[0]
    elif commands or (_kind(told) == "execute" and shown["title"]):
        shown |= {"command": commands[0] if commands else shown["title"], "uncertain": True}
    places = [given[name] for name in _CWDS if given.get(name)]
    if _kind(told) == "execute" and places:
        shown |= {"cwd": places[0]} | ({"uncertain": True} if len(places) > 1 else {})
    paths = list(dict.fromkeys(_paths(told, given)))
    if paths and _kind(told) != "execute":
        shown["paths"] = paths
    return shown


def _paths(told: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    for place in (told.get("locations"), told.get("content")):
        for one in place if isinstance(place, list) else ():
            if isinstance(one, Mapping) and isinstance(one.get("path"), str):
                yield one["path"]
    yield from _deep_paths(given, 0)


def _deep_paths(value: Any, depth: int) -> Iterator[str]:
    if depth > 6:
        return
    if isinstance(value, Mapping):
        for key, one in value.items():
            if key in _PATHS and isinstance(one, str):
                yield one
            if key in ("changes", "fileChanges") and isinstance(one, Mapping):
                yield from (path for path in one if isinstance(path, str))
            yield from _deep_paths(one, depth + 1)
    elif isinstance(value, list):
        for one in value:
            yield from _deep_paths(one, depth + 1)


def _reason(told: Mapping[str, Any]) -> str | None:
    raw = told.get("rawInput")
    for name in ("justification", "reason", "description"):
        if isinstance(raw, Mapping) and isinstance(raw.get(name), str) and raw[name]:
            return raw[name]
    return None


def _diff(told: Mapping[str, Any]) -> str | None:
    content = told.get("content")
    parts = [
        unified(_bytes(one.get("oldText")), _bytes(one.get("newText")) or b"", _text(one.get("path"))).text
        for one in (content if isinstance(content, list) else ())
        if isinstance(one, Mapping) and one.get("type") == "diff"
    ]
    return "".join(parts) or None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _bytes(value: Any) -> bytes | None:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None
