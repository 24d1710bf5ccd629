"""Messages that wait while the model works: which of them the person's words were that reached it.

A version that keeps no attachments writes `enqueue` with the text, and `remove` or `dequeue` without. What left by
`dequeue` follows as a user record; what was given to the model between two calls left by `remove` and stands nowhere else.
Sources: recorded sessions of versions 2.1.30 to 2.1.217; in those, notices of tasks that had ended are removed together,
just before a `dequeue`, and a `remove` that no `dequeue` follows gives the model what waits.

Promises: a message of a person's is told at most once; a message that follows as a record of its own is not told here.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from interlock.runtime.events.base import Origin
from interlock.runtime.sources.claude_code.prompt import kind_of

_KEPT = 200
"""Messages that wait; a longer queue was never seen."""
_TASK = '{"task_id"'


@dataclass(frozen=True, slots=True)
class Taken:
    """A message of a person's that was given to the model, and where its record stands."""

    words: str
    ts: str
    origin: Origin


@dataclass(slots=True)
class Queue:
    """The queue of one session."""

    _waiting: list[str] = field(default_factory=list)
    _removed: list[tuple[str, Origin]] = field(default_factory=list)
    """Removals of which it is not known yet what they took."""
    _dequeued: int = 0

    def changed(self, operation: object, words: str, ts: str, origin: Origin) -> Iterator[Taken]:
        """A `queue-operation` record; `words` is its content."""
        if operation == "remove":
            if words in self._waiting:
                self._waiting.remove(words)
            if not words and len(self._removed) < len(self._waiting):
                # more than waits cannot be taken
                self._removed.append((ts, origin))
            elif is_person(words):
                yield Taken(words, ts, origin)
        elif operation == "dequeue":
            self._dequeued += 1
        else:
            yield from self.settled()
            if operation == "enqueue":
                self._waiting = [*self._waiting, words][-_KEPT:]
            elif operation == "popAll":
                self._waiting.clear()

    def passed(self) -> Iterator[Taken]:
        """Some other record came."""
        if self._removed and not self._dequeued:
            yield from self.settled()

    def spoken(self, words: str) -> Iterator[Taken]:
        """A user record came with these words: what was dequeued, if something was."""
        if self._dequeued and words in self._waiting:
            self._waiting.remove(words)
            self._dequeued -= 1
        yield from self.settled()

    def settled(self) -> Iterator[Taken]:
        """What the removals took, now that nothing more is told of them."""
        clearing = self._dequeued > 0
        for ts, origin in self._removed:
            persons = [words for words in self._waiting if is_person(words)]
            others = [words for words in self._waiting if not is_person(words)]
            found = (others or persons) if clearing else (persons or others)
            if found:
                self._waiting.remove(found[0])
                if found is persons:
                    yield Taken(found[0], ts, origin)
        self._removed.clear()
        for _ in range(self._dequeued):
            if self._waiting:
                self._waiting.pop(0)
        self._dequeued = 0


def is_person(words: str) -> bool:
    """Whether a message that waits is a person's: no notice of a task, in either form."""
    return bool(words) and not words.startswith(_TASK) and kind_of(words) == "person"
