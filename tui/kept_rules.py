"""The rules that answers left in the user's policy file, for the screen: which there are, and taking one out (ASK-4).

Promises: the file is read and written in a thread; what came of taking a rule out is told once. No widget library.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

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
        self._file = ""
        """Where they stand, once that is known."""
        self._stamp: tuple[int, ...] | None = None

    async def read(self) -> None:
        """Read them anew, if the file is another."""
        before = self.rules, self.fault
        stamp = _stamp(self._file)
        if self._file and stamp == self._stamp:
            return
        self._file, self.rules, self.fault = await asyncio.to_thread(_read)
        # a change while it was read shows in its stamp, and is read the next time
        self._stamp = stamp
        if before != (self.rules, self.fault):
            self._changed()

    async def drop(self, rule_id: str) -> None:
        """Take one out."""
        self._tell(await asyncio.to_thread(_drop, rule_id))
        self._changed()
        await self.read()


def _stamp(file: str) -> tuple[int, ...] | None:
    try:
        seen = os.stat(file)
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino


# what these import takes a third of a second, so that too is done in the thread


def _read() -> tuple[str, tuple[tuple[str, str], ...], str]:
    from interlock.runtime.tools.kept_rule import KeptRuleError, kept_rules
    from interlock.runtime.tools.policy_files import user_file

    file = str(user_file())
    try:
        return file, tuple((rule.id, rule.text) for rule in kept_rules()), ""
    except KeptRuleError as error:
        return file, (), str(error)


def _drop(rule_id: str) -> Note:
    from interlock.runtime.tools.kept_rule import KeptRuleError, drop_rule

    try:
        gone = drop_rule(rule_id)
    except KeptRuleError as error:
        return Note(f"not revoked: {error}", "error")
    if not gone:
        return Note(f"the rule {rule_id} was in your policy file no more")
    return Note(f"revoked: the rule {rule_id} is out of your policy file; from the next call on it covers nothing")
