"""The agent loop: ask the model, run what it wants through the pipeline, ask again.

Promises: the model's next input is projected from the journal, never taken from a tool; calls of one turn go to the
scheduler together; every way out leaves a last event that says how the session ended. The same loop serves a scripted
and a real model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import monotonic

from interlock.runtime.agents.provider import Model, ModelTurn
from interlock.runtime.engine.fingerprint import fingerprint
from interlock.runtime.engine.intent import Intent
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.ids import REQUEST
from interlock.runtime.events.message import ContextPruned, FinalAnswer, ModelRequest, ModelResponse
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.state.context import ContextFold, Message, prunable, tokens_freed
from interlock.runtime.state.evidence import EvidenceFold

KEEP_TURNS = 8
"""Assistant turns whose tool results keep their content; older ones keep the summary (RT-11)."""
MAX_TURNS = 200


class TooManyTurns(Exception):
    """The model went on for more turns than the loop allows; the message says how many."""


class AgentLoop:
    """One task of one session, to its final answer."""

    def __init__(self, session: RuntimeSession, model: Model, *, max_turns: int = MAX_TURNS) -> None:
        self._session = session
        self._model = model
        self._max_turns = max_turns
        self._context = ContextFold()
        self._evidence = EvidenceFold()
        session.journal.subscribe(self._fold)

    def _fold(self, event: AnyEvent, line: bytes, offset: int) -> None:
        self._context.add(event)
        self._evidence.add(event)

    async def run(self, task: str) -> str:
        """Work on the task until the model calls no more tools; returns its last words.

        Raises what the model's provider raises, TooManyTurns, and JournalWriteError when the record stops.
        """
        self._session.say_user(task)
        for _ in range(self._max_turns):
            turn, request_id = await self._ask_model()
            message_id = self._session.say_assistant(turn.text, request_id=request_id)
            if not turn.calls:
                await self._finish(message_id)
                return turn.text
            await self._run_calls(turn, request_id)
            self._prune()
        raise TooManyTurns(f"no final answer after {self._max_turns} turns")

    async def _ask_model(self) -> tuple[ModelTurn, str]:
        session = self._session
        request_id = session.journal.ids.new(REQUEST)
        menu = session.menu()
        messages = tuple(self._context.messages)
        session.record(
            ModelRequest(
                request_id=request_id,
                model=self._model.name,
                menu=menu,
                input_tokens_estimate=_estimate(messages),
            )
        )
        began = monotonic()
        turn = await self._model.respond(messages, menu)
        session.record(
            ModelResponse(
                request_id=request_id,
                usage=turn.usage,
                stop_reason=turn.stop_reason,
                duration_ms=round((monotonic() - began) * 1000),
            )
        )
        return turn, request_id

    async def _run_calls(self, turn: ModelTurn, request_id: str) -> None:
        intents = [Intent(c.tool, c.input, c.reason, request_id, c.call_id) for c in turn.calls]
        async with asyncio.TaskGroup() as group:
            # tasks start in the order of the calls, so the scheduler sees the order of the intents
            for intent in intents:
                group.create_task(self._session.pipeline.run(intent))

    async def _finish(self, message_id: str) -> None:
        roots = self._session.setting.context.workspace.roots
        digest = await asyncio.to_thread(fingerprint, roots)
        self._session.record(FinalAnswer(message_id=message_id, evidence=self._evidence.evidence(digest)), durable=True)

    def _prune(self) -> None:
        old = prunable(self._context.messages, keep_turns=KEEP_TURNS)
        ids = tuple(m.message_id for m in old if m.message_id)
        if ids:
            freed = tokens_freed(m.content for m in old if m.content)
            self._session.record(ContextPruned(observation_ids=ids, tokens_freed=freed))


def _estimate(messages: Sequence[Message]) -> int:
    return sum(len(message.text.encode("utf-8", "replace")) for message in messages) // 4
