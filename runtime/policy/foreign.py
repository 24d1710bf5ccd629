"""From a tool call of another agent to a call that our policy judges (PO-6).

    foreign_call(agent, tool, given, *, cwd, workspace, home, protected=()) -> Call

`agent` is `claude`, `codex`, `gemini` or `opencode` (longer spellings as `claude-code` too), `tool` the agent's own name
of it, `given` its raw input, `cwd` and `workspace` absolute. Give the result to `decide`. Never raises.

Promises: a field that says where or what is touched is never passed over; a tool, a field or a shape that is not known
leaves a reason in `Call.unclear`, and such a call is never allowed by any rule, grant or mode, while denies still hold
for all that was seen. A rule may name the tool in our words or in the agent's. MCP tools (`mcp__...`) and other tools
without a table keep their name, count as able to do anything, and pass only by an allow that names them. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.foreign_table import ForeignTool, agent_key, foreign_tool
from interlock.runtime.policy.patch import patch_files
from interlock.runtime.policy.tool import command_of, fixed_part, is_known, tool_kind

_NEEDS_PATH = frozenset(("read_file", "write_file", "edit_file"))
_PATCH_PROGRAMS = frozenset(("apply_patch", "applypatch"))
_SHELLS = frozenset(("", "bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh"))
_SAFE_ESCAPES = (None, False, "", "use_default")
_MEMORY = {"gemini": ".gemini/GEMINI.md"}


@dataclass(slots=True)
class _Found:
    """What the fields of one input say."""

    home: str
    command: str | None = None
    cwd: str = ""
    paths: list[str] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)


def foreign_call(
    agent: str,
    tool: str,
    given: Mapping[str, object],
    *,
    cwd: str,
    workspace: Sequence[str],
    home: str,
    protected: Sequence[str] = (),
) -> Call:
    """The call as our policy sees it. See the module for what is promised."""
    agent = agent_key(agent)
    given = _without_patch_program(agent, tool, given)
    if isinstance(given, _Patch):
        tool, given = "apply_patch", given.given
    known = foreign_tool(agent, tool) if isinstance(given, Mapping) else None
    if known is None:
        return _unknown(agent, tool, given, cwd, tuple(workspace), home, tuple(protected))
    found = _read(agent, known, given, home)
    kind = tool_kind(known.kind)
    where = posixpath.join(cwd, found.cwd) if found.cwd else cwd
    return Call(
        tool=kind.name,
        input=_our_input(kind.name, found),
        cwd=where,
        workspace=tuple(workspace),
        home=home,
        risks=kind.risks,
        read_only=kind.read_only,
        agent=agent,
        protected=tuple(protected),
        named=tool,
        unclear="; ".join(dict.fromkeys(found.unclear)),
    )


def _unknown(
    agent: str, tool: str, given: object, cwd: str, workspace: tuple[str, ...], home: str, protected: tuple[str, ...]
) -> Call:
    """A tool without a table. Its name is its own, although ours may have one of the same name."""
    fields: dict[str, object] = {str(key): value for key, value in given.items()} if isinstance(given, Mapping) else {}
    unclear = "" if isinstance(given, Mapping) else "the input is no object"
    if is_known(tool):  # a name that means something to us, said by an agent that never had such a tool
        unclear = unclear or f"{agent or 'this agent'} has no tool {tool!r} that is known"
    return Call(tool, fields, cwd, workspace, home, agent=agent, protected=protected, named=tool, unclear=unclear)


@dataclass(frozen=True, slots=True)
class _Patch:
    """A patch that was given to a shell as a program's argument."""

    given: Mapping[str, object]


def _without_patch_program(agent: str, tool: str, given: Any) -> Any:
    words = given.get("command") if agent == "codex" and isinstance(given, Mapping) else None
    if tool == "apply_patch" or not (isinstance(words, list | tuple) and len(words) == 2):
        return given
    if isinstance(words[0], str) and words[0] in _PATCH_PROGRAMS:
        where = {key: value for key, value in given.items() if key in ("workdir", "cwd")}
        return _Patch({"patch": words[1], **where})
    return given


def _read(agent: str, known: ForeignTool, given: Mapping[str, object], home: str) -> _Found:
    found = _Found(home)
    for name, value in given.items():
        role = known.fields.get(name)
        if role is None:
            found.unclear.append(f"the field {str(name)[:60]!r} is not known")
        elif role == "memory":
            found.paths.append(posixpath.join(home, _MEMORY[agent]))
        elif role and value is not None:
            _take(role, name, value, found)
    found.unclear += [f"the field {name!r} is missing" for name in sorted(known.needs - set(given))]
    if known.kind in _NEEDS_PATH and not found.paths:
        found.unclear.append("which file it touches is not said")
    if known.kind == "bash" and found.command is None:
        found.unclear.append("which command it runs is not said")
    return found


def _take(role: str, name: str, value: object, found: _Found) -> None:
    """Lay one field down by its role."""
    match role:
        case "command" | "typed":
            _take_command(role, name, value, found)
        case "escape":
            if not any(value is safe or value == safe for safe in _SAFE_ESCAPES):
                found.unclear.append(f"{name!r} would take it out of the agent's own sandbox")
        case "shell":
            if not isinstance(value, str) or value not in _SHELLS:
                found.unclear.append(f"it would be read by the shell {str(value)[:60]!r}")
        case "patch":
            _take_patch(name, value, found)
        case "changes":
            found.paths += _changed(name, value, found)
        case "paths":
            found.paths += [fixed_part(text) for text in _texts(name, value, found)]
        case "path":
            for text in _texts(name, value, found)[:1]:
                found.paths += _spelled(text, found)
        case _:
            _take_text(role, name, value, found)


def _take_command(role: str, name: str, value: object, found: _Found) -> None:
    command = command_of({"command": value})
    if command is None or not command.strip():
        if role == "command":
            found.unclear.append(f"{name!r} is no command")
        found.command = "" if role == "typed" and command is not None else found.command
        return
    if found.command not in (None, command):
        found.unclear.append("it names two commands")
        command = f"{found.command}\n{command}"
    if role == "typed":
        found.unclear.append("it is typed into a program that already runs")
    found.command = command


def _take_patch(name: str, value: object, found: _Found) -> None:
    for text in _texts(name, value, found)[:1]:
        patch = patch_files(text)
        found.paths += [spelled for path in patch.paths for spelled in _spelled(path, found)]
        if patch.problem:
            found.unclear.append(patch.problem)


def _take_text(role: str, name: str, value: object, found: _Found) -> None:
    for text in _texts(name, value, found)[:1]:
        if role == "cwd":
            if text.startswith("~") or (found.cwd and found.cwd != text):
                found.unclear.append("where it runs is not certain")
            found.cwd = text
        else:
            found.rest[role] = text


def _texts(name: str, value: object, found: _Found) -> list[str]:
    """The value as texts; anything else leaves its mark."""
    items = list(value) if isinstance(value, list | tuple) else [value]
    good = [item for item in items if isinstance(item, str) and item]
    if len(good) != len(items) or not good:
        found.unclear.append(f"{name!r} is no text")
    elif len(good) > 1 and name not in ("include", "paths"):
        found.unclear.append(f"{name!r} is a list")
    return good


def _spelled(path: str, found: _Found) -> Iterator[str]:
    """The path, and what it is for an agent that reads `~` as the home."""
    yield path
    if path == "~" or path.startswith("~/"):
        yield posixpath.join(found.home, path[2:])
    elif path.startswith(("~", "file:")):
        found.unclear.append(f"{path[:60]!r} may stand for another path")


def _changed(name: str, value: object, found: _Found) -> Iterator[str]:
    """The files of `{path: {move_path}}` or `[{path, move_path}]`."""
    pairs: list[tuple[object, object]] = []
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, list | tuple):
        pairs = [(item.get("path"), item) if isinstance(item, Mapping) else (None, None) for item in value]
    if not pairs:
        found.unclear.append(f"{name!r} names no file")
    for path, change in pairs:
        moved = _moved(change)
        for text in (path, *moved):
            if isinstance(text, str) and text:
                yield from _spelled(text, found)
            else:
                found.unclear.append(f"{name!r} holds a file without a path")


def _moved(change: object) -> list[object]:
    """Every destination in a change, however deep its kind is wrapped."""
    if not isinstance(change, Mapping):
        return []
    here = [value for key, value in change.items() if key in ("move_path", "movePath") and value is not None]
    inner = [value for value in change.values() if isinstance(value, Mapping)]
    return here + [text for value in inner for text in _moved(value)]


def _our_input(kind: str, found: _Found) -> dict[str, Any]:
    """The input in our own tool's words."""
    if kind == "bash":
        return {"command": found.command or ""}
    paths = list(dict.fromkeys(found.paths))
    where: dict[str, Any] = {"path": paths[0]} if len(paths) == 1 else {"paths": paths} if paths else {}
    return where | found.rest
