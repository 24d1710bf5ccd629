"""Policy files: the text of one becomes rules, and whatever cannot be read is named with file, line and reason.

Promises: pure, no file is read here; never raises for any text. One bad rule never disables another. What is bad fails
closed alone: a bad allow allows nothing, a bad deny or ask makes whatever it may have meant ask. Examples (`match`,
`not_match`) are tried at load.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from interlock.runtime.policy.entry import BadRuleError, broken, read_rule, short_rule
from interlock.runtime.policy.example import check_examples
from interlock.runtime.policy.layer import MODES, Fault, LayerFile, Mode
from interlock.runtime.policy.rule import Rule
from interlock.runtime.policy.verdict import Effect, Layer

_EFFECTS: tuple[Effect, ...] = ("allow", "ask", "deny")
_HEAD = re.compile(r"^[ \t]*\[\[?[ \t]*([A-Za-z_-]+)[ \t]*\]\]?[ \t]*(?:#.*)?$", re.M)
_ASKS = "until it is mended, what it may have meant asks"


def read_policy(text: str, layer: Layer, file: str, *, trusted: bool = True) -> LayerFile:
    """The rules and faults of one file."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    reader = _Reader(layer, file)
    try:
        document: Mapping[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reader.in_pieces(text, error)
    else:
        reader.document(document, text, 1)
    return LayerFile(layer, file, tuple(reader.rules), tuple(reader.faults), reader.mode, digest, trusted)


def unreadable(layer: Layer, file: str, why: str) -> LayerFile:
    """The layer of a file that is there and cannot be read: everything asks."""
    rule = broken("unreadable", "deny", layer, file, 1, {}, "")
    fault = Fault(file, 1, "the file", why, "until it can be read, everything asks")
    return LayerFile(layer, file, (rule,), (fault,))


class _Reader:
    """What was found so far."""

    def __init__(self, layer: Layer, file: str) -> None:
        self.layer: Layer = layer
        self.file = file
        self.rules: list[Rule] = []
        self.faults: list[Fault] = []
        self.mode: Mode | None = None
        self._ids: set[str] = set()

    def document(self, document: Mapping[str, Any], text: str, first: int) -> None:
        """Everything in a readable text that begins at line `first` of the file."""
        for key, value in document.items():
            line = first + _line_of_key(text, key)
            if key == "rule":
                self._tables(value, text, first)
            elif key in _EFFECTS:
                self._list(key, value, text, first, line)
            elif key == "mode":
                self._mode(value, line)
            elif key != "version":
                known = "known: rule, allow, ask, deny, mode, version"
                self.faults.append(Fault(self.file, line, f"unknown key {key!r}", known, "it has no effect"))

    def in_pieces(self, text: str, error: tomllib.TOMLDecodeError) -> None:
        """A text that is not TOML as a whole: what stands before the first rule, then rule by rule."""
        if '"""' in text or "'''" in text:
            # a piece could then be part of a string, so nothing in the file is taken for a rule
            self._lost("the file", 1 + _line_of_error(error), str(error), "deny", "", {})
            return
        starts = [0, *(found.start() for found in _HEAD.finditer(text)), len(text)]
        for start, end in pairwise(starts):
            piece, first = text[start:end], 1 + text.count("\n", 0, start)
            if not piece.strip():
                continue
            try:
                self.document(tomllib.loads(piece), piece, first)
            except tomllib.TOMLDecodeError as fault:
                self._lost_piece(piece, first, fault)

    def _lost_piece(self, piece: str, first: int, fault: tomllib.TOMLDecodeError) -> None:
        line = first + _line_of_error(fault)
        effect = re.search(r"^[ \t]*effect[ \t]*=[ \t]*[\"'](\w+)[\"'][ \t]*(?:#.*)?$", piece, re.M)
        is_rule = _HEAD.match(piece) is not None
        if is_rule and effect and effect[1] == "allow" and piece.count("effect") == 1:
            self._lost("a rule", line, str(fault), "allow", "", {})
        elif is_rule:
            self._lost("a rule", line, str(fault), "deny", _named_program(piece), {})
        else:
            self._lost("the part before the first rule", line, str(fault), "deny", "", {})

    def _tables(self, value: object, text: str, first: int) -> None:
        if not isinstance(value, list):
            line = first + _line_of_key(text, "rule")
            self._lost("rule", line, "rules are written [[rule]], with two brackets", "deny", "", {})
            return
        heads = [text.count("\n", 0, found.start()) for found in _HEAD.finditer(text) if found[1] == "rule"]
        for i, table in enumerate(value):
            line = first + (heads[i] if i < len(heads) else 0)
            self._table(table, line, i + 1)

    def _table(self, table: object, line: int, number: int) -> None:
        if not isinstance(table, dict):
            self._lost(f"rule {number}", line, "a rule is a table", "deny", "", {})
            return
        name = str(table.get("id") or f"rule {number}")
        try:
            rule = read_rule(table, self.layer, self.file, line)
            if rule.id in self._ids:
                raise BadRuleError(f"the id {rule.id!r} is taken by another rule of this file")
            check_examples(rule, table.get("match", []), table.get("not_match", []))
        except BadRuleError as error:
            effect = "allow" if table.get("effect") == "allow" else "deny"
            self._lost(name, line, str(error), effect, "", table)
            return
        self._ids.add(rule.id)
        self.rules.append(rule)

    def _list(self, effect: Effect, value: object, text: str, first: int, line: int) -> None:
        if not isinstance(value, list):
            why = f'write a list: {effect} = ["npm publish *"]'
            self._lost(f"{effect}", line, why, effect, "", {})
            return
        for entry in value:
            at = first + _line_of_entry(text, entry, line - first)
            try:
                rule = short_rule(entry, effect, self.layer, self.file, at)
            except BadRuleError as error:
                self._lost(f"{effect} {entry!r}", at, str(error), effect, entry if isinstance(entry, str) else "", {})
                continue
            self.rules.append(rule)

    def _mode(self, value: object, line: int) -> None:
        found: Mode | None = next((mode for mode in MODES if mode == value), None)
        if found is None:
            known = f"write one of {', '.join(MODES)}"
            self.faults.append(
                Fault(self.file, line, f"mode {value!r}", known, "the mode is locked until it is mended")
            )
        self.mode = found or "locked"

    def _lost(self, what: str, line: int, why: str, effect: str, named: str, table: Mapping[str, Any]) -> None:
        """Report a bad rule, and let what it may have meant ask unless it was an allow."""
        if effect == "allow":
            self.faults.append(Fault(self.file, line, what, why, "it allows nothing"))
            return
        self.faults.append(Fault(self.file, line, what, why, _ASKS))
        rule = broken(f"broken:{line}", effect, self.layer, self.file, line, table, named)
        self.rules.append(replace(rule, reason=f"{what} in {self.file}, line {line}, cannot be read: {why}"))


def _line_of_error(error: tomllib.TOMLDecodeError) -> int:
    found = re.search(r"at line (\d+)", str(error))
    return int(found[1]) - 1 if found else 0


def _line_of_key(text: str, key: str) -> int:
    found = re.search(rf"^[ \t\[]*[\"']?{re.escape(key)}[\"']?[ \t]*[\].=]", text, re.M)
    return text.count("\n", 0, found.start()) if found else 0


def _line_of_entry(text: str, entry: object, start: int) -> int:
    lines = text.split("\n")
    for number in range(start, len(lines)):
        if isinstance(entry, str) and (entry in lines[number] or entry.replace('"', '\\"') in lines[number]):
            return number
    return start


def _named_program(piece: str) -> str:
    found = re.search(r"^[ \t]*(?:program|command)[ \t]*=[ \t]*\[?[ \t]*[\"']([^\"'\n]*)", piece, re.M)
    return found[1] if found else ""
