"""A suggestion as the rule that a policy file would hold: its id and its text (ASK-4).

Promises: the text says exactly what the suggestion covers and loads as one allow; "" where no rule can say it (the exact
text of one command in one folder). Pure.
"""

from __future__ import annotations

import hashlib
import json
import re

from interlock.runtime.policy.rules.grant import PATTERN_JOINT, Suggestion

_REASON = "allowed by you from an ask"
_GLOB_SIGNS = "*?[]{}()!|\\"


def suggestion_digest(suggestion: Suggestion, rule: str) -> str:
    """SHA-256 in hex of all that a standing permission made of this suggestion would say."""
    shown = {**suggestion.plain(), "rule": rule}
    return hashlib.sha256(json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def rule_id(suggestion: Suggestion) -> str:
    """For example `allow-npm-run-3fa9c1`: says what it is about and is the same for the same suggestion."""
    said = suggestion.value if suggestion.field == "pattern" else f"{suggestion.tool} {suggestion.value.split('/')[-1]}"
    words = re.findall(r"[A-Za-z0-9]+", said)[:4]
    name = "-".join(words)[:48].lower() or "call"
    unique = hashlib.sha256(f"{suggestion.tool}\0{suggestion.field}\0{suggestion.value}".encode()).hexdigest()[:6]
    return f"allow-{name}-{unique}"


def rule_text(suggestion: Suggestion) -> str:
    """The `[[rule]]` table, "" where there is none."""
    match suggestion.field:
        case "pattern":
            patterns = suggestion.value.split(PATTERN_JOINT)
            return _table(suggestion, "bash", "command", patterns)
        case "path":
            return _table(suggestion, suggestion.tool, "path", [_literal(suggestion.value)])
        case "folder":
            return _table(suggestion, suggestion.tool, "path", [_literal(suggestion.value) + "/**"])
        case _:
            return ""


def _table(suggestion: Suggestion, tool: str, matcher: str, values: list[str]) -> str:
    written = _quoted(values[0]) if len(values) == 1 else f"[{', '.join(_quoted(value) for value in values)}]"
    rows = (
        "[[rule]]",
        f"id = {_quoted(rule_id(suggestion))}",
        'effect = "allow"',
        f"tool = {_quoted(tool)}",
        f"{matcher} = {written}",
        f"reason = {_quoted(_REASON)}",
    )
    return "\n".join(rows) + "\n"


def _quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's, but for the one sign that JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _literal(path: str) -> str:
    return "".join(f"[{c}]" if c in _GLOB_SIGNS else c for c in path)
