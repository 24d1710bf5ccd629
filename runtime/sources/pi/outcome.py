"""How a tool result of pi ended, and its numbered diff as a unified one. Pure."""

from __future__ import annotations

import re
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.sources.foreign.narrator import Outcome, Result, text_of
from interlock.runtime.sources.foreign.shape import at, count, mapping, some_text

_EXIT = re.compile(r"Command exited with code (-?\d{1,9})\s*$")
_TIMEOUT = re.compile(r"timed out after|Command timed out", re.I)
_STOPPED = re.compile(r"\baborted\b|\bcancell?ed\b|interrupted", re.I)
_PERSON = re.compile(r"(?:denied|rejected|declined|blocked) by (?:the )?user|user (?:denied|rejected|declined)", re.I)
_RULE = re.compile(r"blocked by|execution (?:was )?blocked|denied by|permission denied by|not permitted by", re.I)
_LINE = re.compile(r"^([+\- ])\s*(\d{1,9}) ?(.*)$")
_DIFF_LIMIT = 2_000_000
"""Characters; a longer diff is kept as it is."""


def result_of(message: dict[str, Any], given: Any) -> Result:
    """The result that a toolResult message tells. `given`: the input of its call."""
    details = mapping(message.get("details"))
    said = text_of(message.get("content"))
    result = Result("ok", text=said)
    tail = said[-400:]
    found = _EXIT.search(tail)
    result.exit_code = int(found[1]) if found else None
    if message.get("isError") is True:
        result.outcome, result.code = _failed(said, tail, result.exit_code)
    elif result.exit_code:
        result.outcome, result.code = "failed", "exit_nonzero"
    _cut(result, details)
    path = some_text(at(given, "path")) or some_text(at(given, "file_path"))
    diff = some_text(details.get("patch")) or some_text(details.get("diff"))
    if diff is not None:
        result.diff = unified(diff, path or "file")
        if result.outcome == "ok":
            result.effects = (SideEffect(kind="file.changed", path=path),)
    return result


def _failed(said: str, tail: str, exit_code: int | None) -> tuple[Outcome, str | None]:
    if exit_code is not None:
        return "failed", "exit_nonzero"
    if _TIMEOUT.search(tail):
        return "timeout", None
    if _PERSON.search(said[:500]):
        return "denied", None
    if _RULE.search(said[:500]):
        return "denied", "policy_denied"
    if _STOPPED.search(tail[-120:]):
        return "interrupted", None
    return "failed", None


def _cut(result: Result, details: dict[str, Any]) -> None:
    cut = mapping(details.get("truncation"))
    result.full_output = some_text(details.get("fullOutputPath"))
    result.truncated = cut.get("truncated") is True
    total, kept = count(cut.get("totalBytes")), count(cut.get("outputBytes"))
    if result.truncated and total is not None and kept is not None and total > kept:
        result.omitted_bytes = total - kept


def unified(diff: str, path: str) -> str:
    """A diff whose lines carry line numbers, as a unified one; any other diff as it is."""
    if len(diff) > _DIFF_LIMIT or "@@" in diff[:4000] or not diff:
        return diff
    hunks: list[list[tuple[str, int, str]]] = [[]]
    for line in diff.split("\n"):
        found = _LINE.match(line)
        if found is not None:
            hunks[-1].append((found[1], int(found[2]), found[3]))
        elif line.strip() in ("...", ""):
            hunks.append([])
        else:
            return diff
    return _written([hunk for hunk in hunks if hunk], path) or diff


def _written(hunks: list[list[tuple[str, int, str]]], path: str) -> str:
    lines, drift = [f"--- {path}", f"+++ {path}"], 0
    for hunk in hunks:
        old = [number for sign, number, _ in hunk if sign != "+"]
        removed, added = sum(s == "-" for s, _, _ in hunk), sum(s == "+" for s, _, _ in hunk)
        new_first = hunk[0][1] if hunk[0][0] == "+" else old[0] + drift
        old_first = old[0] if old else max(new_first - drift - 1, 0)
        lines.append(f"@@ -{old_first},{len(old)} +{new_first},{len(hunk) - removed} @@")
        lines += [sign + said for sign, _, said in hunk]
        drift += added - removed
    return "\n".join(lines) if hunks else ""
