"""The diff of an edit of an agent that does not tell one itself: Gemini CLI, and opencode where it does not ask.

Promises: as `claude_diff`: of the file as it lies there now, None where it cannot be computed. An agent that finds a text which
is not quite the one in the file edits more than can be told here: then there is no diff.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.claude.diff import diff_of

_TOOLS = {
    ("gemini", "replace"): "Edit",
    ("gemini", "write_file"): "Write",
    ("opencode", "edit"): "Edit",
    ("opencode", "write"): "Write",
}
_FIELDS = {"filePath": "file_path", "path": "file_path", "oldString": "old_string", "newString": "new_string"}
_ALL = ("replaceAll", "allow_multiple")


def edit_diff(agent: str, tool: str, given: Mapping[str, Any], cwd: str) -> str | None:
    """The unified diff of a call, None for a tool that edits no file."""
    alike = _TOOLS.get((agent, tool))
    if alike is None:
        return None
    told = {_FIELDS.get(key, key): value for key, value in given.items()}
    expected = given.get("expected_replacements")
    everywhere = any(given.get(name) is True for name in _ALL) or (isinstance(expected, int) and expected > 1)
    return diff_of(alike, {**told, "replace_all": everywhere}, cwd)
