"""What a call changed in files: the changes that Codex records, or the patch that the model wrote. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.sources.foreign.shape import mapping, text

_LIMIT = 2_000_000
"""Characters of a patch that are looked at."""


@dataclass(slots=True)
class Changes:
    """Files that were changed, and how."""

    diff: str = ""
    effects: list[SideEffect] = field(default_factory=list)

    def add(self, more: Changes) -> None:
        """Take what another change did."""
        self.diff += more.diff
        self.effects += more.effects


def recorded(changes: Any) -> Changes:
    """What `patch_apply_end` and `FileChange` record: path -> change, in both forms that were seen."""
    found = Changes()
    for path, change in mapping(changes).items():
        kind, body = _kind_of(mapping(change))
        if kind == "add":
            _whole(found, path, text(body.get("content")), "+")
        elif kind == "delete":
            _whole(found, path, text(body.get("content")), "-")
        elif kind == "update":
            _update(found, path, text(body.get("move_path")) or path, text(body.get("unified_diff")))
    return found


def _kind_of(change: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    kind = text(change.get("type"))
    if kind:
        return kind, change
    for name in ("add", "update", "delete"):
        if isinstance(change.get(name), dict):
            return name, change[name]
    return "", change


def _whole(found: Changes, path: str, content: str, sign: str) -> None:
    lines = content.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    count = len(lines)
    if sign == "+":
        head, span, kind = f"--- /dev/null\n+++ {path}\n", f"@@ -0,0 +1,{count} @@\n", "file.created"
    else:
        head, span, kind = f"--- {path}\n+++ /dev/null\n", f"@@ -1,{count} +0,0 @@\n", "file.deleted"
    found.diff += head + (span + "".join(f"{sign}{line}\n" for line in lines) if lines else "")
    added, removed = (count, 0) if sign == "+" else (0, count)
    # a deletion need not carry what was deleted
    known = bool(content) or sign == "+"
    found.effects.append(
        SideEffect(kind=kind, path=path, added=added if known else None, removed=removed if known else None)
    )


def _update(found: Changes, path: str, to: str, diff: str) -> None:
    if diff and not diff.endswith("\n"):
        diff += "\n"
    lines = diff.split("\n")
    added = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
    removed = sum(line.startswith("-") and not line.startswith("---") for line in lines)
    head = "" if diff.startswith("--- ") else f"--- {path}\n+++ {to}\n"
    found.diff += head + diff
    found.effects.append(SideEffect(kind="file.changed", path=to, added=added, removed=removed))


def patch_in(tool: str, raw: Any) -> str:
    """The patch that the input of a call carries; empty: none."""
    if isinstance(raw, str):
        if raw.lstrip().startswith("*** Begin Patch"):
            return raw
        return _patch_in_script(raw) if "*** Begin Patch" in raw[:_LIMIT] else ""
    value = mapping(raw)
    for name in ("patch", "input", "command"):
        part = value.get(name)
        if isinstance(part, list) and len(part) >= 2 and part[0] in ("apply_patch", "applypatch"):
            part = part[1]
        if isinstance(part, str) and part.lstrip().startswith("*** Begin Patch"):
            return part
    return ""


def _patch_in_script(script: str) -> str:
    """The patch that a script of code mode holds as a string of JSON."""
    start = script.find('"*** Begin Patch')
    if start < 0:
        return ""
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(script, start)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""


def from_patch(patch: str) -> Changes:
    """The changes of a patch that was applied; its hunks carry no line numbers, so neither does the diff."""
    found = Changes()
    for kind, path, to, lines in _files(patch[:_LIMIT]):
        if kind == "Add":
            _whole(found, path, "\n".join(line[1:] for line in lines if line.startswith("+")) + "\n", "+")
        elif kind == "Delete":
            _whole(found, path, "", "-")
        else:
            _update(found, path, to, "\n".join(lines))
    return found


def _files(patch: str) -> Iterator[tuple[str, str, str, list[str]]]:
    kind = path = to = ""
    lines: list[str] = []
    for line in patch.split("\n"):
        head, colon, name = line.partition(": ")
        if head in ("*** Add File", "*** Update File", "*** Delete File") and colon:
            if kind:
                yield kind, path, to, lines
            kind, path, lines = head[4:-5], name.strip(), []
            to = path
        elif head == "*** Move to" and colon:
            to = name.strip()
        elif line.startswith("*** End Patch"):
            break
        elif kind and not line.startswith("*** "):
            lines.append(line)
    if kind:
        yield kind, path, to, lines
