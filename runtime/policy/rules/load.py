"""From the text of a rule file to a layer.

Promises: never raises; every bad rule is told with file, line and reason, and fails closed alone: a bad allow permits
nothing, and what a bad deny or ask names asks from then on; if it cannot be seen what it names, everything asks. Pure.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from typing import Any

from interlock.runtime.policy.rules.builtin import BUILT_IN
from interlock.runtime.policy.rules.layer import MODES, Layer, LayerName, Problem
from interlock.runtime.policy.rules.rule import Rule
from interlock.runtime.policy.rules.rule_file import (
    Piece,
    line_of,
    pieces_of,
    program_words,
    shown_effect,
    shown_programs,
)
from interlock.runtime.policy.rules.rule_sense import hints_of
from interlock.runtime.policy.rules.rule_table import RuleError, read_rule, read_short_rule

_LISTS = ("allow", "ask", "deny")
_TOP_KEYS = ("mode", "switch_off", *_LISTS)
_MOST_BYTES = 1_000_000


class _Loading:
    """What has been found so far."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.rules: list[Rule] = []
        self.problems: list[Problem] = []
        self.hints: list[Problem] = []
        self.mode: Any = None
        self.switched_off: tuple[str, ...] = ()
        self.ids: set[str] = set()

    def report(self, line: int, what: str, consequence: str = "") -> None:
        self.problems.append(Problem(self.file, line, what, consequence))

    def keep(self, rule: Rule, *, has_examples: bool = False) -> None:
        if rule.id in self.ids:
            self.report(rule.line, f"the id {rule.id!r} is used twice", "both rules hold")
        self.ids.add(rule.id)
        self.hints += [Problem(self.file, rule.line, hint) for hint in hints_of(rule, has_examples=has_examples)]
        self.rules.append(rule)

    def shut(self, line: int, name: str, effect: str, programs: tuple[str, ...], what: str) -> None:
        """Report a broken rule and put an ask where a deny or an ask may have stood."""
        if effect == "allow":
            self.report(line, what, "it allows nothing")
            return
        about = f"commands of {', '.join(programs[:5])} ask" if programs else "everything asks"
        self.report(line, what, about)
        reason = f"the rule {name} at {self.file}:{line} cannot be read, so what it names asks"
        broken = Rule(f"{name} (unreadable)", "ask", reason, programs=programs, file=self.file, line=line, text=what)
        self.rules.append(broken)


def load_layer(
    text: str, *, file: str, layer: LayerName, digest: str = "", trusted: Container[str] | None = None
) -> Layer:
    """The layer in `text`. `trusted`: digests of project files whose allows count; None: they always count."""
    loading = _Loading(file)
    try:
        _load(text, loading)
    except Exception as error:  # a fault of ours must not make a file's denies silently absent
        loading.shut(1, "whole file", "deny", (), f"the file could not be read ({type(error).__name__}: {error})")
    found = Layer(
        layer,
        tuple(loading.rules),
        file,
        digest,
        loading.mode,
        tuple(loading.problems),
        hints=tuple(loading.hints),
        switched_off=loading.switched_off,
    )
    return found if trusted is None or digest in trusted else _without_allows(found)


def _without_allows(layer: Layer) -> Layer:
    waiting = tuple(rule for rule in layer.rules if rule.effect == "allow")
    mode = None if layer.mode == "accept-edits" else layer.mode
    return replace(
        layer, rules=tuple(rule for rule in layer.rules if rule.effect != "allow"), waiting=waiting, mode=mode
    )


def _load(text: str, loading: _Loading) -> None:
    if len(text) > _MOST_BYTES:
        loading.shut(1, "whole file", "deny", (), f"the file is longer than {_MOST_BYTES} characters")
        return
    for number, piece in enumerate(pieces_of(text.removeprefix("\ufeff").replace("\r\n", "\n")), 1):
        if piece.name == "rule":
            _load_rule(piece, number, loading)
        elif piece.name in ("", "policy"):
            _load_top(piece, loading)
        elif piece.error:
            loading.shut(
                piece.error_line, piece.name, shown_effect(piece.text), shown_programs(piece.text), piece.error
            )
        else:
            loading.report(piece.line, f"unknown table [{piece.name}]", "it is not used; rules are `[[rule]]`")


def _load_rule(piece: Piece, number: int, loading: _Loading) -> None:
    name = str(piece.table.get("id") or f"rule {number}")
    if piece.error:
        effect = shown_effect(piece.text)
        loading.shut(piece.error_line, name, effect, shown_programs(piece.text), f"no TOML: {piece.error}")
        return
    try:
        rule = read_rule(piece.table, file=loading.file, line=piece.line, text=piece.text)
        loading.keep(rule, has_examples="match" in piece.table)
    except RuleError as error:
        effect = str(piece.table.get("effect", ""))
        line = line_of(piece, error.value) if error.value else piece.line
        loading.shut(line, name, effect, _named(piece.table), f"rule {name}: {error}")


def _named(table: Any) -> tuple[str, ...]:
    """The programs that a table names, as far as it can be seen."""
    words: list[str] = []
    for key in ("command", "commands", "program", "programs"):
        value = table.get(key)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                words += program_words(text)
    return tuple(dict.fromkeys(words))


def _load_top(piece: Piece, loading: _Loading) -> None:
    if piece.error:
        _load_broken_top(piece, loading)
        return
    for key, value in piece.table.items():
        if key == "mode":
            _load_mode(piece, value, loading)
        elif key == "switch_off":
            _load_switches(piece, value, loading)
        elif key in _LISTS:
            _load_list(piece, key, value, loading)
        else:
            loading.report(line_of_key(piece, key), f"unknown key {key!r}", f"known are {', '.join(_TOP_KEYS)}")


def _load_broken_top(piece: Piece, loading: _Loading) -> None:
    """Without its structure every string in it may have been a deny."""
    programs = shown_programs(piece.text)
    denies = any(word in piece.text for word in ("deny", "ask")) or not programs
    loading.shut(piece.error_line, "list", "deny" if denies else "allow", programs, f"no TOML: {piece.error}")


def _load_mode(piece: Piece, value: object, loading: _Loading) -> None:
    if value in MODES:
        loading.mode = value
        return
    loading.mode = "locked"
    loading.report(line_of_key(piece, "mode"), f"mode {value!r} is none of {', '.join(MODES)}", "`locked` holds")


def _load_switches(piece: Piece, value: object, loading: _Loading) -> None:
    """Built-in allows that shall not hold; a name that is none of them switches off nothing, which is told."""
    given = value if isinstance(value, list) else [value]
    known = [rule.id for rule in BUILT_IN.rules]
    for name in given:
        if name not in known:
            told = f"known are {', '.join(known)}"
            loading.report(line_of_key(piece, "switch_off"), f"there is no built-in rule {name!r}", told)
    loading.switched_off = tuple(name for name in given if name in known)


def _load_list(piece: Piece, effect: Any, value: object, loading: _Loading) -> None:
    items = value if isinstance(value, list) else [value]
    for item in items:
        line = line_of(piece, item) if isinstance(item, str) else line_of_key(piece, effect)
        try:
            loading.keep(read_short_rule(item, effect, file=loading.file, line=line))
        except RuleError as error:
            words = tuple(dict.fromkeys(program_words(item))) if isinstance(item, str) else ()
            loading.shut(line, f"{effect} {item!r}", effect, words, f"{effect} {item!r}: {error}")


def line_of_key(piece: Piece, key: str) -> int:
    """The line on which a key stands in a piece."""
    for offset, row in enumerate(piece.text.splitlines()):
        if row.lstrip().startswith((key, f'"{key}"')):
            return piece.line + offset
    return piece.line
