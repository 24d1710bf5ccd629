"""JSON with comments and trailing commas, read with the place of every part.

Promises: `value` equals what a JSON reader gives for the text without its comments; every node knows where it stands;
a key that stands twice is refused, because two readers would see two different settings. Raises SettingsError with line and
column; never recurses deeper than `_DEEPEST`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from interlock.runtime.gates.settings.document import SettingsError, position

_DEEPEST = 200
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SPACE = re.compile(r"[ \t\r\n]+")
_LINE_COMMENT = re.compile(r"//[^\r\n]*")


@dataclass(slots=True)
class Node:
    """A value and where it stands: `text[start:end]`."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    scalar: Any = None
    members: list[Member] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    @property
    def value(self) -> Any:
        """As plain data."""
        if self.kind == "object":
            return {member.key: member.node.value for member in self.members}
        return [item.value for item in self.items] if self.kind == "array" else self.scalar

    def member(self, key: str) -> Member | None:
        """The member of an object with this key."""
        return next((member for member in self.members if member.key == key), None)

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Where the elements of a container begin and end, keys included."""
        if self.kind == "object":
            return [(member.start, member.node.end) for member in self.members]
        return [(item.start, item.end) for item in self.items]


@dataclass(slots=True)
class Member:
    """A key with its value; `start` is that of the key."""

    key: str
    start: int
    node: Node


def parse(text: str) -> Node | None:
    """The one value in the text; None when there is nothing but space and comments. Raises SettingsError."""
    at = skip(text, 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    rest = skip(text, node.end)
    if rest != len(text):
        raise _fault(text, rest, "something stands behind the end of the settings")
    return node


def skip(text: str, at: int) -> int:
    """The offset of the next thing that is neither space nor comment. Raises SettingsError for a comment without an end."""
    while at < len(text):
        if found := (_SPACE.match(text, at) or _LINE_COMMENT.match(text, at)):
            at = found.end()
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise _fault(text, at, "this comment has no end")
            at = end + 2
        else:
            break
    return at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise _fault(text, at, f"nested deeper than {_DEEPEST}")
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _array(text, at, depth)
    if text.startswith('"', at):
        string, end = _string(text, at)
        return Node("scalar", at, end, string)
    found = _SCALAR.match(text, at)
    if found is None or text[found.end() : found.end() + 1].isalnum():
        raise _fault(text, at, "a value is expected here")
    return Node("scalar", at, found.end(), json.loads(found.group()))


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise _fault(text, at, "this text has no end on its line")
    try:
        return json.loads(found.group()), found.end()
    except ValueError:
        raise _fault(text, at, "this text holds an escape that JSON does not have") from None


def _object(text: str, start: int, depth: int) -> Node:
    node = Node("object", start, start)
    seen: set[str] = set()
    at = skip(text, start + 1)
    while not text.startswith("}", at):
        if not text.startswith('"', at):
            raise _fault(text, at, "a key in double quotes or `}` is expected here")
        key, end = _string(text, at)
        if key in seen:
            raise _fault(text, at, f"the key {key!r} stands twice")
        seen.add(key)
        colon = skip(text, end)
        if not text.startswith(":", colon):
            raise _fault(text, colon, "`:` is expected here")
        member = Member(key, at, _value(text, skip(text, colon + 1), depth + 1))
        node.members.append(member)
        at = _comma(text, member.node.end, "}")
    node.end = at + 1
    return node


def _array(text: str, start: int, depth: int) -> Node:
    node = Node("array", start, start)
    at = skip(text, start + 1)
    while not text.startswith("]", at):
        node.items.append(_value(text, at, depth + 1))
        at = _comma(text, node.items[-1].end, "]")
    node.end = at + 1
    return node


def _comma(text: str, at: int, closing: str) -> int:
    at = skip(text, at)
    if text.startswith(",", at):
        return skip(text, at + 1)
    if not text.startswith(closing, at):
        raise _fault(text, at, f"`,` or `{closing}` is expected here")
    return at


def _fault(text: str, at: int, what: str) -> SettingsError:
    found = "the end of the file" if at >= len(text) else repr(text[at : at + 12])
    return SettingsError(f"{position(text, at)}: {what}, found {found}")
