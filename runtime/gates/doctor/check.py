"""One thing that `interlock doctor` looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "problem", "off", "unknown"]


@dataclass(frozen=True, slots=True)
class Check:
    """What was seen."""

    name: str
    state: State
    text: str
    """In words, and for a problem what to do."""
