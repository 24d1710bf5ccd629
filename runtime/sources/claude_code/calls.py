"""The calls of a transcript: asked for, decided, ended, and the agents that some of them start.

Promises: a result is matched by the call's id, or where an early record has none by the message that asked for it; a
result that was written before its call waits for it; a sub-agent is told once a call. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from interlock.runtime.events.base import Origin
from interlock.runtime.events.permission import Approver
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.claude_code.background import Background
from interlock.runtime.sources.claude_code.outcome import Verdict, headline, judge
from interlock.runtime.sources.claude_code.result import Kept, duration, kept_of
from interlock.runtime.sources.claude_code.vocabulary import SPAWNING
from interlock.runtime.sources.foreign import shape
from interlock.runtime.sources.foreign.narrator import Narrator, Result

_HOOK = Approver(kind="rule", client="hook")
_PATIENCE = 6
"""Records that a result waits for its call: of calls that ran side by side, 2.1.161 to 2.1.177 wrote the result first,
one record ahead."""


@dataclass(frozen=True, slots=True)
class _Early:
    """A result whose call has not come."""

    value: dict[str, Any]
    block: dict[str, Any]
    words: str
    structured: Any
    failed: bool | None
    ts: str
    origin: Origin
    until: int
    """Number of the record behind which its call is given up."""


class Calls:
    """The calls of one session."""

    def __init__(self, say: Narrator, background: Background) -> None:
        self._say = say
        self._background = background
        self._spawned: dict[str, bool] = {}
        """Call id -> whether its agent's id is known."""
        self._open_of: dict[str, list[str]] = {}
        """Record -> the calls that it asked for and that have no result."""
        self._asked_in: dict[str, tuple[str, int]] = {}
        """Call id -> the message that asked for it, and a hash of what it asked."""
        self._again: dict[str, str] = {}
        """Call id of the log -> the narrator's, where another message used it again."""
        self._early: dict[str, _Early] = {}
        """Call id -> the result that waits for it."""
        self._records = 0
        self.interrupted = False
        """A call was interrupted, and the notice of the same interrupt has not come yet."""

    def next_record(self) -> Iterator[AnyEvent]:
        """One record more: results that have waited long enough are told without their call."""
        self._records += 1
        if self._early:
            for call_id in [known for known, early in self._early.items() if early.until < self._records]:
                yield from self._released(call_id)

    def asked(
        self, value: dict[str, Any], block: dict[str, Any], place: int, message_id: str, *, inherited: bool
    ) -> Iterator[AnyEvent]:
        """The model asks for a tool in block `place` of a record."""
        by = shape.text(value.get("uuid")) or str(self._say.origin.offset)
        call_id = self._key(shape.name_of(block.get("id")), value, block) or f"{by}#{place}"
        tool, given = shape.name_of(block.get("name")), block.get("input")
        yield from self._say.intent(call_id, tool, given, request_id=message_id, inherited=inherited)
        call = self._say.calls.get(call_id)
        if call is not None and "by" not in call.notes:
            call.notes["by"] = by
            self._open_of.setdefault(by, []).append(call_id)
        if call_id in self._early:
            yield from self._released(call_id)

    def _released(self, call_id: str) -> Iterator[AnyEvent]:
        """The result that waited, as it stands in its own record."""
        early, say = self._early.pop(call_id), self._say
        now = say.ts, say.origin
        say.ts, say.origin = early.ts, early.origin
        yield from self._ended(call_id, early.value, early.block, early.words, early.structured, early.failed)
        say.ts, say.origin = now

    def _key(self, call_id: str, value: dict[str, Any], block: dict[str, Any]) -> str:
        """What the narrator calls it: some providers behind a proxy count their calls anew in each response.

        The same call in another message is a repeat; another call under the id of one that has ended is a new one.
        """
        now = shape.name_of(shape.at(value, "message", "id")), _mark(block)
        known = self._again.get(call_id, call_id)
        before = self._asked_in.setdefault(call_id, now) if call_id else now
        if now[0] and now[0] != before[0] and now[1] != before[1] and known not in self._say.calls:
            self._asked_in[call_id] = now
            known = self._again[call_id] = f"{call_id} in {now[0]}"
        return known

    def bare(self, kind: str, value: dict[str, Any], words: str) -> Iterator[AnyEvent]:
        """A call or a result that is a record of its own, without an id: the drift fixtures of version 1.9 alone."""
        uuid, tool = shape.text(value.get("uuid")), shape.name_of(value.get("name"))
        if kind == "tool_use":
            yield from self._say.intent(f"bare {uuid or self._say.origin.offset}", tool, value.get("input"))
            return
        open_ones = [i for i, call in self._say.calls.items() if i.startswith("bare ") and call.tool == (tool or "?")]
        call_id = open_ones[-1] if open_ones else f"bare {uuid or self._say.origin.offset}"
        failed = value.get("is_error") is True
        yield from self._say.result(call_id, Result("failed" if failed else "ok", text=words))

    def result(
        self, value: dict[str, Any], block: dict[str, Any], words: str, structured: Any, failed: bool | None = None
    ) -> Iterator[AnyEvent]:
        """A call has ended. `words`: what the model was given back; `structured`: what the client kept beside it."""
        call_id = self._call_of(value, block)
        if shape.name_of(block.get("tool_use_id")) and self._say.intent_of(call_id) is None:
            until = self._records + _PATIENCE
            at = self._say.ts, self._say.origin
            self._early.setdefault(call_id, _Early(value, block, words, structured, failed, *at, until))
            return
        yield from self._ended(call_id, value, block, words, structured, failed)

    def _ended(
        self,
        call_id: str,
        value: dict[str, Any],
        block: dict[str, Any],
        words: str,
        structured: Any,
        failed: bool | None,
    ) -> Iterator[AnyEvent]:
        call = self._say.calls.get(call_id)
        failed = block.get("is_error") is True if failed is None else failed
        hook_denied = call is not None and call.notes.get("hook") == "deny"
        verdict = judge(value, words, failed=failed, structured=structured, hook_denied=hook_denied)
        self.interrupted |= verdict.outcome == "interrupted"
        if call is not None and "answered" not in call.notes:
            yield from self._answered(call_id, value, verdict)
        self._background.note(self._say, call_id, structured)
        tool, given = (call.tool, call.input) if call is not None else ("?", None)
        if call is not None:
            self._closed(call_id, call.notes.get("by", ""))
        yield from self._say.result(call_id, _made(verdict, words, structured, block))
        if call is not None and verdict.outcome != "denied":
            yield from self._agent(call_id, tool, given, structured, verdict)

    def _closed(self, call_id: str, by: str) -> None:
        still_open = [known for known in self._open_of.pop(by, ()) if known != call_id]
        if still_open:
            self._open_of[by] = still_open

    def _answered(self, call_id: str, value: dict[str, Any], verdict: Verdict) -> Iterator[AnyEvent]:
        """Who decided on a permission, where somebody was asked."""
        if verdict.denied_by is not None:
            yield from self._say.answered(call_id, "deny", verdict.denied_by, verdict.said)
            return
        decision = shape.mapping(value.get("permissionDecision"))
        source = shape.text(decision.get("source"))
        if decision.get("decision") != "accept" or not source.startswith(("user", "hook")):
            return
        by = _HOOK if source.startswith("hook") else Approver(kind="native_prompt")
        lasting = source == "user_permanent"
        scope = "rule" if lasting else "session" if decision.get("grantScope") == "session" else "once"
        yield from self._say.answered(call_id, "allow", by, scope=scope)

    def _call_of(self, value: dict[str, Any], block: dict[str, Any]) -> str:
        call_id = shape.name_of(block.get("tool_use_id"))
        if call_id:
            return self._again.get(call_id, call_id)
        by = shape.text(value.get("sourceToolAssistantUUID")) or shape.text(value.get("parentUuid"))
        if self._open_of.get(by):
            return self._open_of[by][0]
        return f"result {shape.text(value.get('uuid'))} at {self._say.origin.offset}"

    def _agent(self, call_id: str, tool: str, given: Any, structured: Any, verdict: Verdict) -> Iterator[AnyEvent]:
        child = shape.text(shape.at(structured, "agentId"))
        status = shape.text(shape.at(structured, "status"))
        starts = tool in SPAWNING or (child and status in ("async_launched", "forked"))
        if starts and (child or verdict.outcome != "failed"):
            log = shape.some_text(shape.at(structured, "outputFile"))
            yield from self.spawned(call_id, child, given=given, log=log, kind=shape.at(structured, "agentType"))

    def spawned(
        self, call_id: str, child: str, *, given: Any = None, log: str | None = None, kind: Any = None
    ) -> Iterator[AnyEvent]:
        """The call has started an agent; told once, and once more when the agent's id becomes known."""
        call = self._say.calls.get(call_id)
        given = call.input if call is not None else given
        told = self._spawned.get(call_id)
        if self._say.intent_of(call_id) is None or told or (told is False and not child):
            return
        self._spawned[call_id] = bool(child)
        agent_type = shape.some_text(shape.at(given, "subagent_type")) or shape.some_text(kind)
        description = shape.some_text(shape.at(given, "description"))
        yield self._say.spawned(call_id, child, agent_type=agent_type, description=description, log=log)

    def decided(self, call_id: str, decision: str) -> Iterator[AnyEvent]:
        """A hook has decided on a call."""
        call = self._say.calls.get(call_id)
        if call is None or decision not in ("allow", "deny"):
            return
        call.notes |= {"hook": decision, "answered": True}
        yield from self._say.answered(call_id, "allow" if decision == "allow" else "deny", _HOOK)

    def left_open(self) -> Iterator[AnyEvent]:
        """Results whose calls never came, and the agents of calls that have no result at the end of the log."""
        for call_id in list(self._early):
            yield from self._released(call_id)
        for call_id, call in list(self._say.calls.items()):
            if call.tool in SPAWNING and call_id not in self._spawned:
                yield from self.spawned(call_id, "")


def _mark(block: dict[str, Any]) -> int:
    try:
        return hash(repr((block.get("name"), block.get("input"))))
    except RecursionError:
        return 0


def _made(verdict: Verdict, words: str, structured: Any, block: dict[str, Any]) -> Result:
    ran = verdict.outcome in ("ok", "failed", "interrupted", "timeout")
    kept = kept_of(structured, words) if ran else Kept(duration_ms=duration(structured))
    changed = verdict.outcome == "ok"
    return Result(
        verdict.outcome,
        text=words,
        summary=headline(words),
        code=verdict.code,
        phase=verdict.phase,
        exit_code=verdict.exit_code,
        duration_ms=kept.duration_ms,
        omitted_bytes=kept.omitted_bytes,
        truncated=kept.truncated,
        diff=kept.diff if changed else None,
        effects=kept.effects if changed else (),
        format="image" if _is_picture(block.get("content")) else "text",
        full_output=kept.full_output,
    )


def _is_picture(content: Any) -> bool:
    kinds = {shape.text(block.get("type")) for block in shape.objects(content)}
    return "image" in kinds and "text" not in kinds
