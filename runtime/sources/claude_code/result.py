"""What Claude Code keeps of a call's result beside the model's text: diffs, durations, files with the whole output.

Promises: pure; nothing raises on any shape; what is not recorded stays out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from interlock.runtime.events.tool import SideEffect
from interlock.runtime.sources.foreign import shape

_SAVED = re.compile(r"Full output saved to: ([^\r\n]{1,4096})")
_WRITTEN = re.compile(r"Output is being written to: ([^\r\n]{1,4096}?)(?:\. |\.?$|[\r\n])")
_PREVIEW = re.compile(r"\nPreview[^\n]{0,60}:\n")
_CUT = re.compile(r"(?:^|\n)\.\.\. \[\d{1,15} (?:lines|characters|chars|bytes) truncated\] \.\.\.(?:\n|$)")


@dataclass(slots=True)
class Kept:
    """What the record keeps of a result."""

    duration_ms: int | None = None
    diff: str | None = None
    effects: tuple[SideEffect, ...] = ()
    full_output: str | None = None
    truncated: bool = False
    omitted_bytes: int = 0


def kept_of(structured: Any, words: str) -> Kept:
    """What stands beside the text that the model was given."""
    made = Kept(duration_ms=duration(structured))
    _output(made, structured, words)
    if isinstance(structured, dict):
        made.diff, made.effects = change(structured)
        if isinstance(structured.get("bashEditDiff"), dict):
            made.diff, made.effects = changes_of_command(structured["bashEditDiff"])
        made.truncated |= structured.get("truncated") is True or shape.count(structured.get("appliedLimit")) is not None
    return made


def duration(structured: Any) -> int | None:
    """Milliseconds that the call took."""
    for name in ("totalDurationMs", "durationMs"):
        found = shape.number(shape.at(structured, name))
        if found is not None and 0 <= found < 1e12:
            return int(found)
    seconds = shape.number(shape.at(structured, "durationSeconds"))
    return int(seconds * 1000) if seconds is not None and 0 <= seconds < 1e9 else None


def _output(made: Kept, structured: Any, words: str) -> None:
    path = shape.some_text(shape.at(structured, "persistedOutputPath"))
    size = shape.count(shape.at(structured, "persistedOutputSize"))
    if words.startswith("<persisted-output>"):
        saved = _SAVED.search(words[:8192])
        path = path or (saved[1].strip() if saved else None)
        made.truncated = True
    if path:
        made.truncated = True
        made.omitted_bytes = max(0, size - len(_preview(words).encode("utf-8", "replace"))) if size is not None else 0
    elif isinstance(shape.at(structured, "stdout"), str) and _CUT.search(words):
        made.truncated = True
    written = _WRITTEN.search(words[:4096]) if shape.some_text(shape.at(structured, "backgroundTaskId")) else None
    raw = shape.some_text(shape.at(structured, "rawOutputPath"))
    made.full_output = path or raw or (written[1].strip() if written else None)


def _preview(words: str) -> str:
    found = _PREVIEW.search(words)
    if found is None:
        return words
    return words[found.end() :].removesuffix("</persisted-output>").rstrip("\n").removesuffix("...").rstrip("\n")


def change(structured: dict[str, Any]) -> tuple[str | None, tuple[SideEffect, ...]]:
    """The unified diff of a change, and what it did to its file."""
    path = shape.some_text(structured.get("filePath")) or shape.some_text(structured.get("notebook_path"))
    if path is None or isinstance(structured.get("file"), dict):
        return None, ()
    whole = shape.some_text(structured.get("unifiedDiff"))
    if whole is not None:
        return whole, (_effect("file.changed", path, whole.split("\n")),)
    created = structured.get("type") == "create"
    patch = structured.get("structuredPatch")
    if created and isinstance(structured.get("content"), str) and not patch:
        lines = _hunk_of_new(structured["content"])
    elif isinstance(patch, list):
        lines = [line for hunk in shape.objects(patch) for line in _hunk(hunk)]
    else:
        lines = []
        if not (created or "newString" in structured or "edits" in structured or "new_source" in structured):
            return None, ()
    kind = "file.created" if created else "file.changed"
    if not lines:
        return None, (SideEffect(kind=kind, path=path),)
    diff = "\n".join([f"--- {'/dev/null' if created else path}", f"+++ {path}", *lines]) + "\n"
    return diff, (_effect(kind, path, lines),)


def changes_of_command(told: dict[str, Any]) -> tuple[str | None, tuple[SideEffect, ...]]:
    """What a command did to files, as newer versions find out by looking before and after."""
    parts, effects = [], []
    for file in shape.objects(told.get("files")):
        path = shape.some_text(file.get("filePath"))
        if path is None:
            continue
        created, deleted = file.get("created") is True, file.get("deleted") is True
        kind = "file.created" if created else "file.deleted" if deleted else "file.changed"
        lines = [line for hunk in shape.objects(file.get("hunks")) for line in _hunk(hunk)]
        effects.append(_effect(kind, path, lines) if lines else SideEffect(kind=kind, path=path))
        if lines:
            parts += [f"--- {'/dev/null' if created else path}", f"+++ {'/dev/null' if deleted else path}", *lines]
    return "\n".join(parts) + "\n" if parts else None, tuple(effects)


def _effect(kind: str, path: str, lines: list[str]) -> SideEffect:
    start = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    added = sum(line.startswith("+") for line in lines[start:])
    return SideEffect(kind=kind, path=path, added=added, removed=sum(li.startswith("-") for li in lines[start:]))


def _hunk(hunk: dict[str, Any]) -> list[str]:
    starts = [shape.count(hunk.get(name)) for name in ("oldStart", "oldLines", "newStart", "newLines")]
    lines = [line for line in shape.items(hunk.get("lines")) if isinstance(line, str)]
    if None in starts or not lines:
        return []
    return [f"@@ -{starts[0]},{starts[1]} +{starts[2]},{starts[3]} @@", *lines]


def _hunk_of_new(content: str) -> list[str]:
    lines = content.split("\n")
    whole = lines[-1] == ""
    lines = lines[:-1] if whole else lines
    if not lines:
        return []
    end = [] if whole else ["\\ No newline at end of file"]
    return [f"@@ -0,0 +1,{len(lines)} @@", *("+" + line for line in lines), *end]
