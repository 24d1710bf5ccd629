"""One call, whole: everything that the journal says of it, for the tabs of the details (UI-7).

Promises: every tab is made from the record alone; what the model was given, what the person sees and what was recorded
are kept apart; what is missing is said to be missing. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.runtime.events.moment import micros
from interlock.tui.model.ask import answered_words
from interlock.tui.model.card import arguments
from interlock.tui.model.inked import EMPTY, Inked, hanging, ink
from interlock.tui.model.moment import clock, duration

TABS = ("Overview", "Input", "Diff", "Output", "Model saw", "Record")
_LABEL = 12


@dataclass(frozen=True, slots=True)
class RecordLine:
    """One line of the journal that belongs to the call."""

    offset: int
    raw: bytes
    event: Any
    """Decoded: an event, an UnknownEvent or a DamagedLine."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file beside the journal."""

    id: str
    kind: str
    path: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class CallRecord:
    """The lines of one call, or the one line of a message, in order."""

    lines: tuple[RecordLine, ...]
    number: int = 0
    """Place of the row in the timeline, from 1."""

    def of(self, kind: str) -> Any:
        """The last event of a type, None where there is none."""
        return next((line.event for line in reversed(self.lines) if getattr(line.event, "type", "") == kind), None)

    @property
    def tool(self) -> str:
        """The tool, or nothing."""
        intent = self.of("tool.intent")
        return getattr(intent, "tool", "") or ""

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        """Files that the call left, the output first."""
        seen = self.of("tool.observation")
        found = [Artifact(a.id, a.kind, a.path, a.bytes, a.media_type) for a in (getattr(seen, "artifacts", ()) or ())]
        return tuple(sorted(found, key=lambda a: a.kind == "diff"))

    @property
    def diff_path(self) -> str:
        """Path of the diff below the session's folder, or nothing."""
        made = next((a.path for a in self.artifacts if a.kind == "diff"), "")
        return made or getattr(self.of("tool.permission"), "diff_path", None) or ""

    @property
    def inline_diff(self) -> str:
        """A diff that the log of a foreign agent carries itself, or nothing."""
        return getattr(self.of("tool.observation"), "inline_diff", None) or ""


_TELLING = (
    *("command", "cmd", "path", "pattern", "file_path", "filePath", "absolute_path", "query", "url", "prompt"),
    *("description", "message", "skill"),
)
"""Fields of an input that name what a call is about, over all agents, the most telling first."""


def target_of(event: Any) -> str:
    """What an event is about, on one line, foreign."""
    raw = getattr(event, "raw_input", None)
    if isinstance(raw, Mapping):
        for name in _TELLING:
            told = raw.get(name)
            if isinstance(told, list) and all(isinstance(word, str) for word in told):
                told = " ".join(told)
            if isinstance(told, str) and told:
                return " ".join(told.split())
        return " ".join(json.dumps(raw, ensure_ascii=False, default=str).split()) if raw else ""
    if raw is not None:
        return " ".join(str(raw).split())
    for name in ("text", "message", "title", "summary", "reason"):
        value = getattr(event, name, None)
        if isinstance(value, str) and value:
            return " ".join(value.split())
    kind = getattr(event, "type", "")
    if kind == "session.boundary":
        return event.kind.replace("_", " ")
    if kind == "answer.final":
        return f"evidence: {event.evidence.verdict}"
    if kind == "session.started":
        return f"{event.agent.name} in {event.cwd}"
    if kind == "journal.repaired":
        return f"byte {event.offset}: {event.torn_bytes} torn bytes were closed off"
    return f"{kind} {getattr(event, 'reason', '')}".strip()


def headline(record: CallRecord) -> Inked:
    """`call 17   bash   failed, exit 1`."""
    if record.tool:
        status, style = outcome_of(record)
        return ink(
            ("call ", "quiet"),
            (f"{record.number}", "bold"),
            "   ",
            (record.tool, "bold accent"),
            "   ",
            (status, style),
        )
    kind = getattr(record.lines[0].event, "type", "damaged line") if record.lines else "nothing"
    return ink((f"{kind}", "bold accent"), (f"   row {record.number}", "quiet"))


def outcome_of(record: CallRecord) -> tuple[str, str]:
    """(words, style) of how the call stands."""
    seen, done = record.of("tool.observation"), record.of("tool.invocation.completed")
    if seen is not None:
        if seen.ok:
            return "ok", "bold ok"
        code = f", exit {done.exit_code}" if done is not None and done.exit_code not in (None, 0) else ""
        style = "bold denied" if seen.phase == "permission" else "bold failed"
        return f"{seen.code} in {seen.phase}{code}", style
    if done is not None:
        return f"ended: {done.exit}; no observation yet", "running"
    if record.of("tool.invocation.started") is not None:
        return "running", "running"
    asked = record.of("tool.permission")
    if asked is not None and asked.decision == "ask" and record.of("tool.permission.answered") is None:
        closed = record.of("tool.permission.closed")
        return ("waiting for you", "bold ask") if closed is None else (f"closed: {closed.cause}", "bold gone")
    return "on its way", "running"


def overview(record: CallRecord, width: int) -> list[Inked]:
    """The story of the call, a step a line."""
    if not record.tool:
        return _message(record, width)
    rows: list[Inked] = []
    for name, words in _steps(record):
        rows += hanging(name, ink((words, "")), width, indent=_LABEL)
    seen = record.of("tool.observation")
    if seen is None:
        return [*rows, EMPTY, ink(("no observation is recorded yet", "mark"))]
    rows += [EMPTY, *_wrapped(seen.user_text or seen.summary, width)]
    if seen.next_step:
        rows += hanging("next", ink((seen.next_step, "")), width, indent=_LABEL)
    return [*rows, *_cut(record, width)]


def _steps(record: CallRecord) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    intent, asked = record.of("tool.intent"), record.of("tool.permission")
    found.append(
        ("wanted", clock(micros(intent.ts)) + (f" — the agent says: “{intent.reason}”" if intent.reason else ""))
    )
    checked = record.of("tool.validation")
    if checked is not None and not checked.ok:
        said = "; ".join(f"{e.field}: {e.message}" for e in checked.errors)
        found.append(("refused", f"{checked.code} in {checked.phase}: {said}"))
    if asked is not None:
        rules = f" (rule {', '.join(asked.policy_ids)})" if asked.policy_ids else ""
        found.append(("permission", f"{asked.decision} by {asked.source}: {asked.reason}{rules}"))
    found += _answers(record, asked)
    planned = record.of("tool.scheduled")
    if planned is not None and planned.waits_for:
        found.append(("queued", f"behind {', '.join(planned.waits_for)}"))
    return found + _run(record)


def _answers(record: CallRecord, asked: Any) -> list[tuple[str, str]]:
    answer, closed = record.of("tool.permission.answered"), record.of("tool.permission.closed")
    if answer is not None:
        words = answered_words(
            answer.answer, answer.scope, answer.by.model_dump(exclude_none=True), False, answer.message
        )
        after = micros(answer.ts) - micros(asked.ts) if asked is not None else 0
        return [("answer", f"{words} {f'after {duration(after)}' if asked is not None else ''}".rstrip())]
    if closed is not None:
        return [("closed", f"{closed.cause}{': ' + closed.message if closed.message else ''}")]
    return []


def _run(record: CallRecord) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    began, done = record.of("tool.invocation.started"), record.of("tool.invocation.completed")
    if began is not None:
        box = began.sandbox
        confined = "without a sandbox" if box.mode == "none" else f"in the sandbox ({box.mode})"
        found.append(("ran", f"{confined}, by {began.executor}, in {began.cwd}"))
    if done is not None:
        code = f", exit {done.exit_code}" if done.exit_code is not None else ""
        code += f", signal {done.signal}" if done.signal else ""
        took = "duration not recorded" if done.duration_ms is None else f"after {duration(done.duration_ms * 1000)}"
        found.append(("ended", f"{done.exit}{code} {took}"))
    seen = record.of("tool.observation")
    child = record.of("agent.spawned")
    if child is not None:
        named = " ".join(filter(None, (child.agent_type, child.description)))
        found.append(("agent", f"started {child.child} {named}".rstrip()))
    for effect in getattr(seen, "side_effects", ()) or ():
        size = f" +{effect.added} -{effect.removed}" if effect.added is not None else ""
        found.append(("changed", f"{effect.kind} {effect.path or ''}{size}"))
    return found


def _cut(record: CallRecord, width: int) -> list[Inked]:
    seen = record.of("tool.observation")
    rows: list[Inked] = []
    if seen.truncated or seen.omitted_bytes:
        rows += ink((f"{seen.omitted_bytes:,} bytes dropped for the model — o opens the whole output", "mark")).wrapped(
            width
        )
    if seen.full_output_path:
        rows += hanging(
            "whole output", ink((f"the agent kept it in {seen.full_output_path}", "")), width, indent=_LABEL
        )
    if seen.unkept_bytes:
        rows += ink((f"{seen.unkept_bytes:,} bytes more stand in the agent's log (Record)", "mark")).wrapped(width)
    for artifact in record.artifacts:
        rows += hanging(
            "artifact", ink((f"{artifact.kind} {artifact.path} {artifact.size:,} bytes", "")), width, indent=_LABEL
        )
    return [EMPTY, *rows] if rows else []


def _message(record: CallRecord, width: int) -> list[Inked]:
    rows: list[Inked] = []
    for line in record.lines:
        event = line.event
        reason = getattr(event, "reason", "")
        if not getattr(event, "type", ""):
            rows += ink(
                (f"damaged line of {getattr(event, 'size', len(line.raw)):,} bytes: {reason}", "bold failed")
            ).wrapped(width)
        text = getattr(event, "text", None) or getattr(event, "message", None)
        if isinstance(text, str):
            rows += _wrapped(text, width)
        else:
            rows += arguments(_plain(line), width)
    return rows


def _plain(line: RecordLine) -> Any:
    try:
        return json.loads(line.raw)
    except (ValueError, RecursionError):
        return line.raw.decode("utf-8", "replace")


def _wrapped(text: str, width: int) -> list[Inked]:
    return [row for part in text.split("\n") for row in ink((part, "")).wrapped(max(width, 8))]


def input_lines(record: CallRecord, width: int) -> list[Inked]:
    """What the agent asked for, every argument in full."""
    intent = record.of("tool.intent")
    if intent is None:
        return [ink(("this row is no call", "quiet"))]
    version = f"tool version {intent.tool_version}" if intent.tool_version else "tool version not recorded"
    return [ink((f"{intent.tool}   {version}", "quiet")), EMPTY, *arguments(intent.raw_input, width)]


def output_text(record: CallRecord) -> str:
    """What the call gave, as the person sees it; the artifact has the whole."""
    seen = record.of("tool.observation")
    if seen is None:
        last = record.of("tool.invocation.progress")
        return (last.text or "") if last is not None else ""
    return seen.content or seen.preview or seen.user_text or seen.summary


def model_lines(record: CallRecord, width: int) -> list[Inked]:
    """Word for word what the model was given of this call."""
    seen = record.of("tool.observation")
    if seen is None:
        return [ink(("the model has not been told anything of it yet", "quiet"))]
    head = ink((f"{seen.trust}   {seen.format}", "quiet"))
    return [head, EMPTY, *_wrapped(f"{seen.summary}\n{seen.content}" if seen.content else seen.summary, width)]


def record_lines(record: CallRecord, width: int, *, pretty: bool = True) -> list[Inked]:
    """The raw lines, each with its place in the journal."""
    rows: list[Inked] = []
    for line in record.lines:
        kind = getattr(line.event, "type", "") or "damaged line"
        rows.append(ink((f"byte {line.offset:,}", "bold accent"), (f"   {len(line.raw):,} bytes   {kind}", "quiet")))
        value = _plain(line)
        text = json.dumps(value, ensure_ascii=False, indent=2) if pretty and isinstance(value, dict) else ""
        rows += _wrapped(text or line.raw.decode("utf-8", "surrogateescape"), width)
        rows.append(EMPTY)
    return rows


def source_of(record: CallRecord) -> str:
    """The raw lines as they stand in the journal, for the clipboard."""
    return "\n".join(line.raw.decode("utf-8", "surrogateescape") for line in record.lines)
