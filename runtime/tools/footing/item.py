"""What a call stands on, thing by thing, and in plain words what has changed of it. Plain data.

Promises: two footings differ exactly when an item is new, gone or has another field; a change names the thing as the
card did, and says what became of it.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_ON_WIRE = 60
"""Items told in an ask; an event must stay one that a screen can read. The digest covers all."""
MOST_CHARS = 200
"""Characters of one field."""
_FIRST, _LAST = 1, 99
MOST_TOLD = 5
"""Changes named in one sentence."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing: a path, a program, a folder's names, a fact of the policy."""

    what: str
    """path, order, program, names, fact: which kind of thing it is."""
    name: str
    """As it was written, or where it lies."""
    fields: Mapping[str, str]
    path: str = field(default="", compare=False)
    """What was looked at, "" for what is no path."""
    stamp: tuple[int, ...] | None = field(default=None, compare=False)
    """A quick sign of it, for a last look; see `quick`."""

    @property
    def key(self) -> tuple[str, str]:
        """What it is compared by."""
        return self.what, self.name

    @property
    def is_telling(self) -> bool:
        """Whether a person may want to see it: neither a fact that stands elsewhere in the ask nor a word that is no path."""
        return not self.what.startswith("fact") and (self.what != "path" or self.fields.get("kind") != "missing")


@dataclass(frozen=True, slots=True)
class Footing:
    """Everything that was shown of a call and that its run depends on, as it was at one moment."""

    items: Mapping[tuple[str, str], Item]
    unbound: tuple[str, ...] = ()
    """Why not all of it could be looked at, in plain words."""

    @classmethod
    def of(cls, items: Iterator[Item] | list[Item], unbound: tuple[str, ...] = ()) -> Footing:
        """The footing of these items; the first of a name stands."""
        found: dict[tuple[str, str], Item] = {}
        for item in items:
            found.setdefault(item.key, item)
        return cls(found, unbound)

    @property
    def digest(self) -> str:
        """SHA-256 in hex of every item."""
        rows = sorted([what, name, sorted(item.fields.items())] for (what, name), item in self.items.items())
        return hashlib.sha256(json.dumps(rows, separators=(",", ":")).encode()).hexdigest()

    def changes(self, now: Footing) -> tuple[str, ...]:
        """What is not as it was, the most telling first; () when all is."""
        if self.items == now.items:
            return ()
        found: list[tuple[int, str]] = []
        for key in {**self.items, **now.items}:
            before, after = self.items.get(key), now.items.get(key)
            if before != after:
                found.append(_change(before, after))
        return tuple(dict.fromkeys(text for _, text in sorted(found, key=lambda one: one[0])))

    @property
    def has_moved(self) -> bool:
        """A last, quick look: whether anything may have changed. True calls for a thorough one."""
        return any(item.path and quick(item.path) != item.stamp for item in self.items.values())

    def on_wire(self) -> dict[str, Any]:
        """As it stands in an ask's facts."""
        telling = [item for item in self.items.values() if item.is_telling]
        shown = [
            {"what": i.what, "name": _clean(i.name), **{k: _brief(k, v) for k, v in i.fields.items()}} for i in telling
        ]
        return {
            "digest": self.digest,
            "count": len(self.items),
            "items": shown[:MOST_ON_WIRE],
            **({"unbound": [_clean(why) for why in self.unbound]} if self.unbound else {}),
        }


def quick(path: str) -> tuple[int, ...] | None:
    """What two system calls tell of a path; None: nothing is there. A folder's own times are left out of it."""
    try:
        own = os.lstat(path)
        seen = os.stat(path) if stat.S_ISLNK(own.st_mode) else own
    except (OSError, ValueError):
        return None
    number = (own.st_dev, own.st_ino, seen.st_dev, seen.st_ino)
    return number if stat.S_ISDIR(seen.st_mode) else (*number, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def told(changes: tuple[str, ...]) -> str:
    """The changes as one sentence."""
    more = len(changes) - MOST_TOLD
    return _clean("; ".join(changes[:MOST_TOLD])) + (f"; and {more} more" if more > 0 else "")


def _change(before: Item | None, after: Item | None) -> tuple[int, str]:
    if before is None:
        assert after is not None
        if after.what == "tree":
            return _FIRST, f"{after.name} appeared"
        return _LAST, f"{after.name} is looked at now and was not before"
    if after is None:
        if before.what == "tree":
            return _FIRST, f"{before.name} is gone"
        return _LAST, f"{before.name} plays no part any more"
    for rank, (name, sentence) in enumerate(_SENTENCES):
        old, new = before.fields.get(name, ""), after.fields.get(name, "")
        if old != new and (text := sentence(before.name, old, new)):
            return rank, text
    changed = [n for n in {**before.fields, **after.fields} if before.fields.get(n) != after.fields.get(n)]
    name = changed[0] if changed else ""
    old, new = before.fields.get(name, ""), after.fields.get(name, "")
    return len(_SENTENCES), f"{before.name}: {name} was {_short(old)}, is {_short(new)} now"


def _linked(name: str, old: str, new: str) -> str:
    return f"{name} became a link to {new}" if new and not old else f"the link {name} was changed" if new else ""


def _kind(name: str, old: str, new: str) -> str:
    if old == "missing":
        return f"{name} appeared"
    return f"{name} is gone" if new == "missing" else f"{name} was a {old}, is a {new} now"


def _inside(name: str, old: str, new: str) -> str:
    return f"{name} is {'inside' if new == 'True' else 'outside'} the workspace now"


def _names(name: str, old: str, new: str) -> str:
    before, after = set(old.split("\0")), set(new.split("\0"))
    came, went = sorted(after - before), sorted(before - after)
    said = f"has {', '.join(came[:3])} now" if came else f"has {', '.join(went[:3])} no longer"
    return f"{name} {said}"


_SENTENCES: tuple[tuple[str, Callable[[str, str, str], str]], ...] = (
    ("link", _linked),
    ("kind", _kind),
    ("real", lambda name, old, new: f"{name} leads to {new}, no longer to {old}"),
    ("resolved", lambda name, old, new: f"{name} leads to {new}, no longer to {old}"),
    ("inside", _inside),
    ("guard", lambda name, old, new: f"{name} is guarded now: {new}" if new else f"{name} is guarded no longer"),
    ("identity", lambda name, old, new: f"{name} is another one than was shown"),
    ("content", lambda name, old, new: f"{name} holds something else than it did"),
    ("names", _names),
    ("above", lambda name, old, new: f"the folder of {name} is another one than was shown"),
)


def _brief(name: str, value: str) -> str:
    """A field as an event can hold it: not thousands of names."""
    return f"{len(value.split(chr(0))) if value else 0} names" if name == "names" else _short(_clean(value))


def _clean(text: str) -> str:
    """Text that can be written down: a name on disk may be no valid Unicode."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARS else text[: MOST_CHARS - 1] + "…"


@dataclass(slots=True)
class Budget:
    """How much may be looked at for one footing."""

    looks: int = 4_000
    """Paths that become items."""
    probes: int = 30_000
    """Names that are only tried, whether there is such a file."""
    files: int = 6_000
    """Files of whole folders."""
    bytes: int = 32 * 1024 * 1024
    """Bytes that are digested."""
    spent: dict[str, None] = field(default_factory=dict)
    """What there was too much of."""

    def look(self) -> bool:
        """Take one look; False: there were too many."""
        self.looks -= 1
        if self.looks < 0:
            self.spent["more files than are looked at"] = None
        return self.looks >= 0

    def probe(self) -> bool:
        """Try one name; False: there were too many."""
        self.probes -= 1
        if self.probes < 0:
            self.spent["more names than are tried"] = None
        return self.probes >= 0

    def read(self, size: int) -> bool:
        """Read so many bytes; False: that would be too many."""
        if size > self.bytes:
            return False
        self.bytes -= size
        return True
