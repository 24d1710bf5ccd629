"""Names of tools: ours, and what other agents call the same thing, so that one rule covers both (PO-6).

Promises: an unknown tool keeps its own name and counts as one that may do anything. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from interlock.runtime.policy.command_text import command_of as command_of
from interlock.runtime.policy.path import Use


@dataclass(frozen=True, slots=True)
class ToolKind:
    """What a tool of this name does."""

    name: str
    risks: frozenset[str]
    read_only: bool = False


_KINDS = {
    kind.name: kind
    for kind in (
        ToolKind("read_file", frozenset(("read",)), True),
        ToolKind("glob", frozenset(("read",)), True),
        ToolKind("grep", frozenset(("read",)), True),
        ToolKind("read_artifact", frozenset(("read",)), True),
        ToolKind("write_file", frozenset(("write",))),
        ToolKind("edit_file", frozenset(("write",))),
        ToolKind("bash", frozenset(("execute",))),
        ToolKind("web_fetch", frozenset(("network",))),
        ToolKind("agent_notes", frozenset(), True),
    )
}
_ALIASES = {
    "read": "read_file", "view": "read_file", "preview": "read_file", "read_many_files": "read_file", "cat": "read_file",
    "notebookread": "read_file", "write": "write_file", "create": "write_file", "edit": "edit_file", "multiedit": "edit_file",
    "replace": "edit_file", "str_replace": "edit_file", "notebookedit": "edit_file", "patch": "edit_file",
    "apply_patch": "edit_file", "multi_edit": "edit_file", "ls": "glob", "list": "glob", "list_directory": "glob",
    "search": "grep", "search_file_content": "grep", "grep_search": "grep", "shell": "bash", "run_shell_command": "bash",
    "local_shell": "bash", "exec": "bash", "exec_command": "bash", "execute": "bash", "terminal": "bash",
    "webfetch": "web_fetch", "web_search": "web_fetch", "websearch": "web_fetch", "fetch": "web_fetch",
}  # fmt: skip
_PATH_FIELDS = ("path", "file_path", "filePath", "absolute_path", "folder", "dir_path", "notebook_path", "directory")
_PATCHED = re.compile(
    r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)",
    re.MULTILINE,
)
_ANYTHING = frozenset(("read", "write", "execute", "network"))


def tool_kind(name: str) -> ToolKind:
    """What is known of the tool `name`."""
    lowered = name.lower()
    known = _KINDS.get(_ALIASES.get(lowered, lowered))
    return known or ToolKind(name, _ANYTHING)


def is_known(name: str) -> bool:
    """Whether the name says what the tool does."""
    lowered = name.lower()
    return _ALIASES.get(lowered, lowered) in _KINDS


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
    for field in ("patch", "input", "diff"):
        text = arguments.get(field)
        if isinstance(text, str) and tool == "edit_file":
            for path in patched(text):
                yield path, use
    if tool == "grep" and not given:
        yield ".", "read"  # a search without a path goes through the directory it starts in
    pattern = arguments.get("pattern") if tool == "glob" else arguments.get("glob")
    if isinstance(pattern, str):
        yield posixpath.join(given[0] if given else ".", fixed_part(pattern)), "read"


def patched(text: str) -> list[str]:
    """The files that a patch speaks of, in either of the two usual forms."""
    found = [next(part for part in hit if part).strip() for hit in _PATCHED.findall(text)]
    return list(dict.fromkeys(path for path in found if path != "/dev/null"))


def fixed_part(pattern: str) -> str:
    """The folder that a pattern cannot leave, `src` of `src/**/*.py`; `..` behind it is kept, because it can."""
    parts = pattern.split("/")
    at = next((i for i, part in enumerate(parts) if any(c in part for c in "*?[{!(\\")), len(parts))
    climbs = [part for part in parts[at:] if part == ".."]
    return "/".join([*parts[:at], *climbs]) or ("/" if pattern.startswith("/") else ".")
