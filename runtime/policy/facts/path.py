"""Where the paths of a call lead: inside the workspace or not, and whether they are guarded.

Promises: `..` and links are resolved before anything is compared; a file tool's path is taken as it is written (no `~`,
no `$`), a shell's operand as the shell would take it; what cannot be resolved counts as outside. Pure.
"""

from __future__ import annotations

import posixpath
from typing import Any

from interlock.runtime.policy.call import Call, World
from interlock.runtime.policy.facts.guard import guard_of
from interlock.runtime.policy.programs.role import Use
from interlock.runtime.policy.programs.touch import ANYWHERE
from interlock.runtime.policy.record import record

NUL = "NUL in a path"


@record
class PathFact:
    """One path of a call."""

    written: str
    resolved: str
    inside: bool
    """Below a root of the workspace."""
    use: Use
    kind: str
    """file, folder, link, other, missing; `unknown`: only run time tells which path it is."""
    guard: str = ""
    """Why it is guarded although it may lie inside, "" if it is not."""
    own: bool = False
    """Below Interlock's own folders."""
    error: str | None = None
    certain: bool = True
    """Whether it is known to be touched; a word that only may be a path is not."""
    below: bool = False
    """Everything below it is touched as well."""
    tracked: bool = False
    """Of what lies below only the files that version control keeps."""

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
    written: str, use: Use, call: Call, world: World, *, cwd: str | None = "", shell: bool = False
) -> PathFact:
    """What is known of one path. `cwd`: the directory it is relative to, seen from the call's; None: not known."""
    if "\0" in written:
        return PathFact(written, written, False, use, "other", error=NUL)
    text = _expanded(written, call) if shell else written
    if shell and (text == ANYWHERE or "$" in text or "`" in text or _is_lost(text, cwd)):
        return PathFact(written, "", False, use, "unknown")
    if text in (".", "./") and not cwd:
        text = call.cwd
    whole = text if text.startswith("/") else f"{call.cwd}/{cwd}/{text}" if cwd else f"{call.cwd}/{text}"
    if cwd and cwd.startswith("/") and not text.startswith("/"):
        whole = f"{cwd}/{text}"
    seen = world.resolve(whole)
    root = _place_above(seen.path, call.workspace, world)
    inside = root is not None and seen.error is None
    own = _place_above(seen.path, call.protected, world) is not None
    guard = guard_of(_from_root(seen.path, root), use)
    if not guard and whole != seen.path and (plain := posixpath.normpath(whole)) != seen.path:
        # the name as written counts too: what is a link today may be a file tomorrow
        guard = guard_of(_from_root(plain, root), use)
    if not guard and use != "read" and root and _is_in_repository(seen.path, root, world):
        guard = "version control runs what stands here"
    if not guard and seen.kind == "file" and seen.links > 1 and use != "read":
        guard = f"the file has {seen.links} names; another may lie outside"
    return PathFact(written, seen.path, inside, use, seen.kind, guard, own, seen.error)


def _is_in_repository(path: str, root: str, world: World) -> bool:
    """Whether a path lies in a repository's own folder that has another name than `.git`."""
    folder = posixpath.dirname(path)
    while is_below(folder, root):
        if world.resolve(f"{folder}/HEAD").exists and (
            world.resolve(f"{folder}/commondir").exists
            or (world.resolve(f"{folder}/objects").exists and world.resolve(f"{folder}/refs").exists)
        ):
            return True
        if folder == "/":
            break
        folder = posixpath.dirname(folder)
    return False


def _place_above(path: str, places: tuple[str, ...], world: World) -> str | None:
    """The real path of the first of `places` that holds `path`, as the file system compares names."""
    for place in places:
        real = world.resolve(place).path
        if world.case_insensitive:
            path, real = path.lower(), real.lower()
        if is_below(path, real):
            return real
    return None


def _from_root(path: str, root: str | None) -> str:
    """The path as the workspace sees it: folders above a root were chosen by the person, so they guard nothing."""
    if root is None or root == "/" or not is_below(path, root):
        return path
    return f"/{root.rpartition('/')[2]}/{path[len(root) :].lstrip('/')}"


def _is_lost(text: str, cwd: str | None) -> bool:
    return cwd is None and not text.startswith("/")


def _expanded(text: str, call: Call) -> str:
    if text[:1] not in ("~", "$"):
        return text
    for name in ("~", "$HOME", "${HOME}"):
        if text == name or text.startswith(name + "/"):
            return call.home + text[len(name) :]
    return text


def is_below(path: str, root: str) -> bool:
    """Whether `path` is `root` or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")
