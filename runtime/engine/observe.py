"""The last steps: cap, observation, and the verification that may follow from it.

Promises: exactly one observation for every intent, on disk before anyone is told; what was cut has its full text as an
artifact and a call that shows more (RT-13).
"""

from __future__ import annotations

import asyncio
from typing import Any

from interlock.runtime.engine.cap import Cut, cap
from interlock.runtime.engine.fingerprint import fingerprint
from interlock.runtime.engine.intent import Call
from interlock.runtime.engine.setting import Setting
from interlock.runtime.engine.stop import Stop
from interlock.runtime.events.ids import OBSERVATION
from interlock.runtime.events.tool import (
    ArtifactRef,
    Metrics,
    Phase,
    SideEffect,
    ToolObservation,
    Verification,
)
from interlock.runtime.journal.artifacts import ArtifactError
from interlock.runtime.state.evidence import exit_is_masked, goal_of
from interlock.runtime.tools.output import Excerpt, ToolOutput

PREVIEW_CHARACTERS = 2_000
"""How much of the content stands in `preview`, for a glance."""


def observe_stop(setting: Setting, call: Call, stop: Stop) -> ToolObservation:
    """The observation of a call that did not run."""
    message = setting.masked(stop.message)
    return _record(
        setting,
        ToolObservation(
            observation_id=setting.journal.ids.new(OBSERVATION),
            intent_id=call.intent_id,
            invocation_id=call.invocation_id,
            ok=False,
            phase=stop.phase,
            code=stop.code,
            title=setting.masked(call.title),
            summary=message,
            user_text=setting.masked(f"{call.title}: {stop.message}"),
            metrics=Metrics(waited_ms=call.waited_ms, queued_ms=call.queued_ms),
            retryable=stop.retryable,
            next_step=stop.next_step,
        ),
    )


def observe(setting: Setting, call: Call, output: ToolOutput) -> ToolObservation:
    """The observation of a call that ran: capped, with its artifacts."""
    tool, _, prepared, ticket = call.need()
    limit = setting.manifest.limit(tool.name, tool.max_bytes)
    cut = cap(output.content, limit, keep=output.keep) if output.content is not None else Cut("", 0, "")
    artifacts, raw_ref = _artifacts(setting, call, output, cut)
    title = setting.masked(output.title or prepared.title)
    phase: Phase = "execute"
    return _record(
        setting,
        ToolObservation(
            observation_id=setting.journal.ids.new(OBSERVATION),
            intent_id=call.intent_id,
            invocation_id=ticket.invocation_id,
            ok=output.ok,
            phase=phase,
            code=output.code,
            title=title,
            summary=output.summary,
            content=cut.text or None,
            user_text=output.user_text or f"{title}: {output.summary}",
            preview=cut.kept[:PREVIEW_CHARACTERS] or None,
            truncated=bool(cut.dropped or output.omitted),
            omitted_bytes=cut.dropped + output.omitted,
            artifacts=artifacts,
            side_effects=_effects(output.side_effects, call.diff_ref),
            metrics=_metrics(call, output),
            retryable=output.retryable,
            format=output.format,
            suggested_next_tool=_next_call(output, cut, raw_ref),
            next_step=_next_step(output, cut, raw_ref),
            raw_ref=raw_ref,
            lossy=output.lossy,
        ),
    )


def _record(setting: Setting, observation: ToolObservation) -> ToolObservation:
    written = setting.journal.append(observation, durable=True)
    assert isinstance(written, ToolObservation)
    return written


def _artifacts(
    setting: Setting, call: Call, output: ToolOutput, cut: Cut
) -> tuple[tuple[ArtifactRef, ...], str | None]:
    refs = list(output.artifacts)
    raw_ref = output.raw_ref
    try:
        if call.prepared is not None and call.prepared.diff is not None and output.ok:
            if call.diff_ref is None:
                data = call.prepared.diff.text.encode()
                call.diff_ref = setting.journal.artifacts.put_bytes(data, "diff", "text/x-diff", durable=False)
            refs.append(call.diff_ref)
            raw_ref = raw_ref or call.diff_ref.id
        if cut.dropped and raw_ref is None and isinstance(output.content, str):
            data = output.content.encode("utf-8", "replace")
            whole = setting.journal.artifacts.put_bytes(data, "output", durable=False)
            refs.append(whole)
            raw_ref = whole.id
    except ArtifactError:
        # the call has run and must have its observation; that the evidence is missing shows by its absence
        pass
    return tuple(refs), raw_ref


def _effects(effects: tuple[SideEffect, ...], diff: ArtifactRef | None) -> tuple[SideEffect, ...]:
    if diff is None:
        return effects
    return tuple(e.model_copy(update={"diff": diff.id}) if e.kind.startswith("file.") else e for e in effects)


def _metrics(call: Call, output: ToolOutput) -> Metrics:
    content = output.content
    size = output.output_bytes
    if size is None:
        size = len(content.encode("utf-8", "replace")) if isinstance(content, str) else 0
    return Metrics(
        started_at=call.started_at,
        ended_at=call.ended_at,
        duration_ms=call.duration_ms,
        waited_ms=call.waited_ms,
        queued_ms=call.queued_ms,
        output_bytes=size,
    )


def _next_call(output: ToolOutput, cut: Cut, raw_ref: str | None) -> dict[str, Any] | None:
    if not cut.dropped:
        return output.suggested_next_tool
    if output.resume is not None and (more := output.resume(cut.kept)) is not None:
        return more
    if raw_ref is None:
        return output.suggested_next_tool
    around = _first_error(output.content)
    where: dict[str, Any] = {"around": around} if around else {"offset": cut.kept.count("\n") + 1}
    return {"tool": "read_artifact", "input": {"artifact": raw_ref, **where}}


def _next_step(output: ToolOutput, cut: Cut, raw_ref: str | None) -> str | None:
    if cut.dropped and raw_ref is not None:
        return f"The whole output is artifact {raw_ref}: use read_artifact with around, or with offset and limit."
    return output.next_step


def _first_error(content: str | Excerpt | None) -> str | None:
    """The first line that looks like an error: what somebody would look for first."""
    text = content.head + "\n" + content.tail if isinstance(content, Excerpt) else content or ""
    for line in text.split("\n"):
        low = line.lower()
        if len(line) < 500 and any(word in low for word in ("error", "fail", "traceback", "panic", "fatal")):
            return line.strip()[:200] or None
    return None


async def verify(setting: Setting, call: Call, observation: ToolObservation, output: ToolOutput) -> None:
    """Record that a goal was checked, when the command was a check that ran to its end (RT-18)."""
    command = getattr(call.input, "command", None)
    if call.tool is None or call.tool.name != "bash" or not isinstance(command, str) or output.exit == "cancelled":
        return
    goal = goal_of(command)
    # a zero that may be another command's says nothing about the goal, so nothing is recorded of it
    if goal is None or (output.ok and exit_is_masked(command)):
        return
    digest = await asyncio.to_thread(fingerprint, setting.context.workspace.roots)
    setting.journal.append(
        Verification(
            observation_id=observation.observation_id,
            goal=goal,
            command=command,
            passed=output.ok,
            workspace_digest=digest,
        ),
        durable=True,
    )
