"""What a gate writes into its journal of a call, as events without an envelope. Pure.

Promises: what is shown of a call is its exact input, with the digest that an answer must carry; what the agent told beside
it (its mode, its sub-agent) stands among the facts and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.runtime.engine.offer import Offer, choices_of
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.events.session import Agent, SandboxState
from interlock.runtime.events.tool import ArtifactRef, Metrics, ToolIntent, ToolObservation
from interlock.runtime.gates.call import ForeignCall, input_digest, prompt_of, title_of
from interlock.runtime.gates.wording import code_of
from interlock.runtime.journal.writer import stamp
from interlock.runtime.policy.verdict.decide import Decision

UNKNOWN_SANDBOX = SandboxState(
    provider="unknown", detail="what confines this agent is its own affair and not known to the gate"
)


def wished(call: ForeignCall, intent_id: str) -> ToolIntent:
    """What the agent wants to do."""
    told = {"agentId": call.sub_agent.id, "agentType": call.sub_agent.type} if call.sub_agent is not None else {}
    fields = {"intent_id": intent_id, "tool": call.tool, "raw_input": dict(call.input)}
    return ToolIntent.model_validate({**fields, "reason": call.reason, "call_id": call.call_id, **told})


def decided(call: ForeignCall, decision: Decision, agent: Agent) -> ToolPermission:
    """An answer of the policy alone."""
    return ToolPermission(
        intent_id=call.intent_id,
        decision=decision.effect,
        reason=decision.reason,
        source=decision.source,
        policy_ids=tuple(decision.policy_ids),
        risks=(*call.risks, *decision.risks),
        facts=_facts(call, decision),
        tool=call.tool,
        tool_version=agent.version,
        input_digest=_digest(call, agent),
        cwd=call.cwd,
    )


def asked(
    call: ForeignCall,
    decision: Decision,
    agent: Agent,
    offers: Sequence[Offer],
    *,
    diff: ArtifactRef | None,
    reply_to: str | None,
) -> ToolPermission:
    """A question to a person, with all that a card shows."""
    return decided(call, decision, agent).model_copy(
        update={
            "decision": "ask",
            "reason": call.question or decision.reason,
            "ask_id": call.ask_id,
            "prompt": prompt_of(call),
            "suggested_rules": tuple(offer.plain() for offer in offers),
            "diff": diff.id if diff else None,
            "diff_path": diff.path if diff else None,
            "expires_at": stamp(call.expires_at) if call.expires_at else None,
            "reply_to": reply_to,
            "shown_input": dict(call.input),
            "agent": _asking(call, agent),
            "agent_reason": call.reason,
            "sandbox": _sandbox(call, agent),
            "choices": tuple(_choices(call, offers)),
        }
    )


def observed(
    call: ForeignCall, *, ok: bool, code: str, summary: str, duration_ms: int | None, output_bytes: int
) -> ToolObservation:
    """How it ended by the agent's own record; without its id."""
    code = code or ("ok" if ok else code_of(call.verdict))
    ran = ok or code == "failed"
    summary = summary or ("the agent says that it ran" if ran else "not run")
    return ToolObservation(
        observation_id="",
        intent_id=call.intent_id,
        ok=ok,
        phase="execute" if ran else "permission",
        code=code,
        title=title_of(call)[:120],
        summary=summary,
        user_text=f"{call.tool}: {summary}",
        metrics=Metrics(duration_ms=duration_ms, output_bytes=output_bytes),
    )


def _choices(call: ForeignCall, offers: Sequence[Offer]) -> Iterator[str]:
    """`allow.session` of a route stands for every permission that outlasts the call."""
    for choice in call.choices:
        if choice == "allow.session":
            yield from (one for one in choices_of(offers) if one.startswith("allow.") and one != "allow.once")
        else:
            yield choice


def _asking(call: ForeignCall, agent: Agent) -> str:
    """Who asks, for a person."""
    if call.sub_agent is None:
        return agent.name
    return f"{call.sub_agent.type or 'a sub-agent'} ({call.sub_agent.id}) of {agent.name}"


def _sandbox(call: ForeignCall, agent: Agent) -> SandboxState:
    if not call.is_unconfined:
        return UNKNOWN_SANDBOX
    return SandboxState(detail=f"what is allowed runs outside the sandbox of {agent.name}")


def _facts(call: ForeignCall, decision: Decision) -> dict[str, object]:
    facts = {**decision.facts(), **call.facts}
    if call.is_unconfined:
        facts["outsideSandbox"] = True
    if call.question:
        facts["question"] = True
    if call.sub_agent is not None:
        facts["subAgent"] = {"id": call.sub_agent.id, "type": call.sub_agent.type}
    return facts


def _digest(call: ForeignCall, agent: Agent) -> str:
    return input_digest(call.tool, agent.version, dict(call.input), call.cwd)
