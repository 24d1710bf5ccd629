"""One entry of a policy file: a `[[rule]]` table, or a short pattern in a list, as a rule.

Promises: pure; an unknown key, a wrong type or a value that means nothing is an error that says what to write, never a
guess. `broken` turns what cannot be read into an ask that is at least as wide as the rule can have been meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from interlock.runtime.policy.glob import BadGlobError, check_glob
from interlock.runtime.policy.pattern import Pattern, PatternError, read_pattern
from interlock.runtime.policy.rule import RISKS, Rule, Where
from interlock.runtime.policy.shell.option import names
from interlock.runtime.policy.subject import tool_name
from interlock.runtime.policy.verdict import Effect, Layer
from interlock.runtime.policy.wording import named, of_words

_KEYS = names("id effect tool command program args path where host risk read_only env reason expires match not_match")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MATCHERS = ("command", "program", "path", "where", "host", "risk", "read_only")
_SHELL = ("bash",)


class BadRuleError(ValueError):
    """The rule cannot be read; the message says why and what to write."""


def short_rule(entry: object, effect: Effect, layer: Layer, file: str, line: int) -> Rule:
    """The rule of an entry in `allow`, `ask` or `deny`. Raises BadRuleError."""
    if not isinstance(entry, str):
        raise BadRuleError("an entry is a pattern in quotes, like 'npm publish *'")
    return Rule(
        f"{effect}: {entry}", effect, layer, tools=_SHELL, commands=(_pattern(entry),), file=file, line=line,
        reason=f"the file says {effect} for {entry}",
    )  # fmt: skip


def read_rule(table: Mapping[str, Any], layer: Layer, file: str, line: int) -> Rule:
    """The rule of a table. Raises BadRuleError."""
    if unknown := sorted(set(table) - _KEYS):
        raise BadRuleError(f"unknown key {unknown[0]!r}; known: {', '.join(sorted(_KEYS))}")
    effect = _effect(table)
    commands = _commands(table)
    tools = tuple(tool_name(tool) for tool in _words(table, "tool")) or (_SHELL if commands else ())
    rule = Rule(
        id=_id(table),
        effect=effect,
        layer=layer,
        tools=tools,
        commands=commands,
        paths=_globs(table),
        where=_where(table),
        hosts=_words(table, "host"),
        risks=_risks(table),
        read_only=_flag(table, "read_only"),
        env=frozenset(_words(table, "env")),
        reason=_text(table, "reason"),
        expires=_time(table),
        file=file,
        line=line,
    )
    _says_enough(rule, table)
    return rule


def broken(name: str, effect: str, layer: Layer, file: str, line: int, table: Mapping[str, Any], text: str) -> Rule:
    """An ask in place of a rule that cannot be read: for the programs it names, else for its tools, else for all."""
    found = [_first_word(text)] if text else []
    for key in ("program", "command"):
        value = table.get(key)
        found += [
            _first_word(word) for word in (value if isinstance(value, list) else [value]) if isinstance(word, str)
        ]
    patterns = []
    for word in found:
        try:
            patterns.append(of_words([word, "*"]))
        except PatternError:
            patterns = []
            break
    tools = table.get("tool")
    names = [tools] if isinstance(tools, str) else tools if isinstance(tools, list) else []
    known = tuple(tool_name(tool) for tool in names if isinstance(tool, str) and tool)
    wide = "tool" in table and not known
    return Rule(
        name, "ask", layer, tools=() if wide else known, commands=tuple(patterns), file=file, line=line, broken=True
    )


def _first_word(text: str) -> str:
    """The program that a pattern can have meant, also in the form `Tool(program …)`."""
    inner = re.match(r"\s*\w+\((.*)", text, re.S)
    words = (inner[1] if inner else text).replace('"', " ").replace("'", " ").split()
    word = words[0].strip("()*:") if words else ""
    return word if re.fullmatch(r"[\w./@+-]+", word) else ""


def _effect(table: Mapping[str, Any]) -> Effect:
    match table.get("effect"):
        case "allow":
            return "allow"
        case "ask":
            return "ask"
        case "deny":
            return "deny"
        case other:
            raise BadRuleError(f'effect is {other!r}; write "allow", "ask" or "deny"')


def _id(table: Mapping[str, Any]) -> str:
    given = table.get("id")
    if not isinstance(given, str) or not _ID.fullmatch(given):
        raise BadRuleError(f"id is {given!r}; write a short name of letters, digits, '.', '_' and '-'")
    return given


def _commands(table: Mapping[str, Any]) -> tuple[Pattern, ...]:
    written = tuple(_pattern(text) for text in _words(table, "command"))
    programs = _words(table, "program")
    if "args" in table and not programs:
        raise BadRuleError("args needs a program")
    if programs and written:
        raise BadRuleError("write command, or program with args, not both")
    arguments = _words(table, "args") if "args" in table else ("*",)
    try:
        return written or tuple(of_words([program, *arguments]) for program in programs)
    except PatternError as error:
        raise BadRuleError(str(error)) from None


def _pattern(text: str) -> Pattern:
    try:
        return named(read_pattern(text))
    except PatternError as error:
        raise BadRuleError(str(error)) from None


def _globs(table: Mapping[str, Any]) -> tuple[str, ...]:
    globs = _words(table, "path")
    for glob in globs:
        try:
            check_glob(glob)
        except BadGlobError as error:
            raise BadRuleError(f"path {glob!r}: {error}") from None
    return globs


def _where(table: Mapping[str, Any]) -> Where | None:
    match table.get("where"):
        case None:
            return None
        case "inside":
            return "inside"
        case "outside":
            return "outside"
        case "anywhere":
            return "anywhere"
        case other:
            raise BadRuleError(f'where is {other!r}; write "inside", "outside" or "anywhere" (of the workspace)')


def _risks(table: Mapping[str, Any]) -> frozenset[str]:
    given = frozenset(_words(table, "risk"))
    if unknown := sorted(given - RISKS):
        raise BadRuleError(f"risk {unknown[0]!r} is not known; known: {', '.join(sorted(RISKS))}")
    return given


def _words(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if key not in table:
        return ()
    given = table[key]
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, list) or not words or not all(isinstance(w, str) and w for w in words):
        raise BadRuleError(f"{key} is {given!r}; write a text or a list of texts, not empty")
    return tuple(words)


def _flag(table: Mapping[str, Any], key: str) -> bool | None:
    given = table.get(key)
    if given is not None and not isinstance(given, bool):
        raise BadRuleError(f"{key} is {given!r}; write true or false")
    return given


def _text(table: Mapping[str, Any], key: str) -> str:
    given = table.get(key, "")
    if not isinstance(given, str):
        raise BadRuleError(f"{key} is {given!r}; write a text")
    return given


def _time(table: Mapping[str, Any]) -> datetime | None:
    given = table.get("expires")
    if given is None:
        return None
    if isinstance(given, datetime):
        return given if given.tzinfo else given.replace(tzinfo=UTC)
    if isinstance(given, date):
        return datetime.combine(given, time(), UTC)
    raise BadRuleError(f"expires is {given!r}; write a date without quotes, like 2027-01-31 or 2027-01-31T18:00:00Z")


def _says_enough(rule: Rule, table: Mapping[str, Any]) -> None:
    """An allow has to say what it allows."""
    if any(key in table for key in _MATCHERS):
        return
    if rule.effect == "allow" and (not rule.tools or any(t in _SHELL or set(t) & set("*?[") for t in rule.tools)):
        raise BadRuleError("it would allow everything; name commands, paths, or tools that are no shell")
    if not rule.tools:
        raise BadRuleError(f'it names nothing to {rule.effect}; write at least a tool, or mode = "locked" to deny all')
