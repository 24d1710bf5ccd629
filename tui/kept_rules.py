"""The rules that answers left in the user's policy file, for the screen: which there are, and taking one out (ASK-4).

Promises: the file is read and written in a thread; what came of taking a rule out is told once. No widget library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from interlock.tui.model.undo import Note


class KeptRules:
    """As they were read last."""

    def __init__(self, changed: Callable[[], None], tell: Callable[[Note], None]) -> None:
        """`changed`: rows may differ; `tell`: takes what is to be told to the person."""
        self.rules: tuple[tuple[str, str], ...] = ()
        """Id and text of each."""
        self.fault = ""
        """Why they could not be read."""
        self._changed, self._tell = changed, tell

    async def read(self) -> None:
        """Read them anew."""
        before = self.rules, self.fault
        self.rules, self.fault = await asyncio.to_thread(_read)
        if before != (self.rules, self.fault):
            self._changed()

    async def drop(self, rule_id: str) -> None:
        """Take one out."""
        self._tell(await asyncio.to_thread(_drop, rule_id))
        self._changed()
        await self.read()


# what these import takes a third of a second, so that too is done in the thread


def _read() -> Any:
    from interlock.runtime.tools.kept_rule import KeptRuleError, kept_rules

    try:
        return tuple((rule.id, rule.text) for rule in kept_rules()), ""
    except KeptRuleError as error:
        return (), str(error)


def _drop(rule_id: str) -> Note:
    from interlock.runtime.tools.kept_rule import KeptRuleError, drop_rule

    try:
        gone = drop_rule(rule_id)
    except KeptRuleError as error:
        return Note(f"not revoked: {error}", "error")
    if not gone:
        return Note(f"the rule {rule_id} was in your policy file no more")
    return Note(f"revoked: the rule {rule_id} is out of your policy file; from the next call on it covers nothing")
