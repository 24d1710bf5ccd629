"""Events about a session as a whole and about its journal."""

from __future__ import annotations

from typing import Literal

from interlock.runtime.events.base import Event, Record


class Agent(Record):
    """Who is at work in the session."""

    name: str
    version: str = ""
    kind: str = "runtime"
    """`runtime` for sessions of our own runtime, else the name of the source."""


class SandboxState(Record):
    """What really confines the processes of the session."""

    mode: Literal["none", "workspace-write", "read-only"] = "none"
    provider: str = "none"
    """`none`, `bubblewrap`, `landlock`, `seatbelt`."""
    network: bool = True
    """Whether processes can reach the network."""
    detail: str = ""
    """For a person: what is confined and what is not."""


class Foreign(Record):
    """The session of another agent that a journal tells of."""

    session: str
    """The agent's own id of it."""
    log: str | None = None
    """Path of its transcript, where it has one."""


class SessionStarted(Event):
    """First event of every journal."""

    type: Literal["session.started"] = "session.started"
    agent: Agent
    cwd: str
    workspace: tuple[str, ...]
    host: str
    pid: int
    user: str
    model: str | None = None
    policy_digest: str = ""
    sandbox: SandboxState
    runtime_version: str
    parent: str | None = None
    title: str | None = None
    """What the session is about, in a few words."""
    branch: str | None = None
    """Branch of version control at the start."""
    foreign: Foreign | None = None
    """Of a gate's journal and of a translated log: the foreign session."""


class Totals(Record):
    """What a session came to, so that a list of past sessions need not read them whole."""

    calls: int = 0
    denied: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


class SessionEnded(Event):
    """Last event of a session that was closed in order."""

    type: Literal["session.ended"] = "session.ended"
    reason: Literal["completed", "error", "cancelled", "crashed"]
    message: str | None = None
    totals: Totals | None = None


class JournalRepaired(Event):
    """A writer found an unfinished last line, closed it off and goes on behind it."""

    type: Literal["journal.repaired"] = "journal.repaired"
    offset: int
    """Byte offset of the unfinished line."""
    torn_bytes: int
    """Its length in bytes, the line end that closed it not counted."""
    message: str
