"""The facts of one session, counted from its events: `interlock show FILE --facts`.

Promises: a fold over events and the record tally alone, so that it says of every agent the same thing; a response is
counted once whatever its log repeats; what was inherited from another session is not counted as this one's. Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from interlock.runtime.events.foreign import AgentSpawned, Reasoning, SessionBoundary
from interlock.runtime.events.message import AssistantMessage, ModelResponse, Usage, UserMessage
from interlock.runtime.events.session import SessionStarted
from interlock.runtime.events.tool import ToolIntent, ToolObservation
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.sources.foreign.narrator import UNRECORDED
from interlock.runtime.sources.foreign.tokens import KINDS, added

_DENIED = ("user_denied", "policy_denied", "ask_timed_out", "ask_cancelled")


@dataclass(slots=True)
class SessionFacts:
    """What a session came to. `add` changes it in place."""

    agent: str = ""
    versions: list[str] = field(default_factory=list)
    """Versions of the agent, in order of appearance."""
    sessions: list[str] = field(default_factory=list)
    """The agent's own ids of it; more than one after a resume."""
    parent: str | None = None
    cwd: str = ""
    title: str | None = None
    calls: Counter[str] = field(default_factory=Counter)
    ended: int = 0
    """Calls with a result."""
    failed: int = 0
    denied: int = 0
    interrupted: int = 0
    """Calls that were interrupted, and interrupts of the person between calls."""
    user_turns: int = 0
    """Messages that a person wrote."""
    injected: int = 0
    """Messages in the user's place that no person wrote."""
    _answers: dict[str, bool] = field(default_factory=dict)
    """Response -> whether it was copied from an earlier session."""
    _copied_turns: int = 0
    """Messages of the person that were copied from an earlier session."""
    first: str = ""
    last: str = ""
    """The earliest and the latest time in the log."""
    usage: dict[str, Usage] = field(default_factory=dict)
    """Model -> tokens; the model is empty where the log names none."""
    cost_usd: float | None = None
    """Where the log records it."""
    boundaries: Counter[str] = field(default_factory=Counter)
    spawning: frozenset[str] = frozenset()
    """Tools whose every call counts as one for a sub-agent, whatever came of it."""
    _sums: Counter[str] = field(default_factory=Counter)
    """Of other sessions that were joined: what is counted by ids within each."""
    _copied_calls: set[str] = field(default_factory=set)
    """Intents of calls that were copied from an earlier session."""
    _asked: set[str] = field(default_factory=set)
    """Intents of those tools."""
    _children: dict[str, set[str]] = field(default_factory=dict)
    """Intent -> ids of the agents that it started, as far as they are told."""

    @property
    def assistant_messages(self) -> int:
        """Responses of the model with at least one text, call or thought; parts of one message count once."""
        return self._sums["answers"] + len(self._answers) - sum(self._answers.values())

    @property
    def inherited(self) -> int:
        """Messages that were copied from an earlier session."""
        return self._copied_turns + self._copied_answers

    @property
    def _copied_answers(self) -> int:
        return self._sums["copies"] + sum(self._answers.values())

    @property
    def sub_agents(self) -> int:
        """Calls for an agent of its own; one call of a script that started several counts for each of them."""
        others = (children for intent, children in self._children.items() if intent not in self._asked)
        return self._sums["agents"] + len(self._asked) + sum(max(1, len(children)) for children in others)

    def add(self, event: AnyEvent) -> None:
        """Take one event."""
        if event.ts:
            self.first = min(self.first, event.ts) if self.first else event.ts
            self.last = max(self.last, event.ts)
        match event:
            case SessionStarted():
                self._started(event)
            case UserMessage():
                self._user(event)
            case AssistantMessage():
                self._assistant(event.message_id, bool(event.inherited))
            case ToolIntent():
                self._intent(event)
            case Reasoning() if event.request_id:
                self._assistant(event.request_id, bool(event.inherited))
            case ToolObservation() if event.intent_id not in self._copied_calls:
                self._observation(event)
            case ModelResponse():
                self._response(event)
            case AgentSpawned() if event.intent_id not in self._copied_calls:
                self._children.setdefault(event.intent_id, set()).update([event.child] if event.child else ())
            case SessionBoundary():
                self.boundaries[event.kind] += 1
                self.interrupted += event.kind == "interrupted"
            case _:
                pass

    def _started(self, event: SessionStarted) -> None:
        self.agent = self.agent or event.agent.name
        self.cwd = self.cwd or event.cwd
        self.title = event.title or self.title
        self.parent = self.parent or event.parent
        if event.agent.version and event.agent.version not in self.versions:
            self.versions.append(event.agent.version)
        if event.foreign and event.foreign.session and event.foreign.session not in self.sessions:
            self.sessions.append(event.foreign.session)

    def _user(self, event: UserMessage) -> None:
        if event.inherited:
            self._copied_turns += 1
        elif event.injected:
            self.injected += 1
        else:
            self.user_turns += 1

    def _assistant(self, message_id: str, inherited: bool) -> None:
        self._answers[message_id] = inherited or self._answers.get(message_id, False)

    def _intent(self, event: ToolIntent) -> None:
        if event.request_id:
            self._assistant(event.request_id, bool(event.inherited))
        if event.inherited:
            self._copied_calls.add(event.intent_id)
            return
        # a result without its call says that there was one, and not of which tool
        self.calls[event.tool] += event.reason != UNRECORDED
        if event.tool in self.spawning:
            self._asked.add(event.intent_id)

    def _observation(self, event: ToolObservation) -> None:
        self.ended += 1
        if event.ok or event.code == "outcome_not_recorded":
            return
        if event.code in _DENIED:
            self.denied += 1
        elif event.code == "cancelled":
            self.interrupted += 1
        else:
            self.failed += 1

    def _response(self, event: ModelResponse) -> None:
        if event.inherited:
            if event.request_id in self._answers:
                self._assistant(event.request_id, True)
            return
        name = event.model or ""
        before = self.usage.get(name, Usage())
        self.usage[name] = added(before, event.usage)
        if event.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + event.cost_usd

    def joined(self, other: SessionFacts) -> None:
        """Take what another session came to as well, of which nothing may be this one's too."""
        self.agent = self.agent if self.agent in ("", other.agent) else "several"
        self.agent = self.agent or other.agent
        self.versions += [version for version in other.versions if version not in self.versions]
        self.sessions += [session for session in other.sessions if session not in self.sessions]
        for name in ("ended", "failed", "denied", "interrupted", "user_turns", "injected", "_copied_turns"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.calls += other.calls
        self.boundaries += other.boundaries
        self._sums += Counter(answers=other.assistant_messages, agents=other.sub_agents, copies=other._copied_answers)
        self.first = min(filter(None, (self.first, other.first)), default="")
        self.last = max(self.last, other.last)
        for model, usage in other.usage.items():
            self.usage[model] = added(self.usage.get(model, Usage()), usage)
        if other.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + other.cost_usd

    def tokens(self) -> Usage:
        """The sum over all models."""
        return Usage(**{k: sum(getattr(u, k) for u in self.usage.values()) for k in KINDS})

    def to_json(self) -> dict[str, Any]:
        """By its wire names."""
        return {
            "agent": self.agent,
            "version": self.versions[-1] if self.versions else None,
            "versions": self.versions,
            "session": self.sessions[0] if self.sessions else None,
            "sessions": self.sessions,
            "parent": self.parent,
            "cwd": self.cwd or None,
            "title": self.title,
            "toolCalls": {tool: count for tool, count in self.calls.most_common() if count},
            "toolCallCount": self.calls.total(),
            "toolResults": self.ended,
            "failed": self.failed,
            "denied": self.denied,
            "interrupted": self.interrupted,
            "userTurns": self.user_turns,
            "injectedMessages": self.injected,
            "assistantMessages": self.assistant_messages,
            "subAgentCalls": self.sub_agents,
            "inheritedMessages": self.inherited,
            "firstTime": self.first or None,
            "lastTime": self.last or None,
            "tokens": _wire(self.tokens()),
            "tokensByModel": {name or "unknown": _wire(usage) for name, usage in self.usage.items()},
            "costUsd": self.cost_usd,
            "boundaries": dict(self.boundaries),
        }


def _wire(usage: Usage) -> dict[str, int]:
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "reasoning": usage.reasoning,
    }
