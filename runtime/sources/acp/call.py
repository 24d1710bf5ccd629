"""What a tool call of the protocol tells: its name, its input, and how it ended. Pure."""

from __future__ import annotations

import difflib
import re
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.sources.foreign.narrator import Outcome, Result, first_line, text_of
from interlock.runtime.sources.foreign.shape import at, count, mapping, number, objects, some_text, text, whole

_REFUSED = re.compile(
    r"refused permission|cancell?ed by the user|user rejected|rejected by (?:the )?user|user doesn't want"
    r"|user (?:denied|declined)"
    r"|permission (?:was )?denied by (?:the )?user",
    re.I,
)
_RULE = re.compile(r"denied by (?:policy|rule|a rule)|blocked by|specified a rule which prevents", re.I)
_DIFF_LIMIT = 400_000
"""Characters of both sides of a change; for a longer one no diff is made."""


def tool_of(call: dict[str, Any]) -> str:
    """The agent's own name of the tool where it tells one, else the protocol's word for its kind."""
    for meta in mapping(call.get("_meta")).values():
        found = some_text(at(meta, "toolName")) or some_text(at(meta, "tool_name"))
        if found:
            return found
    kind, title = text(call.get("kind")), text(call.get("title"))
    return title if kind in ("", "other") and title and len(title.split()) == 1 else kind or title or "?"


def input_of(call: dict[str, Any]) -> Any:
    """Its raw input, or what the protocol tells instead of one."""
    raw = call.get("rawInput")
    if raw not in (None, {}, []):
        return raw
    kept = {name: call[name] for name in ("title", "kind", "locations") if call.get(name)}
    changes = [{"path": c.get("path")} for c in objects(call.get("content")) if text(c.get("type")) == "diff"]
    return kept | ({"changes": changes} if changes else {})


def result_of(call: dict[str, Any], turned: Outcome | None) -> Result:
    """The result of a call whose status is `completed` or `failed`. `turned`: how it was answered, where that is known."""
    raw = call.get("rawOutput")
    said = _said(call, raw)
    if text(call.get("status")) == "completed":
        result = Result("ok", text=said)
    else:
        result = Result(*_failed(said, turned), said)
        result.code = _rule(said) if result.outcome == "denied" and turned is None else None
    result.summary = _summary(said)
    _exit(result, mapping(raw))
    _changes(result, objects(call.get("content")))
    return result


def _summary(said: str) -> str:
    """The first line within the fence that some agents put around an output."""
    return first_line(said.split("\n", 1)[1].strip("`")) if said.startswith("```") and "\n" in said else ""


def _failed(said: str, turned: Outcome | None) -> tuple[Outcome]:
    if turned is not None:
        return (turned,)
    return ("denied",) if _REFUSED.search(said[:2000]) or _RULE.search(said[:2000]) else ("failed",)


def _rule(said: str) -> str | None:
    return None if _REFUSED.search(said[:2000]) else "policy_denied"


def _said(call: dict[str, Any], raw: Any) -> str:
    shown = [text_of(c.get("content")) for c in objects(call.get("content")) if text(c.get("type")) == "content"]
    found = "\n".join(said for said in shown if said)
    if found:
        return found
    if isinstance(raw, str):
        return raw
    for name in ("formatted_output", "aggregated_output", "output", "error", "stdout", "message", "content"):
        told = text_of(mapping(raw).get(name))
        if told:
            return told
    return ""


def _exit(result: Result, raw: dict[str, Any]) -> None:
    for code in (
        raw.get("exit_code"),
        raw.get("exitCode"),
        at(raw, "metadata", "exit"),
        at(raw, "metadata", "exit_code"),
    ):
        if whole(code) is not None:
            result.exit_code = whole(code)
    if result.exit_code and result.outcome in ("ok", "failed"):
        result.outcome, result.code = "failed", "exit_nonzero"
    seconds, nanos = number(at(raw, "duration", "secs")), number(at(raw, "duration", "nanos"))
    if seconds is not None and 0 <= seconds < 1e12:
        result.duration_ms = int(seconds * 1000 + (nanos or 0) / 1e6)
    else:
        result.duration_ms = count(raw.get("durationMs"))
    result.truncated = at(raw, "metadata", "truncated") is True


def _changes(result: Result, content: list[dict[str, Any]]) -> None:
    diffs, effects = [], []
    for change in content:
        if text(change.get("type")) != "diff":
            continue
        path, old, new = text(change.get("path")), change.get("oldText"), text(change.get("newText"))
        diffs.append(unified(path, text(old), new))
        effects.append(SideEffect(kind="file.changed" if text(old) else "file.created", path=path or None))
    result.diff = some_text("".join(diffs))
    result.effects = tuple(effects[:1000]) if result.outcome == "ok" else ()


def unified(path: str, old: str, new: str) -> str:
    """The unified diff between two texts; empty where they are too long for one."""
    if len(old) + len(new) > _DIFF_LIMIT:
        return ""
    lines = difflib.unified_diff(_lines(old), _lines(new), path, path, lineterm="")
    return "".join(line + "\n" for line in lines)


def _lines(said: str) -> list[str]:
    return said.removesuffix("\n").split("\n") if said else []
