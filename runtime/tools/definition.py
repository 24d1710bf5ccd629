"""What a tool is to the runtime (RT-2).

Promises: a definition holds everything the pipeline needs to know of a tool; `prepare` looks and decides but changes
nothing; what `Prepared.run` does is exactly what its prompt and diff say.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from interlock.runtime.journal.artifacts import ArtifactStore
from interlock.runtime.tools.baseline import Baseline, ReadLedger
from interlock.runtime.tools.diff import Diff
from interlock.runtime.tools.output import ToolOutput
from interlock.runtime.tools.stray import Strays
from interlock.runtime.tools.workspace import Place, Workspace

Risk = Literal["read", "write", "execute", "network", "delegate"]


class ToolInput(BaseModel):
    """Base of every input: strict types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a call needs for itself while it runs.

    Two claims on one resource get on with each other only when both have the same mode and it is not `exclusive`.
    """

    resource: str
    mode: str

    def conflicts(self, other: Claim) -> bool:
        """Whether the two must not be held at once."""
        return self.resource == other.resource and (self.mode != other.mode or self.mode == "exclusive")


@dataclass(frozen=True, slots=True)
class Concurrency:
    """How a call gets on with others (RT-6)."""

    kind: Literal["safe", "exclusive", "keyed"]
    key: str | None = None
    claims: tuple[Claim, ...] = ()
    early: tuple[str, ...] = ()
    """Beginnings of resources whose conflicts are waited out before the call is even looked at, since others would
    change what it sees."""


SAFE = Concurrency("safe")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What tools know of the session when they look at a call."""

    workspace: Workspace
    ledger: ReadLedger
    artifacts: ArtifactStore
    artifact_folder: str
    """Folder that holds the session's artifacts."""
    host: Mapping[str, str]
    """Our own environment; never shown, only allow-listed parts are passed on."""
    accept_current: bool = False
    """A person will look at a diff against what the file holds now, so it need not be the version that was read."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a tool gets when it runs."""

    invocation_id: str
    mark: str
    """Marks every process of the call."""
    artifacts: ArtifactStore
    host: Mapping[str, str]
    cancelled: asyncio.Event
    """Set when the call must end now."""
    progress: Callable[[Literal["stdout", "stderr"], int, str], None]
    """Tells that a stream has so many bytes now, and the last of it."""
    strays: Strays
    is_left_out: Callable[[str], bool]
    """Whether a file that a walk of a folder meets, given by its real path, is denied or guarded."""
    confine: Callable[[list[str], str], list[str]]
    """Puts a command line into the sandbox, where there is one."""


Executor = Callable[[RunContext], Awaitable[ToolOutput | str]]
"""Does the work of one prepared call."""


@dataclass(frozen=True, slots=True)
class Watched:
    """The target of a change, which must still be this version when the call starts."""

    place: Place
    baseline: Baseline | None
    """None: there must be no such file."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that has been looked at and can run as it is."""

    input: ToolInput
    title: str
    """A few words, for example `Edit shop/cart.py`."""
    prompt: str
    """One line that asks for it."""
    run: Executor
    cwd: str
    timeout_s: float
    diff: Diff | None = None
    watched: tuple[Watched, ...] = ()
    renewable: bool = False
    """When a watched file changed: may be prepared anew on what it holds now, to be asked again."""
    facts: dict[str, Any] = field(default_factory=dict)
    """More for the card, beside what the policy finds out."""


class Visibility(BaseModel):
    """In which situation a tool would be shown or called."""

    model_config = ConfigDict(frozen=True)

    mode: str = "ask"
    """Permission mode: `read-only`, `ask`, `accept-edits`, `locked`."""
    stage: str = ""
    """Stage of the task, where the agent has stages."""


def _always(_: Visibility) -> bool:
    return True


@dataclass(frozen=True)
class ToolDefinition:
    """One registered tool."""

    name: str
    version: str
    description: str
    input_model: type[ToolInput]
    risks: frozenset[Risk]
    read_only: bool
    prepare: Callable[[Any, ToolContext], Prepared]
    """Looks at the world and decides; may read files, changes nothing. Raises Refusal. Runs in a thread."""
    concurrency: Callable[[Any, ToolContext], Concurrency] = lambda _input, _context: SAFE
    """Quick and without waiting. Raises Refusal."""
    max_bytes: int | None = None
    """Largest content where no manifest says otherwise; None: the default of the manifest."""
    needs_sandbox: bool = False
    origin: str = "built in"
    visible: Callable[[Visibility], bool] = _always

    @property
    def executor(self) -> str:
        """Who runs it, as recorded with every invocation."""
        return f"{self.origin}/{self.name}@{self.version}"

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the input."""
        return self.input_model.model_json_schema()

    @cached_property
    def schema_digest(self) -> str:
        """SHA-256 in hex of everything that a model is shown of the tool."""
        shown = {"name": self.name, "version": self.version, "description": self.description, "schema": self.schema}
        return hashlib.sha256(json.dumps(shown, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


__all__ = [
    "SAFE",
    "Claim",
    "Concurrency",
    "Executor",
    "Prepared",
    "Risk",
    "RunContext",
    "ToolContext",
    "ToolDefinition",
    "ToolInput",
    "Visibility",
    "Watched",
]
