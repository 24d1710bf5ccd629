"""The tree that the records of a transcript form: each names the one that it goes on from.

Promises: a prompt that goes on from an older message is told apart from the forks that parallel calls, hooks and
progress leave in every transcript. Pure; a number is kept for each record.
"""

from __future__ import annotations


class Tree:
    """Where the conversation stands. Sub-agents that are written into their parent's log have a line of their own."""

    def __init__(self) -> None:
        self._anchor: dict[str, int] = {}
        """Record -> the place of the message that it is, or that it hangs from; -1: none."""
        self._places = 0
        self._solid = {False: -1, True: -1}
        """The place of the last prompt or answer: what a prompt that goes straight on comes behind."""
        self.orphans = 0
        """Records that go on from one that is not in the log."""
        self.branches = 1

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._anchor

    def add(self, uuid: str, parent: str, *, message: bool) -> None:
        """One more record; `message`: it is one of the person's or the model's, or a result."""
        if parent and parent not in self._anchor:
            self.orphans += 1
        if message:
            self._anchor[uuid] = self._places
            self._places += 1
        else:
            self._anchor[uuid] = self._anchor.get(parent, -1)

    def settle(self, uuid: str, *, side: bool) -> None:
        """The record is a prompt or an answer: the next prompt is expected behind it."""
        self._solid[side] = max(self._solid[side], self._anchor.get(uuid, -1))

    def turns_back(self, parent: str, *, side: bool) -> int:
        """How many messages a prompt leaves behind on another branch that goes on from `parent`; 0: it goes straight on."""
        at = self._anchor.get(parent, -1)
        if at < 0 or at >= self._solid[side]:
            return 0
        self.branches += 1
        return self._places - 1 - at
