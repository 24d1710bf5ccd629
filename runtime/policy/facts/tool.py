"""The paths in a tool's input, each with its use. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from interlock.runtime.policy.facts.command_text import command_of as command_of
from interlock.runtime.policy.facts.patch import patch_files
from interlock.runtime.policy.facts.path import Use
from interlock.runtime.policy.facts.tool_name import ToolKind as ToolKind
from interlock.runtime.policy.facts.tool_name import is_known as is_known
from interlock.runtime.policy.facts.tool_name import tool_kind as tool_kind

_PATH_FIELDS = ("path", "file_path", "filePath", "absolute_path", "folder", "dir_path", "notebook_path", "directory")
DELETES = "deletes"
"""Our name for a field with files that are gone afterwards."""


def paths_of(tool: str, arguments: Mapping[str, object], *, writes: bool) -> Iterator[tuple[str, Use]]:
    """Every path in a tool's input with its use."""
    use: Use = "write" if writes else "read"
    given = [value for field in _PATH_FIELDS if isinstance(value := arguments.get(field), str)]
    for value in given:
        yield value, use
    for field in ("paths", "file_paths", "files"):
        found = arguments.get(field)
        for value in found if isinstance(found, list | tuple) else ():
            if isinstance(value, str):
                yield value, use
    gone = arguments.get(DELETES)
    for value in gone if writes and isinstance(gone, list | tuple) else ():
        if isinstance(value, str):
            yield value, "delete"
    for field in ("patch", "input", "diff"):
        text = arguments.get(field)
        if isinstance(text, str) and tool == "edit_file":
            for path in patch_files(text).paths:
                yield path, use
    if tool == "grep" and not given:
        yield ".", "read"  # a search without a path goes through the directory it starts in
    pattern = arguments.get("pattern") if tool == "glob" else arguments.get("glob")
    if isinstance(pattern, str):
        yield posixpath.join(given[0] if given else ".", fixed_part(pattern)), "read"


def fixed_part(pattern: str) -> str:
    """The folder that a pattern cannot leave, `src` of `src/**/*.py`; `..` behind it is kept, because it can."""
    parts = pattern.split("/")
    at = next((i for i, part in enumerate(parts) if any(c in part for c in "*?[{!(\\")), len(parts))
    climbs = [part for part in parts[at:] if part == ".."]
    return "/".join([*parts[:at], *climbs]) or ("/" if pattern.startswith("/") else ".")
