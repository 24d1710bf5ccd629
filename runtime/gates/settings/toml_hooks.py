"""Hooks in a TOML settings file, in any of the forms that TOML has for an array of tables.

Promises: adding touches nothing that is there and is checked against the standard library's reading before it is given
back; taking away leaves what is not ours. Raises SettingsError where a form has no place for a hook.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interlock.runtime.gates.settings import toml
from interlock.runtime.gates.settings.document import Document, SettingsError, Splice
from interlock.runtime.gates.settings.json_hooks import Groups, IsOurs, handlers_of
from interlock.runtime.gates.settings.toml import Statement, TomlFile, Value

NOTE = "# added by interlock connect; interlock disconnect takes it out again"


def add_hooks(doc: Document, wanted: Groups) -> Document:
    """The document with these groups behind those that are there. Raises SettingsError."""
    expected = _added(toml.parse(doc).data, wanted)
    try:
        for event, groups in wanted.items():
            for group in groups:
                doc = _add_group(doc, event, group)
        found = toml.parse(doc).data
    except SettingsError:
        found = None
    if found != expected:
        raise SettingsError("hooks stand in it in a form to which nothing can be added safely; add them by hand")
    return doc


def _added(data: dict[str, Any], wanted: Groups) -> dict[str, Any]:
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict) or any(not isinstance(hooks.get(event, []), list) for event in wanted):
        raise SettingsError("`hooks` is not a table of lists")
    return data | {"hooks": hooks | {event: [*hooks.get(event, []), *groups] for event, groups in wanted.items()}}


def _add_group(doc: Document, event: str, group: dict[str, Any]) -> Document:
    file = toml.parse(doc)
    place = _inline_place(file, event)
    if place is None:
        return _append_blocks(doc, event, group)
    container, key = place
    return _insert(doc, container, f"{key}{render(group if not key else [group])}")


def _inline_place(file: TomlFile, event: str) -> tuple[Value, str] | None:
    """The array or inline table in which the group must stand, with the head that it needs there."""
    for statement in file.statements:
        if statement.kind != "pair" or statement.value is None:
            continue
        rest = ("hooks", event)[len(statement.path) :]
        if statement.path != ("hooks", event)[: len(statement.path)] or len(statement.path) > 2:
            continue
        found = _descend(statement.value, rest)
        if found is not None:
            return found
    return None


def _descend(value: Value, rest: tuple[str, ...]) -> tuple[Value, str] | None:
    if not rest:
        return (value, "") if value.kind == "array" else None
    if value.kind != "inline":
        return None
    for key, _, member in value.members:
        if key == rest[: len(key)] and (found := _descend(member, rest[len(key) :])):
            return found
    return value, f"{render_key(rest[0])} = " if len(rest) == 1 else f"{'.'.join(map(render_key, rest))} = "


def _insert(doc: Document, container: Value, new: str) -> Document:
    text = doc.text
    if not container.parts:
        inner = f" {new} " if container.kind == "inline" else new
        at = container.start + 1
        return doc.with_splices([Splice(at, at, inner)])
    end = container.parts[-1][1]
    return doc.with_splices([Splice(end, end, f", {new}")]) if text else doc


def _append_blocks(doc: Document, event: str, group: dict[str, Any]) -> Document:
    nl = doc.newline
    head = "" if not doc.text else (nl if doc.text.endswith("\n") else nl * 2)
    name = f"hooks.{render_key(event)}"
    rows = [NOTE, f"[[{name}]]"]
    rows += [f"{render_key(key)} = {render(value)}" for key, value in group.items() if key != "hooks"]
    for handler in group["hooks"]:
        rows += ["", f"[[{name}.hooks]]", *(f"{render_key(k)} = {render(v)}" for k, v in handler.items())]
    return Document(doc.text + head + nl.join(rows) + nl, doc.bom)


def render_key(key: str) -> str:
    """A key as TOML writes it."""
    return key if toml._BARE.fullmatch(key) else render(key)


def render(value: Any) -> str:
    """A value on one line. Raises TypeError for what has no form in TOML."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(map(render, value))}]"
        case Mapping():
            inner = ", ".join(f"{render_key(key)} = {render(one)}" for key, one in value.items())
            return f"{{ {inner} }}" if inner else "{}"
        case _:
            raise TypeError(f"{type(value).__name__} has no form in TOML")


def _string(text: str) -> str:
    if "'" not in text and all(c.isprintable() for c in text) and ('"' in text or "\\" in text):
        return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() or c == " " else f"\\U{ord(c):08x}" for c in escaped) + '"'


def handlers(doc: Document) -> list[tuple[str, Any, Any]]:
    """(event, group, handler) of every hook in the file, as plain data. Raises SettingsError."""
    return handlers_of(toml.parse(doc).data.get("hooks"))


def remove_hooks(doc: Document, is_ours: IsOurs, states: frozenset[str] = frozenset()) -> Document:
    """The document without our handlers, and without the remembered trust under these keys of `hooks.state`."""
    expected = _without(toml.parse(doc).data, is_ours, states)
    while (cut := _next_cut(doc, is_ours, states)) is not None:
        doc = doc.with_splices(cut)
    if _plain(toml.parse(doc).data) != _plain(expected):
        raise SettingsError("our hooks stand in it in a form that cannot be taken out safely; take them out by hand")
    return doc


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    """Without what stands empty: whether an empty list is left is of no matter to the agent."""
    hooks = data.get("hooks")
    if not isinstance(hooks, dict):
        return data
    kept = {key: one for key, one in hooks.items() if one}
    rest = {key: one for key, one in data.items() if key != "hooks"}
    return rest | {"hooks": kept} if kept else rest


def _without(data: dict[str, Any], is_ours: IsOurs, states: frozenset[str]) -> dict[str, Any]:
    hooks = data.get("hooks")
    if not isinstance(hooks, dict):
        return data
    kept: dict[str, Any] = {}
    for event, groups in hooks.items():
        if event == "state" and isinstance(groups, dict):
            left = {key: one for key, one in groups.items() if key not in states}
            kept |= {event: left} if left or not groups else {}
        elif isinstance(groups, list):
            held = [_bare(group, is_ours) for group in groups]
            left_groups = [group for group in held if group is not None]
            kept |= {event: left_groups} if left_groups or not groups else {}
        else:
            kept[event] = groups
    rest = {key: value for key, value in data.items() if key != "hooks"}
    return rest | {"hooks": kept} if kept or not hooks else rest


def _bare(group: Any, is_ours: IsOurs) -> Any:
    held = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(held, list) or not any(map(is_ours, held)):
        return group
    left = [handler for handler in held if not is_ours(handler)]
    return group | {"hooks": left} if left else None


def _next_cut(doc: Document, is_ours: IsOurs, states: frozenset[str]) -> list[Splice] | None:
    file = toml.parse(doc)
    blocks = _blocks(file)
    return _cut_block(doc, file, blocks, is_ours) or _cut_inline(doc, file, is_ours) or _cut_state(doc, file, states)


def _blocks(file: TomlFile) -> list[list[Statement]]:
    """Headers with the pairs under them; pairs before the first header are a block without one."""
    blocks: list[list[Statement]] = [[]]
    for statement in file.statements:
        if statement.kind != "pair":
            blocks.append([])
        blocks[-1].append(statement)
    return [block for block in blocks if block]


def _cut_block(doc: Document, file: TomlFile, blocks: list[list[Statement]], is_ours: IsOurs) -> list[Splice] | None:
    count: dict[str, int] = {}
    for at, block in enumerate(blocks):
        head = block[0]
        if head.kind != "tables" or len(head.path) != 2 or head.path[0] != "hooks":
            continue
        event = head.path[1]
        count[event] = count.get(event, -1) + 1
        group = file.data["hooks"][event][count[event]]
        if _bare(group, is_ours) == group:
            continue
        below = at + 1
        while below < len(blocks) and blocks[below][0].path[:2] == head.path and len(blocks[below][0].path) > 2:
            below += 1
        if _bare(group, is_ours) is None:
            return [_whole(doc, block[0], blocks[below - 1][-1])]
        inner = [one for one in blocks[at + 1 : below] if one[0].path == (*head.path, "hooks")]
        for index, handler in enumerate(group["hooks"]):
            if is_ours(handler) and index < len(inner):
                return [_whole(doc, inner[index][0], inner[index][-1])]
    return None


def _whole(doc: Document, first: Statement, last: Statement) -> Splice:
    """From our note above a header, and the blank line above that, to the end of the last line."""
    text = doc.text
    start = text.rfind("\n", 0, first.start) + 1
    above = text[:start]
    row = above.rstrip("\r\n").rsplit("\n", 1)[-1]
    if row.strip() == NOTE:
        start = above.rfind(NOTE)
        start = text.rfind("\n", 0, start) + 1
    for blank in ("\r\n\r\n", "\n\n"):
        if text[:start].endswith(blank):
            start -= len(blank) // 2
            break
    stop = text.find("\n", last.end)
    return Splice(start, len(text) if stop < 0 else stop + 1, "")


def _cut_inline(doc: Document, file: TomlFile, is_ours: IsOurs) -> list[Splice] | None:
    for statement in file.statements:
        if statement.kind != "pair" or statement.value is None or statement.path[:1] != ("hooks",):
            continue
        data: Any = file.data
        for key in statement.path:
            data = data.get(key) if isinstance(data, dict) else None
        if len(statement.path) > 2 or data is None:
            continue
        if (
            len(statement.path) == 2
            and isinstance(data, list)
            and data
            and all(_bare(g, is_ours) is None for g in data)
        ):
            return [_whole(doc, statement, statement)]
        if found := _in_value(doc, statement.value, data, 2 - len(statement.path), is_ours):
            return found
    return None


def _in_value(doc: Document, value: Value, data: Any, depth: int, is_ours: IsOurs) -> list[Splice] | None:
    if depth == 0:
        return _in_groups(doc, value, data, is_ours)
    if value.kind != "inline" or not isinstance(data, dict):
        return None
    for index, (key, _, member) in enumerate(value.members):
        groups = data.get(key[0]) if len(key) == 1 else None
        if not isinstance(groups, list) or not groups:
            continue
        if all(_bare(group, is_ours) is None for group in groups):
            return _element(doc, value, index)
        if found := _in_groups(doc, member, groups, is_ours):
            return found
    return None


def _in_groups(doc: Document, value: Value, groups: Any, is_ours: IsOurs) -> list[Splice] | None:
    if value.kind != "array" or not isinstance(groups, list):
        return None
    for index, group in enumerate(groups):
        if _bare(group, is_ours) is None:
            return _element(doc, value, index)
        if _bare(group, is_ours) != group and value.items[index].kind == "inline":
            held = next(m for key, _, m in value.items[index].members if key == ("hooks",))
            return _element(doc, held, next(i for i, one in enumerate(group["hooks"]) if is_ours(one)))
    return None


def _element(doc: Document, container: Value, index: int) -> list[Splice]:
    parts, text = container.parts, doc.text
    start, end = parts[index]
    if index > 0:
        return (
            [Splice(parts[index - 1][1], end, "")]
            if "#" not in text[parts[index - 1][1] : start]
            else _loose(text, parts, index)
        )
    if len(parts) > 1:
        return [Splice(start, parts[1][0], "")] if "#" not in text[end : parts[1][0]] else _loose(text, parts, index)
    comma = toml._gap(text, end)
    stop = comma + 1 if text.startswith(",", comma) else end
    return [Splice(start, stop, "")]


def _loose(text: str, parts: list[tuple[int, int]], index: int) -> list[Splice]:
    """Element and one comma, where comments stand between the elements and must stay."""
    start, end = parts[index]
    comma = toml._gap(text, end)
    if not text.startswith(",", comma):
        comma = toml._gap(text, parts[index - 1][1])
    return [Splice(start, end, ""), Splice(comma, comma + 1, "")]


def _cut_state(doc: Document, file: TomlFile, states: frozenset[str]) -> list[Splice] | None:
    if not states:
        return None
    for block in _blocks(file):
        path = block[0].path
        if block[0].kind == "table" and path[:2] == ("hooks", "state") and len(path) == 3 and path[2] in states:
            return [_whole(doc, block[0], block[-1])]
    for statement in file.statements:
        if (
            statement.kind == "pair"
            and statement.path[:2] == ("hooks", "state")
            and statement.path[2:3]
            and (statement.path[2] in states)
        ):
            return [_whole(doc, statement, statement)]
    return _empty_state(doc, file)


def _empty_state(doc: Document, file: TomlFile) -> list[Splice] | None:
    """The header `[hooks.state]` that our trust has left behind with nothing under it."""
    state = file.data.get("hooks", {}).get("state") if isinstance(file.data.get("hooks"), dict) else None
    if state != {}:
        return None
    for block in _blocks(file):
        if block[0].kind == "table" and block[0].path == ("hooks", "state"):
            return [_whole(doc, block[0], block[-1])]
    return None
