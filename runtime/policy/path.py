"""Where the paths of a call lead: inside the workspace or not, and whether they are guarded.

Promises: `..` and links are resolved before anything is compared; a file tool's path is taken as it is written (no `~`,
no `$`), a shell's operand as the shell would take it; what cannot be resolved counts as outside. Pure.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Any, Literal

from interlock.runtime.policy.call import Call, World

Use = Literal["read", "write"]

AGENT_FILES = {
    ".claude": "Claude Code",
    "claude.md": "Claude Code",
    ".codex": "Codex",
    ".gemini": "Gemini CLI",
    "gemini.md": "Gemini CLI",
    ".cursor": "Cursor",
    ".cursorrules": "Cursor",
    ".vscode": "VS Code",
    ".mcp.json": "MCP clients",
    "opencode.json": "opencode",
    ".opencode": "opencode",
    "agents.md": "every agent that reads AGENTS.md",
    "interlock.toml": "Interlock",
    ".interlock": "Interlock",
}
"""First guarded component (lower case) -> the agent whose rules would change."""
SHELL_FILES = frozenset(
    (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".bash_login", ".inputrc", ".envrc")
)
SECRET_FOLDERS = frozenset(
    (".ssh", ".aws", ".gnupg", ".kube", ".docker", ".netrc", ".npmrc", ".pypirc", ".git-credentials")
)
CI_FOLDERS = ((".github", "workflows"), (".gitlab-ci.yml",), (".circleci",), ("jenkinsfile",), (".ci",))


@dataclass(frozen=True, slots=True)
class PathFact:
    """One path of a call."""

    written: str
    resolved: str
    inside: bool
    """Below a root of the workspace."""
    use: Use
    kind: str
    guard: str = ""
    """Why it is guarded although it may lie inside, "" if it is not."""
    own: bool = False
    """Below Interlock's own folders."""
    error: str | None = None

    def on_wire(self) -> dict[str, Any]:
        """As it stands in an ask's facts."""
        return {
            "written": self.written,
            "resolved": self.resolved,
            "inside": self.inside,
            "protected": bool(self.guard or self.own),
            "guard": self.guard,
            "kind": self.kind,
            "use": self.use,
            **({"error": self.error} if self.error else {}),
        }


def path_fact(
    written: str, use: Use, call: Call, world: World, *, cwd: str | None = None, shell: bool = False
) -> PathFact:
    """What is known of one path. `cwd`: the directory it is relative to, where it is not the call's."""
    if "\0" in written:
        return PathFact(written, written, False, use, "other", error="NUL in a path")
    text = written
    if shell and (text == "~" or text.startswith("~/")):
        text = call.home + text[1:]
    base = call.cwd if cwd is None else posixpath.join(call.cwd, cwd)
    seen = world.resolve(posixpath.join(base, text))
    fold = str.lower if world.case_insensitive else str
    real = fold(seen.path)
    roots = [fold(world.resolve(root).path) for root in call.workspace]
    inside = any(is_below(real, root) for root in roots) and seen.error is None
    own = any(is_below(real, fold(world.resolve(p).path)) for p in call.protected)
    guard = _guard(seen.path, call, world)
    if not guard and seen.kind == "file" and seen.links > 1 and use == "write":
        guard = f"the file has {seen.links} names; another may lie outside"
    return PathFact(written, seen.path, inside, use, seen.kind, guard, own, seen.error)


def is_below(path: str, root: str) -> bool:
    """Whether `path` is `root` or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def _guard(path: str, call: Call, world: World) -> str:
    parts = [part.lower() for part in path.split("/") if part]
    if path.startswith(("/proc/", "/dev/fd", "/dev/std")) or path == "/proc":
        return "a path of a process, not of a file"
    if ".git" in parts:
        rest = parts[parts.index(".git") + 1 :]
        if rest[:1] in (["hooks"], ["config"], ["modules"], ["info"]) or "hooks" in rest or rest[-1:] == ["config"]:
            return "version control runs what stands here"
    for part in parts:
        if part in AGENT_FILES:
            return f"changes the rules of {AGENT_FILES[part]}"
        if part in SECRET_FOLDERS:
            return "credentials"
    if parts and parts[-1] in SHELL_FILES:
        return "your shell runs it"
    for folder in CI_FOLDERS:
        if any(tuple(parts[i : i + len(folder)]) == folder for i in range(len(parts))):
            return "continuous integration runs what stands here"
    return ""
