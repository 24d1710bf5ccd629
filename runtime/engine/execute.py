"""Step 5: the tool runs.

Promises: the start is on record before anything runs, and on disk for a tool that may change something; what was shown is
looked at once more behind that; a fault of the tool is an output, never a crash; cancelling stops the tool and waits until
it is stopped. Time is counted from here.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Literal

from interlock.runtime.engine import gate
from interlock.runtime.engine.intent import Call
from interlock.runtime.engine.setting import Setting
from interlock.runtime.engine.stop import Stop
from interlock.runtime.events.tool import InvocationCompleted, InvocationProgress, InvocationStarted
from interlock.runtime.journal.writer import JournalWriteError, stamp
from interlock.runtime.tools.definition import RunContext
from interlock.runtime.tools.output import ToolOutput

SLACK_S = 10.0
"""A tool that only reads gets so much longer than its own time limit before it is given up."""


async def execute(setting: Setting, call: Call) -> ToolOutput:
    """Run the call to its end. Raises JournalWriteError when its start cannot be recorded: then nothing ran."""
    tool, _, prepared, ticket = call.need()
    invocation_id = ticket.invocation_id
    started = setting.journal.append(
        InvocationStarted(
            invocation_id=invocation_id,
            intent_id=call.intent_id,
            executor=tool.executor,
            cwd=prepared.cwd,
            sandbox=setting.sandbox.state,
        ),
        durable=not tool.read_only,
    )
    ticket.ran = True
    setting.touch(str(call.raw_input.get("command", "")) if isinstance(call.raw_input, dict) else "")
    begun = monotonic()
    output = await _stoppable(setting, call, asyncio.Event())
    call.started_at = started.ts
    call.ended_at = stamp(setting.journal.now())
    call.duration_ms = round((monotonic() - begun) * 1000)
    setting.journal.append(
        InvocationCompleted(
            invocation_id=invocation_id,
            exit=output.exit,
            exit_code=output.exit_code,
            signal=output.signal,
            duration_ms=call.duration_ms,
            signals_sent=output.signals_sent,
        )
    )
    return output


async def _stoppable(setting: Setting, call: Call, cancelled: asyncio.Event) -> ToolOutput:
    running = asyncio.create_task(_guarded(setting, call, cancelled))
    while True:
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # the tool is told and waited for: nothing of it may be left when its end is recorded
            cancelled.set()


async def _guarded(setting: Setting, call: Call, cancelled: asyncio.Event) -> ToolOutput:
    tool, _, prepared, _ = call.need()
    context = _context(setting, call, cancelled)
    limit = prepared.timeout_s + SLACK_S if tool.read_only else None
    if changed := await gate.last_look(setting, call):
        return _stale(gate.unlike_shown(changed))
    try:
        return ToolOutput.of(await asyncio.wait_for(prepared.run(context), limit))
    except TimeoutError:
        return ToolOutput(
            summary=f"timed out after {prepared.timeout_s:g} s",
            ok=False,
            code="timeout",
            exit="timeout",
            retryable=True,
        )
    except JournalWriteError:
        raise
    except Exception as error:
        fault = f"{tool.name} failed with {type(error).__name__}: {error}"
        return ToolOutput(summary=fault[:1000], ok=False, code="tool_fault", exit="error")


def _stale(stop: Stop) -> ToolOutput:
    return ToolOutput(
        summary=stop.message, ok=False, code=stop.code, exit="error", retryable=True, next_step=stop.next_step
    )


def _context(setting: Setting, call: Call, cancelled: asyncio.Event) -> RunContext:
    _, _, _, ticket = call.need()

    def progress(stream: Literal["stdout", "stderr"], size: int, last: str) -> None:
        event = InvocationProgress(
            invocation_id=ticket.invocation_id, stream=stream, bytes=size, text=setting.masked(last)
        )
        try:
            setting.journal.append(event)
        except JournalWriteError:
            # what already runs is not made better by a fault here; its end cannot be recorded either and says so
            cancelled.set()

    return RunContext(
        invocation_id=ticket.invocation_id,
        mark=f"{setting.journal.session}/{ticket.invocation_id}",
        artifacts=setting.journal.artifacts,
        host=setting.context.host,
        cancelled=cancelled,
        progress=progress,
        strays=setting.strays,
        is_left_out=gate.withheld(setting, call).hides,
        confine=setting.sandbox.confine,
    )
