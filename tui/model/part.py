"""The parts of a shell command as the policy found them, each with its own verdict (UI-2).

Promises: tolerant of what a host of another version leaves out; what is not known is said as not known, never left to
look harmless. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Verdict = Literal["allow", "ask", "deny", "unknown"]
VERDICTS: Mapping[str, str] = {"allow": "allowed", "ask": "asks", "deny": "denied", "unknown": "not judged"}


@dataclass(frozen=True, slots=True)
class Part:
    """One simple command of a shell ask. All texts are foreign."""

    text: str
    program: str
    depth: int
    verdict: Verdict
    why: str
    cwd: str | None
    """Where it would run; None: not known before it runs."""
    effects: tuple[str, ...]
    """What it touches, in words: `writes tf.plan`, `network`."""
    start: int = -1
    end: int = -1
    """Its place in the raw text; -1: not told."""


def parts_of(facts: Mapping[str, Any], start_cwd: str = "") -> tuple[Part, ...]:
    """The parts in a permission's facts, in the order of the text."""
    found = facts.get("parts")
    if not isinstance(found, list | tuple):
        return ()
    return tuple(_part(item, start_cwd) for item in found if isinstance(item, Mapping))


def _part(item: Mapping[str, Any], start_cwd: str) -> Part:
    verdict = item.get("verdict")
    return Part(
        text=_text(item.get("text")),
        program=_text(item.get("program")),
        depth=_number(item.get("depth"), 0),
        verdict=verdict if verdict in ("allow", "ask", "deny") else "unknown",
        why=_why(item),
        cwd=_cwd(item, start_cwd),
        effects=tuple(_effects(item)),
        start=_number(item.get("start"), -1),
        end=_number(item.get("end"), -1),
    )


def _why(item: Mapping[str, Any]) -> str:
    rule, why, layer = _text(item.get("rule")), _text(item.get("why")), _text(item.get("source"))
    if not rule or layer in _OWN:
        return why
    named = f"rule {rule}, {layer_words(layer)}" if layer else f"rule {rule}"
    return f"{why} ({named})" if rule not in why or layer else why


_OWN = frozenset({"built-in", "path boundary", "tool"})
"""Layers whose verdicts say all in their reason; the ids of their rules help nobody."""


def layer_words(layer: str) -> str:
    """A layer of the policy as a person knows it."""
    return {"user": "your policy", "project": "the project's policy", "managed": "managed policy"}.get(layer, layer)


def _cwd(item: Mapping[str, Any], start_cwd: str) -> str | None:
    if "cwd" not in item or item["cwd"] is None:
        return None
    cwd = _text(item["cwd"])
    if cwd.startswith(("/", "~")) or not start_cwd:
        return cwd or start_cwd
    return f"{start_cwd.rstrip('/')}/{cwd}" if cwd not in ("", ".") else start_cwd


def _effects(item: Mapping[str, Any]) -> Iterable[str]:
    if item.get("understood") is False:
        yield "not fully understood"
    if item.get("network"):
        yield "network"
    for fact in item["paths"] if isinstance(item.get("paths"), list | tuple) else ():
        if isinstance(fact, Mapping) and (fact.get("use") != "read" or not _is_harmless(fact)):
            inside = ", inside" if _is_harmless(fact) else ""
            below = " (recursively)" if fact.get("recursive") else ""
            yield f"{_USES.get(_text(fact.get('use')), 'touches')} {path_words(fact)}{below}{inside}"
    if item.get("readOnly") and not item.get("network"):
        yield "read-only"


_USES = {
    "read": "reads",
    "write": "writes",
    "delete": "deletes",
    "discard": "discards changes of",
    "execute": "runs",
    "run": "runs",
    "connect": "connects to",
}


def _is_harmless(fact: Mapping[str, Any]) -> bool:
    return fact.get("inside") is True and not fact.get("protected")


def path_words(fact: Mapping[str, Any]) -> str:
    """One path in words: as written, where it really leads, and whether that is inside the workspace."""
    written, resolved = _text(fact.get("written")), _text(fact.get("resolved"))
    if written == "<any>" and not resolved:
        return "anywhere"
    words = written or resolved or "a path known only at run time"
    if resolved and resolved != written and not resolved.endswith("/" + written.lstrip("./")):
        words += f" → {resolved}"
    if fact.get("error"):
        words += f" ({fact['error']})"
    if fact.get("protected"):
        words += f" (protected: {fact['guard']})" if fact.get("guard") else " (protected)"
    elif fact.get("inside") is False:
        words += " (outside the workspace)"
    return words


def programs_of(parts: Iterable[Part]) -> tuple[tuple[str, str | None], ...]:
    """(program, where it runs) of every part, once each, in the order of the text."""
    seen = dict.fromkeys((part.program or "(variables only)", part.cwd) for part in parts)
    return tuple(seen)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else str(value)


def _number(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
