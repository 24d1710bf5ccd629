"""What a gate says in words: to the agent, and in the journal."""

from __future__ import annotations

from interlock.runtime.gates.call import Verdict
from interlock.runtime.policy.verdict.decide import Decision
from interlock.runtime.tools.footing.item import told

DENIED_WITHOUT_WORDS = "Denied by the person, who gave no reason. Nothing was run. Take another way, or ask them."


def denial(decision: Decision) -> str:
    """A deny of the policy, as the agent is told it."""
    rules = f" (rule {', '.join(decision.policy_ids)})" if decision.policy_ids else ""
    return (
        f"Denied by Interlock policy, {decision.source}: {decision.reason}{rules}. Nothing was run. "
        "The same call will be denied again: take another way, or say what you need and why."
    )


def said(verdict: Verdict) -> str:
    """What the agent is told of a deny; a person's own words stand alone."""
    return verdict.message or DENIED_WITHOUT_WORDS


def unlike_shown(changed: tuple[str, ...]) -> str:
    """What an agent is told of an allow that no longer holds, because it was given for something else."""
    return (
        f"Allowed, but what was shown changed before the answer: {told(changed)}. Nothing was run. "
        "Send it again; it will be asked about as it is now."
    )


_ENDINGS = {
    "native_allow": "answered with yes in the agent's own prompt",
    "native_deny": "answered with no in the agent's own prompt",
    "withdrawn": "the agent took the question back: answered in its own prompt, interrupted, or gone",
    "expired": "the agent waited no longer; its own prompt decides",
    "session_closed": "the agent's session has ended",
}


def ending(cause: str) -> str:
    """Why an ask ended at the agent's side."""
    return _ENDINGS.get(cause, cause)


_NONE = {
    "unwatched": "nobody watches, so the agent's own prompt decides",
    "not_recorded": "the gate's journal cannot be written, so the agent's own prompt decides",
    "expired": "nobody answered in time, so the agent's own prompt decides",
}


def none_because(cause: str) -> str:
    """Why the gate leaves a call to the agent's own prompt."""
    return _NONE.get(cause, "the question was closed without an answer, so the agent's own prompt decides")


def code_of(verdict: Verdict | None) -> str:
    """The code of the observation of a call that did not end well."""
    if verdict is None or verdict.decision != "deny":
        return "failed"
    kind = verdict.by.kind if verdict.by is not None else "person"
    return {"rule": "policy_denied", "runtime": "stale_file_baseline"}.get(kind, "user_denied")
