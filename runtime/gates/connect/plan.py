"""What `connect` would change, worked out without changing anything.

Promises: a plan holds the exact bytes of every file before and after, so that what is shown is what is done; a plan without
changes means that the agent is connected as it would be now; our entries of an older version are replaced, not doubled.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interlock.runtime.gates.connect.file import FileRefused, Target, look
from interlock.runtime.gates.connect.receipt import Form, Kept, Receipt, backup_of, digest
from interlock.runtime.gates.service.config import KEY_HEADER
from interlock.runtime.gates.settings import json_hooks, jsonc, jsonc_edit, toml_hooks
from interlock.runtime.gates.settings.document import Document, SettingsError
from interlock.runtime.gates.settings.json_hooks import Groups

MARK = "interlock-gate"
"""Stands in every file of ours."""
_SIGNS = (MARK, "gate-hook.sh", "gate-hold.sh", KEY_HEADER)
"""Any of these in a hook makes it one of ours, also without a receipt."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file as it is and as it would be."""

    target: Target
    after: bytes
    form: Form
    origin: bytes | None
    """What an undo goes back to: the bytes from before the first `connect`."""
    ours: tuple[Any, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Whether the file is not yet so."""
        return self.target.data != self.after and bool(self.after or self.target.data)

    def diff(self) -> str:
        """A unified diff for a person; line ends and byte order marks are as in the file."""
        before = (self.target.data or b"").decode("utf-8", "replace").splitlines(keepends=True)
        after = self.after.decode("utf-8", "replace").splitlines(keepends=True)
        old = str(self.target.path) if self.target.data is not None else "/dev/null"
        rows = [
            row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"
            for row in difflib.unified_diff(before, after, old, str(self.target.path), n=3)
        ]
        return "".join(rows).replace("\r\n", "\n")


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes for one agent."""

    agent: str
    title: str
    """The agent's name for people."""
    config: Path
    """Its main settings file; the receipt is kept under it."""
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    """What this route cannot do, and what the person has to know before saying yes."""
    version: str = ""
    earlier: Receipt | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> tuple[Change, ...]:
        """The changes that are not yet made."""
        return tuple(change for change in self.changes if change.is_needed)


def is_marked(handler: Any) -> bool:
    """Whether a hook carries a sign of ours."""
    text = json.dumps(handler, default=str)
    return any(sign in text for sign in _SIGNS)


def known_as_ours(kept: Kept | None) -> Callable[[Any], bool]:
    """Recognises our hooks: by the mark, or as one that the receipt names."""
    told = kept.ours if kept is not None else ()
    return lambda handler: is_marked(handler) or handler in told


def kept_of(receipt: Receipt | None, path: Path) -> Kept | None:
    """What an earlier `connect` did to this file."""
    return next((kept for kept in receipt.files if kept.path == str(path)), None) if receipt else None


OWN_ENV = {"INTERLOCK_AGENT": "claude_code"}
"""What may stand under `env` from us."""


def hooks_change(
    path: Path, wanted: Groups, form: Form, receipt: Receipt | None = None, env: Mapping[str, str] | None = None
) -> Change:
    """These hooks in a settings file, and for JSON these values under `env`.

    Raises FileRefused, also for a file that is no settings file.
    """
    target = look(path)
    kept = kept_of(receipt, target.path)
    ours = tuple(handler for groups in wanted.values() for group in groups for handler in group["hooks"])
    try:
        if _holds(target, wanted, form, known_as_ours(kept), env or {}):
            return Change(target, target.data or b"", form, _origin(target, kept, form), ours)
        origin = _origin(target, kept, form)
        doc = Document.decode(origin or b"")
        added = json_hooks.add_hooks(doc, wanted) if form == "json-hooks" else toml_hooks.add_hooks(doc, wanted)
        added = json_hooks.add_values(added, "env", env) if env else added
    except SettingsError as error:
        raise not_understood(target.path, error) from None
    return Change(target, added.encode(), form, origin, ours)


def trust_change(path: Path, receipt: Receipt | None = None) -> Change:
    """A settings file that only the agent itself will write, about its trust in hooks that stand elsewhere."""
    target = look(path)
    try:
        origin = _origin(target, kept_of(receipt, target.path), "toml-hooks")
    except SettingsError as error:
        raise not_understood(target.path, error) from None
    return Change(target, target.data or b"", "toml-hooks", origin)


def not_understood(path: Path, error: SettingsError) -> FileRefused:
    """The refusal of a file that cannot be read as settings."""
    return FileRefused(f"{path} cannot be used as it is: {error}. Mend it, then try again; nothing was changed.")


def _holds(target: Target, wanted: Groups, form: Form, is_ours: Callable[[Any], bool], env: Mapping[str, str]) -> bool:
    if target.data is None:
        return False
    doc = Document.decode(target.data)
    if env:
        node = jsonc.parse(doc.text)
        have_env = node.value.get("env", {}) if node is not None and isinstance(node.value, dict) else {}
        if not isinstance(have_env, dict) or any(name not in have_env for name in env):
            return False
    found = json_hooks.handlers(doc) if form == "json-hooks" else toml_hooks.handlers(doc)
    have = [(event, _matcher(group), handler) for event, group, handler in found if is_ours(handler)]
    want = [
        (event, _matcher(group), handler)
        for event, groups in wanted.items()
        for group in groups
        for handler in group["hooks"]
    ]
    return sorted(map(repr, have)) == sorted(map(repr, want))


def _matcher(group: Any) -> Any:
    return group.get("matcher") if isinstance(group, dict) else None


def _origin(target: Target, kept: Kept | None, form: Form) -> bytes | None:
    """The bytes from before us: the backup where the file is as we left it, else the file without what is ours."""
    if kept is not None and target.data is not None and digest(target.data) == kept.after:
        return backup_of(kept)
    if target.data is None:
        return None
    return without_ours(target.data, form, known_as_ours(kept), _value_before(kept), kept.states if kept else ())


def _value_before(kept: Kept | None) -> Any:
    data = backup_of(kept) if kept is not None and kept.form == "json-hooks" else None
    node = jsonc.parse(Document.decode(data).text) if data else None
    return node.value if node is not None else None


def without_ours(
    data: bytes, form: Form, is_ours: Callable[[Any], bool], before: Any = None, states: tuple[str, ...] = ()
) -> bytes:
    """A settings file without our entries, the same bytes where it has none. Raises SettingsError."""
    doc = Document.decode(data)
    if form == "toml-hooks":
        if not states and not any(is_ours(handler) for _, _, handler in toml_hooks.handlers(doc)):
            return data
        return toml_hooks.remove_hooks(doc, is_ours, frozenset(states)).encode()
    if form == "json-hooks":
        doc = json_hooks.remove_hooks(doc, is_ours, before)
        return json_hooks.remove_values(doc, "env", OWN_ENV, before).encode()
    return data


def whole_change(path: Path, text: str, receipt: Receipt | None = None) -> Change:
    """A file that is ours alone. Raises FileRefused where another file stands in its place."""
    target = look(path)
    data = text.encode()
    kept = kept_of(receipt, target.path)
    if target.data is not None and MARK.encode() not in target.data and kept is None:
        raise FileRefused(f"{path} is there already and is not ours. Move it away, then try again.")
    return Change(target, data, "whole", None)


def member_change(path: Path, key: str, value: Any, receipt: Receipt | None = None) -> Change | None:
    """One member of the outermost object, where there is none of that name; None when the user has one."""
    target = look(path)
    kept = kept_of(receipt, target.path)
    try:
        doc = Document.decode(target.data or b"")
        root = jsonc.parse(doc.text)
        if root is not None and root.kind == "object" and root.member(key) is not None:
            if kept is None or kept.form != "json-member" or target.data is None:
                return None
            origin = backup_of(kept) if digest(target.data) == kept.after else _without_member(doc, key).encode()
            return Change(target, target.data, "json-member", origin, (key,))
        if root is None:
            end = doc.text if not doc.text or doc.text.endswith("\n") else doc.text + doc.newline
            doc = Document(f"{end}{{}}{doc.newline}", doc.bom)
            root = jsonc.parse(doc.text)
        if root is None or root.kind != "object":
            raise SettingsError("the settings must be an object")
        return Change(target, jsonc_edit.add_member(doc, root, key, value).encode(), "json-member", target.data, (key,))
    except SettingsError as error:
        raise not_understood(target.path, error) from None


def _without_member(doc: Document, key: str) -> Document:
    root = jsonc.parse(doc.text)
    member = root.member(key) if root is not None and root.kind == "object" else None
    return doc if root is None or member is None else jsonc_edit.remove(doc, root, root.members.index(member))


def without_member(data: bytes, key: str) -> bytes:
    """A JSON settings file without one member of its outermost object. Raises SettingsError."""
    return _without_member(Document.decode(data), key).encode()
