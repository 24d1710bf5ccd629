"""What a shell carries from one command to the next, as far as the text says it.

Promises: the directory is None as soon as it is not certain which of several it is and no bound can be given; where a
`cd` may have failed all the possible directories are kept in `maybe`.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from interlock.runtime.policy.shell.expand import Scope, Value

_MOST_PLACES = 12
"""Folders that a text may be in; with more it is not known where it is."""


def join(cwd: str | None, target: str) -> str | None:
    """`target` seen from `cwd`, with dots folded as bash's logical `cd` does; empty for the start itself."""
    if target.startswith("/"):
        return posixpath.normpath(target)
    if cwd is None:
        return None
    folded = posixpath.normpath(posixpath.join(cwd, target)) if cwd or target else "."
    return "" if folded == "." else folded


@dataclass(slots=True)
class State:
    """The moving part of a reading."""

    home: str | None
    cwd: str | None = ""
    maybe: frozenset[str] = frozenset()
    """Other directories it may be in when an earlier `cd` failed."""
    previous: str | None = None
    stack: list[str | None] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    aliases: dict[str, str] = field(default_factory=dict)
    rebound: set[str] = field(default_factory=set)
    """Programs that the text gave another meaning (`hash -p`, an alias, `enable -f`)."""
    expands_aliases: bool = False
    depth: int = 0
    via: str = ""

    def scope(self) -> Scope:
        """The values as expansion wants them."""
        return Scope(self.values, self.home)

    def copy(self, *, via: str = "", deeper: int = 0) -> State:
        """A state whose changes do not come back: a subshell, a stage, a substitution."""
        return State(
            self.home,
            self.cwd,
            self.maybe,
            self.previous,
            list(self.stack),
            dict(self.values),
            set(self.functions),
            dict(self.aliases),
            set(self.rebound),
            self.expands_aliases,
            self.depth + deeper,
            via or self.via,
        )

    def enter(self, target: str | None) -> None:
        """A `cd` that works; where an earlier one may have failed it may lead elsewhere, or fail in its turn."""
        self.previous, self.cwd = self.cwd, None if target is None else join(self.cwd, target)
        if self.maybe and target is not None:
            self.maybe |= {found for one in self.maybe if (found := join(one, target)) is not None}
        if len(self.maybe) > _MOST_PLACES:
            self.lose_directory()

    def lose_directory(self) -> None:
        """From here on the directory is not known."""
        self.cwd, self.maybe = None, frozenset()
