"""The pipeline: intent -> lookup -> validate -> permission -> schedule -> execute -> normalise -> cap -> observation.

Promises: one event for each step, in this order; every intent ends in exactly one observation, whatever fails or is
cancelled; a failure is reported as the phase in which it happened; what cannot be recorded does not run.
"""

from __future__ import annotations

import asyncio
from time import monotonic

from interlock.runtime.engine import gate, validate
from interlock.runtime.engine.execute import execute
from interlock.runtime.engine.intent import Call, Intent, frozen_copy
from interlock.runtime.engine.lookup import look_up
from interlock.runtime.engine.normalize import normalize
from interlock.runtime.engine.observe import observe, observe_stop, verify
from interlock.runtime.engine.setting import Setting
from interlock.runtime.engine.stop import Stop
from interlock.runtime.events.ids import INTENT, INVOCATION
from interlock.runtime.events.tool import FieldError, Phase, ToolIntent, ToolObservation, ToolScheduled, ToolValidation
from interlock.runtime.journal.writer import JournalWriteError
from interlock.runtime.tools.output import ToolOutput


class Pipeline:
    """Takes the intents of one session."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._running: dict[str, asyncio.Task[ToolObservation]] = {}

    async def run(self, intent: Intent) -> ToolObservation:
        """Take one intent to its observation.

        Raises JournalWriteError when it cannot be recorded (then it has not run, or its end is not on record), and
        CancelledError when the caller is cancelled, after the call was stopped and observed.
        """
        call = self._begin(intent)
        task = asyncio.create_task(self._through(call), name=call.intent_id)
        self._running[call.intent_id] = task
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await _settled(task)
            if task.cancelled():
                # cancelled before its first step: nothing of it ran, so nothing has observed it either
                observation = self._never_began(call)
                caller = asyncio.current_task()
                if caller is None or not caller.cancelling():
                    return observation
            raise
        finally:
            self._running.pop(call.intent_id, None)

    def _never_began(self, call: Call) -> ToolObservation:
        if call.ticket is not None:
            self._setting.scheduler.release(call.ticket)
        return self._stopped(call, _cancelled("validate"))

    def running(self) -> tuple[str, ...]:
        """Ids of the intents that have no observation yet."""
        return tuple(self._running)

    def cancel(self, intent_id: str) -> bool:
        """Stop one call wherever it is; its observation says so. False: it has ended already, or never was."""
        task = self._running.get(intent_id)
        return task.cancel() if task else False

    async def cancel_all(self) -> None:
        """Stop every call and wait for the observations."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _begin(self, intent: Intent) -> Call:
        """Record the intent and settle, without waiting, its shape and its place in the order of calls."""
        setting = self._setting
        call = Call(intent, setting.journal.ids.new(INTENT), frozen_copy(intent.raw_input))
        known = setting.registry.get(intent.tool)
        setting.journal.append(
            ToolIntent(
                intent_id=call.intent_id,
                tool=intent.tool,
                tool_version=known.version if known else None,
                raw_input=call.raw_input,
                reason=intent.reason,
                request_id=intent.request_id,
                call_id=intent.call_id,
            )
        )
        try:
            look_up(setting, call)
            call.input = validate.check_shape(call)
            concurrency = validate.concurrency_of(setting, call)
        except Stop as stop:
            call.stopped = stop
        except Exception as error:
            call.stopped = Stop("validate", "tool_fault", f"{intent.tool} failed while it looked: {error}"[:1000])
        else:
            call.ticket = setting.scheduler.enqueue(setting.journal.ids.new(INVOCATION), concurrency)
        return call

    async def _through(self, call: Call) -> ToolObservation:
        phase: Phase = "validate"
        try:
            output = None
            try:
                await self._validated(call)
                phase = "permission"
                await gate.permit(self._setting, call)
                phase = "schedule"
                await self._turn(call)
                phase = "execute"
                output = await execute(self._setting, call)
            except Stop as stop:
                return self._stopped(call, stop)
            except asyncio.CancelledError:
                return self._stopped(call, _cancelled(phase))
            except JournalWriteError:
                raise
            except Exception as error:
                return self._stopped(call, Stop(phase, "runtime_fault", f"{type(error).__name__}: {error}"[:1000]))
            return await self._observed(call, output)
        finally:
            if call.ticket is not None:
                self._setting.scheduler.release(call.ticket)

    async def _validated(self, call: Call) -> None:
        if call.stopped is not None:
            raise self._invalid(call, call.stopped)
        assert call.ticket is not None
        await call.ticket.early_turn()
        try:
            call.prepared = await validate.check_world(self._setting, call)
        except Stop as stop:
            raise self._invalid(call, stop) from None
        self._setting.journal.append(ToolValidation(intent_id=call.intent_id, ok=True, phase="validate"))

    def _invalid(self, call: Call, stop: Stop) -> Stop:
        self._setting.journal.append(
            ToolValidation(
                intent_id=call.intent_id,
                ok=False,
                phase=stop.phase,
                code=stop.code,
                errors=stop.errors or (FieldError(field="", message=stop.message),),
            )
        )
        return stop

    async def _turn(self, call: Call) -> None:
        """Schedule, wait for the turn, and check that the call is still what was permitted (ask again if need be)."""
        _, _, prepared, ticket = call.need()
        call.invocation_id = ticket.invocation_id
        self._setting.journal.append(
            ToolScheduled(
                invocation_id=ticket.invocation_id,
                intent_id=call.intent_id,
                concurrency=ticket.concurrency.kind,
                key=ticket.concurrency.key,
                waits_for=ticket.waits_for,
                timeout_ms=round(prepared.timeout_s * 1000),
            )
        )
        begun = monotonic()
        await ticket.turn()
        call.queued_ms = round((monotonic() - begun) * 1000)
        await self._undrifted(call)
        while why := await self._rechecked(call):
            # what a person took back is theirs to give again; the files may have changed while they thought
            await gate.permit(self._setting, call, supersedes=call.ask_id, why_again=why)
            await self._undrifted(call)

    async def _rechecked(self, call: Call) -> str:
        try:
            return await gate.recheck(self._setting, call)
        except Stop as stop:
            raise (self._invalid(call, stop) if stop.code == "stale_file_baseline" else stop) from None

    async def _undrifted(self, call: Call) -> None:
        """Return when all that was shown is as it was; a change of the same kind is asked about anew."""
        while (changed := await asyncio.to_thread(gate.drift, call)) is not None:
            stop = gate.drifted(changed)
            renewable = call.prepared is not None and call.prepared.renewable and call.ask_id is not None
            self._invalid(call, stop)
            if not renewable:
                raise stop
            await self._asked_again(call, stop)

    async def _asked_again(self, call: Call, stop: Stop) -> None:
        """The same change on what the file holds now, as a new ask in place of the answered one."""
        try:
            call.prepared = await validate.check_world(self._setting, call, accept_current=True)
        except Stop as failed:
            raise Stop(
                "permission", stop.code, f"{stop.message} ({failed.message})", next_step=stop.next_step
            ) from None
        self._setting.journal.append(ToolValidation(intent_id=call.intent_id, ok=True, phase="validate"))
        why = "the file changed since the diff was shown; this is the same change on what it holds now"
        await gate.permit(self._setting, call, supersedes=call.ask_id, why_again=why)

    async def _observed(self, call: Call, output: ToolOutput) -> ToolObservation:
        clean = normalize(self._setting, output)
        observation = observe(self._setting, call, clean)
        try:
            await verify(self._setting, call, observation, clean)
        except asyncio.CancelledError:
            pass  # the call has its observation; only the look at the workspace was cut short
        return observation

    def _stopped(self, call: Call, stop: Stop) -> ToolObservation:
        return observe_stop(self._setting, call, stop)


def _cancelled(phase: Phase) -> Stop:
    if phase == "permission":
        return Stop("permission", "ask_cancelled", "cancelled while it waited for an answer; nothing was run")
    return Stop(phase, "cancelled", "cancelled before it ran; nothing was run")


async def _settled(task: asyncio.Task[ToolObservation]) -> None:
    """Cancel a call and wait until it is observed, however often the caller is cancelled meanwhile."""
    task.cancel()
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
    if not task.cancelled():
        task.exception()  # looked at: a fault of the journal is reported by whoever appends next
