"""Names of tools: ours, and what other agents call the same thing, so that one rule covers both (PO-6).

Promises: an unknown tool keeps its own name and counts as one that may do anything. Pure, and read by the screen: imports
nothing of the policy.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


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
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks without a picture, which Python calls printable."""
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


def unseen_in(name: str) -> str:
    """The first character of a name that a reader would not see, or take for a blank; "" when there is none."""
    return next((c for c in name if c.isspace() or not c.isprintable() or _UNSEEN.match(c)), "")
