"""Events about what was said: by the person, by the model, and to the model."""

from __future__ import annotations

from typing import Literal

from interlock.runtime.events.base import Event, Record


class UserMessage(Event):
    """What the person (or the program that drives the agent) said."""

    type: Literal["message.user"] = "message.user"
    message_id: str
    text: str
    request_id: str | None = None
    injected: bool | None = None
    """True: it stands in the user's place and no person wrote it (context, reminders, notices of the agent)."""
    inherited: bool | None = None
    """True: a resumed or forked session copied it from an earlier one."""


class AssistantMessage(Event):
    """What the model said."""

    type: Literal["message.assistant"] = "message.assistant"
    message_id: str
    text: str
    request_id: str | None = None
    inherited: bool | None = None
    """True: a resumed or forked session copied it from an earlier one."""


class MenuTool(Record):
    """One tool as it was offered."""

    name: str
    version: str


class Menu(Record):
    """The tools that a request offered, in order, and the digest of their schemas."""

    digest: str
    tools: tuple[MenuTool, ...]


class ModelRequest(Event):
    """The model is asked for its next message."""

    type: Literal["model.request"] = "model.request"
    request_id: str
    model: str
    menu: Menu
    input_tokens_estimate: int
    """Bytes of the messages divided by four."""
    input_artifact: str | None = None
    """Id of the artifact with the exact input."""


class Usage(Record):
    """Tokens, as the provider counted them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class ModelResponse(Event):
    """The model has answered.

    A foreign log can tell the usage of one response in steps: each step is an event with the same `request_id` and the
    tokens that were not told before, so that the sum over all events is right at any moment.
    """

    type: Literal["model.response"] = "model.response"
    request_id: str
    usage: Usage
    stop_reason: str
    duration_ms: int | None = None
    """None: not recorded."""
    cost_usd: float | None = None
    cost_estimated: bool | None = None
    """True: the cost was worked out from list prices, not told by the agent."""
    model: str | None = None
    """Of a foreign session: the model that answered."""
    inherited: bool | None = None
    """True: it was counted in the session that this one was resumed or forked from."""


class ContextPruned(Event):
    """Contents that the model's context no longer carries; the journal keeps them."""

    type: Literal["context.pruned"] = "context.pruned"
    observation_ids: tuple[str, ...]
    tokens_freed: int
    """Content bytes divided by four."""


class Evidence(Record):
    """What supports a final answer."""

    verdict: Literal["passed", "failed", "stale", "none"]
    observation_ids: tuple[str, ...] = ()


class FinalAnswer(Event):
    """The agent's last word, with what the record says about it."""

    type: Literal["answer.final"] = "answer.final"
    message_id: str
    evidence: Evidence
