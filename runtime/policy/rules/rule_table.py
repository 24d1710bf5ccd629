"""One table of a rule file -> one rule. Raises RuleError for anything that is not exactly right. Pure.

Promises: an unknown key is an error, because a misspelt matcher would make its rule speak of more than was meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from interlock.runtime.policy.programs.option import names
from interlock.runtime.policy.rules.example import failing_example
from interlock.runtime.policy.rules.path_glob import GlobError, read_globs
from interlock.runtime.policy.rules.pattern import Pattern, PatternError, read_pattern
from interlock.runtime.policy.rules.rule import Rule
from interlock.runtime.policy.rules.rule_sense import why_never

_KEYS = names(
    "id effect reason tool agent command program argument path use inside host risk without_risk read_only "
    "outside_too guarded_too variables expires wait match not_match"
)
RISKS = names(
    "read write execute network delegate outside guarded env_prefix environment secret destructive privileged "
    "dynamic interactive code not-understood"
)
"""Words that `risk` and `without_risk` may use."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,79}")
_ALLOW_ONLY = ("outside_too", "guarded_too", "variables")


class RuleError(ValueError):
    """What is wrong with a rule; `value` is the string that is, where one is."""

    def __init__(self, what: str, value: str = "") -> None:
        super().__init__(what)
        self.value = value


def read_rule(table: Mapping[str, Any], *, file: str, line: int, text: str = "") -> Rule:
    """The rule in a table, its examples checked. Raises RuleError."""
    if unknown := sorted(set(table) - _KEYS):
        raise RuleError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    rule = Rule(
        id=_id(table),
        effect=_effect(table),
        reason=_text(table, "reason"),
        tools=_texts(table, "tool"),
        agents=_texts(table, "agent"),
        commands=_patterns(table),
        programs=_programs(table),
        arguments=_texts(table, "argument"),
        paths=_globs(table),
        use=_choice(table, "use", ("read", "write", "delete")),
        inside=_flag(table, "inside"),
        hosts=tuple(host.lower().rstrip(".") for host in _texts(table, "host")),
        risks=_risks(table, "risk"),
        without_risks=_risks(table, "without_risk"),
        read_only=_flag(table, "read_only"),
        outside_too=bool(_flag(table, "outside_too")),
        guarded_too=bool(_flag(table, "guarded_too")),
        variables=_texts(table, "variables"),
        expires=_expiry(table),
        wait_seconds=_seconds(table),
        file=file,
        line=line,
        text=text.strip(),
    )
    _check_sense(table, rule)
    _check_examples(table, rule)
    return rule


def read_short_rule(item: object, effect: Any, *, file: str, line: int) -> Rule:
    """A rule written as a pattern alone, in a list `allow`, `ask` or `deny`. Raises RuleError."""
    if not isinstance(item, str):
        raise RuleError('a pattern is a text, as "git commit *"')
    pattern = _pattern(item)
    rule = Rule(f"{effect} {item}", effect, tools=("bash",), commands=(pattern,), file=file, line=line, text=item)
    _check_program(rule)
    return rule


def _check_program(rule: Rule) -> None:
    for pattern in rule.commands if rule.effect == "allow" else ():
        if not pattern.program.strip("*?"):
            raise RuleError(f"{pattern.text!r} would allow every program; name one", pattern.text)


def _check_sense(table: Mapping[str, Any], rule: Rule) -> None:
    _check_program(rule)
    if rule.effect != "allow" and (wrong := [key for key in _ALLOW_ONLY if key in table]):
        raise RuleError(f"{wrong[0]!r} belongs to an allow alone")
    if rule.effect != "ask" and rule.wait_seconds is not None:
        raise RuleError("'wait' belongs to an ask alone")
    matchers = set(table) - {"id", "effect", "reason", "expires", "wait", "match", "not_match"}
    if why := why_never(rule):
        raise RuleError(f"it would never match: {why}")
    if rule.effect == "allow" and not matchers - set(_ALLOW_ONLY) - {"use", "without_risk", "agent"}:
        raise RuleError("an allow without any matcher would allow everything")


def _check_examples(table: Mapping[str, Any], rule: Rule) -> None:
    lists = []
    for key in ("match", "not_match"):
        value = table.get(key, [])
        lists.append(value if isinstance(value, list) else [value])
    try:
        why = failing_example(rule, *lists)
    except ValueError as error:
        raise RuleError(str(error)) from None
    if why:
        raise RuleError(why)


def _id(table: Mapping[str, Any]) -> str:
    found = table.get("id")
    if not isinstance(found, str) or not _ID.fullmatch(found):
        raise RuleError("'id' is missing or is no short name of letters, digits, '.', '_', '-', '/'")
    return found


def _effect(table: Mapping[str, Any]) -> Any:
    found = table.get("effect")
    if found not in ("allow", "ask", "deny"):
        raise RuleError(f"'effect' is allow, ask or deny, not {found!r}", found if isinstance(found, str) else "")
    return found


def _text(table: Mapping[str, Any], key: str) -> str:
    found = table.get(key, "")
    if not isinstance(found, str) or len(found) > 500:
        raise RuleError(f"{key!r} is a text of at most 500 characters")
    return found


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if key not in table:
        return ()
    found = table[key]
    items = found if isinstance(found, list) else [found]
    if not items or not all(isinstance(item, str) and item for item in items):
        raise RuleError(f"{key!r} is a text or a list of texts, none of them empty")
    return tuple(items)


def _pattern(text: str) -> Pattern:
    try:
        return read_pattern(text)
    except PatternError as error:
        raise RuleError(str(error), text) from None


def _patterns(table: Mapping[str, Any]) -> tuple[Pattern, ...]:
    return tuple(_pattern(text) for text in _texts(table, "command"))


def _programs(table: Mapping[str, Any]) -> tuple[str, ...]:
    found = _texts(table, "program")
    for text in found:
        if any(c in text for c in " \t\n;|&"):
            raise RuleError(f"{text!r} is more than a program; use `command` for programs with words", text)
    return found


def _globs(table: Mapping[str, Any]) -> Any:
    texts = _texts(table, "path")
    try:
        return read_globs(texts) if texts else None
    except GlobError as error:
        raise RuleError(str(error)) from None


def _flag(table: Mapping[str, Any], key: str) -> bool | None:
    found = table.get(key)
    if found is not None and not isinstance(found, bool):
        raise RuleError(f"{key!r} is true or false")
    return found


def _choice(table: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> Any:
    found = table.get(key)
    if found is not None and found not in choices:
        raise RuleError(f"{key!r} is {', '.join(choices[:-1])} or {choices[-1]}, not {found!r}")
    return found


def _risks(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = _texts(table, key)
    if wrong := [word for word in found if word not in RISKS]:
        raise RuleError(f"unknown risk {wrong[0]!r}; known are {', '.join(sorted(RISKS))}", wrong[0])
    return found


def _expiry(table: Mapping[str, Any]) -> datetime | None:
    found = table.get("expires")
    if found is None:
        return None
    if isinstance(found, str):
        try:
            found = datetime.fromisoformat(found)
        except ValueError:
            raise RuleError(f"'expires' is a date or a time, as 2027-01-31, not {found!r}", found) from None
    if isinstance(found, datetime):
        return found if found.tzinfo else found.replace(tzinfo=UTC)
    if isinstance(found, date):
        return datetime.combine(found, time(), UTC)
    raise RuleError("'expires' is a date or a time, as 2027-01-31")


def _seconds(table: Mapping[str, Any]) -> float | None:
    found = table.get("wait")
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not 1 <= found <= 86_400:
        raise RuleError("'wait' is a number of seconds from 1 to 86400")
    return float(found)
