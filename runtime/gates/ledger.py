"""The gate's journal of one session of another agent, and the asks in it.

Promises: a deny of the policy holds whether or not it can be recorded; an allow counts only when it is on record; exactly one
of the policy, a person and the agent's own prompt decides, and the journal says which; an answer counts as delivered only
when `delivered` is called, that is when the agent's own record shows it; every intent ends in one observation; an allow is
told to the agent only while all that was shown is as it was.
Does not promise: that the agent obeys. What a route cannot hold back is told in docs/gates.md. One loop, no threads.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, Protocol

from interlock.runtime.asks.broker import AskNotRecorded, Broker
from interlock.runtime.asks.pending import Outcome, Pending
from interlock.runtime.asks.protocol import AskAnswer
from interlock.runtime.engine.terms import AskTerms
from interlock.runtime.events.ids import INTENT, OBSERVATION, new_ask_id
from interlock.runtime.events.permission import Approver, PermissionDelivered
from interlock.runtime.events.session import Agent, Foreign, SessionEnded
from interlock.runtime.events.tool import ToolObservation
from interlock.runtime.gates.call import POLICY_NAMES, ForeignCall, NativeCause, Verdict
from interlock.runtime.gates.entry import asked, decided, observed, wished
from interlock.runtime.gates.grants import SessionGrants
from interlock.runtime.gates.rules import Rules
from interlock.runtime.gates.wording import denial, ending, none_because, unlike_shown
from interlock.runtime.journal.artifacts import ArtifactError
from interlock.runtime.journal.writer import JournalWriteError, JournalWriter
from interlock.runtime.policy.call import Call
from interlock.runtime.policy.verdict.decide import Decision
from interlock.runtime.tools.footing.collect import footing_of
from interlock.runtime.tools.footing.item import Footing

_log = logging.getLogger(__name__)

EndReason = Literal["completed", "error", "cancelled", "crashed"]
_FILES = ("managed", "user", "project")


class Home(Protocol):
    """What a ledger needs of its host."""

    @property
    def rules(self) -> Rules: ...
    @property
    def broker(self) -> Broker: ...
    @property
    def is_watched(self) -> bool: ...
    @property
    def reply_to(self) -> str | None: ...
    def touch(self, text: str, /) -> None: ...
    def belongs(self, ask_id: str, ledger: Ledger, /) -> None: ...


class Ledger:
    """One session of another agent. Made by `GateHost.open`."""

    def __init__(self, host: Home, journal: JournalWriter, agent: Agent, foreign: Foreign, roots: Sequence[str]):
        self.agent = agent
        self.foreign = foreign
        self.roots = tuple(roots)
        self.grants = SessionGrants(journal, host.rules, self.roots)
        self.on_end: list[Callable[[Ledger], None]] = []
        """Called once, when the session has ended."""
        self._host = host
        self._journal = journal
        self._open: dict[str, ForeignCall] = {}
        self._answered: set[str] = set()
        self._policy_name = POLICY_NAMES.get(agent.kind, agent.kind)
        self.is_ended = False

    @property
    def session(self) -> str:
        """Our id of it, the name of the journal's folder."""
        return self._journal.session

    @property
    def journal(self) -> JournalWriter:
        """The gate's journal."""
        return self._journal

    @property
    def open_calls(self) -> tuple[ForeignCall, ...]:
        """Calls without an observation, oldest first."""
        return tuple(self._open.values())

    def begin(self, call: ForeignCall) -> None:
        """Record the intent; the second time nothing. Raises JournalWriteError."""
        if call.intent_id:
            return
        # before anything is decided: the agent may run it by its own rules
        self._host.touch(" ".join(str(call.input.get(name, "")) for name in ("command", "cmd", "commandLine")))
        intent_id = self._journal.ids.new(INTENT)
        event = wished(call, intent_id)
        self._journal.append(event)
        call.intent_id = intent_id
        self._open[intent_id] = call

    def decide(self, call: ForeignCall) -> Decision:
        """What the policy says of it at this moment; recorded nowhere. Never raises."""
        decision = self.grants.decide(self._as_ours(call))
        if call.question and decision.effect == "deny" and decision.source not in _FILES:
            # a mode or a default that stops what may change something has nothing to stop in a question
            return replace(decision, effect="ask", reason=call.question)
        return decision

    def refuse(self, call: ForeignCall) -> Verdict | None:
        """The deny of the policy, for a look before the agent's own flow; None: no rule denies it. Records the intent."""
        decision = self.decide(call)
        self._begun(call)
        call.asking_rule = decision.reason if decision.effect == "ask" and decision.source in _FILES else ""
        return self._by_policy(call, decision) if decision.effect == "deny" else None

    async def judge(self, call: ForeignCall) -> Verdict:
        """The policy's answer, else that of whoever answers first; waits for it.

        `none`: nobody watches and the agent's own prompt can only follow, the ask ended without an answer, or it cannot
        be recorded. When the waiting task is cancelled the ask is withdrawn.
        """
        decision = self.decide(call)
        if not self._begun(call) and decision.effect != "deny":
            return Verdict("none", none_because("not_recorded"))
        if not call.question and decision.effect != "ask":
            return self._by_policy(call, decision)
        if decision.effect == "deny":
            return self._by_policy(call, decision)
        if not call.races and not self._host.is_watched:
            return self._settled(call, Verdict("none", none_because("unwatched")))
        footing = self._footing(call, decision)
        call.facts = {**call.facts, "footing": footing.on_wire()}
        try:
            pending = self._ask(call, decision)
        except (AskNotRecorded, ArtifactError) as error:
            _log.error("%s: an ask cannot be recorded: %s", self.session, error)
            return self._settled(call, Verdict("none", none_because("not_recorded")))
        return self._settled(call, await self._as_shown(call, footing, await self._answer(call, pending)))

    def cancel(self, call: ForeignCall, cause: NativeCause, message: str | None = None) -> bool:
        """End its open ask because of what happened at the agent's side. False: it was not open any more.

        A yes or no of the agent's own prompt is recorded as an answer by `native_prompt`, and delivered with that.
        """
        pending = self._host.broker.find(call.ask_id) if call.ask_id else None
        if pending is None:
            return False
        if cause in ("native_allow", "native_deny"):
            given = "allow" if cause == "native_allow" else "deny"
            answer = AskAnswer(ask_id=pending.ask_id, input_digest=pending.input_digest, answer=given)
            if (
                self._host.broker.resolve(answer, Approver(kind="native_prompt", client=self.agent.name)).status
                == "accepted"
            ):
                self._answered.add(pending.ask_id)
                self.delivered(call)
                return True
        return self._host.broker.cancel(
            pending.ask_id,
            "expired" if cause == "expired" else "session_closed" if cause == "session_closed" else "cancelled",
            message or ending(cause),
        )

    def delivered(self, call: ForeignCall) -> None:
        """The agent's own record shows the answer. The second time nothing, nor for an ask that was not answered."""
        if call.is_delivered or call.ask_id is None or call.ask_id not in self._answered:
            return
        call.is_delivered = True
        self._note(PermissionDelivered(ask_id=call.ask_id, intent_id=call.intent_id))

    def result(
        self,
        call: ForeignCall,
        *,
        ok: bool,
        code: str = "",
        summary: str = "",
        duration_ms: int | None = None,
        output_bytes: int = 0,
    ) -> None:
        """How it ended by the agent's own record; its output stays there. The second time nothing."""
        if call.is_over or not call.intent_id:
            return
        call.is_over = True
        self._open.pop(call.intent_id, None)
        ended = observed(call, ok=ok, code=code, summary=summary, duration_ms=duration_ms, output_bytes=output_bytes)
        self._note(ended.model_copy(update={"observation_id": self._journal.ids.new(OBSERVATION)}))

    def end(self, reason: EndReason = "completed", message: str | None = None) -> None:
        """End the gate's journal: open asks are closed, calls of which no end was seen are told as such."""
        if self.is_ended:
            return
        self.is_ended = True
        for call in self.open_calls:
            self.cancel(call, "session_closed", message)
            self.result(call, ok=False, code="not_recorded", summary="how it ended was not seen by the gate")
        self._note(SessionEnded(reason=reason, message=message), durable=True)
        self._journal.close()
        for listener in self.on_end:
            listener(self)

    def _as_ours(self, call: ForeignCall) -> Call:
        return self._host.rules.as_ours(self._policy_name, call, self.roots)

    def _begun(self, call: ForeignCall) -> bool:
        try:
            self.begin(call)
        except JournalWriteError as error:
            _log.error("%s: %s", self.session, error)
            return False
        return True

    def _by_policy(self, call: ForeignCall, decision: Decision) -> Verdict:
        """A verdict of the policy on record. An allow that cannot be recorded is none; a deny holds all the same."""
        if decision.effect == "deny":
            verdict = Verdict("deny", denial(decision), by=Approver(kind="rule"), source=decision.source)
        else:
            verdict = Verdict("allow", decision.reason, by=Approver(kind="rule"), source=decision.source)
        event = decided(call, decision, self.agent)
        try:
            self._journal.append(event, durable=decision.effect == "allow")
        except JournalWriteError as error:
            _log.error("%s: %s", self.session, error)
            if decision.effect == "allow":
                verdict = Verdict("none", none_because("not_recorded"))
        return self._settled(call, verdict)

    def _ask(self, call: ForeignCall, decision: Decision) -> Pending:
        call.ask_id = new_ask_id()
        self._host.belongs(call.ask_id, self)
        ref = self._journal.artifacts.put_bytes(call.diff.encode(), "diff", "text/x-diff") if call.diff else None
        ours = self._as_ours(call)
        offers = self.grants.offers(decision, ours) if _can_stand(call) else ()
        event = asked(call, decision, self.agent, offers, diff=ref, reply_to=self._host.reply_to)
        try:
            return self._host.broker.open(event, AskTerms(self.grants, ours, offers, call.ask_id, call.intent_id))
        except AskNotRecorded:
            call.ask_id = None
            raise

    async def _answer(self, call: ForeignCall, pending: Pending) -> Verdict:
        try:
            outcome = await self._outcome(call, pending)
        except asyncio.CancelledError:
            self._host.broker.cancel(pending.ask_id, "cancelled", "the agent does not wait for it any more")
            raise
        if outcome.cause is not None or outcome.answer is None:
            return Verdict("none", outcome.message or none_because(outcome.cause or ""), ask_id=pending.ask_id)
        self._answered.add(pending.ask_id)
        return Verdict(outcome.answer, outcome.message, outcome.scope, outcome.by, ask_id=pending.ask_id)

    async def _outcome(self, call: ForeignCall, pending: Pending) -> Outcome:
        # not `pending.wait()`: that records the answer as delivered, which only the agent's own record can tell here
        while not pending.future.done():
            left = None
            if call.expires_at is not None:
                left = (call.expires_at - self._journal.now()).total_seconds()
                if left <= 0:
                    self._host.broker.expire(self._journal.now())
                    continue
            await asyncio.wait({pending.future}, timeout=left)
        return pending.future.result()

    def _footing(self, call: ForeignCall, decision: Decision) -> Footing:
        return footing_of(self._as_ours(call), decision, self._host.rules.world, os.environ, exact=True)

    async def _as_shown(self, call: ForeignCall, footing: Footing, verdict: Verdict) -> Verdict:
        """An allow holds for what was shown: all of that is worked out anew before the agent is told."""
        if verdict.decision != "allow" or (verdict.by is not None and verdict.by.kind == "native_prompt"):
            return verdict  # what the agent's own prompt allowed runs already
        decision = self.decide(call)
        if decision.effect == "deny":
            return Verdict(
                "deny", denial(decision), by=Approver(kind="rule"), source=decision.source, ask_id=call.ask_id
            )
        changed = footing.changes(await asyncio.to_thread(self._footing, call, decision))
        if not changed:
            return verdict
        return Verdict("deny", unlike_shown(changed), by=Approver(kind="runtime"), ask_id=call.ask_id)

    def _settled(self, call: ForeignCall, verdict: Verdict) -> Verdict:
        call.verdict = verdict
        return verdict

    def _note(self, event: PermissionDelivered | ToolObservation | SessionEnded, *, durable: bool = False) -> None:
        try:
            self._journal.append(event, durable=durable)
        except JournalWriteError as error:
            _log.error("%s: %s", self.session, error)


def _can_stand(call: ForeignCall) -> bool:
    """Whether a permission could outlast this call: the route can honour a yes, and it is no question."""
    return "allow.session" in call.choices and not call.question
