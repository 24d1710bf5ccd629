"""The ask card as lines (UI-2): what is asked, by whom, where, with what effect, and why a person is asked.

Promises: the raw text is there in full, escaped, wrapped, never cut; every program that would run stands in the head,
above the fold; arguments that are none are said to be none; the agent's own words are marked as its own; folded blank
lines are counted. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.runtime.events.question import Question, questions_of
from interlock.tui.model.ask import Ask
from interlock.tui.model.inked import EMPTY, Inked, beside, hanging, ink
from interlock.tui.model.moment import age, count, minute
from interlock.tui.model.part import VERDICTS, Part, layer_words, parts_of, path_words, programs_of
from interlock.tui.safe_text import SafeText, confusables, escape, shorten_middle

LABEL = 12
"""Cells of the labels on the left."""
BLANK_RUN = 3
"""A longer run of blank lines is folded to one counted line."""
_VERDICT_STYLE: Mapping[str, str] = {"allow": "ok", "ask": "bold ask", "deny": "bold denied", "unknown": "bold ask"}

_FAR = 6 * 3_600 * 1_000_000
"""Microseconds: an end that is further away says nothing to who reads the card now."""


@dataclass(frozen=True, slots=True)
class Body:
    """What scrolls: the raw text and what was found in it."""

    lines: tuple[Inked, ...]
    folded: int = 0
    """Blank lines that are not drawn; allow waits until the end was asked for."""


def head(ask: Ask, width: int, now: int, place: str = "") -> list[Inked]:
    """The lines above the fold: tool, who, waiting time, folder, confinement, programs, warnings."""
    waiting = f"waiting {age(now - ask.opened_at)}" if ask.is_open else ""
    right = ink((f"{waiting}   {place}".strip(), "ask" if ask.is_open else "quiet"))
    lines = [beside(_what(ask), right, width)]
    if ask.expires_at and ask.is_open and not (ask.is_foreign and ask.expires_at - now > _FAR):
        left = f"{age(ask.expires_at - now)} left" if ask.expires_at > now else "its time is over"
        after = (
            f"then {ask.agent} goes on without an answer from here" if ask.is_foreign else "then denied as timed out"
        )
        lines.append(ink((f"waits until {minute(ask.expires_at)}, {after}   {left}", "bold ask")))
    lines += _who(ask, width)
    lines.append(_where(ask, width))
    parts = parts_of(ask.facts, ask.cwd)
    if ask.command is None:
        lines += [row for text in _paths(ask)[:2] for row in hanging("path", ink((text, "")), width, indent=6)]
    if parts or ask.command is not None:
        lines += hanging("runs", _programs(ask, parts), width, indent=6, style="bold")
    lines += [row for text in warnings(ask) for row in ink((f"! {text}", "bold failed")).wrapped(width)]
    return lines


def _what(ask: Ask) -> Inked:
    version = f"  v{ask.version}" if ask.version else ""
    line = ink((ask.tool, "bold accent"), (version, "quiet"))
    added, removed = diff_counts(ask.diff)
    if ask.diff is not None:
        hunks = ask.diff.count("\n@@ ") + ask.diff.startswith("@@ ")
        line = line.joined(ink("   ", (f"+{added}", "ok"), " ", (f"-{removed}", "failed")))
        if hunks > 1:
            line = line.joined(ink((f"   {count(hunks, 'hunk')}", "quiet")))
    if ask.tool.startswith("mcp__") and len(names := ask.tool.split("__")) >= 3:
        line = line.joined(ink(("   server ", "quiet"), names[1]))
    return line


def _who(ask: Ask, width: int) -> list[Inked]:
    title = f" · {ask.title}" if ask.title else ""
    return hanging("by", ink((ask.agent or "an agent without a name", ""), (title, "quiet")), width, indent=6, most=1)


def _where(ask: Ask, width: int) -> Inked:
    right = _confinement(ask)
    room = max(width - right.width - 10 - len(ask.branch), 16)
    left = ink(("in    ", "quiet"), (shorten_middle(ask.cwd or "an unknown folder", room), ""))
    if ask.branch:
        left = left.joined(ink((f"   {ask.branch}", "quiet")))
    return beside(left, right, width)


def _confinement(ask: Ask) -> Inked:
    state = ask.sandbox
    if state is None:
        return ink(("sandbox not told", "ask"))
    mode = state.get("mode")
    if state.get("provider") == "unknown" or (ask.is_foreign and mode == "none"):
        return ink(("sandbox not known", "ask"))
    if mode in (None, "none"):
        return ink(("no sandbox", "ask"))
    network = "network" if state.get("network") else "no network"
    return ink((f"sandbox {mode}, {network}", "ok"))


def _programs(ask: Ask, parts: tuple[Part, ...]) -> Inked:
    found = programs_of(parts)
    if not found:
        return ink(("not taken apart: read the whole text", "ask"))
    line = EMPTY
    for number, (program, cwd) in enumerate(found):
        line = line.joined(ink((" · ", "quiet") if number else "", (program, "bold")))
        if cwd is None:
            line = line.joined(ink((" in a folder known only at run time", "ask")))
        elif cwd != ask.cwd:
            line = line.joined(ink((" in ", "quiet"), below(cwd, ask.cwd)))
    return line


def below(folder: str, top: str) -> str:
    """A folder as it is seen from another: `./src` where it lies below it."""
    inner = folder.removeprefix(top.rstrip("/") + "/") if top else folder
    return folder if inner == folder else f"./{inner}"


def warnings(ask: Ask) -> list[str]:
    """What may deceive the eye in the raw text, one sentence each."""
    text = ask.command if ask.command is not None else flat(ask.input)
    said = list(escape(text).warnings)
    said += [_lookalike(found) for found in confusables(text)[:6]]
    if ask.facts.get("understood") is False and not ask.facts.get("question"):
        said.append("not all of it could be understood: read the whole text")
    if ask.diff_fault:
        said.append(ask.diff_fault)
    return said


def _lookalike(found: Any) -> str:
    return f"look-alike: {found.message}"


def flat(value: Any) -> str:
    """A value as text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def body(ask: Ask, width: int) -> Body:
    """The raw text in full, then its parts; the diff is drawn by its own widget."""
    if ask.missing:
        return Body((ink(("the rest of this ask is on its way; it can be answered when it is here", "mark")),))
    if asked := questions_of(ask.input):
        return Body(tuple(_question_rows(asked, width)))
    if ask.command is None:
        return Body(tuple(arguments(ask.input, width)))
    parts = parts_of(ask.facts, ask.cwd)
    raw, folded = _raw(ask.command, parts, width)
    rest = {k: v for k, v in ask.input.items() if k != "command"}
    lines = [*raw, *([EMPTY, *_part_rows(ask, parts, width)] if parts else [])]
    if rest:
        lines += [EMPTY, *arguments(rest, width)]
    return Body((*lines, *([] if parts else _path_rows(ask, width))), folded)


def _question_rows(asked: tuple[Question, ...], width: int) -> list[Inked]:
    """Each question with the answers that it offers, a line each."""
    rows: list[Inked] = []
    for number, one in enumerate(asked):
        rows += [EMPTY] if number else []
        rows += ink((one.text, "bold"), (f"   {one.header}" if one.header else "", "quiet")).wrapped(width)
        rows += [ink(("several may be chosen", "quiet"))] if one.is_many else []
        for place, (label, description) in enumerate(one.options, 1):
            said = ink((label, ""), (f"   {description}" if description else "", "quiet"))
            rows += hanging(f"  {place}", said, width, indent=5)
    return rows


def _raw(command: str, parts: tuple[Part, ...], width: int) -> tuple[list[Inked], int]:
    rows: list[Inked] = []
    folded = blank = at = 0
    for number, source in enumerate(command.split("\n")):
        start, at = at, at + len(source) + 1
        if not source.strip() and number:
            blank += 1
            continue
        folded += _end_blanks(rows, blank)
        blank = 0
        line = _highlighted(source, start, parts)
        wrapped = line.wrapped(max(width - 2, 8))
        sign = ink(("$ " if number == 0 else "  ", "quiet"))
        rows += [(sign if n == 0 else ink(("↳ ", "mark"))).joined(row) for n, row in enumerate(wrapped)]
    folded += _end_blanks(rows, blank)
    return rows, folded


def _end_blanks(rows: list[Inked], blank: int) -> int:
    if blank > BLANK_RUN:
        rows.append(ink("  ", (f"[{blank} blank lines]", "mark")))
        return blank
    rows += [EMPTY] * blank
    return 0


def _highlighted(source: str, offset: int, parts: tuple[Part, ...]) -> Inked:
    line, at = EMPTY, 0
    for part in parts:
        if part.depth or part.start < 0 or part.verdict == "allow":
            continue
        start, end = max(part.start - offset, at), min(part.end - offset, len(source))
        if start < end:
            style = _VERDICT_STYLE[part.verdict]
            line = line.joined(ink((_kept(source[at:start]), ""), (_kept(source[start:end]), style)))
            at = end
    return line.joined(ink((_kept(source[at:]), "")))


def _kept(text: str) -> SafeText:
    return escape(text, keep_newlines=False)


def _part_rows(ask: Ask, parts: tuple[Part, ...], width: int) -> list[Inked]:
    rows: list[Inked] = []
    for number, part in enumerate(parts, 1):
        verdict = ink((VERDICTS[part.verdict], _VERDICT_STYLE[part.verdict]))
        text = ink((f"{number:>2} ", "quiet"), "  " * min(part.depth, 4), (part.text or part.program, ""))
        rows.append(beside(text, verdict, width))
        if text.width > width - verdict.width - 2:
            # what did not fit beside the verdict is repeated in full: a part is never cut
            rows[-1:] = [*text.wrapped(width), ink("   ").joined(verdict)]
        rows += [ink("     ").joined(row) for row in _part_details(ask, part).wrapped(max(width - 5, 8))]
    return rows


def _part_details(ask: Ask, part: Part) -> Inked:
    unknown = "in a folder known only at run time"
    where = [f"in {below(part.cwd, ask.cwd)}"] if part.cwd not in (None, "", ask.cwd) else []
    where = [unknown] if part.cwd is None else where
    words = [*where, *part.effects, *([part.why] if part.why else [])]
    return ink((" · ".join(words), "quiet"))


def _paths(ask: Ask) -> list[str]:
    facts = ask.facts.get("paths")
    found = [f for f in facts if isinstance(f, Mapping)] if isinstance(facts, list | tuple) else []
    return list(dict.fromkeys(path_words(f) + ("   inside the workspace" if f.get("inside") else "") for f in found))


def _path_rows(ask: Ask, width: int) -> list[Inked]:
    rows: list[Inked] = []
    for text in _paths(ask):
        rows += hanging("", ink((text, "")), width, indent=5)
    return [EMPTY, ink(("paths", "quiet")), *rows] if rows else []


def arguments(value: Any, width: int) -> list[Inked]:
    """Every argument in full, one under the other."""
    if value is None or value in ({}, [], ""):
        return [ink(("no arguments", "mark"))]
    if not isinstance(value, Mapping):
        return _block(value, width)
    if short := _short_arguments(value, width):
        return [short]
    rows: list[Inked] = []
    for name, item in value.items():
        text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, default=str)
        if "\n" in text or len(text) > width:
            rows += [ink((f"{name}", "bold")), *_block(item, width, indent=2)]
        else:
            rows += hanging(f"{name}  ", ink((text, "")), width, indent=max(LABEL, len(str(name)) + 2), style="bold")
    return rows


def _short_arguments(value: Mapping[str, Any], width: int) -> Inked | None:
    """Small settings on one line; None where an argument is a text of its own or they do not fit."""
    if len(value) < 2 or not all(item is None or isinstance(item, bool | int | float) for item in value.values()):
        return None
    line = EMPTY
    for name, item in value.items():
        line = line.joined(ink(("   " if line.width else "", ""), (f"{name} ", "quiet"), (flat(item), "")))
    return line if line.width <= width else None


def _block(value: Any, width: int, indent: int = 0) -> list[Inked]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    pad = ink(" " * indent)
    return [pad.joined(row) for line in text.split("\n") for row in ink((line, "")).wrapped(max(width - indent, 8))]


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled fact below the text, in the order in which they are shown."""

    name: str
    lines: tuple[Inked, ...]


COVERS = "s covers"
"""The row that says what `s` would allow; without it `s` is not live."""
OUTPUT = "output"
FOLD_ORDER = ("before", OUTPUT, "agent says", "risk", COVERS, "why asked")
"""What gives way first where there is little room."""


def facts(ask: Ask, width: int) -> list[Fact]:
    """Why a person is asked, the risks, the agent's words, what was answered before."""
    # the ids of what is built in help nobody
    named = ask.policy_ids and ask.source not in ("built-in", "path boundary", "tool")
    rules = f"   rule {', '.join(ask.policy_ids)}" if named else ""
    source = f"   {layer_words(ask.source)}" if ask.source else ""
    rows = [("why asked", ink((ask.reason or "no reason was given", ""), (f"{rules}{source}", "quiet")))]
    if ask.risks:
        rows.append(("risk", ink(("; ".join(ask.risks), ""))))
    if ask.agent_reason:
        rows.append(("agent says", ink((f"“{ask.agent_reason}”", ""), ("  (the agent's words)", "quiet"))))
    if ask.suggestions and "allow.session" in ask.choices:
        first, *wider = ask.suggestions
        more = (f"   for… has {count(len(wider), 'wider one')}" if wider else "", "quiet")
        rows.append((COVERS, ink((first.label, ""), more)))
    if (limit := ask.facts.get("outputLimit")) and isinstance(limit, int) and ask.command is not None:
        rows.append((OUTPUT, ink((f"is cut at {limit:,} bytes for the agent; the whole is kept", "quiet"))))
    allowed, denied = ask.before
    said = f"you allowed {ask.tool} {count(allowed, 'time')} in this session, denied {denied}"
    rows.append(
        ("before", ink((said if allowed or denied else f"{ask.tool} was not asked about before here", "quiet")))
    )
    return [Fact(name, tuple(hanging(name, line, width, indent=LABEL, most=2))) for name, line in rows]


def kept_facts(found: list[Fact], room: int) -> list[Fact]:
    """As many facts as fit into `room` rows; `before` goes first, `why asked` last."""
    kept = list(found)
    for name in FOLD_ORDER:
        if sum(len(fact.lines) for fact in kept) <= room:
            break
        kept = [fact for fact in kept if fact.name != name]
    return kept


def diff_counts(diff: str | None) -> tuple[int, int]:
    """Added and removed lines of a unified diff."""
    added = removed = 0
    for line in (diff or "").split("\n"):
        added += line.startswith("+") and not line.startswith("+++ ")
        removed += line.startswith("-") and not line.startswith("--- ")
    return added, removed


def whole(ask: Ask, width: int) -> list[Inked]:
    """Everything that is known of an ask, nothing folded: what `v` shows."""
    rows = [*head(ask, width, ask.opened_at), EMPTY]
    if ask.command is not None:
        for line in ask.command.split("\n"):
            rows += ink((line, "")).wrapped(width)
        rows += [EMPTY, *_part_rows(ask, parts_of(ask.facts, ask.cwd), width), EMPTY]
    rows += [ink(("input", "bold")), *arguments(ask.input, width), EMPTY, *_path_rows(ask, width)]
    for name, text in (("why asked", ask.reason), ("risk", "\n".join(ask.risks)), ("agent says", ask.agent_reason)):
        for number, line in enumerate(text.split("\n") if text else ()):
            rows += hanging(name if number == 0 else "", ink((line, "")), width, indent=LABEL)
    if ask.diff is not None:
        rows += [EMPTY, ink(("diff", "bold"))]
        rows += [row for line in ask.diff.split("\n") for row in ink((line, "")).wrapped(width)]
    return rows
