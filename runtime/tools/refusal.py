"""How a tool says that a call cannot be.

Promises: a refusal names the code, the field, what is wrong and what to do next; nothing was changed when it is raised.
"""

from __future__ import annotations

from typing import Literal

RefusalCode = Literal[
    "unknown_tool",
    "tool_not_visible",
    "schema_invalid",
    "runtime_precondition_failed",
    "ambiguous_target",
    "stale_file_baseline",
]


class Refusal(Exception):
    """A call that must not go on, found before anything ran."""

    def __init__(
        self,
        code: RefusalCode,
        message: str,
        *,
        field: str = "",
        next_step: str | None = None,
        retryable: bool = True,
    ) -> None:
        super().__init__(message)
        self.code: RefusalCode = code
        self.message = message
        self.field = field
        """Name of the input field that is wrong; empty when it is the call as a whole."""
        self.next_step = next_step
        """What the model can do now."""
        self.retryable = retryable
        """Whether a corrected call can succeed."""


def precondition(message: str, *, field: str = "", next_step: str | None = None) -> Refusal:
    """A refusal because the world is not as the call needs it."""
    return Refusal("runtime_precondition_failed", message, field=field, next_step=next_step)
