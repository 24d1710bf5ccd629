"""Records that nobody changes, made a thousand times a second.

Promises: compared and hashed by value; the type checker takes them for frozen. They are not frozen at run time, because
there a frozen dataclass of fourteen fields takes five times as long to make, and a decision makes some fifty records. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[T]) -> type[T]:
    """A dataclass with slots that is never assigned to after it was made."""
    return dataclass(slots=True, unsafe_hash=True)(kind)
