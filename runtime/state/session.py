"""What a list needs to know of a session, folded from its events.

Promises: an event counts at most once, by its seq; the fold of a replay is equal to the fold of the live stream; the
status comes from evidence, and the evidence is told with it. Pure: no files, no clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from interlock.runtime.events.brief import Brief
from interlock.runtime.events.moment import micros

Status = Literal["waiting", "running", "idle", "done", "failed", "gone"]


@dataclass(frozen=True, slots=True)
class AskBrief:
    """An ask that waits, as far as the journal's envelope tells."""

    ask_id: str
    intent_id: str
    tool: str
    prompt: str
    opened_at: int
    """Microseconds since 1970."""


@dataclass(slots=True)
class ModelUse:
    """What one model came to in a session. Tokens as its provider counts them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float = 0.0
    priced: bool = False
    """Whether any of it has a cost."""


@dataclass(slots=True)
class SessionState:
    """The state of one session. `add` changes it in place."""

    id: str = ""
    agent: str = ""
    agent_kind: str = ""
    agent_version: str = ""
    parent: str = ""
    """The agent's id of the session that started this one."""
    foreign_session: str = ""
    """The agent's own id of it, where that is another agent than our runtime."""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    seq: int = -1
    """The last event that was taken."""
    calls: int = 0
    denied: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    cost_estimated: bool = False
    """Some of the cost was worked out from list prices."""
    models: dict[str, ModelUse] = field(default_factory=dict)
    """Model -> its share; the name is empty where none is recorded."""
    model: str = ""
    """The model that was asked last."""
    started_at: int = 0
    last_at: int = 0
    """Microseconds since 1970."""
    last_action: str = ""
    ended: str | None = None
    """The reason of session.ended."""
    verification: bool | None = None
    verified_at: int = 0
    changed_since_verification: bool = False
    foreign: int = 0
    """Events that name another session and were left out."""
    thinking: bool = False
    """A model request has no response yet."""
    asks: dict[str, AskBrief] = field(default_factory=dict)
    open_calls: dict[str, str] = field(default_factory=dict)
    """Intent id -> tool of calls without an observation."""
    running: dict[str, str] = field(default_factory=dict)
    """Invocation id -> intent id of what runs now."""

    def add(self, event: Brief, at: int | None = None) -> bool:
        """Take one event; `at`: its time in microseconds since 1970, if that is known.

        False: it was known already, or belongs to another session.
        """
        if event.seq <= self.seq:
            return False
        if self.id and event.session != self.id:
            # a line that was written for another journal proves nothing about this one
            self.foreign += 1
            return False
        self.seq = event.seq
        self.id = self.id or event.session
        at = micros(event.ts) if at is None else at
        if at > self.last_at:
            self.last_at = at
        handler = _HANDLERS.get(event.type)
        if handler is not None:
            handler(self, event, at)
        return True


def evolve(state: SessionState, event: Brief) -> SessionState:
    """`state` after `event`, changed in place and returned."""
    state.add(event)
    return state


def status_of(state: SessionState, writer_alive: bool, now: int = 0) -> tuple[Status, str]:
    """(status, the evidence for it in words). `now`: microseconds since 1970; 0: the words name no ages."""
    status, evidence = _judged(state, writer_alive)
    if now and state.last_at and status in ("gone", "running", "idle"):
        evidence += f"; last event {_age(now - state.last_at)} ago"
    return status, evidence


def _age(span: int) -> str:
    seconds = max(0, span // 1_000_000)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _judged(state: SessionState, writer_alive: bool) -> tuple[Status, str]:
    if state.ended is not None:
        if state.ended in ("error", "crashed"):
            return "failed", f"ended: {state.ended}"
        if state.verification is False:
            return "failed", "ended, and its last check failed"
        return "done", "ended" if state.ended == "completed" else f"ended: {state.ended}"
    if not writer_alive:
        return "gone", "no process holds its journal, and it did not say that it ended"
    if state.asks:
        return "waiting", f"{len(state.asks)} open ask{'s' if len(state.asks) > 1 else ''} in its journal"
    if state.running:
        return "running", "a call is running"
    if state.open_calls:
        return "running", "a call is on its way"
    if state.thinking:
        return "running", "the model was asked and has not answered"
    return "idle", "its process is there and nothing is under way"


def _started(state: SessionState, event: Brief, at: int) -> None:
    # a foreign log can begin more than once: each resume says who is at work now
    state.started_at = state.started_at or at
    agent = getattr(event, "agent", None)
    state.agent = getattr(agent, "name", "") or ""
    state.agent_kind = getattr(agent, "kind", "") or ""
    state.agent_version = getattr(agent, "version", "") or ""
    state.parent = getattr(event, "parent", None) or ""
    state.foreign_session = getattr(getattr(event, "foreign", None), "session", None) or ""
    state.title = event.title or state.title
    state.cwd = getattr(event, "cwd", None) or state.cwd
    state.branch = getattr(event, "branch", None) or state.branch


def _ended(state: SessionState, event: Brief, at: int) -> None:
    state.ended = event.reason or "completed"
    state.thinking = False
    state.asks.clear()
    state.open_calls.clear()
    state.running.clear()


def _intent(state: SessionState, event: Brief, at: int) -> None:
    state.calls += 1
    state.ended = None
    tool = event.tool or "?"
    state.open_calls[event.intent_id or ""] = tool
    state.last_action = tool


def _permission(state: SessionState, event: Brief, at: int) -> None:
    if event.decision == "ask" and event.ask_id:
        intent = event.intent_id or ""
        tool = event.tool or state.open_calls.get(intent, "?")
        state.asks[event.ask_id] = AskBrief(event.ask_id, intent, tool, getattr(event, "prompt", None) or "", at)


def _resolved(state: SessionState, event: Brief, at: int) -> None:
    state.asks.pop(event.ask_id or "", None)


def _invocation(state: SessionState, event: Brief, at: int) -> None:
    state.running[event.invocation_id or ""] = event.intent_id or ""


def _completed(state: SessionState, event: Brief, at: int) -> None:
    state.running.pop(event.invocation_id or "", None)


def _observation(state: SessionState, event: Brief, at: int) -> None:
    tool = state.open_calls.pop(event.intent_id or "", None)
    if event.invocation_id:
        state.running.pop(event.invocation_id, None)
    for ask_id in [a.ask_id for a in state.asks.values() if a.intent_id == event.intent_id]:
        del state.asks[ask_id]
    if event.ok is False:
        if event.code in ("user_denied", "policy_denied"):
            state.denied += 1
        else:
            state.failed += 1
    elif tool in ("edit_file", "write_file"):
        state.changed_since_verification = True
    if event.title:
        state.last_action = event.title


def _request(state: SessionState, event: Brief, at: int) -> None:
    state.thinking = True
    state.ended = None
    state.model = getattr(event, "model", None) or state.model


def _response(state: SessionState, event: Brief, at: int) -> None:
    state.thinking = False
    if event.inherited:
        return  # it was counted where it was first answered
    state.model = getattr(event, "model", None) or state.model
    use = state.models.setdefault(state.model, ModelUse())
    if event.usage is not None:
        state.input_tokens += event.usage.input
        state.output_tokens += event.usage.output
        use.input += event.usage.input
        use.output += event.usage.output
        use.cache_read += event.usage.cache_read
        use.cache_write += event.usage.cache_write
    if event.cost_usd is not None:
        state.cost_usd += event.cost_usd
        state.cost_estimated |= bool(getattr(event, "cost_estimated", None))
        use.cost_usd += event.cost_usd
        use.priced = True


def _verified(state: SessionState, event: Brief, at: int) -> None:
    state.verification = bool(event.passed)
    state.verified_at = at
    state.changed_since_verification = False


_HANDLERS = {
    "session.started": _started,
    "session.ended": _ended,
    "tool.intent": _intent,
    "tool.permission": _permission,
    "tool.permission.answered": _resolved,
    "tool.permission.closed": _resolved,
    "tool.invocation.started": _invocation,
    "tool.invocation.completed": _completed,
    "tool.observation": _observation,
    "model.request": _request,
    "model.response": _response,
    "verification": _verified,
}
