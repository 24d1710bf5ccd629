"""Add to and take from a JSON file with comments, touching nothing else.

Promises: the value after an edit is the value before it with exactly that element added or taken; comments, order,
indentation, trailing commas and line ends of everything else stay as they are.
"""

from __future__ import annotations

import json
from typing import Any

from interlock.runtime.gates.settings.document import Document, Splice, indent_at
from interlock.runtime.gates.settings.jsonc import Node, skip


def add_item(doc: Document, array: Node, value: Any) -> Document:
    """The document with `value` as the last element of an array."""
    return _add(doc, array, "", value)


def add_member(doc: Document, container: Node, key: str, value: Any) -> Document:
    """The document with a new last member in an object."""
    return _add(doc, container, json.dumps(key, ensure_ascii=False) + ": ", value)


def remove(doc: Document, container: Node, index: int) -> Document:
    """The document without one element of an array or one member of an object."""
    text, parts = doc.text, container.parts
    start, end = parts[index]
    comma = skip(text, end)
    followed = text.startswith(",", comma)
    joined = followed and comma == end
    stop = end + 1 if joined else end
    begin = _space_before(text, start, container.start + 1, text[stop:].lstrip(" \t")[:1] in ("\n", "\r"))
    splices = [Splice(begin, stop, "")]
    if followed and not joined:
        splices.append(Splice(comma, comma + 1, ""))
    if not followed and index > 0:
        before = skip(text, parts[index - 1][1])
        splices.append(Splice(before, before + 1, ""))
    if not text[container.start + 1 : start].strip() and not text[stop : container.end - 1].strip():
        # the only thing in it: the closing bracket comes back to the opening one
        splices = [Splice(container.start + 1, container.end - 1, "")]
    return doc.with_splices(splices)


def _space_before(text: str, start: int, floor: int, whole_line: bool) -> int:
    """Where the space before an element begins; its line end too, where nothing else is left on the line."""
    begin = start
    while begin > floor and text[begin - 1] in " \t":
        begin -= 1
    if whole_line and begin > floor and text[begin - 1] == "\n":
        begin -= 2 if text[begin - 2 : begin] == "\r\n" else 1
    return begin


def _add(doc: Document, container: Node, head: str, value: Any) -> Document:
    if not container.parts:
        return _fill(doc, container, head, value)
    text = doc.text
    start, end = container.parts[-1]
    if "\n" not in text[container.start : start]:
        # elements begin on the line of the bracket: go on in that manner
        return doc.with_splices([Splice(end, end, f", {head}{_render(doc, value, '', one_line=True)}")])
    begins_line = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    indent = indent_at(text, start) if begins_line else indent_at(text, container.start) + doc.unit
    comma = skip(text, end)
    trailing = text.startswith(",", comma)
    place = _end_of_notes(text, comma + 1 if trailing else end, container.end - 1)
    new = f"{doc.newline}{indent}{head}{_render(doc, value, indent)}{',' if trailing else ''}"
    splices = [] if trailing else [Splice(end, end, ",")]
    return doc.with_splices([*splices, Splice(place, place, new)])


def _end_of_notes(text: str, at: int, limit: int) -> int:
    """The end of the comments that stand on the same line behind an element: they belong to it."""
    end = at
    while end < limit:
        spaces = end
        while spaces < limit and text[spaces] in " \t":
            spaces += 1
        if text.startswith("//", spaces):
            stop = min(place for place in (text.find("\n", spaces), text.find("\r", spaces), limit) if place >= 0)
            return min(stop, limit)
        close = text.find("*/", spaces) if text.startswith("/*", spaces) else -1
        if close < 0 or "\n" in text[spaces:close]:
            return end
        end = close + 2
    return end


def _fill(doc: Document, container: Node, head: str, value: Any) -> Document:
    text = doc.text
    inside = text[container.start + 1 : container.end - 1]
    if inside.strip():
        # only comments stand in it: the element goes behind them, before the bracket, on a line of its own
        indent = indent_at(text, container.start) + doc.unit
        place = container.end - 1 - (len(inside) - len(inside.rstrip()))
        new = f"{doc.newline}{indent}{head}{_render(doc, value, indent)}"
        tail = "" if "\n" in text[place : container.end - 1] else doc.newline + indent_at(text, container.start)
        return doc.with_splices([Splice(place, place, new + tail)])
    if _minified(doc):
        return doc.with_splices([Splice(container.start + 1, container.end - 1, head + _render(doc, value, "", True))])
    outer = indent_at(text, container.start)
    indent = outer + doc.unit
    new = f"{doc.newline}{indent}{head}{_render(doc, value, indent)}{doc.newline}{outer}"
    return doc.with_splices([Splice(container.start + 1, container.end - 1, new)])


def _minified(doc: Document) -> bool:
    return "\n" not in doc.text.strip() and len(doc.text.strip()) > 2


def _render(doc: Document, value: Any, indent: str, one_line: bool = False) -> str:
    if one_line:
        return json.dumps(value, ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, indent=doc.unit)
    return text.replace("\n", doc.newline + indent)
