"""What confines the processes of a session.

Promises: says what is true. Today no OS sandbox is set up, so the state is `none` and its detail says what that means;
every process goes through `confine`, which is where a provider will stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from interlock.runtime.events.session import SandboxState


def _as_it_is(argv: list[str], cwd: str) -> list[str]:
    return argv


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A way to confine processes."""

    state: SandboxState
    confine: Callable[[list[str], str], list[str]] = _as_it_is
    """Command line and working directory -> the command line that runs it confined."""


def no_sandbox() -> Sandbox:
    """Nothing is confined, and it is said."""
    return Sandbox(
        SandboxState(
            mode="none",
            provider="none",
            network=True,
            detail=(
                "No sandbox: a command that is allowed can read and write whatever you can, and reach the network. "
                "The file tools stay inside the workspace."
            ),
        )
    )
