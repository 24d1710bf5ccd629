"""Step 3: the permission gate (RT-5, ASK-3).

Promises: nothing passes without a recorded decision; a deny is final; an allow after an ask holds for exactly what was
shown: input, directory, tool, diff and footing (see `tools.footing`) are all worked out anew right before the start and
compared. What has changed is asked again where that makes sense, and refused otherwise. A call that nobody is asked about
is judged anew right before it starts. Never run first, ask later.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from time import monotonic
from typing import Any

from interlock.runtime.asks.broker import AskNotRecorded
from interlock.runtime.asks.pending import Outcome
from interlock.runtime.engine.digest import input_digest
from interlock.runtime.engine.ground import judge_of
from interlock.runtime.engine.intent import Call
from interlock.runtime.engine.lookup import look_up
from interlock.runtime.engine.offer import Offer, choices_of, offers_of
from interlock.runtime.engine.setting import Setting
from interlock.runtime.engine.stop import Stop
from interlock.runtime.engine.terms import AskTerms
from interlock.runtime.events.ids import new_ask_id
from interlock.runtime.events.permission import ToolPermission
from interlock.runtime.journal.artifacts import ArtifactError
from interlock.runtime.journal.writer import JournalWriteError, stamp
from interlock.runtime.policy.call import Call as PolicyCall
from interlock.runtime.policy.facts.foreign import make_call
from interlock.runtime.policy.facts.foreign_table import OWN
from interlock.runtime.policy.facts.tool_name import ToolKind
from interlock.runtime.policy.verdict.decide import Decision
from interlock.runtime.policy.verdict.withheld import Withheld
from interlock.runtime.tools.atomic import stale
from interlock.runtime.tools.baseline import baseline_of
from interlock.runtime.tools.definition import Watched
from interlock.runtime.tools.environment import environment_for
from interlock.runtime.tools.footing.collect import footing_of
from interlock.runtime.tools.footing.item import Footing, told


async def permit(setting: Setting, call: Call, *, supersedes: str | None = None, why_again: str = "") -> None:
    """Let the call pass, or raise Stop with phase `permission`. Waits for a person where the policy says ask."""
    decision = decide_now(setting, call)
    if decision.effect == "deny":
        _record(setting, call, decision)
        raise denied(decision)
    if decision.effect == "allow" and supersedes is None:
        _record(setting, call, decision)
        call.decision = decision
        return
    call.decision, call.footing = decision, await footing_now(setting, call, decision)
    # a call that a person was asked about is asked about again, whatever a rule says by now
    asked = policy_call(setting, call)
    offers = _offers(setting, asked, decision)
    event = _ask(setting, call, decision, offers, supersedes, why_again)
    outcome = await _answered(
        setting, call, event, AskTerms(setting, asked, offers, event.ask_id or "", call.intent_id)
    )
    if not outcome.allowed:
        raise refused(outcome)
    call.ask_id, call.grant_id = event.ask_id, outcome.grant_id


def decide_now(setting: Setting, call: Call) -> Decision:
    """What the policy says of the call at this moment, the rules and grants of this session included."""
    setting.grants.notice_removed(setting.policy, setting.journal)
    return judge_of(setting).decide(policy_call(setting, call))


async def footing_now(setting: Setting, call: Call, decision: Decision) -> Footing:
    """What the call stands on at this moment."""
    host = environment_for(setting.context.host, mark="")
    return await asyncio.to_thread(footing_of, policy_call(setting, call), decision, setting.world, host)


def policy_call(setting: Setting, call: Call) -> PolicyCall:
    """The call as the policy takes it."""
    tool, _, prepared, _ = call.need()
    workspace = setting.context.workspace
    return make_call(
        setting.agent,
        tool.name,
        shown_input(call),
        cwd=prepared.cwd,
        workspace=workspace.roots,
        home=setting.home,
        protected=setting.protected,
        form=OWN,
        kind=ToolKind(tool.name, frozenset(tool.risks), tool.read_only),
        starts=prepared.cwd,
    )


def withheld(setting: Setting, call: Call) -> Withheld:
    """What a walk of folders leaves out, by the rules that hold at this moment."""
    return Withheld(policy_call(setting, call), setting.policy, setting.world, setting.journal.now())


def _offers(setting: Setting, asked: PolicyCall, decision: Decision) -> tuple[Offer, ...]:
    # a call that only has to be asked about again may be one that a rule allows: then nothing is left to offer
    if decision.effect != "ask":
        return ()
    return offers_of(decision, asked, judge_of(setting))


def shown_input(call: Call) -> dict[str, Any]:
    """The exact input that would run, defaults included."""
    assert call.input is not None
    return call.input.model_dump(mode="json")


def digest_of(call: Call) -> str:
    """The digest of what is shown of the call."""
    tool, _, prepared, _ = call.need()
    return input_digest(tool.name, tool.version, shown_input(call), prepared.cwd)


def _record(setting: Setting, call: Call, decision: Decision) -> None:
    tool, _, prepared, _ = call.need()
    event = ToolPermission(
        intent_id=call.intent_id,
        decision=decision.effect,
        reason=decision.reason,
        source=decision.source,
        policy_ids=tuple(decision.policy_ids),
        risks=tuple(decision.risks),
        facts=decision.facts() | prepared.facts,
        tool=tool.name,
        tool_version=tool.version,
        input_digest=digest_of(call),
        cwd=prepared.cwd,
    )
    setting.journal.append(event, durable=not tool.read_only)


def _ask(
    setting: Setting,
    call: Call,
    decision: Decision,
    offers: tuple[Offer, ...],
    supersedes: str | None,
    why_again: str,
) -> ToolPermission:
    tool, _, prepared, _ = call.need()
    _keep_diff(setting, call)
    call.digest = digest_of(call)
    reason = f"{why_again}; {decision.reason}" if why_again else decision.reason
    return ToolPermission(
        intent_id=call.intent_id,
        decision="ask",
        reason=reason,
        source=decision.source,
        policy_ids=tuple(decision.policy_ids),
        ask_id=new_ask_id(),
        prompt=setting.masked(prepared.prompt),
        risks=tuple(decision.risks),
        facts=decision.facts()
        | prepared.facts
        | {"outputLimit": setting.manifest.limit(tool.name, tool.max_bytes)}
        | ({"footing": call.footing.on_wire()} if call.footing else {}),
        suggested_rules=tuple(offer.plain() for offer in offers),
        input_digest=call.digest,
        diff=call.diff_ref.id if call.diff_ref else None,
        diff_path=call.diff_ref.path if call.diff_ref else None,
        reply_to=setting.reply_to,
        tool=tool.name,
        tool_version=tool.version,
        shown_input=shown_input(call),
        cwd=prepared.cwd,
        agent=setting.agent,
        agent_reason=call.intent.reason,
        sandbox=setting.sandbox.state,
        choices=choices_of(offers),
        expires_at=_expiry(setting, decision),
        supersedes=supersedes,
    )


def _expiry(setting: Setting, decision: Decision) -> str | None:
    """When the ask counts as timed out; None: it waits (ASK-5)."""
    if decision.wait_seconds is None:
        return None
    return stamp(setting.journal.now() + timedelta(seconds=decision.wait_seconds))


def _keep_diff(setting: Setting, call: Call) -> None:
    _, _, prepared, _ = call.need()
    call.diff_ref = None
    if prepared.diff is None:
        return
    try:
        call.diff_ref = setting.journal.artifacts.put_bytes(prepared.diff.text.encode(), "diff", "text/x-diff")
    except ArtifactError as error:
        raise Stop(
            "permission", "not_recorded", f"the diff cannot be kept, so nothing is asked or run: {error}"
        ) from None


async def _answered(setting: Setting, call: Call, event: ToolPermission, terms: AskTerms) -> Outcome:
    begun = monotonic()
    try:
        return await setting.broker.open(event, terms).wait()
    except AskNotRecorded as error:
        raise JournalWriteError(str(error)) from error
    finally:
        call.waited_ms = (call.waited_ms or 0) + round((monotonic() - begun) * 1000)


def denied(decision: Decision) -> Stop:
    """The end of a call that a policy denies."""
    rules = f" (rule {', '.join(decision.policy_ids)})" if decision.policy_ids else ""
    return Stop(
        "permission",
        "policy_denied",
        f"denied by policy, {decision.source}: {decision.reason}{rules}",
        next_step="This call will be denied again. Take another way, or say what you need and why.",
    )


_CLOSED = {
    "expired": ("ask_timed_out", "nobody answered in time, which counts as no"),
    "runtime_restarted": ("runtime_restarted", "the runtime was restarted while the question was open"),
}


def refused(outcome: Outcome) -> Stop:
    """The end of a call that was not allowed; a person's words are handed on as they are."""
    if outcome.answer == "deny":
        said = f"denied by the person: {outcome.message}" if outcome.message else "denied by the person"
        return Stop("permission", "user_denied", said, next_step="Nothing was run or changed. Take another way.")
    code, text = _CLOSED.get(
        outcome.cause or "", ("ask_cancelled", "the question was withdrawn before it was answered")
    )
    said = f"{text}: {outcome.message}" if outcome.message else text
    return Stop("permission", code, said, retryable=True, next_step="Nothing was run or changed.")


def drift(call: Call) -> Watched | None:
    """The first watched file that is not what it was when the call was looked at."""
    _, _, prepared, _ = call.need()
    for watched in prepared.watched:
        now = baseline_of(watched.place)
        if watched.baseline is None:
            if now is not None:
                return watched
        elif now is None or not now.same_content(watched.baseline):
            return watched
    return None


async def recheck(setting: Setting, call: Call) -> str:
    """What was shown must be what runs. Raises Stop when input, tool, policy or footing are not what they were.

    Gives why a person has to be asked (again) before the start: what let the call pass was taken back or is another rule
    now; "" when not.
    """
    _same_call(setting, call)
    decision = decide_now(setting, call)
    if decision.effect == "deny":
        _record(setting, call, decision)
        raise denied(decision)
    if setting.grants.was_revoked(call.grant_id):
        return "the permission that was given with the answer was taken back before the call began"
    if call.ask_id is None:
        return await _judged_anew(setting, call, decision)
    assert call.footing is not None
    assert call.decision is not None
    changed = call.footing.changes(await footing_now(setting, call, decision))
    if changed:
        raise unlike_shown(changed)
    if decision.effect == "ask" and _rules(decision) != _rules(call.decision):
        return "the rules changed since this was shown"
    return ""


def _same_call(setting: Setting, call: Call) -> None:
    shown = call.tool
    look_up(setting, call)
    if call.tool is not shown or (call.ask_id is not None and digest_of(call) != call.digest):
        raise Stop("permission", "digest_mismatch", "the call is not the one that was shown, so it was not run")


async def _judged_anew(setting: Setting, call: Call, decision: Decision) -> str:
    """For a call that nobody was asked about: what it stands on now is what it was allowed on."""
    if decision.effect == "ask":
        return "what let this call pass holds no longer"
    if call.decision is not None and decision.facts() != call.decision.facts():
        _record(setting, call, decision)
    call.decision, call.footing = decision, await footing_now(setting, call, decision)
    return ""


def _rules(decision: Decision) -> tuple[str, tuple[str, ...]]:
    return decision.source, tuple(decision.policy_ids)


async def last_look(setting: Setting, call: Call) -> tuple[str, ...]:
    """What changed between the comparison and this moment, which is that of the start; () when nothing did.

    Recording the start takes a while; behind it all is looked at as before, and the paths once more at the very end.
    """
    changed = await _changed(setting, call)
    if not changed and call.footing is not None and call.footing.has_moved:
        # it may only have been touched, at any time since it was shown
        changed = await _changed(setting, call)
    return changed


async def _changed(setting: Setting, call: Call) -> tuple[str, ...]:
    if call.footing is None:
        return ()
    decision = decide_now(setting, call)
    if decision.effect == "deny" or (decision.effect == "ask" and call.ask_id is None):
        return (f"the policy says {decision.effect} now: {decision.reason}",)
    return call.footing.changes(await footing_now(setting, call, decision))


def unlike_shown(changed: tuple[str, ...]) -> Stop:
    """The end of a call that stands on something else than was shown."""
    return Stop(
        "permission",
        "stale_file_baseline",
        f"what was shown changed: {told(changed)}; nothing was run",
        retryable=True,
        next_step="Send it again; it will be asked about as it is now.",
    )


def drifted(watched: Watched) -> Stop:
    """The end of a change to a file that is not the version that it was worked out on."""
    refusal = stale(watched.place)
    return Stop("permission", refusal.code, refusal.message, retryable=True, next_step=refusal.next_step)
