"""Events that only the log of a foreign agent gives: what became of it that our own pipeline has no step for.

Promises: every record of a foreign log is one of our events, a `foreign.record`, a `foreign.unknown` or a
`foreign.damaged`, and all of them say where the record stands, so that nothing of the log is passed over unseen.
"""

from __future__ import annotations

from typing import Literal

from interlock.runtime.events.base import Event


class Reasoning(Event):
    """What the model thought before it answered, as far as its log shows it."""

    type: Literal["message.reasoning"] = "message.reasoning"
    message_id: str
    text: str
    """Empty where the log keeps it encrypted or only says that there was some."""
    request_id: str | None = None
    encrypted: bool | None = None
    inherited: bool | None = None
    """Copied from another session's log."""


class SessionBoundary(Event):
    """Something that divides a session: what stands behind it is not a plain continuation of what stands before."""

    type: Literal["session.boundary"] = "session.boundary"
    kind: Literal[
        "resumed",
        "forked",
        "compacted",
        "rolled_back",
        "interrupted",
        "error",
        "model_changed",
        "version_changed",
        "branch",
    ]
    text: str = ""
    """For a person: what happened, in the log's words where it has some."""


class AgentSpawned(Event):
    """A call has started an agent of its own; its session is another one."""

    type: Literal["agent.spawned"] = "agent.spawned"
    intent_id: str
    child: str
    """The agent's id for it; `<session>` or `<session>/<child>` finds its log."""
    agent_type: str | None = None
    description: str | None = None
    log: str | None = None
    """Path of its log, where the record names it."""


class ForeignRecord(Event):
    """A record that the adapter knows and that tells nothing to a timeline: bookkeeping, settings, snapshots."""

    type: Literal["foreign.record"] = "foreign.record"
    record: str
    """Its type in the agent's words, for example `file-history-snapshot` or `event_msg/token_count`."""


class ForeignUnknown(Event):
    """A record of a kind that the adapter does not know. Kept where it is; `origin` says where."""

    type: Literal["foreign.unknown"] = "foreign.unknown"
    record: str
    reason: str = "unknown type"


class ForeignDamaged(Event):
    """Bytes of the log that are no record."""

    type: Literal["foreign.damaged"] = "foreign.damaged"
    reason: str
    head: str
    """The first characters of it, at most 200."""
