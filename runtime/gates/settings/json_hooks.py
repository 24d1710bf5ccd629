"""Hooks in a JSON settings file: `{"hooks": {EVENT: [{"matcher": …, "hooks": [HANDLER, …]}]}}`.

Promises: adding touches nothing that is there; taking away leaves every handler that is not ours, and removes an empty
group, event or `hooks` only where it did not stand empty before us.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interlock.runtime.gates.settings import jsonc
from interlock.runtime.gates.settings.document import Document, SettingsError
from interlock.runtime.gates.settings.jsonc import Node
from interlock.runtime.gates.settings.jsonc_edit import add_item, add_member, remove

Groups = Mapping[str, list[dict[str, Any]]]
"""Event -> groups to add."""
IsOurs = Callable[[Any], bool]
"""Whether a handler was written by us."""


def add_hooks(doc: Document, wanted: Groups) -> Document:
    """The document with these groups behind those that are there. Raises SettingsError where they have no place."""
    for event, groups in wanted.items():
        for group in groups:
            doc = _add_group(doc, event, group)
    return doc


def _add_group(doc: Document, event: str, group: dict[str, Any]) -> Document:
    root = jsonc.parse(doc.text)
    if root is None:
        end = doc.text if not doc.text or doc.text.endswith("\n") else doc.text + doc.newline
        doc = Document(f"{end}{{}}{doc.newline}", doc.bom)
        root = jsonc.parse(doc.text)
    assert root is not None
    hooks = _child(root, "hooks", "object", "the settings")
    if hooks is None:
        return add_member(doc, root, "hooks", {event: [group]})
    groups = _child(hooks, event, "array", "`hooks`")
    return add_member(doc, hooks, event, [group]) if groups is None else add_item(doc, groups, group)


def _child(node: Node, key: str, kind: str, name: str) -> Node | None:
    if node.kind != "object":
        raise SettingsError(f"{name} must be an object, found {node.kind}")
    member = node.member(key)
    if member is None:
        return None
    if member.node.kind != kind:
        raise SettingsError(f"`{key}` in {name} must be an {kind}, found {member.node.kind}")
    return member.node


def handlers(doc: Document) -> list[tuple[str, Any, Any]]:
    """(event, group, handler) of every hook in the file, as plain data. Raises SettingsError."""
    root = jsonc.parse(doc.text)
    value = root.value if root is not None else {}
    hooks = value.get("hooks", {}) if isinstance(value, dict) else {}
    return handlers_of(hooks)


def handlers_of(hooks: Any) -> list[tuple[str, Any, Any]]:
    """(event, group, handler) of the value of `hooks`; what is of another shape is passed over."""
    return [
        (event, group, handler)
        for event, groups in (hooks.items() if isinstance(hooks, dict) else ())
        for group in (groups if isinstance(groups, list) else ())
        for handler in _list(group)
    ]


def _list(group: Any) -> list[Any]:
    held = group.get("hooks") if isinstance(group, dict) else None
    return held if isinstance(held, list) else []


def remove_hooks(doc: Document, is_ours: IsOurs, before: Any = None) -> Document:
    """The document without our handlers. `before`: the value of the whole file before us, for what stood empty."""
    while (found := _first(doc, is_ours, before)) is not None:
        doc = remove(doc, *found)
    return doc


def _first(doc: Document, is_ours: IsOurs, before: Any) -> tuple[Node, int] | None:
    """The next thing to take away: the outermost container that holds nothing but ours."""
    root = jsonc.parse(doc.text)
    hooks = root.member("hooks") if root is not None and root.kind == "object" else None
    if root is None or hooks is None or hooks.node.kind != "object":
        return None
    if _all_ours(hooks.node, is_ours) and not _stood(before, "hooks"):
        return root, root.members.index(hooks)
    for index, event in enumerate(hooks.node.members):
        if event.node.kind != "array" or not any(_has_ours(group, is_ours) for group in event.node.items):
            continue
        if all(_only_ours(group, is_ours) for group in event.node.items) and not _stood(before, "hooks", event.key):
            return hooks.node, index
        return _in_event(event.node, is_ours)
    return None


def _in_event(event: Node, is_ours: IsOurs) -> tuple[Node, int]:
    for index, group in enumerate(event.items):
        if _only_ours(group, is_ours):
            return event, index
    group = next(group for group in event.items if _has_ours(group, is_ours))
    held = group.member("hooks")
    assert held is not None
    return held.node, next(i for i, handler in enumerate(held.node.items) if is_ours(handler.value))


def _all_ours(hooks: Node, is_ours: IsOurs) -> bool:
    groups = [group for event in hooks.members for group in event.node.items]
    return bool(groups) and all(
        event.node.kind == "array"
        and event.node.items
        and all(_only_ours(group, is_ours) for group in event.node.items)
        for event in hooks.members
    )


def _has_ours(group: Node, is_ours: IsOurs) -> bool:
    return any(is_ours(handler) for handler in _list(group.value))


def _only_ours(group: Node, is_ours: IsOurs) -> bool:
    held = _list(group.value)
    return bool(held) and all(is_ours(handler) for handler in held)


def _stood(before: Any, *path: str) -> bool:
    for key in path:
        if not isinstance(before, dict) or key not in before:
            return False
        before = before[key]
    return True


def add_values(doc: Document, key: str, values: Mapping[str, Any]) -> Document:
    """The document with these members in the object under `key`; one that is there already is left as it is."""
    for name, value in values.items():
        root = jsonc.parse(doc.text)
        assert root is not None  # hooks were added before
        held = _child(root, key, "object", "the settings")
        if held is None:
            doc = add_member(doc, root, key, {name: value})
        elif held.member(name) is None:
            doc = add_member(doc, held, name, value)
    return doc


def remove_values(doc: Document, key: str, values: Mapping[str, Any], before: Any = None) -> Document:
    """The document without these members, where they still have our value; `key` too where it was not there before us."""
    for name, value in values.items():
        root = jsonc.parse(doc.text)
        member = root.member(key) if root is not None and root.kind == "object" else None
        held = member.node.member(name) if member is not None and member.node.kind == "object" else None
        if root is None or member is None or held is None or held.node.value != value or _stood(before, key, name):
            continue
        if len(member.node.members) == 1 and not _stood(before, key):
            doc = remove(doc, root, root.members.index(member))
        else:
            doc = remove(doc, member.node, member.node.members.index(held))
    return doc
