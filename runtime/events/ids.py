"""How things are named.

Promises: ids of intents, invocations and observations are short and readable within a session (`inv_42`); ask ids are
random and never used again; session ids sort by time.
"""

from __future__ import annotations

import secrets
from collections import Counter
from datetime import datetime

INTENT, INVOCATION, OBSERVATION, ARTIFACT, REQUEST, MESSAGE, GRANT = (
    "int",
    "inv",
    "obs",
    "art",
    "req",
    "msg",
    "grant",
)


class Ids:
    """Counts ids within one session. `start` lets a reopened session go on behind the last one used."""

    def __init__(self, start: dict[str, int] | None = None) -> None:
        self._next = Counter(start or {})

    def new(self, kind: str) -> str:
        """The next id of a kind, for example `inv_42`."""
        self._next[kind] += 1
        return f"{kind}_{self._next[kind]}"


def new_ask_id() -> str:
    """A random id of 128 bits, so that no answer can meet another ask by chance."""
    return f"ask_{secrets.token_hex(16)}"


def new_session_id(now: datetime, name: str) -> str:
    """For example `20260110-090000-demo-1f3a9c`: sorts by time, reads well, does not collide."""
    clean = "".join(c if c.isascii() and c.isalnum() else "-" for c in name.lower()).strip("-")[:24] or "session"
    return f"{now:%Y%m%d-%H%M%S}-{clean}-{secrets.token_hex(3)}"
