"""From a tool call in an agent's own words, ours or another's, to the call that the policy judges (PO-4, PO-6).

    make_call(agent, tool, given, *, cwd, workspace, home, protected=()) -> Call

The one way in which a call is made: `policy check`, `policy test` and `policy explain`, examples of rules, the gates, the
engine and its previews all come through here. `agent` is `claude`, `codex`, `gemini`, `opencode` or `acp` (longer
spellings as `claude-code` too), or, with the form OWN, any name for an agent that uses our own tools; `tool` is the
agent's own name of it, `given` its raw input, `cwd` and `workspace` absolute. Never raises.

Promises: a field that says where or what is touched is never passed over; a tool, a field or a shape that is not known
leaves a reason in `Call.unclear`, and such a call is never allowed by any rule, grant or mode, while denies still hold
for all that was seen. A rule may name the tool in our words or in the agent's. MCP tools (`mcp__...`) and other tools
without a table keep their name, count as able to do anything, and pass only by an allow that names them. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.runtime.policy.call import Call
from interlock.runtime.policy.facts.foreign_table import ANY, OWN, ForeignTool, agent_key, foreign_tool, is_foreign
from interlock.runtime.policy.facts.patch import BEGIN, patch_files
from interlock.runtime.policy.facts.tool import DELETES, command_of, fixed_part
from interlock.runtime.policy.facts.tool_name import ToolKind, is_known, tool_kind, unseen_in

_NEEDS_PATH = frozenset(("read_file", "write_file", "edit_file"))
_PATCH_PROGRAMS = frozenset(("apply_patch", "applypatch"))
_SHELLS = frozenset(("", "bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash", "/usr/bin/zsh"))
_SAFE_ESCAPES = (None, False, "", "use_default")
_MEMORY = {"gemini": ".gemini/GEMINI.md", ANY: ".gemini/GEMINI.md"}
_PATCH_HERE = re.compile(r"\s*apply_?patch\s*<<\s*(?:'(?=\w+')|\"(?=\w+\"))?(\w+)['\"]?\n(.*)\n\1\s*", re.DOTALL)
LEAVE_OUT = frozenset(("grep", "glob"))
"""Our tools that walk a folder and leave out of it what is denied or guarded."""


@dataclass(slots=True)
class _Found:
    """What the fields of one input say."""

    home: str
    command: str | None = None
    cwd: str = ""
    paths: list[str] = field(default_factory=list)
    deletes: list[str] = field(default_factory=list)
    rest: dict[str, Any] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)


def make_call(
    agent: str,
    tool: str,
    given: Mapping[str, object],
    *,
    cwd: str,
    workspace: Sequence[str],
    home: str,
    protected: Sequence[str] = (),
    form: str = "",
    kind: ToolKind | None = None,
    starts: str = "",
) -> Call:
    """The call as our policy sees it. See the module for what is promised.

    `form`: whose words these are, where the agent's name does not tell: OWN or ANY. `kind`: what the definition of one of our
    tools says of it, whose input was checked. `starts`: the real directory that it starts in, where that is known.
    """
    form = form or agent_key(agent)
    around = _Around(
        agent_key(agent) if is_foreign(agent) else agent, starts or cwd, tuple(workspace), home, tuple(protected)
    )
    given = _without_patch_program(form, tool, given)
    named = tool
    if isinstance(given, _Patch):
        tool, named, given = "apply_patch", "apply_patch", given.given
    known = foreign_tool(form, tool) if isinstance(given, Mapping) else None
    if kind is not None and (known is None or not set(given) <= set(known.fields)):
        return around.call(tool, given, kind)
    if known is None:
        return _unknown(around, form, tool, given)
    found = _read(form, known, given, home)
    where = starts or (posixpath.join(cwd, found.cwd) if found.cwd else cwd)
    call = around.call(known.kind, _our_input(known.kind, found), kind or tool_kind(known.kind))
    is_own = foreign_tool(OWN, named) is known
    return replace(
        call,
        cwd=where,
        named="" if is_own else named,
        unclear="; ".join(dict.fromkeys(found.unclear)),
        leaves_out=is_own and known.kind in LEAVE_OUT,
    )


@dataclass(frozen=True, slots=True)
class _Around:
    """What is told beside tool and input."""

    agent: str
    cwd: str
    workspace: tuple[str, ...]
    home: str
    protected: tuple[str, ...]

    def call(self, tool: str, given: Mapping[str, object], kind: ToolKind | None = None) -> Call:
        risks, reads = (kind.risks, kind.read_only) if kind else (frozenset[str](), False)
        return Call(tool, given, self.cwd, self.workspace, self.home, risks, reads, self.agent, self.protected)


def _unknown(around: _Around, form: str, tool: str, given: object) -> Call:
    """A tool without a table. Its name is its own, although ours may have one of the same name."""
    fields: dict[str, object] = {str(key): value for key, value in given.items()} if isinstance(given, Mapping) else {}
    unclear = "" if isinstance(given, Mapping) else "the input is no object"
    if hidden := unseen_in(tool):
        unclear = unclear or f"the name of the tool holds a character that nobody sees (U+{ord(hidden):04X})"
    if is_known(tool):  # a name that means something to us, said by an agent that never had such a tool
        unclear = unclear or f"{around.agent or 'this agent'} has no tool {tool!r} that is known"
    return replace(around.call(tool, fields), named=tool, unclear=unclear)


@dataclass(frozen=True, slots=True)
class _Patch:
    """A patch that was given to a shell as a program's argument."""

    given: Mapping[str, object]


def _without_patch_program(form: str, tool: str, given: Any) -> Any:
    """A patch that Codex takes out of a command, as the call of its patch tool that it becomes."""
    words = given.get("command", given.get("cmd")) if form in ("codex", ANY) and isinstance(given, Mapping) else None
    if tool == "apply_patch":
        return given
    patch = _patch_in(words)
    if patch is None:
        return given
    where = {key: value for key, value in given.items() if key in ("workdir", "cwd")}
    return _Patch({"patch": patch, **where})


def _patch_in(words: object) -> object:
    """The patch of `apply_patch PATCH` or of `apply_patch <<EOF`, also behind `bash -lc`; None where there is none."""
    if isinstance(words, list | tuple) and len(words) == 2:
        return words[1] if isinstance(words[0], str) and words[0] in _PATCH_PROGRAMS else None
    if isinstance(words, list | tuple) and len(words) == 3 and all(isinstance(word, str) for word in words):
        words = words[2] if words[0] in _SHELLS and words[1] in ("-c", "-lc") else None
    here = _PATCH_HERE.fullmatch(words) if isinstance(words, str) else None
    return here[2] if here else None


def _read(form: str, known: ForeignTool, given: Mapping[str, object], home: str) -> _Found:
    found = _Found(home)
    for name, value in given.items():
        role = known.fields.get(name)
        if role is None:
            found.unclear.append(f"the field {str(name)[:60]!r} is not known")
        elif role == "memory":
            found.paths.append(posixpath.join(home, _MEMORY.get(form, "GEMINI.md")))
        elif role and value is not None:
            _take(role, name, value, found)
    found.unclear += [f"the field {name!r} is missing" for name in sorted(known.needs - set(given))]
    if known.kind in _NEEDS_PATH and not found.paths and not found.deletes:
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
            _take_changes(name, value, found)
        case "gone":
            found.deletes += _texts(name, value, found)
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
    if BEGIN in command and any(program in command for program in _PATCH_PROGRAMS):
        found.unclear.append("it holds a patch among other commands, whose files are not looked for")
    found.command = command


def _take_patch(name: str, value: object, found: _Found) -> None:
    for text in _texts(name, value, found)[:1]:
        patch = patch_files(text)
        for path in patch.paths:
            (found.deletes if path in patch.deletes else found.paths).extend(_spelled(path, found))
        if patch.problem:
            found.unclear.append(patch.problem)


def _take_text(role: str, name: str, value: object, found: _Found) -> None:
    for text in _texts(name, value, found)[:1]:
        if role == "cwd":
            if text.startswith("~") or (found.cwd and found.cwd != text):
                found.unclear.append("where it runs is not certain")
            found.cwd = text
        else:
            if found.rest.get(role, text) != text and role != "url":
                found.unclear.append(f"it names two of {role!r}")
            # every address counts, whichever field it stands in
            found.rest[role] = f"{found.rest[role]} {text}" if role == "url" and role in found.rest else text


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


def _take_changes(name: str, value: object, found: _Found) -> None:
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
            if not isinstance(text, str) or not text:
                found.unclear.append(f"{name!r} holds a file without a path")
                continue
            is_gone = text == path and (bool(moved) or _is_deletion(change))
            (found.deletes if is_gone else found.paths).extend(_spelled(text, found))


def _is_deletion(change: object) -> bool:
    """Whether a change is `{"type": "delete"}`, `{"kind": {"type": "delete"}}` or `{"delete": {}}`."""
    if not isinstance(change, Mapping):
        return False
    return "delete" in change or any(
        value == "delete" or (isinstance(value, Mapping) and _is_deletion(value))
        for key, value in change.items()
        if key in ("type", "kind")
    )


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
    gone = {DELETES: list(dict.fromkeys(found.deletes))} if found.deletes else {}
    return where | gone | found.rest
