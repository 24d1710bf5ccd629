"""How a call ends before it runs."""

from __future__ import annotations

from interlock.runtime.events.tool import FieldError, Phase
from interlock.runtime.tools.refusal import Refusal


class Stop(Exception):
    """The call goes no further; becomes its observation. Nothing was changed."""

    def __init__(
        self,
        phase: Phase,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        next_step: str | None = None,
        errors: tuple[FieldError, ...] = (),
    ) -> None:
        super().__init__(message)
        self.phase: Phase = phase
        self.code = code
        self.message = message
        self.retryable = retryable
        self.next_step = next_step
        self.errors = errors

    @classmethod
    def of(cls, phase: Phase, refusal: Refusal) -> Stop:
        """A tool's refusal, as the end of a call in `phase`."""
        errors = (FieldError(field=refusal.field, message=refusal.message),)
        named = f"{refusal.field}: {refusal.message}" if refusal.field else refusal.message
        return cls(phase, refusal.code, named, retryable=refusal.retryable, next_step=refusal.next_step, errors=errors)
