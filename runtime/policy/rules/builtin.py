"""The policy that holds where nothing else was said."""

from __future__ import annotations

from interlock.runtime.policy.rules.layer import Layer, Policy, joined
from interlock.runtime.policy.rules.rule import Rule

BUILT_IN = Layer(
    "built-in",
    (
        Rule(
            "read-only-tools",
            "allow",
            "it only reads, inside the workspace",
            tools=("read_file", "glob", "grep", "read_artifact"),
            without_risks=("execute", "network", "write", "delegate"),
            read_only=True,
            inside=True,
            text="built-in: tools that only read, inside the workspace",
        ),
        Rule(
            "read-only-commands",
            "allow",
            "it only reads, inside the workspace",
            tools=("bash",),
            read_only=True,
            inside=True,
            text="built-in: commands that are proved to only read, inside the workspace",
        ),
        Rule(
            "agent-notes",
            "allow",
            "it only keeps the agent's own list",
            tools=("agent_notes",),
            read_only=True,
            text="built-in: an agent's own notes",
        ),
    ),
)
"""What only reads passes inside the workspace, by our own tools and by commands that the catalogue proves to only read."""


def default_policy() -> Policy:
    """Tools that only read pass inside the workspace; everything else asks; a short list is denied."""
    return joined([BUILT_IN])


def with_built_in(layers: list[Layer], **more: object) -> Policy:
    """The layers of files over the built-in one."""
    return joined([*layers, BUILT_IN], **more)  # type: ignore[arg-type]
